# SPDX-License-Identifier: MIT
# shellcheck shell=dash
# The KUnit suites of the driver: what they say becomes this test's lines.
#
# vm-test: kernel=debug module=yes
insmod /vm/module/nvdla_kunit.ko || echo 'not ok - nvdla_kunit.ko loads'
for suite in nvdla-budget nvdla-validator; do
	results=/sys/kernel/debug/kunit/$suite/results
	if ! grep -qE '^ {8,}ok ' $results; then
		echo "not ok - there are results of $suite"
		continue
	fi
	# The innermost lines: one for each case, or for each parameter of a case.
	sed -n "s/^ \{8,\}\(ok\|not ok\) [0-9]* /\1 - $suite: /p" $results
	sed -n "s/^\(ok\|not ok\) [0-9]* /\1 - suite /p" $results
	grep -A 4 'not ok' $results | sed 's/^/# /'
done
rmmod nvdla_kunit
