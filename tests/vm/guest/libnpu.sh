#!/bin/sh
# SPDX-License-Identifier: MIT
# libnpu's own suite, as it runs on the simulated NPU, on the real one.
# vm-test: timeout=600 program=tests/unit/test_libnpu tree=tools/demo/digits.tflite
cd /tree || exit
export NPU_TEST_DEVICE=accel0 CMOCKA_MESSAGE_OUTPUT=tap
exec test_libnpu
