#!/bin/busybox sh
# SPDX-License-Identifier: MIT
# The guest's first and only script: runs the tests of /vm/tests one after the other, then powers off.
#
# Results go out on the second serial port, between lines "#vm begin NAME" and "#vm end NAME STATUS";
# the kernel's log on the first carries "vm: begin NAME" too, so that a report is a test's.
/bin/busybox --install -s /bin
export PATH=/vm/bin:/bin HOME=/tmp TERM=dumb
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t tmpfs tmp /tmp
mount -t debugfs debug /sys/kernel/debug
mount -t tracefs trace /sys/kernel/tracing
[ ! -d /sys/fs/cgroup ] || mount -t cgroup2 cgroup /sys/fs/cgroup
mkdir -p /dev/pts /dev/shm
mount -t devpts pts /dev/pts 2>/dev/null
mount -t tmpfs shm /dev/shm
ip link set lo up
stty -opost </dev/ttyS1
exec </dev/null >/dev/ttyS1 2>&1
# shellcheck source=/dev/null # written by boot.sh
. /vm/environment
# shellcheck source=tests/vm/guest/lib.sh
. /vm/lib.sh

# Tenths of a second since the machine started.
uptime_tenths()
{
	cut -d ' ' -f 1 /proc/uptime | sed 's/\.\(.\).*/\1/'
}

tenths_since()
{
	echo "$(($(uptime_tenths) - $1))" | sed 's/.$/.&/'
}

failed()
{
	echo "not ok - $*"
	status=1
}

# A process that was killed may hold the device a moment longer.
unload()
{
	tries=0
	until rmmod nvdla 2>/tmp/rmmod; do
		tries=$((tries + 1))
		[ $tries -lt 50 ] || { cat /tmp/rmmod; return 1; }
		usleep 100000
	done
	rm -f /tmp/rmmod
}

# Only what an out-of-tree module that is not signed leaves behind (bits 12 and 13, and 18 with KUnit).
tainted()
{
	[ $(($(cat /proc/sys/kernel/tainted) & ~0x43000)) != 0 ]
}

# Twice: a first scan may find what is only just changing hands.
leaks()
{
	[ -w /sys/kernel/debug/kmemleak ] || return 0
	echo scan >/sys/kernel/debug/kmemleak
	sleep 5
	echo scan >/sys/kernel/debug/kmemleak
	cat /sys/kernel/debug/kmemleak >/tmp/leaks
	[ -s /tmp/leaks ] || { echo "ok - no leak that kmemleak finds"; return; }
	failed "kmemleak found leaks"
	head -n 60 /tmp/leaks
}

# run_test NAME TIMEOUT MODULE COMMAND...
run_test()
{
	name=$1 limit=$2 module=$3 status=0
	shift 3
	begin=$(uptime_tenths)
	echo "#vm begin $name"
	echo "vm: begin $name" >/dev/kmsg
	if [ "$module" != yes ] || load; then
		mkdir -p /tmp/work
		(cd /tmp/work && exec timeout -s KILL "$limit" "$@")
		status=$?
		rm -rf /tmp/work
		[ $status != 137 ] || failed "not killed, as after $limit s"
	else
		failed "nvdla.ko loads"
	fi
	[ ! -d /sys/module/nvdla ] || unload || failed "nvdla.ko unloads: nothing holds it any more"
	echo "vm: end $name" >/dev/kmsg
	echo "#vm end $name $status $(tenths_since "$begin")"
}

echo "#vm up $(cut -d ' ' -f 1 /proc/uptime) $(uname -r)"
while read -r line; do
	# shellcheck disable=SC2086 # words
	run_test $line
done </vm/tests
echo "#vm begin kernel"
echo "vm: begin kernel" >/dev/kmsg
begin=$(uptime_tenths)
status=0
if tainted; then
	failed "the kernel is as sound as it was: taint $(cat /proc/sys/kernel/tainted)"
else
	echo "ok - the kernel is as sound as it was"
fi
leaks
echo "#vm end kernel $status $(tenths_since "$begin")"
echo "#vm done"
poweroff -f
