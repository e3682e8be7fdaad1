#!/bin/sh
# SPDX-License-Identifier: MIT
# pyopencl, an independent client: what it makes of a model equals what npu-run makes of it.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../cli/lib.sh"

python=/usr/bin/python3
if ! $python -c 'import pyopencl' 2>/dev/null; then
	skip 'pyopencl' 'it is not installed (Debian: python3-pyopencl)'
	finish
fi
foreign $python tests/opencl/pyopencl_client.py tools/demo/digits.tflite "$tmp"
sed 's/^/# /' "$tmp/err"
[ $status = 0 ]
result $? 'the client runs to its end'
grep -E '^(ok|not ok) ' "$tmp/out" | sed 's/^ok [0-9]* - //' >"$tmp/checks"
[ "$(grep -c '^not ok' "$tmp/checks")" = 0 ] && [ "$(wc -l <"$tmp/checks")" -ge 15 ]
result $? "its own checks hold ($(wc -l <"$tmp/checks") of them)"
exits 0 'npu-run' "$bin/npu-run" tools/demo/digits.tflite --input "$tmp/input.bin" --output "$tmp/run" --device sim:nv_small
cmp -s "$tmp/run/output_0.bin" "$tmp/output.bin"
result $? 'the same result as npu-run'
finish
