#!/bin/sh
# SPDX-License-Identifier: MIT
# npu-run: options, inputs of each kind, outcomes.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
npu_run=$bin/npu-run
digits=tools/demo/digits.tflite
# A black image: the network's zero point in each element.
head -c 4096 /dev/zero | tr '\0' '\200' >"$tmp/black.bin"

exits 0 '--help' "$npu_run" --help
says '^[Uu]sage: npu-run' 'prints its usage'
exits 0 '--version' "$npu_run" --version
says '[0-9]+\.[0-9]+\.[0-9]+' 'prints a version'
exits 2 'no model: usage' "$npu_run"
exits 2 'an unknown option: usage' "$npu_run" --no-such-option

exits 0 'a raw tensor' "$npu_run" "$digits" --input "$tmp/black.bin" --output "$tmp/full"
[ "$(find "$tmp/full" -type f | wc -l)" = 1 ] && [ "$(cat "$tmp"/full/* | wc -c)" = 10 ]
result $? 'gives one output of 10 bytes'
exits 0 '--stats' "$npu_run" "$digits" --input "$tmp/black.bin" --stats
says 'cycles' 'tells cycles'
exits 0 '--json' "$npu_run" "$digits" --input "$tmp/black.bin" --stats --json
says '^[[{]' 'is JSON'
exits 0 '--repeat' "$npu_run" "$digits" --input "$tmp/black.bin" --repeat 3
seq 0 9 | sed 's/^/digit-/' >"$tmp/labels"
exits 0 '--labels' "$npu_run" "$digits" --input "$tmp/black.bin" --labels "$tmp/labels" --top 2
says 'digit-[0-9]' 'names the class'

for config in nv_small_256 nv_small_256_full nv_medium_512 nv_medium_1024_full nv_large; do
	exits 0 "on sim:$config" "$npu_run" "$digits" --device "sim:$config" --input "$tmp/black.bin" --output "$tmp/$config"
	cmp -s "$tmp"/full/* "$tmp/$config"/*
	result $? 'gives the same answer'
done
exits 0 'compiled for nv_small with 8 banks' "$bin/npuc" "$digits" -o "$tmp/digits.npu" --cbuf-banks 8 -q
exits 0 'the compiled file' "$npu_run" "$tmp/digits.npu" --input "$tmp/black.bin" --output "$tmp/compiled"
cmp -s "$tmp"/full/* "$tmp"/compiled/*
result $? 'gives the same answer'
refuses 'a compiled file for another configuration' 'nv_' "$npu_run" "$tmp/digits.npu" --device sim:nv_large --input "$tmp/black.bin"

exits 0 '--record' "$npu_run" "$digits" --input "$tmp/black.bin" --record "$tmp/record"
recording=$(find "$tmp/record" -name run.nv | head -n 1)
[ -n "$recording" ]
result $? 'writes a script'
exits 0 'that npusim replays' "$bin/npusim" replay --config nv_small "$(dirname "$recording")"
says '^[1-9][0-9]* passed, 0 failed' 'with the same outputs'

refuses 'a model that is not there' 'missing.tflite' "$npu_run" "$tmp/missing.tflite" --input "$tmp/black.bin"
refuses 'an input that is not there' 'missing.bin' "$npu_run" "$digits" --input "$tmp/missing.bin"
head -c 4095 "$tmp/black.bin" >"$tmp/short.bin"
refuses 'an input of another size' '4096' "$npu_run" "$digits" --input "$tmp/short.bin"
refuses 'too many inputs' 'input' "$npu_run" "$digits" --input "$tmp/black.bin" --input "$tmp/black.bin"
refuses 'an unknown device' 'sim:nv_huge' "$npu_run" "$digits" --device sim:nv_huge --input "$tmp/black.bin"
printf '\211PNG\r\n\032\nbroken' >"$tmp/broken.png"
refuses 'a broken PNG' 'broken.png' "$npu_run" "$digits" --input "$tmp/broken.png"
printf '\377\330\377\340broken' >"$tmp/broken.jpg"
refuses 'a broken JPEG' 'broken.jpg' "$npu_run" "$digits" --input "$tmp/broken.jpg"
refuses '--repeat 0' 'repeat' "$npu_run" "$digits" --input "$tmp/black.bin" --repeat 0
finish
