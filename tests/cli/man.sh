#!/bin/sh
# SPDX-License-Identifier: MIT
# Each option that --help tells has a place in the manual page, and the reverse.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

options()
{
	grep -oE -e '--[a-z][a-z-]*' | sort -u
}

for tool in npuc npu-run npu-info npu-top npusim npu-budget; do
	exits 0 "$tool --help" "$bin/$tool" --help
	options <"$tmp/out" >"$tmp/help"
	sed -n 's/^\.\(It\|Op\) .*Fl -\([a-z][a-z-]*\).*/--\2/p' Documentation/man/$tool.[18] | sort -u >"$tmp/page"
	diff "$tmp/help" "$tmp/page" >"$tmp/out"
	result $? "the page of $tool and --help have the same options"
	sources=tools/$tool.c
	[ $tool != npusim ] || sources='tools/npusim/main.c tools/npusim/serve.c'
	# shellcheck disable=SC2086 # files are words
	sed -n 's/{ "\([a-z-]*\)", *[a-z]*_argument/\n--\1\n/gp' $sources | grep '^--' | sort -u >"$tmp/taken"
	diff "$tmp/help" "$tmp/taken" >"$tmp/out"
	result $? "and they are those that it takes"
done

if command -v mandoc >/dev/null; then
	exits 0 'the manual pages are good mdoc' mandoc -T lint -W warning Documentation/man/*.[1-8]
else
	skip 'the manual pages are good mdoc' 'there is no mandoc'
fi

finish
