# SPDX-License-Identifier: MIT
# vm-test: module=no config=all iommu=both timeout=60
# The modelled device as Linux sees it before any driver: where it is, its class, its BARs.
# shellcheck source=tests/vm/guest/lib.sh
. /vm/lib.sh

# size_of RESOURCE: bytes of a BAR, from its line "start end flags".
size_of()
{
	line=$(sed -n "$(($1 + 1))p" "$dev/resource")
	# shellcheck disable=SC2086 # three numbers
	set -- $line
	echo $(($2 - $1 + 1))
}

for dev in /sys/bus/pci/devices/*; do
	[ "$(cat "$dev/vendor"):$(cat "$dev/device")" != 0x1af4:0x10f0 ] || break
done
same 'one NPU is on the bus' "$(cat "$dev/device")" 0x10f0
same 'it is a processing accelerator' "$(cat "$dev/class")" 0x120000
same 'register file' "$(size_of 0)" 65536
same 'control page' "$(size_of 2)" 4096
same 'batch pages' "$(size_of 4)" 65536
[ "$NPU_VM_IOMMU" = no ] || same 'it is behind the IOMMU' "$(test -e "$dev/iommu_group" && echo yes)" yes
verdict
