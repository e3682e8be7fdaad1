#!/bin/sh
# SPDX-License-Identifier: MIT
# OpenCL programs on the real NPU: the loader, the driver and its tests, as they run on the simulated one.
# vm-test: timeout=900 tree=tools/demo/digits.tflite program=lib/libnpu-opencl.so,lib/libnpu.so.0,tests/opencl/test_platform,tests/opencl/test_buffer,tests/opencl/test_queue,tests/opencl/test_program,tests/opencl/test_builtin,tests/opencl/test_command_buffer,tests/opencl/test_external_memory
cd /tree || exit
export NPU_TEST_DEVICE=accel0 CMOCKA_MESSAGE_OUTPUT=tap OCL_ICD_VENDORS=/tmp/vendors
mkdir -p /tmp/vendors
echo /vm/bin/libnpu-opencl.so >/tmp/vendors/npu.icd
status=0
for test in platform buffer queue program builtin command_buffer external_memory; do
	echo "# $test"
	test_$test || status=1
done
exit $status
