#!/bin/sh
# SPDX-License-Identifier: MIT
# Each option that --help tells has a place in the manual page, and the reverse; testing.md has every test
# program; README and Documentation refer to files that are there.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

options()
{
	grep -oE -e '--[a-z][a-z-]*' | sort -u
}

for tool in npuc npu-run npu-info npusim; do
	exits 0 "$tool --help" "$bin/$tool" --help
	options <"$tmp/out" >"$tmp/help"
	sed -n 's/^\.\(It\|Op\) .*Fl -\([a-z][a-z-]*\).*/--\2/p' Documentation/man/$tool.1 | sort -u >"$tmp/page"
	diff "$tmp/help" "$tmp/page" >"$tmp/out"
	result $? "$tool.1 and --help have the same options"
done

if command -v mandoc >/dev/null; then
	exits 0 'the manual pages are good mdoc' mandoc -T lint -W warning Documentation/man/*.1
else
	skip 'the manual pages are good mdoc' 'there is no mandoc'
fi

missing=
for test in tests/programs/*.c tests/fuzz/fuzz_*.c; do
	grep -q "\`\(programs/\)\{0,1\}$(basename "$test" .c)\`" Documentation/testing.md || missing="$missing $test"
done
echo "$missing" >"$tmp/out"
[ -z "$missing" ]
result $? 'testing.md has every test program and fuzzer'

missing=
for page in README.md Documentation/*.md; do
	# shellcheck disable=SC2013 # file names without spaces
	for link in $(grep -oE '\]\([^)#]+' "$page" | cut -c3- | grep -v '^http'); do
		[ -e "$(dirname "$page")/$link" ] || missing="$missing $page:$link"
	done
done
echo "$missing" >"$tmp/out"
[ -z "$missing" ]
result $? 'links in README and Documentation lead to files'
finish
