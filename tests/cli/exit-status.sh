#!/bin/sh
# SPDX-License-Identifier: MIT
# The rule of every command line: 2 where its options are wrong whatever the files say, 1 where something cannot be done,
# and where what it prints does not arrive.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
digits=tools/demo/digits.tflite
examples=$(dirname "$bin")/examples
head -c 4096 /dev/zero >"$tmp/image"
mkdir "$tmp/test"
printf 'fill 0x80000000 4 0x41\ndump 0x80000000 4 out0.out.bin\n' >"$tmp/test/run.nv"
printf 'AAAA' >"$tmp/test/out0.expect.bin"
printf 'fill 0x80000000 4096 0x41\ndump 0x80000000 4096 out0.out.bin\n' >"$tmp/large.nv"

# tool NAME: what runs it; a value or a file comes from the tables below.
tool()
{
	case $1 in
	digits | boxes) echo "$examples/$1" ;;
	*) echo "$bin/$1" ;;
	esac
}

# wrong COMMAND...: ends with 2, prints nothing, and says whose message it is and where to read on.
wrong()
{
	what=$*
	name=$1
	shift
	run "$(tool "$name")" "$@"
	[ $status = 2 ] && [ ! -s "$tmp/out" ] && grep -q "$name" "$tmp/err" && grep -q -e '--help' "$tmp/err"
	result $? "wrong usage: $what"
}

# The model is not there: values are judged before any file.
while read -r name option values; do
	[ "$values" != - ] || values=
	for value in $values ''; do
		case $name in
		npuc) wrong npuc "$tmp/no-model" "$option" "$value" ;;
		npuc-float) wrong npuc "$tmp/no-model" --random-calibration "$option" "$value" ;;
		npu-run) wrong npu-run "$tmp/no-model" "$option" "$value" ;;
		boxes) wrong boxes "$tmp/no-model" "$tmp/image" --head ssd "$option" "$value" ;;
		npu-info) wrong npu-info --device sim:nv_small:exit "$option" "$value" ;;
		npu-top) wrong npu-top "$option" "$value" ;;
		npu-budget) wrong npu-budget --device sim:nv_small:exit "$option" "$value" ;;
		replay) wrong npusim replay "$tmp/test" "$option" "$value" ;;
		serve) wrong npusim serve --config nv_small --socket "$tmp/socket" "$option" "$value" ;;
		esac
	done
done <<'TABLE'
npuc --config nv_huge NV_SMALL nv_small, nv_smal
npuc --cbuf-banks 0 33 -1 +1 1x 0x10 1.5 99999999999999999999
npuc --sram -1 x 1k 4294967296 99999999999999999999
npuc --pixels grey RGB rgb,
npuc --input-shape x 1xx2 0x1 1x-2 1x2, 1x2x3x4x5x6x7 4294967296 a:b
npuc --dump-graph=svg -
npuc --dump-optimized=svg -
npuc --dump-plan=text, -
npuc --fit fill Pad
npuc --order gbr
npuc --mean grey 1,2,3,4,5,6
npuc --scale 0 nan inf 1/0
npuc --rate 0 -1 x
npuc-float --method best percentile:101 percentile:50 percentile:x kl:1
npuc-float --equalise some
npu-run --format txt
npu-run --top 0 -1 x 1000001
npu-run --repeat 0 -1 x 1000000001
npu-run --pixels grey RGB
npu-run --input-shape x 1xx2 0x1
npu-run --fit fill
npu-run --order gbr
npu-run --mean grey
npu-run --scale 0 nan inf 1/0
npu-run --rate 0 -1 x
boxes --score 2 -1 x nan
boxes --overlap 2 -1 x
boxes --anchors 1 x 1,2,3
npu-info --set-banks 0 33 -1 1x
npu-top --interval 9 3600001 -1 1s
npu-budget set-limit 0 33 1x
replay --config nv_huge
serve --config nv_huge
serve --socket -
serve --control -
serve --fault fire late=x
serve --read-latency 0 -1 x 1000001
TABLE

# An option that there is not, one without its value, and an argument too many.
for name in npuc npu-run npu-info npu-top npu-budget npusim boxes; do
	exits 2 "$name with an unknown option" "$(tool "$name")" --no-such-option
	complains "$name" 'says who'
