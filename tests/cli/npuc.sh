#!/bin/sh
# SPDX-License-Identifier: MIT
# npuc: options, outcomes, reports, and that nothing partial is left behind.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
npuc=$bin/npuc
digits=tools/demo/digits.tflite

exits 0 '--help' "$npuc" --help
says '^[Uu]sage: npuc' 'prints its usage'
exits 0 '--version' "$npuc" --version
says '[0-9]+\.[0-9]+\.[0-9]+' 'prints a version'
exits 2 'no model: usage' "$npuc"
exits 2 'an unknown option: usage' "$npuc" --no-such-option
exits 0 '--list-configs' "$npuc" --list-configs
for config in nv_small nv_small_256 nv_small_256_full nv_medium_512 nv_medium_1024_full nv_large; do
	says "^ *$config( |$)" "lists $config"
done
exits 0 '--supported-ops' "$npuc" --supported-ops
"$npuc" --supported-ops | cmp - Documentation/operators.md
result $? 'is what Documentation/operators.md says'
exits 0 '--supported-ops of one configuration' "$npuc" --supported-ops --config nv_large
says '\| CONV_2D \| conv \+ SDP \| conv \|' 'lists the operators of TensorFlow Lite'
exits 0 '--supported-ops as JSON' "$npuc" --supported-ops --json
says '"operator":"QLinearAdd"' 'lists the operators of ONNX'

exits 0 'compiles the demo network' "$npuc" "$digits" -o "$tmp/digits.npu"
[ -s "$tmp/digits.npu" ]
result $? 'into a file'
refuses '--input-shape of a compiled file' 'for a model, not' "$npuc" "$tmp/digits.npu" --input-shape 1x8x8x1
refuses '--weights of TensorFlow Lite' 'Caffe network alone' "$npuc" "$digits" --weights "$digits"
refuses '--random-weights of TensorFlow Lite' 'Caffe network alone' "$npuc" "$digits" --random-weights
for dump in graph optimized plan; do
	exits 0 "--dump-$dump" "$npuc" "$digits" --dump-$dump
	says 'conv3' 'names the layers'
	exits 0 "--dump-$dump=dot" "$npuc" "$digits" --dump-$dump=dot
	says '^digraph' 'is Graphviz'
done
exits 0 '--why' "$npuc" "$digits" --why conv2
says 'conv2' 'speaks of the layer'
refuses '--why of a layer that is not there' 'nothing-here' "$npuc" "$digits" --why nothing-here

exits 0 '--report' "$npuc" "$digits" --cbuf-banks 8 --report "$tmp/report"
for file in summary.json layers.csv layers.json report.html; do
	[ -s "$tmp/report/$file" ]
	result $? "writes $file"
done
for key in dram_bytes feature_bytes weight_bytes operand_bytes output_bytes cycles cpu_cycles tasks compulsory_bytes bound_cycles \
	arena_bytes arena_lower_bound compile_us replan_us; do
	grep -qE "\"$key\": *[0-9]" "$tmp/report/summary.json"
	result $? "summary.json has $key"
done
! grep -qE '(src|href)="?https?:' "$tmp/report/report.html"
result $? 'report.html needs no network'

float=$NPU_SHARED/models/tflite/mlperf_ic_resnet8_f32.tflite
sample=$NPU_SHARED/models/golden/tflite/mlperf_ic_resnet8_f32/in_0.bin
if [ -f "$float" ]; then
	refuses 'a float model' '--calibrate' "$npuc" "$float"
	mkdir "$tmp/samples" "$tmp/nothing"
	cp "$sample" "$tmp/samples/0.bin"
	for method in minmax percentile percentile:99.5 kl mse; do
		exits 0 "--calibrate --method $method" "$npuc" "$float" --calibrate "$tmp/samples" --method $method \
			--save-calibration "$tmp/calibration.json" -o "$tmp/float.npu"
		exits 0 'and from the file that it saved' "$npuc" "$float" --calibrate "$tmp/calibration.json" \
			-o "$tmp/again.npu"
		cmp -s "$tmp/float.npu" "$tmp/again.npu"
		result $? 'which gives the same program'
	done
	exits 0 '--noise' "$npuc" "$float" --calibrate "$sample" --noise --report "$tmp/float-report"
	says 'model/dense/MatMul' 'names the layers'
	says '^worst: ' 'and the worst of them'
	[ -s "$tmp/float-report/quantisation.txt" ]
	result $? 'is part of the report'
	exits 0 '--random-calibration' "$npuc" "$float" --random-calibration --plan-only
	complains 'WORTHLESS' 'says loudly what that is'
	refuses 'a folder without samples' 'nothing: there are no samples' "$npuc" "$float" --calibrate "$tmp/nothing"
	{ head -c 400 "$sample" && printf '\0\0\300\177' && tail -c +405 "$sample"; } >"$tmp/damaged.bin"
	refuses 'a sample that is not a number' 'damaged.bin: element 100 is not' "$npuc" "$float" --calibrate \
		"$tmp/damaged.bin"
	refuses 'a folder that is not there' 'No such file' "$npuc" "$float" --calibrate "$tmp/not-there"
	refuses 'a sample of another size' 'digits.tflite: [0-9]+ bytes' "$npuc" "$float" --calibrate "$digits" --method kl
	refuses 'an unknown method' 'percentile' "$npuc" "$float" --calibrate "$tmp/samples" --method best
	refuses 'a percentile beyond 100' 'percentile' "$npuc" "$float" --calibrate "$tmp/samples" --method percentile:101
	refuses 'unknown equalisation' 'depthwise' "$npuc" "$float" --calibrate "$tmp/samples" --equalise some
	echo '{"model/dense/MatMul": {"min": 3, "max": 1}}' >"$tmp/bad.json"
	refuses 'a range upside down' 'model/dense/MatMul' "$npuc" "$float" --calibrate "$tmp/bad.json"
	echo '{"input_1": {"min": -1, "max": 1}}' >"$tmp/bad.json"
	refuses 'a calibration without a layer' 'no range for this layer' "$npuc" "$float" --calibrate "$tmp/bad.json"
	for option in '--method kl' '--equalise all'; do
		# shellcheck disable=SC2086 # an option and its value
		refuses "$option with ranges that are given" 'are for samples' "$npuc" "$float" --calibrate \
			"$tmp/calibration.json" $option
	done
	ln -s nowhere "$tmp/samples/1.bin"
	refuses 'a sample that leads nowhere' 'samples/1.bin: No such file' "$npuc" "$float" --calibrate "$tmp/samples"
	refuses '--noise without samples' 'needs samples' "$npuc" "$float" --calibrate "$tmp/calibration.json" --noise
