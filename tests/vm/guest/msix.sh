# SPDX-License-Identifier: MIT
# vm-test: module=no msix=yes timeout=300 program=tests/vm/guest/submit
# An NPU that offers MSI-X beside MSI: the driver takes it, and interrupts come by it, also after the device
# was switched off.  Jobs alone would not tell: the queue is looked at every 100 ms without any interrupt.
# shellcheck source=tests/vm/guest/lib.sh
. /vm/lib.sh

# interrupts: how often they came, to any processor.
interrupts()
{
	awk -v name="$(basename "$dev")" '$NF == name { for (i = 2; $i ~ /^[0-9]+$/; i++) sum += $i } END { print sum + 0 }' \
		/proc/interrupts
}

suspended()
{
	# shellcheck disable=SC2317 # called by name
	[ "$(cat "$dev/power/runtime_status")" = suspended ]
}

# more WHAT BEFORE: there were interrupts since.
more()
{
	check "$1: $2 before, $(interrupts) now" test "$(interrupts)" -gt "$2"
}

dev=$(pci_function)
check 'loaded' load
same 'its interrupts' "$(cat "$dev"/msi_irqs/* | sort -u)" msix
before=$(interrupts)
check 'jobs are done' submit
more 'by interrupts' "$before"
check 'it is switched off when idle' wait_for 5 suspended
before=$(interrupts)
check 'jobs are done after that, too' submit
more 'by interrupts' "$before"
verdict