done
wrong npuc "$digits" --config
wrong npuc "$digits" "$digits"
wrong npuc
# What would do nothing is no wish of anybody.
wrong npuc --list-configs "$digits"
wrong npuc --supported-ops "$digits"
wrong npuc "$digits" --plan-only -o "$tmp/no.npu"
for option in '--mean 1' '--scale 2' '--fit pad' '--order bgr' '--rate 16000'; do
	# shellcheck disable=SC2086 # an option and its value
	wrong npuc "$digits" $option
	# shellcheck disable=SC2086
	wrong npuc "$digits" --random-calibration $option
done
wrong npuc "$digits" --noise
wrong npu-run "$digits" --input "$tmp/image" --format npz
wrong npu-run "$digits" --input "$tmp/image" --real
wrong npu-run "$digits" --input
wrong npu-run "$digits" "$digits"
wrong npu-run
wrong npu-info accel0
wrong npu-info --device
wrong npu-top accel0
wrong npu-budget get 3
wrong npu-budget

# lost COMMAND...: with a full device as standard output, and with none, it fails, and says so.
lost()
{
	what=$*
	name=$1
	shift
	for output in '>/dev/full' '>&-'; do
		run sh -c "exec \"\$@\" $output" sh "$(tool "$name")" "$@"
		[ $status = 1 ] && grep -q "^$name.*: .*\(standard output\|cannot write\)" "$tmp/err"
		result $? "$output: $what"
	done
}

for name in npuc npu-run npu-info npu-top npu-budget npusim; do
	lost "$name" --help
	lost "$name" --version
done
lost boxes --help
lost npusim serve --help
lost npusim serve --config nv_small --socket "$tmp/socket"
lost npusim replay --config nv_small "$tmp/test"
lost digits "$digits" tools/demo/digits.txt
for option in --list-configs --supported-ops '--supported-ops --json'; do
	# shellcheck disable=SC2086 # options are words
	lost npuc $option
done
for option in '' --json --timing '--why conv2' --dump-graph --dump-optimized=dot --dump-plan; do
	# shellcheck disable=SC2086
	lost npuc "$digits" $option
done
for option in '' --stats --json --values; do
	# shellcheck disable=SC2086
	lost npu-run "$digits" --input "$tmp/image" $option
done
for option in '' --json --watch '--watch --json'; do
	# shellcheck disable=SC2086
	lost npu-info --device sim:nv_small:exit $option
done
for command in get watch 'set-limit 32'; do
	# shellcheck disable=SC2086
	lost npu-budget --device sim:nv_small:exit $command
	# shellcheck disable=SC2086
	lost npu-budget --json --device sim:nv_small:exit $command
done

# A path that is longer than a message: why it failed is said all the same.
long=$tmp/$(printf '%0100d/' 1 2 3 4 5 6 7 8 9 10)none
while read -r name arguments; do
	# shellcheck disable=SC2086 # arguments are words
	run "$(tool "$name")" $arguments "$long"
	[ $status = 1 ] && grep -q 'No such file or directory' "$tmp/err" "$tmp/out"
	result $? "a long path: $name $arguments says what is wrong"
done <<TABLE
npuc
npuc -q $digits -o
npuc -q $digits --report
npuc -q $digits --sweep
npu-run --input $tmp/image
npu-run $digits --input
npu-run $digits --input $tmp/image --output
npu-run $digits --input $tmp/image --record
npu-run $digits --input $tmp/image --labels
npusim run
TABLE

# short WHAT COMMAND...: files may have no more than 512 bytes; it fails, says so, and leaves nothing of its files.
short()
{
	what=$1
	shift
	mkdir "$tmp/short"
	run sh -c 'trap "" XFSZ; ulimit -f 1; exec "$@"' sh "$@"
	[ $status = 1 ] && grep -q 'too large' "$tmp/err"
	result $? "a full disk: $what fails"
	find "$tmp/short" -type f ! -name 'mem*.bin' >"$tmp/out"
	[ ! -s "$tmp/out" ]
	result $? 'and leaves no part of what was asked for'
	rm -rf "$tmp/short"
}
short 'npuc -o' "$bin/npuc" -q "$digits" -o "$tmp/short/digits.npu"
short 'npuc --report' "$bin/npuc" -q "$digits" --report "$tmp/short/report"
short 'npuc --sweep' "$bin/npuc" -q "$digits" --sweep "$tmp/short/sweep"
# Memory images without a script are no recording.
short 'npu-run --record' "$bin/npu-run" "$digits" --input "$tmp/image" --record "$tmp/short/record"
short 'npusim run --output' "$bin/npusim" run --output "$tmp/short" -c nv_small "$tmp/large.nv"

finish
