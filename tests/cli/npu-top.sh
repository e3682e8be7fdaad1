#!/bin/sh
# SPDX-License-Identifier: MIT
# npu-top: its options, and what it says where there is no real NPU.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
npu_top=$bin/npu-top

exits 0 '--help' "$npu_top" --help
says '^[Uu]sage: npu-top' 'prints its usage'
exits 0 '--version' "$npu_top" --version
exits 2 'an unknown option: usage' "$npu_top" --no-such-option
exits 2 'an argument: usage' "$npu_top" accel0
for interval in 9 3600001 -1 1s ''; do
	refuses "--interval '$interval'" 'interval' "$npu_top" --interval "$interval"
done
exits 1 'a simulated NPU' "$npu_top" --device sim:nv_small --once
complains 'no real NPU' 'has no clients in the kernel'
exits 1 'a device that is not there' "$npu_top" --device accel255 --once
complains 'accel255: ' 'is named'
if [ -e /sys/module/nvdla ]; then
	exits 0 'real NPUs' "$npu_top" --once --interval 10
	says '^accel[0-9]+ ' 'are shown'
else
	exits 1 'no real NPU at all' "$npu_top" --once
	complains 'modprobe nvdla' 'says what to do'
fi
finish
