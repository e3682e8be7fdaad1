# SPDX-License-Identifier: MIT
# vm-test: module=no kernel=all timeout=300 program=tests/vm/guest/context,tests/vm/guest/submit
# The module comes by the alias of its device, comes and goes, idle and under load: nothing is left behind, and
# the last one works.
# shellcheck disable=SC2317 # check calls them
# shellcheck source=tests/vm/guest/lib.sh
. /vm/lib.sh

twenty_times()
{
	round=0
	while [ "$round" -lt 20 ]; do
		round=$((round + 1))
		load && [ -c /dev/accel/accel0 ] && rmmod nvdla && [ ! -e /dev/accel/accel0 ] || return
	done
}

# Somebody works all the time, with errors when the device is away.
work()
{
	while [ ! -e stop ]; do
		submit >/dev/null 2>&1
	done
}

rebind()
{
	round=0
	while [ "$round" -lt 12 ]; do
		round=$((round + 1))
		echo "$pci" >/sys/bus/pci/drivers/nvdla/unbind || return
		echo "$pci" >/sys/bus/pci/drivers/nvdla/bind || return
		usleep $((round * 40000))
	done
}

# As udev does it when a device appears: nothing but the device's own name for its kind is known.
by_alias()
{
	place=/lib/modules/$(uname -r)
	mkdir -p "$place"
	cp /vm/module/*.ko "$place/"
	depmod && modprobe "$(cat "/sys/bus/pci/devices/$pci/modalias")" && [ -c /dev/accel/accel0 ]
	status=$?
	rm -rf "$place"
	return $status
}

# What the kernel's slab holds in caches of ours, and files under debugfs and tracefs.
remains()
{
	ls -d /sys/kernel/debug/accel/0000:* /sys/bus/pci/drivers/nvdla /sys/module/nvdla \
		/sys/kernel/tracing/events/nvdla 2>/dev/null
}

check 'loaded and unloaded twenty times' twenty_times
check 'nothing is left of it' test -z "$(remains)"
pci=$(basename "$(pci_function)")
check 'loaded by the alias of its device' by_alias
work &
worker=$!
check 'unbound and bound twelve times under load' rebind
touch stop
wait $worker
check 'afterwards all works' submit
check 'with priorities, too' context
# A fence may hold the module a moment longer than the file of its job.
check 'unloaded' wait_for 5 rmmod nvdla
check 'nothing is left of it' test -z "$(remains)"
verdict
