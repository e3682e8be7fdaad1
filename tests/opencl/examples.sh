#!/bin/sh
# SPDX-License-Identifier: MIT
# The samples: each recognises as many digits as the others, and as training did.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../cli/lib.sh"

right=$(sed -n 's/^int8_correct //p' tools/demo/digits.reference)
images=$(sed -n 's/^images //p' tools/demo/digits.reference)

# sample NAME COMMAND...: the NPU's layers may differ by one unit from TensorFlow Lite's: one percent of the images.
sample()
{
	name=$1
	shift
	foreign env NPU_DEVICE=sim:nv_small "$@" tools/demo/digits.tflite tools/demo/digits.txt
	sed 's/^/# /' "$tmp/err"
	shown=$(sed -n "s/^accuracy: \([0-9]*\) of $images held-out.*/\1/p" "$tmp/out")
	[ "$status" = 0 ] && [ -n "$shown" ] && [ $((100 * (shown - right))) -le "$images" ] &&
		[ $((100 * (right - shown))) -le "$images" ]
	result $? "$name: ${shown:-no} of $images digits recognised, $right in TensorFlow Lite's arithmetic"
	[ "${first:=$shown}" = "$shown" ]
	result $? "$name: as many as the other samples"
}

sample classify "$O/examples/opencl/classify"
says 'kernel infer\(char\* image, char\* probability\)' 'classify shows the kernel'
sample pipeline "$O/examples/opencl/pipeline"
python=/usr/bin/python3
if $python -c 'import pyopencl' 2>/dev/null; then
	sample pipeline.py $python tools/examples/opencl/pipeline.py
else
	skip 'pipeline.py' 'pyopencl is not installed (Debian: python3-pyopencl)'
fi
for name in classify pipeline; do
	exits 1 "$name without any platform" env OCL_ICD_VENDORS=/nowhere "$O/examples/opencl/$name" \
		tools/demo/digits.tflite tools/demo/digits.txt
	complains 'vendor file' 'says what is missing'
	foreign env NPU_DEVICE=sim:nv_small sh -c 'exec "$@" >/dev/full' sh "$O/examples/opencl/$name" \
		tools/demo/digits.tflite tools/demo/digits.txt
	[ $status = 1 ] && grep -q 'standard output' "$tmp/err"
	result $? "$name: output that does not arrive is an error"
done
exits 1 'a model that is none' env NPU_DEVICE=sim:nv_small "$O/examples/opencl/classify" tools/demo/digits.txt tools/demo/digits.txt
finish
