#!/bin/sh
# SPDX-License-Identifier: MIT
# The command lines on the kernel's NPU: what is missing when it cannot be opened, runs with the bytes of
# the simulated NPU, and who uses it.
#
# vm-test: kernel=packaged module=no timeout=300 program=bin/npu-info,bin/npu-run,bin/npu-top,bin/npu-budget tree=tools/demo/digits.tflite
# shellcheck disable=SC2317 # check calls them
# shellcheck source=tests/vm/guest/lib.sh
. /vm/lib.sh
model=/tree/tools/demo/digits.tflite

as_nobody()
{
	su -s /bin/sh nobody -c "exec $*"
}

# What the watcher has printed so far.
hears()
{
	prints "$1" cat watch
}

chmod 755 . / /tmp
mkdir -p /etc
echo 'root:x:0:0::/:/bin/sh
nobody:x:65534:65534::/:/bin/sh' >/etc/passwd
echo 'root:x:0:
render:x:107:' >/etc/group
# What the model shall see, and what it says of it on the simulated NPU.
head -c 4096 /bin/busybox >image
export NPU_SIM_DIR=-
npu-run $model --input image --device sim --output expected >/dev/null || exit

check 'without the module: what to load' complains 'modprobe nvdla' npu-info --device accel0
check 'npu-top says so, too' complains 'modprobe nvdla' npu-top --once
check 'npu-budget, too' complains 'modprobe nvdla' npu-budget --device accel0 get
check 'and of a limit' complains 'modprobe nvdla' npu-budget --device accel0 set-limit 16
check 'and of a watch' complains 'modprobe nvdla' npu-budget --device accel0 watch
load
check 'no such device' complains 'no such NPU' npu-info --device accel7
mv /dev/accel/accel0 /dev/accel/hidden
check 'a node that is missing' complains 'devtmpfs' npu-info --device accel0
mv /dev/accel/hidden /dev/accel/accel0
chmod 600 /dev/accel/accel0
check 'no permission' complains 'no permission to open /dev/accel/accel0' as_nobody npu-info --device accel0
check 'npu-info still shows the others' complains '^sim:nv_small' as_nobody npu-info
chgrp render /dev/accel/accel0
chmod 660 /dev/accel/accel0
check 'which group is needed' complains 'usermod -aG render' as_nobody npu-run $model --input image
chmod 666 /dev/accel/accel0

check 'npu-info shows it first' prints '^accel0' npu-info
check 'as JSON' prints '"device": "accel0", "config": "nv_small", "banks": 32' npu-info --device accel0 --json
check 'by its path' prints '^accel0' npu-info --device /dev/accel/accel0
check 'a limit asks for privileges' complains 'CAP_NET_ADMIN' as_nobody npu-info --device accel0 --set-banks 8
npu-info --device accel0 --watch --json >watch 2>&1 &
watcher=$!
check 'a watcher prints the budget first' wait_for 10 hears '"banks_available": 32'
check 'a limit' prints 'budget: 8 of 32' npu-info --device accel0 --set-banks 8
check 'is seen by a watcher' wait_for 10 hears '"banks_available": 8'
kill $watcher

check 'a run with 8 banks' prints '"plan_banks": ?8' npu-run $model --input image --output eight --stats --json
check 'gives the bytes of the simulated NPU' cmp expected/output_0.bin eight/output_0.bin
npu-info --device accel0 --set-banks 32 >/dev/null
check 'a run as another user' as_nobody npu-run $model --input image
check 'cannot be recorded' complains 'cannot record' npu-run $model --input image --record records

npu-run $model --input image --repeat 100000 >/dev/null 2>&1 &
runner=$!
sleep 2
check 'npu-top shows a client' prints "^ +$runner npu-run " npu-top --once
check 'its share of the NPU' prints "\"pid\": $runner, \"command\": \"npu-run\", .*\"npu_percent\": ([1-9]|0\.0*[1-9])" npu-top --once --json
check 'its memory' prints "\"pid\": $runner, .*\"pinned_bytes\": [1-9][0-9]{4}" npu-top --once --json
check 'the counters' prints '"jobs": [1-9][0-9]*, "tasks": [1-9]' npu-top --once --json
check 'others cannot see it, and are told' prints 'could not be looked at' as_nobody npu-top --once
kill $runner
wait $runner
check 'it is gone then' prints 'no clients' npu-top --once --interval 100
verdict
