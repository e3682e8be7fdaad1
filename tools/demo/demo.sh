#!/bin/sh
# SPDX-License-Identifier: MIT
# The demo, as make demo runs it: shows how each layer of the digit classifier is split for two budgets, then
# recognises the held-out digits while the budget changes.
set -eu
cd "$(dirname "$0")/../.."
O=${O:-build}
model=tools/demo/digits.tflite
report=$(mktemp -d)
trap 'rm -rf "$report"' EXIT

# One line a layer: tasks, banks, DRAM bytes, how it is split.  Commas with a space behind are within text.
split()
{
	"$O/bin/npuc" "$model" --config nv_small --cbuf-banks "$1" --report "$report" --plan-only -q
	echo "How each layer is split for $1 banks of 4 KiB (nv_small):"
	sed 's/, /; /g; s/"//g' "$report/layers.csv" | awk -F, '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i
			  printf "  %-12s %5s %6s %11s  %s\n", "layer", "tasks", "banks", "DRAM bytes", "how"; next }
		{ printf "  %-12s %5d %6d %11d  %s\n", $at["name"], $at["tasks"], $at["banks"], $at["dram_bytes"], $at["mode"] }'
	echo
}

split 32
split 8
"$O/examples/digits" "$model" tools/demo/digits.txt
sed -n 's/^int8_correct /As trained (tools\/demo\/digits.reference), in TensorFlow Lite arithmetic: /p' tools/demo/digits.reference
