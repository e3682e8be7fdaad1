#!/bin/sh
# SPDX-License-Identifier: MIT
# The OpenCL tests of piglit, another project's: each has the result that piglit.expected says, which has the reason
# where that is not "pass".  NPU_PIGLIT: where Debian's package is unpacked, if it is not installed.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../cli/lib.sh"

piglit=
for dir in "${NPU_PIGLIT:-}"/usr/lib/*/piglit; do
	[ ! -d "$dir/bin" ] || piglit=$dir
done
if [ -z "$piglit" ]; then
	skip 'piglit' 'it is not installed (Debian: piglit; 2 GB, of which NPU_PIGLIT needs 14 MB: bin/cl-*, lib/)'
	finish
fi
export LD_LIBRARY_PATH="$piglit/lib"
sed '/^#/d; /^$/d' tests/opencl/piglit.expected >"$tmp/expected"
while read -r name want reason; do
	foreign timeout 60 "$piglit/bin/$name"
	got=$(sed -n 's/^PIGLIT: {"result": "\([a-z]*\)" }$/\1/p' "$tmp/out" | tail -n 1)
	[ "$got" = "$want" ]
	result $? "$name: ${got:-no result ($status)}, as expected: $want${reason:+ ($reason)}"
done <"$tmp/expected"
for test in "$piglit"/bin/cl-api-* "$piglit"/bin/cl-custom-*; do
	grep -q "^${test##*/} " "$tmp/expected" || echo "${test##*/}"
done >"$tmp/out"
[ ! -s "$tmp/out" ]
result $? 'every test is on the list'
finish
