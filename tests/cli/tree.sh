#!/bin/sh
# SPDX-License-Identifier: MIT
# What holds for the tree as a whole: licences, nothing unfinished, documents that lead somewhere and are complete.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

# none WHAT: the last command printed nothing.
none()
{
	[ ! -s "$tmp/out" ]
	result $? "$1"
}

sources()
{
	find Makefile setup .ci "$@" \( -name '*.[ch]' -o -name '*.def' -o -name '*.py' -o -name '*.sh' -o -name Makefile \
		-o -name setup -o -name run -o -name clean-root -o -name '*.1' \) -type f | sort -u
}

sources uapi driver compiler libnpu tools tests Documentation >"$tmp/files"
[ "$(wc -l <"$tmp/files")" -gt 100 ]
result $? 'there are sources'
xargs grep -L 'SPDX-License-Identifier: ' <"$tmp/files" >"$tmp/out"
none 'every source names its licence'
sources driver/hw | grep ^driver | xargs grep -L 'SPDX-License-Identifier: GPL-2.0-only OR MIT' >"$tmp/out"
none 'driver/hw is GPL-2.0-only or MIT'
# What the kernel's generator makes of a specification has the licence that the generator asks for.
find uapi -name '*.h' -print0 | xargs -0 grep -L -e 'SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR MIT' \
	-e 'SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause)' >"$tmp/out"
none 'uapi is GPL-2.0 with the syscall note, or MIT or BSD'
xargs awk 'FNR <= 3 && sub(/^.*SPDX-License-Identifier: /, "") { gsub(/ OR | WITH /, "\n"); gsub(/[()*\/ ]/, ""); print }' \
	<"$tmp/files" | sed 's/^GPL-2.0$/GPL-2.0-only/' | sort -u >"$tmp/licences"
[ "$(wc -l <"$tmp/licences")" = 4 ]
result $? 'four licence texts are named'
while read -r licence; do
	[ -e "LICENSES/$licence.txt" ] || echo "$licence"
done <"$tmp/licences" >"$tmp/out"
none 'LICENSES has the text of each licence'
xargs grep -nwE 'TO''DO|FIX''ME|XX''X|HA''CK' <"$tmp/files" >"$tmp/out"
none 'nothing is unfinished by its own words'

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

# The tests that a complaint's row names.
grep -oE 'tests/[a-z0-9_/.-]+[a-z0-9]' Documentation/peers.md | sort -u >"$tmp/named"
while read -r test; do
	[ -e "$test" ] || echo "$test"
done <"$tmp/named" >"$tmp/out"
[ "$(wc -l <"$tmp/named")" -gt 25 ]
result $? 'peers.md names tests'
none 'the tests that peers.md names are there'
finish
