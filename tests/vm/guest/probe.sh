# SPDX-License-Identifier: MIT
# vm-test: config=all iommu=both timeout=120
# The driver and its device: node, log, debugfs, unbinding and binding, power.
# shellcheck source=tests/vm/guest/lib.sh
. /vm/lib.sh

# How often the kernel said so since this test began.
said()
{
	dmesg | sed '1,/vm: begin probe$/d' | grep -c "$1"
}

suspended()
{
	# shellcheck disable=SC2317 # called by name
	[ "$(cat "$dev/power/runtime_status")" = suspended ]
}

dev=$(dirname "$(readlink -f /sys/bus/pci/drivers/nvdla/0000:*/vendor)")
name=$(basename "$dev")
debug=/sys/kernel/debug/accel/$name

same 'one node' "$(ls /dev/accel 2>/dev/null)" accel0
same 'the log tells the configuration' "$(said "nvdla.*] $NPU_VM_CONFIG, version")" 1
check 'it is switched off when idle' wait_for 5 suspended

sleep 1000 3</dev/accel/accel0 &
user=$!
same 'registers, both groups' \
	"$(grep -c '^SDP\.D_DATA_CUBE_WIDTH\[[01]\] 0x0' "$debug/registers")" 2
same 'version of the hardware' "$(grep -c '^GLB.S_NVDLA_HW_VERSION 0x00303031$' "$debug/registers")" 1
same 'queue' "$(head -c 1 "$debug/queue" | wc -c)" 1
same 'no bank is bad' "$(cat "$debug/unusable_banks")" 0x0
same 'fdinfo' "$(grep -c '^drm-\(driver:.nvdla\|engine-npu:.0 ns\|total-cbuf:.0\)' /proc/$user/fdinfo/3)" 3
same 'priority in fdinfo' "$(grep -c '^nvdla-priority:.normal' /proc/$user/fdinfo/3)" 1
if echo 0x100000000 > "$debug/unusable_banks" 2>/dev/null; then
	same 'a bank that is not there is refused' accepted refused
fi

# Taken away while it is open: the file is of no more use, a new one is.
echo "$name" > /sys/bus/pci/drivers/nvdla/unbind
same 'no node when unbound' "$(ls /dev/accel 2>/dev/null)" ''
same 'fdinfo of a device that is gone' "$(grep -c drm-driver /proc/$user/fdinfo/3)" 0
echo "$name" > /sys/bus/pci/drivers/nvdla/bind
same 'bound again' "$(said "nvdla.*] $NPU_VM_CONFIG, version")" 2
same 'a node again' "$(find /dev/accel -name 'accel[0-9]*' | wc -l)" 1
kill $user
wait $user 2>/dev/null

# Suspend to idle, as far as the devices.
if [ -e /sys/power/pm_test ]; then
	echo devices > /sys/power/pm_test
	# It waits so long in a loop, which an emulated processor takes for a lockup.
	echo 1 > /sys/module/suspend/parameters/pm_test_delay
	slept=no
	if echo freeze > /sys/power/state; then
		slept=yes
	fi
	same 'suspended and resumed' $slept yes
	same 'alive after it' "$(grep -c '^GLB.S_NVDLA_HW_VERSION 0x00303031$' "$debug/registers")" 1
fi
verdict