else
	skip calibration "no $float"
fi
refuses 'calibration of an integer model' 'nothing to calibrate' "$npuc" "$digits" --calibrate "$digits"
for option in '--why dense' --timing --dump-graph --dump-optimized --dump-plan=dot '--random-calibration --noise'; do
	# shellcheck disable=SC2086 # an option and its value
	exits 2 "--json with $option: usage" "$npuc" "$digits" --json $option
done
refuses '--pixels of a compiled file' 'compiled file' "$npuc" "$tmp/digits.npu" --pixels r8 -o "$tmp/no.npu"
refuses '--method alone' '--calibrate' "$npuc" "$digits" --method kl
refuses 'samples and noise' 'exclude' "$npuc" "$digits" --calibrate "$tmp" --random-calibration

exits 0 '--sweep' "$npuc" "$digits" --sweep "$tmp/sweep"
[ "$(wc -l <"$tmp/sweep.csv")" -gt 8 ]
result $? 'writes a row for each budget'
grep -q '<svg' "$tmp/sweep.svg"
result $? 'and a plot'

printf 'name\top\tc\th\tw\tk\tr\ts\tsy\tsx\tpt\tpl\tpb\tpr\tdy\tdx\tgroups\n' >"$tmp/layers.tsv"
printf 'one\tconv\t64\t56\t56\t64\t3\t3\t1\t1\t1\t1\t1\t1\t1\t1\t1\n' >>"$tmp/layers.tsv"
exits 0 '--plan-only of a layer list' "$npuc" "$tmp/layers.tsv" --plan-only
printf 'two\tconv\t64\t56\t56\t64\t3\n' >>"$tmp/layers.tsv"
refuses 'a layer list with a short row' 'layers.tsv.*3' "$npuc" "$tmp/layers.tsv" --plan-only

exits 0 'compiles a quantised ONNX model' "$npuc" tests/fuzz/corpus/onnx/qlinear_conv -o "$tmp/onnx.npu"
refuses 'a float ONNX model' 'onnx/conv: operator 1 .*--calibrate DIR' "$npuc" tests/fuzz/corpus/onnx/conv -o "$tmp/no.npu"
head -c 300 tests/fuzz/corpus/onnx/conv >"$tmp/short.onnx"
refuses 'a truncated ONNX model' 'short.onnx: damaged' "$npuc" "$tmp/short.onnx" -o "$tmp/no.npu"
refuses 'a file that is not there' 'missing.tflite' "$npuc" "$tmp/missing.tflite" -o "$tmp/no.npu"
refuses 'a folder' "$tmp" "$npuc" "$tmp" -o "$tmp/no.npu"
head -c 10000 "$digits" >"$tmp/short.tflite"
refuses 'a truncated file' 'short.tflite' "$npuc" "$tmp/short.tflite" -o "$tmp/no.npu"
head -c 5000 "$tmp/digits.npu" >"$tmp/short.npu"
refuses 'a truncated compiled file' 'short.npu' "$npuc" "$tmp/short.npu" -o "$tmp/no.npu"
refuses 'an unknown configuration' 'nv_huge' "$npuc" "$digits" --config nv_huge -o "$tmp/no.npu"
for banks in 0 33 -1 1x '' 99999999999999999999; do
	refuses "a budget of '$banks' banks" 'bank' "$npuc" "$digits" --cbuf-banks "$banks" -o "$tmp/no.npu"
done
refuses 'an output folder that is not there' 'nowhere' "$npuc" "$digits" -o "$tmp/nowhere/no.npu"
cp "$digits" "$tmp/own.tflite"
ln -s own.tflite "$tmp/other.tflite"
for name in own other; do
	refuses "writing over the network as $name.tflite" 'written over' "$npuc" "$tmp/own.tflite" -o "$tmp/$name.tflite"
	refuses "even with a calibration" 'written over' "$npuc" "$tmp/own.tflite" --random-calibration \
		--save-calibration "$tmp/$name.tflite"
done
cmp -s "$digits" "$tmp/own.tflite"
result $? 'and leaves it as it is'
"$npuc" "$digits" -o /dev/stdout | cmp -s - "$tmp/digits.npu"
result $? 'a file on the standard output is alone there'
refuses 'JSON beside it' 'same output' "$npuc" "$digits" --json -o /dev/stdout
exits 0 'a compiled file takes its new budget' "$npuc" "$tmp/digits.npu" --cbuf-banks 8 -o "$tmp/digits.npu"
says '8 of 32 banks' 'in its place'
exits 0 'also where its configuration is named' "$npuc" "$tmp/digits.npu" --config nv_small -o "$tmp/digits.npu"
[ -z "$(find "$tmp" -name '*no.npu*')" ]
result $? 'no failure leaves a file behind'
finish
