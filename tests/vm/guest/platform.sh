# SPDX-License-Identifier: MIT
# vm-test: module=no config=nv_small,nv_large timeout=120
# The same NPU as a device of the platform bus: nvdla_platform_test gives its registers and its
# interrupt to the platform glue.  Without a virtual IOMMU, which would not know that device.
# shellcheck source=tests/vm/guest/lib.sh
. /vm/lib.sh

# Lines of the log that tell the configuration of a platform device.
told()
{
	dmesg | grep -c "nvdla nvdla.*\] $NPU_VM_CONFIG, version"
}

pci=$(pci_function)
load
check 'the test module is loaded' insmod /vm/module/nvdla_platform_test.ko unusable_bank=9

before=$(told)
echo nvdla_platform_test > "$pci/driver_override"
basename "$pci" > /sys/bus/pci/drivers/nvdla/unbind
basename "$pci" > /sys/bus/pci/drivers_probe
npu=$(basename "$pci"/nvdla.*)
debug=/sys/kernel/debug/accel/$npu
same 'a platform device' "$(basename "$(readlink "$pci/$npu/driver")")" nvdla
same 'its driver is on the platform bus' "$(readlink -f "$pci/$npu/driver")" \
	/sys/bus/platform/drivers/nvdla
same 'one node' "$(ls /dev/accel)" accel0
same 'the log tells the configuration' "$(($(told) - before))" 1
same 'registers' "$(grep -c '^GLB.S_NVDLA_HW_VERSION 0x' "$debug/registers")" 1
same 'the bank that firmware told is bad' "$(cat "$debug/unusable_banks")" 0x200

echo "$npu" > /sys/bus/platform/drivers/nvdla/unbind
same 'unbound' "$(ls /dev/accel 2>/dev/null)" ''
echo "$npu" > /sys/bus/platform/drivers/nvdla/bind
same 'bound again' "$(ls /dev/accel)" accel0
basename "$pci" > /sys/bus/pci/drivers/nvdla_platform_test/unbind
same 'taken away' "$(ls /dev/accel 2>/dev/null)" ''
echo > "$pci/driver_override"
basename "$pci" > /sys/bus/pci/drivers_probe
same 'on the PCI bus again' "$(basename "$(readlink "$pci/driver")")" nvdla
check 'unloaded' rmmod nvdla_platform_test nvdla
verdict
