# SPDX-License-Identifier: MIT
# shellcheck shell=dash
# What the guest's scripts share; sourced, by init too: . /vm/lib.sh
number=0 bad=0

# check WHAT COMMAND...: one TAP line, with what the command printed where it fails.
check()
{
	what=$1
	shift
	number=$((number + 1))
	if "$@" >out 2>&1; then
		echo "ok $number - $what"
	else
		echo "not ok $number - $what"
		bad=$((bad + 1))
		sed 's/^/# /' out
	fi
}

# same WHAT GOT WANTED: one TAP line.
same()
{
	check "$1" is "$2" "$3"
}

is()
{
	echo "\"$1\", not \"$2\""
	[ "$1" = "$2" ]
}

# prints PATTERN COMMAND...: ends well, and prints such a line.
prints()
{
	pattern=$1 ended=well
	shift
	"$@" >printed 2>&1 || ended=badly
	cat printed
	[ $ended = well ] && grep -qE "$pattern" printed
}

# complains PATTERN COMMAND...: ends badly, and prints such a line.
complains()
{
	pattern=$1 ended=badly
	shift
	"$@" >printed 2>&1 && ended=well
	cat printed
	[ $ended = badly ] && grep -qE "$pattern" printed
}

# wait_for SECONDS COMMAND...: until it succeeds.
wait_for()
{
	tries=$(($1 * 10))
	shift
	until "$@"; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || return
		usleep 100000
	done
}

# Loads nvdla.ko, with $nvdla_parameter, and before it what it needs and is not there yet.
load()
{
	while read -r module; do
		parameter=
		[ "$module" != nvdla.ko ] || parameter=${nvdla_parameter:-}
		# shellcheck disable=SC2086 # none is no word
		[ -d "/sys/module/$(echo "${module%.ko}" | tr - _)" ] || insmod "/vm/module/$module" $parameter || return
	done </vm/modules
}

# Where sysfs has the PCI function that is the NPU.
pci_function()
{
	dirname "$(grep -l 0x10f0 /sys/bus/pci/devices/*/device)"
}

# The script's last line.
verdict()
{
	echo "1..$number"
	[ $bad = 0 ]
}
