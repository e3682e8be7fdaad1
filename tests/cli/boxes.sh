#!/bin/sh
# SPDX-License-Identifier: MIT
# boxes: options, and a face that a real detector finds, whoever converts the picture.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
boxes=${bin%/bin}/examples/boxes
digits=tools/demo/digits.tflite
{ printf 'P5 64 64 255\n' && head -c 4096 /dev/zero; } >"$tmp/black.pgm"

exits 0 '--help' "$boxes" --help
says '^[Uu]sage: boxes' 'prints its usage'
exits 2 'no model: usage' "$boxes"
exits 2 'no head: usage' "$boxes" "$digits" "$tmp/black.pgm"
refuses 'an unknown head' 'retina' "$boxes" "$digits" "$tmp/black.pgm" --head retina
refuses 'a classifier' 'yolo' "$boxes" "$digits" "$tmp/black.pgm" --head yolo --anchors 1,2
refuses 'odd anchors' 'pairs' "$boxes" "$digits" "$tmp/black.pgm" --head yolo --anchors 1,2,3
refuses 'a score of 2' 'score' "$boxes" "$digits" "$tmp/black.pgm" --head yolo --anchors 1,2 --score 2
refuses 'a picture that is not there' 'missing.png' "$boxes" "$digits" "$tmp/missing.png" --head yolo8

model=$NPU_SHARED/models/tflite/emza_yolo_fastest_face_320_int8.tflite
person=$NPU_SHARED/models/data/tflm_person/person.bmp
if [ ! -f "$model" ] || [ ! -f "$person" ]; then
	skip 'a face is found' "no $model"
	finish
fi
# The picture was stored as INT8: its top bits are turned back.  Rows of a BMP come from below.
{
	printf 'P5 96 96 255\n'
	for row in $(seq 95 -1 0); do
		tail -c +$((1079 + 96 * row)) "$person" | head -c 96
	done | LC_ALL=C tr '\000-\177\200-\377' '\200-\377\000-\177'
} >"$tmp/person.pgm"
anchors=12,18,37,49,52,132,115,73,119,199,242,238
exits 0 'a detector of faces' "$boxes" "$model" "$tmp/person.pgm" --head yolo --anchors $anchors --overlap 0.2 \
	--score 0.9 --draw "$tmp/drawn.ppm"
says '^0 +(0\.9|1\.0)[0-9]* +(3[89]|4[0-4])\.[0-9] +(1[5-9]|2[0-3])\.[0-9] +(5[6-9]|6[0-3])\.' 'finds the face where it is'
[ "$(head -c 15 "$tmp/drawn.ppm")" = 'P6 96 96 255' ] || [ "$(head -n 1 "$tmp/drawn.ppm")" = 'P6 96 96 255' ]
result $? 'draws it'
cp "$tmp/out" "$tmp/converted"
exits 0 'the same picture as pixels' "$boxes" "$model" "$tmp/person.pgm" --head yolo --anchors $anchors \
	--overlap 0.2 --score 0.9 --pixels r8
cmp -s "$tmp/out" "$tmp/converted"
result $? 'gives the same boxes'
exits 0 'a list of labels' "$boxes" "$model" "$tmp/person.pgm" --head yolo --anchors $anchors --labels /dev/stdin --json <<END
face
END
says '"label":"face"' 'names the class'
says '"box":\[' 'tells boxes as JSON'
finish
