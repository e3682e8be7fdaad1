#!/bin/sh
# SPDX-License-Identifier: MIT
# npusim: options, and that a replay can fail.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
npusim=$bin/npusim

exits 0 '--help' "$npusim" --help
says '^[Uu]sage: npusim' 'prints its usage'
exits 2 'no command: usage' "$npusim"
exits 2 'an unknown command: usage' "$npusim" dance
refuses 'a script that is not there' 'missing' "$npusim" run "$tmp/missing.nv"

# A test of our own: nothing runs, memory is copied out as it was filled.
mkdir "$tmp/fill"
printf 'fill 0x80000000 16 0x5a\ndump 0x80000000 16 out0.out.bin\n' >"$tmp/fill/run.nv"
printf 'ZZZZZZZZZZZZZZZZ' >"$tmp/fill/out0.expect.bin"
exits 0 'a replay that is as expected' "$npusim" replay --config nv_small "$tmp/fill"
says '^ok' 'passes'
says '^1 passed, 0 failed$' 'and is counted'
printf 'ZZZZZZZZZZZZZZZY' >"$tmp/fill/out0.expect.bin"
exits 1 'a replay with one byte different' "$npusim" replay --config nv_small "$tmp/fill"
says '^not ok' 'fails'
says '^0 passed, 1 failed$' 'and is counted'
printf 'w 0x1004\n' >"$tmp/fill/run.nv"
exits 1 'a script with a damaged line' "$npusim" replay --config nv_small "$tmp/fill"
for line in 'fill 0 0x40000001 1' 'fill 0 18446744073709551615 1' 'zero 0 0x40000001' 'dump 0 0x40000001 a.out.bin' \
	'load 0 ../run.nv'; do
	echo "$line" >"$tmp/fill/run.nv"
	exits 1 "a script with \"$line\"" "$npusim" run -c nv_small "$tmp/fill/run.nv"
	complains 'run.nv:1: ' 'names the line'
done
head -c 100 /dev/zero >"$tmp/fill/run.nv"
exits 1 'a script that is no text' "$npusim" run -c nv_small "$tmp/fill/run.nv"
complains 'run.nv:1: this is no text' 'says so'
exits 1 'a folder without a test' "$npusim" replay --config nv_small "$tmp"

# A folder that is missing or empty is a failure among others, which are played all the same.
mkdir -p "$tmp/nv_large/good" "$tmp/empty"
printf 'fill 0x80000000 4 0x41\ndump 0x80000000 4 out0.out.bin\n' >"$tmp/nv_large/good/run.nv"
printf 'AAAA' >"$tmp/nv_large/good/out0.expect.bin"
exits 1 'missing and empty folders among others' "$npusim" replay "$tmp/gone" "$tmp/nv_large/good" "$tmp/empty"
says '^1 passed, 2 failed$' 'are counted'
run sh -c 'cd "$1" && "$2" replay .' sh "$tmp/nv_large/good" "$npusim"
says '^ok 1 - nv_large/good' 'the folder itself is named by its path'
exits 1 'a folder as script' "$npusim" run "$tmp/nv_large/good"
exits 0 'dumps stored' "$npusim" run --output "$tmp/dumps" "$tmp/nv_large/good/run.nv"
[ "$(cat "$tmp/dumps/out0.out.bin")" = AAAA ]
result $? 'into a folder made for them'
printf 'wait_intr 1\n' >"$tmp/nv_large/good/run.nv"
exits 1 'a wait for nothing' "$npusim" replay "$tmp/nv_large/good"
says 'no unit is at work' 'says why it never ends'

# The cycle model's error against the RTL's cycles: median and 90th percentile of tasks of 2000 cycles and more.
for tests in vectors/nv_small vectors/nv_small_256_full vectors/nv_medium_1024_full vectors/nv_large traces/nv_small; do
	what="cycles of $tests: median error <= 5 %, 90th percentile <= 15 %"
	if [ ! -d "$NPU_SHARED/$tests" ]; then
		skip "$what" "no $NPU_SHARED/$tests"
		continue
	fi
	run "$npusim" replay --timing "$NPU_SHARED/$tests"
	awk '/^# timing all, [0-9]+ tasks of 2000 cycles/ { seen = $4 >= 20 && $12 <= 5 && $16 <= 15 } END { exit !seen }' "$tmp/out"
	result $? "$what"
done
finish
