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
for _ in $(seq 10); do printf 'caf\351\n'; done >"$tmp/latin"
exits 0 'labels that are no UTF-8' "$npu_run" "$digits" --input "$tmp/black.bin" --labels "$tmp/latin" --json
says '"label":"caf\?"' 'become JSON'

exits 0 'and without JSON' "$npu_run" "$digits" --input "$tmp/black.bin" --labels "$tmp/latin"
says ' caf\?$' 'they are what a terminal takes'

# A name with whatever a file system takes.
odd=$(printf '%s/a "b"\n\033[31m\377,<c>' "$tmp")
cp "$digits" "$odd"
exits 0 'a model of any name' "$npu_run" "$odd" --input "$tmp/black.bin" --json --record "$tmp/odd"
iconv -f UTF-8 -t UTF-8 "$tmp/out" >"$tmp/utf8" 2>&1 && grep -qF 'a \"b\"??[31m?,<c>"' "$tmp/utf8"
result $? 'becomes JSON'
exits 0 'its recording' "$bin/npusim" replay "$tmp/odd"
says '^1 passed, 0 failed$' 'is replayed'

# The same black image as a picture, as real numbers, as a file of arrays; answers as NumPy has them.
{ printf 'P5 64 64 255\n' && head -c 4096 /dev/zero; } >"$tmp/black.pgm"
exits 0 'a PGM' "$npu_run" "$digits" --input "$tmp/black.pgm" --output "$tmp/pgm"
cmp -s "$tmp"/full/* "$tmp"/pgm/*
result $? 'gives the same answer'
exits 0 '--mean and --scale' "$npu_run" "$digits" --input "$tmp/black.pgm" --mean 5 --scale 1/3 --output "$tmp/mean"
exits 0 '--format npy' "$npu_run" "$digits" --input "$tmp/black.pgm" --format npy --output "$tmp/npy"
head -c 6 "$tmp/npy/output_0.npy" | tail -c 5 | grep -q NUMPY && tail -c 10 "$tmp/npy/output_0.npy" | cmp -s - "$tmp"/full/*
result $? 'holds the answer behind its header'
exits 0 '--format npz' "$npu_run" "$digits" --input "$tmp/black.pgm" --format npz --real --output "$tmp/npz"
grep -q 'float\|<f4' "$tmp/npz/outputs.npz"
result $? 'holds real numbers'
exits 0 '--values' "$npu_run" "$digits" --input "$tmp/black.pgm" --values
says '"values":\[' 'prints all elements'
says '"zero_point":' 'and what they stand for'
refuses 'an unknown format' 'raw, npy or npz' "$npu_run" "$digits" --input "$tmp/black.pgm" --format txt
refuses 'a mean that is no number' '[-][-]mean' "$npu_run" "$digits" --input "$tmp/black.pgm" --mean grey
for scale in 0 1,0,1 1e-99 1e99 nan inf 1/0; do
	refuses "a scale of $scale" '[-][-]scale' "$npu_run" "$digits" --input "$tmp/black.pgm" --pixels r8 --scale "$scale"
done
refuses 'three means for grey' '3' "$npu_run" "$digits" --input "$tmp/black.pgm" --mean 1,2,3
refuses 'an .npz that is none' 'npz' "$npu_run" "$digits" --input "$tmp/npz/outputs.npz"

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
