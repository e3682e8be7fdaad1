# SPDX-License-Identifier: MIT
# vm-test: config=all iommu=both timeout=120
# The driver and its device: node, log, debugfs, unbinding and binding, power.
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

# How often the kernel said so since this test began.
said()
{
	dmesg | sed '1,/vm: begin probe$/d' | grep -c "$1"
}

# wait_for SECONDS COMMAND: until it succeeds.
wait_for()
{
	tries=$(($1 * 10))
	shift
	while ! "$@" && [ $tries -gt 0 ]; do
		tries=$((tries - 1))
		sleep 0.1
	done
	"$@"
}

suspended()
{
	# shellcheck disable=SC2317 # called by name
	[ "$(cat "$dev/power/runtime_status")" = suspended ]
}

dev=$(dirname "$(readlink -f /sys/bus/pci/drivers/nvdla/0000:*/vendor)")
name=$(basename "$dev")
debug=/sys/kernel/debug/accel/$name

check 'one node' "$(ls /dev/accel 2>/dev/null)" accel0
check 'the log tells the configuration' "$(said "nvdla.*] $NPU_VM_CONFIG, version")" 1
wait_for 5 suspended
check 'it is switched off when idle' "$?" 0

sleep 1000 3</dev/accel/accel0 &
user=$!
check 'registers, both groups' \
	"$(grep -c '^SDP\.D_DATA_CUBE_WIDTH\[[01]\] 0x0' "$debug/registers")" 2
check 'version of the hardware' "$(grep -c '^GLB.S_NVDLA_HW_VERSION 0x00303031$' "$debug/registers")" 1
check 'queue' "$(head -c 1 "$debug/queue" | wc -c)" 1
check 'no bank is bad' "$(cat "$debug/unusable_banks")" 0x0
check 'fdinfo' "$(grep -c '^drm-\(driver:.nvdla\|engine-npu:.0 ns\|total-cbuf:.0\)' /proc/$user/fdinfo/3)" 3
check 'priority in fdinfo' "$(grep -c '^nvdla-priority:.normal' /proc/$user/fdinfo/3)" 1
if echo 0x100000000 > "$debug/unusable_banks" 2>/dev/null; then
	check 'a bank that is not there is refused' accepted refused
fi

# Taken away while it is open: the file is of no more use, a new one is.
echo "$name" > /sys/bus/pci/drivers/nvdla/unbind
check 'no node when unbound' "$(ls /dev/accel 2>/dev/null)" ''
check 'fdinfo of a device that is gone' "$(grep -c drm-driver /proc/$user/fdinfo/3)" 0
echo "$name" > /sys/bus/pci/drivers/nvdla/bind
check 'bound again' "$(said "nvdla.*] $NPU_VM_CONFIG, version")" 2
check 'a node again' "$(find /dev/accel -name 'accel[0-9]*' | wc -l)" 1
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
	check 'suspended and resumed' $slept yes
	check 'alive after it' "$(grep -c '^GLB.S_NVDLA_HW_VERSION 0x00303031$' "$debug/registers")" 1
fi
exit $bad
