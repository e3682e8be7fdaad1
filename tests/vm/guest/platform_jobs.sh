# SPDX-License-Identifier: MIT
# vm-test: module=no kernel=all config=nv_small,nv_large timeout=400 program=tests/vm/guest/submit,tests/vm/guest/memory,tests/vm/guest/context,tests/vm/guest/budget,tests/vm/guest/unbind_busy
# Jobs, memory, budget, priorities and a busy device's end on the platform glue: registers one by one instead of batches.
# shellcheck source=tests/vm/guest/lib.sh
. /vm/lib.sh

pci=$(pci_function)
load
insmod /vm/module/nvdla_platform_test.ko || exit
echo nvdla_platform_test >"$pci/driver_override"
basename "$pci" >/sys/bus/pci/drivers/nvdla/unbind
basename "$pci" >/sys/bus/pci/drivers_probe
same 'bound to the platform bus' "$(readlink -f "$pci"/nvdla.*/driver)" /sys/bus/platform/drivers/nvdla
for test in submit memory context budget unbind_busy; do
	echo "# $test"
	$test || bad=1
done
basename "$pci" >/sys/bus/pci/drivers/nvdla_platform_test/unbind
echo >"$pci/driver_override"
rmmod nvdla_platform_test && wait_for 5 rmmod nvdla 2>/dev/null || bad=1
[ $bad = 0 ]
