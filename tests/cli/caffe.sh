#!/bin/sh
# SPDX-License-Identifier: MIT
# Caffe networks from two files to a digit: weights beside the network or elsewhere, calibration, runs, and
# networks without weights.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
npuc=$bin/npuc
models=$NPU_SHARED/models/caffe
digits=$NPU_SHARED/models/data/tflm_mnist_png

cat >"$tmp/net.prototxt" <<-END
	name: "Net"
	layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 1 dim: 3 dim: 16 dim: 16 } } }
	layer {
	  name: "conv" type: "Convolution" bottom: "data" top: "conv"
	  convolution_param { num_output: 8 kernel_size: 3 }
	}
	layer { name: "relu" type: "ReLU" bottom: "conv" top: "conv" }
END
refuses 'a network without its weights' "conv\): its weights are missing: there is no file $tmp/net.caffemodel" \
	"$npuc" "$tmp/net.prototxt" --random-calibration -o "$tmp/no.npu"
refuses 'weights that are not there' "$tmp/none: No such file" \
	"$npuc" "$tmp/net.prototxt" --random-calibration --weights "$tmp/none" -o "$tmp/no.npu"
exits 0 '--random-weights' "$npuc" "$tmp/net.prototxt" --random-calibration --random-weights -o "$tmp/net.npu"
grep -q 'made up' "$tmp/err" && grep -q 'WORTHLESS' "$tmp/err"
result $? 'warns'
says 'layers +1 on the NPU' 'the clamp is a part of the convolution'
exits 0 '--input-shape' "$npuc" "$tmp/net.prototxt" --random-calibration --random-weights --input-shape 1x3x24x20 \
	--dump-optimized --plan-only
says '18' 'makes another plane'
sed 's/kernel_size/kernel_sise/' "$tmp/net.prototxt" >"$tmp/typo.prototxt"
refuses 'a parameter that does not exist' 'typo.prototxt: line 5: Convolution has no field kernel_sise' \
	"$npuc" "$tmp/typo.prototxt" --random-calibration --random-weights -o "$tmp/no.npu"
[ ! -e "$tmp/no.npu" ]
result $? 'no failure leaves a file behind'

if [ -f "$models/lenet.prototxt" ]; then
	cp "$models/lenet.prototxt" "$tmp/"
	refuses 'a network in float32' '--calibrate' "$npuc" "$models/lenet.prototxt"
	exits 0 '--weights of another name' "$npuc" "$tmp/lenet.prototxt" --weights "$models/lenet.caffemodel" \
		--calibrate "$digits" --noise -o "$tmp/lenet.npu"
	says '^worst: ' 'prints the noise of each layer'
	refuses 'weights of another network' 'weights 0: 270 values, the layer needs 500' \
		"$npuc" "$tmp/lenet.prototxt" --weights "$models/mtcnn_det1.caffemodel" --random-calibration
	for digit in 0 1 2 3 4 5 6 7 8 9; do
		exits 0 "LeNet runs on a $digit" "$bin/npu-run" "$tmp/lenet.npu" --input "$digits/sample$digit.png" --top 1
		says "^ *$digit +0\.[5-9]|^ *$digit +1\." 'and finds it'
	done
	exits 0 'SqueezeNet is planned' "$npuc" "$models/structure/squeezenet_v1.1_deploy.prototxt" --random-weights \
		--random-calibration --plan-only --config nv_large
else
	skip 'real networks' "no $models"
fi
finish
