#!/bin/sh
# SPDX-License-Identifier: MIT
# npu-info: what it shows, and the budget that it changes for other processes.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
npu_info=$bin/npu-info

exits 0 '--help' "$npu_info" --help
says '^[Uu]sage: npu-info' 'prints its usage'
exits 0 '--version' "$npu_info" --version
exits 2 'an unknown option: usage' "$npu_info" --no-such-option
exits 0 'all devices' "$npu_info"
says 'sim:nv_small' 'lists the software NPU'
exits 0 'one device' "$npu_info" --device sim:nv_small
says '32' 'tells its banks'
exits 0 '--json' "$npu_info" --device sim:nv_small --json
says '^[[{]' 'is JSON'

exits 0 '--json of all' "$npu_info" --json
says '^\[' 'is one array'
run sh -c '"$1" --device sim:nv_small >&-' sh "$npu_info"
[ $status = 1 ]
result $? 'a closed standard output is an error'
exits 0 'and the budget is whole afterwards' "$npu_info" --device sim:nv_small

exits 0 '--set-banks' "$npu_info" --device sim:nv_small --set-banks 8
exits 0 'the budget afterwards' "$npu_info" --device sim:nv_small --json
says '[^0-9]8[^0-9]' 'is what was set'
head -c 4096 /dev/zero >"$tmp/image"
exits 0 'a run in another process' "$bin/npu-run" tools/demo/digits.tflite --input "$tmp/image" --stats --json
says 'banks[^0-9]*8[^0-9]' 'keeps to it'
for banks in 0 33 -1 1x ''; do
	refuses "--set-banks '$banks'" 'bank' "$npu_info" --device sim:nv_small --set-banks "$banks"
done
refuses 'an unknown device' 'nv_huge' "$npu_info" --device sim:nv_huge

# A watcher sees each change that another process makes.
"$npu_info" --device sim:nv_small:watched --watch --json >"$tmp/watch" 2>&1 &
watcher=$!
# wait_for BANKS: until the watcher has printed that many, a minute at most.
wait_for()
{
	tries=0
	until grep -q "\"banks_available\": $1," "$tmp/watch" || [ $tries -ge 600 ]; do
		sleep 0.1
		tries=$((tries + 1))
	done
}
wait_for 32
for banks in 16 4; do
	"$npu_info" --device sim:nv_small:watched --set-banks $banks >/dev/null
	wait_for $banks
done
kill $watcher
wait $watcher 2>/dev/null
cp "$tmp/watch" "$tmp/out"
says '"banks_available": 16,' '--watch prints a change'
says '"banks_available": 4,' 'and the next one'
finish
