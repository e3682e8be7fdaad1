#!/bin/sh
# SPDX-License-Identifier: MIT
# The demo as the README promises it: the accuracy it shows is what training wrote down.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

exits 0 'the demo' env O="$O" sh tools/demo/demo.sh
right=$(sed -n 's/^int8_correct //p' tools/demo/digits.reference)
images=$(sed -n 's/^images //p' tools/demo/digits.reference)
[ -n "$right" ]
result $? 'training wrote down an accuracy'
shown=$(sed -n "s/^accuracy: \([0-9]*\) of $images held-out.*/\1/p" "$tmp/out")
# The NPU's layers may differ by one unit from TensorFlow Lite's: one percent of the images, as in programs/digits.
[ -n "$shown" ] && [ $((100 * (shown - right))) -le "$images" ] && [ $((100 * (right - shown))) -le "$images" ]
result $? 'shows the accuracy of the trained network'
says 'conv2' 'shows how layers are split'
says 'says [0-9]' 'shows digits'
says 'planned again [1-9]' 'plans again while it runs'
says "; $images of $images answers are the same" 'and gives the same answers'
finish
