# SPDX-License-Identifier: MIT
# vm-test: module=no config=nv_small,nv_large timeout=120
# The same NPU as a device of the platform bus: nvdla_platform_test gives its registers and its
# interrupt to the platform glue.  Without a virtual IOMMU, which would not know that device.
n=0 bad=0

check()
{
	n=$((n + 1))
	if [ "$2" = "$3" ]; then
		echo "ok $n - $1"
	else
		echo "not ok $n - $1: \"$2\", not \"$3\""
		bad=1
	fi
}

# Lines of the log that tell the configuration of a platform device.
told()
{
	dmesg | grep -c "nvdla nvdla.*\] $NPU_VM_CONFIG, version"
}

pci=$(dirname "$(grep -l 0x10f0 /sys/bus/pci/devices/*/device)")
while read -r module; do
	insmod "/vm/module/$module" 2>/dev/null # some are there from an earlier test
done < /vm/modules
insmod /vm/module/nvdla_platform_test.ko unusable_bank=9
check 'the test module is loaded' "$?" 0

before=$(told)
echo nvdla_platform_test > "$pci/driver_override"
basename "$pci" > /sys/bus/pci/drivers/nvdla/unbind
basename "$pci" > /sys/bus/pci/drivers_probe
npu=$(basename "$pci"/nvdla.*)
debug=/sys/kernel/debug/accel/$npu
check 'a platform device' "$(basename "$(readlink "$pci/$npu/driver")")" nvdla
check 'its driver is on the platform bus' "$(readlink -f "$pci/$npu/driver")" \
	/sys/bus/platform/drivers/nvdla
check 'one node' "$(ls /dev/accel)" accel0
check 'the log tells the configuration' "$(($(told) - before))" 1
check 'registers' "$(grep -c '^GLB.S_NVDLA_HW_VERSION 0x' "$debug/registers")" 1
check 'the bank that firmware told is bad' "$(cat "$debug/unusable_banks")" 0x200

echo "$npu" > /sys/bus/platform/drivers/nvdla/unbind
check 'unbound' "$(ls /dev/accel 2>/dev/null)" ''
echo "$npu" > /sys/bus/platform/drivers/nvdla/bind
check 'bound again' "$(ls /dev/accel)" accel0
basename "$pci" > /sys/bus/pci/drivers/nvdla_platform_test/unbind
check 'taken away' "$(ls /dev/accel 2>/dev/null)" ''
echo > "$pci/driver_override"
basename "$pci" > /sys/bus/pci/drivers_probe
check 'on the PCI bus again' "$(basename "$(readlink "$pci/driver")")" nvdla
rmmod nvdla_platform_test && rmmod nvdla
check 'unloaded' "$?" 0
exit $bad
