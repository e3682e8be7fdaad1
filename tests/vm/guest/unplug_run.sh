#!/bin/sh
# SPDX-License-Identifier: MIT
# The NPU goes while programs on libnpu use it: they end with an error that says so, not with a signal.
# vm-test: kernel=packaged timeout=300 program=bin/npu-run tree=tools/demo/digits.tflite
# shellcheck disable=SC2317 # check calls them
# shellcheck source=tests/vm/guest/lib.sh
. /vm/lib.sh

# unplugged MILLISECONDS: a program works, so long after which the device goes.
unplugged()
{
	npu-run /tree/tools/demo/digits.tflite --input image --device accel0 --repeat 1000000 >said 2>&1 &
	program=$!
	usleep $((1500000 + $1 * 1000))
	echo "$pci" >/sys/bus/pci/drivers/nvdla/unbind
	wait "$program"
	status=$?
	echo "$pci" >/sys/bus/pci/drivers/nvdla/bind
	cat said
	[ "$status" = 1 ] && grep -q '^npu-run: .*accel0: ' said
}

head -c 4096 /bin/busybox >image
pci=$(basename /sys/bus/pci/drivers/nvdla/0000:*)
for wait in 0 3 7 11 17 23 31 43 57 71; do
	check "unplugged after $wait ms" unplugged $wait
done
check 'afterwards all works' npu-run /tree/tools/demo/digits.tflite --input image --device accel0
verdict
