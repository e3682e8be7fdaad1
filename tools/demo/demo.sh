#!/bin/sh
# SPDX-License-Identifier: MIT
# The demo, as make demo runs it: compiles the digit classifier for two budgets, shows how each layer
# is split, then recognises the held-out digits while the budget changes.
set -eu
cd "$(dirname "$0")/../.."
O=${O:-build}
model=tools/demo/digits.tflite
report=$(mktemp -d)
trap 'rm -rf "$report"' EXIT

split()
{
	"$O/bin/npuc" "$model" -o "$report/digits.npu" --config nv_small --cbuf-banks "$1" --report "$report/$1" -q
	echo "nv_small with $1 banks of 4 KiB: how each layer is split"
	"$O/bin/npuc" "$model" --config nv_small --cbuf-banks "$1" --dump-plan | sed 's/^/  /'
	echo
}

split 32
split 8
"$O/examples/digits" "$model" tools/demo/digits.txt
sed -n 's/^int8_correct /As trained (tools\/demo\/digits.reference), in TensorFlow Lite arithmetic: /p' tools/demo/digits.reference
