#!/bin/sh
# SPDX-License-Identifier: MIT
# npu-budget on simulated NPUs and where there is no driver; guests of tests/vm see it on the kernel's NPU.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
npu_budget=$bin/npu-budget
sim=sim:nv_small:budget

exits 0 '--help' "$npu_budget" --help
says '^usage: npu-budget' 'prints its usage'
exits 0 '--version' "$npu_budget" --version
exits 2 'no command: usage' "$npu_budget"
exits 2 'an unknown command: usage' "$npu_budget" give
exits 2 'an unknown option: usage' "$npu_budget" --no-such-option get
exits 2 'set-limit without a number: usage' "$npu_budget" --device $sim set-limit
exits 2 'get with one: usage' "$npu_budget" --device $sim get 3

exits 0 'get' "$npu_budget" --device $sim get
says "^$sim: 32 of 32 banks available \\(limit 32, usable 32, reserved 0\\), generation [0-9]+$" 'prints the budget'
exits 0 'set-limit' "$npu_budget" --device $sim set-limit 12
says '12 of 32 banks available \(limit 12,' 'prints the new one'
exits 0 'get --json' "$npu_budget" --json --device $sim get
says '"banks_limit": 12,.*"banks_available": 12 ' 'has it too'
exits 0 'another process' "$bin/npu-info" --device $sim
says '12 of 32 banks available' 'sees it'
for banks in 0 33 -1 1x ''; do
	refuses "set-limit '$banks'" 'banks' "$npu_budget" --device $sim -- set-limit "$banks"
done
exits 0 'NPU_DEVICE names the default' env NPU_DEVICE=$sim "$npu_budget" get
says "^$sim: 12 " 'and is taken'

# Numbers that no machine has, so that this holds where the driver runs too.
refuses 'a device that is not there' 'accel65535: ' "$npu_budget" --device accel65535 get
refuses 'its limit' 'accel65535: ' "$npu_budget" --device /dev/accel/accel65535 set-limit 3
refuses 'watching it' 'accel65535: ' "$npu_budget" --device accel65535 watch
refuses 'a name that is none' 'acceleration' "$npu_budget" --device acceleration get
run sh -c '"$1" --device sim:nv_small get >&-' sh "$npu_budget"
[ $status = 1 ]
result $? 'a closed standard output is an error'

"$npu_budget" --json --device $sim watch >"$tmp/watch" 2>&1 &
watcher=$!
# wait_for PATTERN: until the watcher has printed it, a minute at most.
wait_for()
{
	tries=0
	until grep -q "$1" "$tmp/watch" || [ $tries -ge 600 ]; do
		sleep 0.1
		tries=$((tries + 1))
	done
}
wait_for '"banks_available": 12 '
for banks in 20 7; do
	"$npu_budget" --device $sim set-limit $banks >/dev/null
	wait_for "\"now\".*\"banks_limit\": $banks,"
done
kill $watcher
wait $watcher 2>/dev/null
cp "$tmp/watch" "$tmp/out"
says '"old": \{.*"banks_limit": 12,.*"now": \{.*"banks_limit": 20,' 'watch prints old and new'
says '"old": \{.*"banks_limit": 20,.*"now": \{.*"banks_limit": 7,' 'of each change'
finish
