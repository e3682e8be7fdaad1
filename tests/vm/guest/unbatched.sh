# SPDX-License-Identifier: MIT
# vm-test: module=no config=all timeout=400 program=tests/vm/guest/models file=models/tflite,models/golden/tflite
# One short network with the PCI glue's batches switched off.
# shellcheck source=tests/vm/guest/lib.sh
. /vm/lib.sh

nvdla_parameter=batch=0
load || exit
same 'registers are written one by one' "$(cat /sys/module/nvdla/parameters/batch)" N
models 5 tvm_mnist_int8 || bad=1
wait_for 5 rmmod nvdla 2>/dev/null || bad=1
[ $bad = 0 ]
