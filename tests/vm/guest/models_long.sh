#!/bin/sh
# SPDX-License-Identifier: MIT
# 200 inferences of each model on each configuration while the budget changes.
# vm-test: suite=long kernel=6.12 config=all timeout=6000 program=tests/vm/guest/models file=models/tflite,models/golden/tflite
exec models 200
