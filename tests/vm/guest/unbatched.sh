# SPDX-License-Identifier: MIT
# vm-test: module=no config=all timeout=400 program=tests/vm/guest/models file=models/tflite,models/golden/tflite
# One short network with the PCI glue's batches switched off.
while read -r module; do
	[ "$module" != nvdla.ko ] || continue
	insmod "/vm/module/$module" 2>/dev/null # some are there already
done </vm/modules
insmod /vm/module/nvdla.ko batch=0 || exit
case $(cat /sys/module/nvdla/parameters/batch) in
N) echo "ok - registers are written one by one" ;;
*) echo "not ok - registers are written one by one" ;;
esac
models 5 tvm_mnist_int8
status=$?
rmmod nvdla && exit $status
