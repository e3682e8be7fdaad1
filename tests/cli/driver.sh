#!/bin/sh
# SPDX-License-Identifier: MIT
# What packagers of the kernel module get: the DKMS source tree is complete and says what it is.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

exits 0 'make dkms-source' make O="$O" DESTDIR="$tmp/root" dkms-source
src=$(echo "$tmp"/root/usr/src/nvdla-*)
sed -n 's/^[[:space:]]\{1,\}\(nvdla_[a-z_]*\)\.o.*/\1/p' Kbuild >"$tmp/objects"
while read -r name; do
	[ -e "$src/driver/$name.c" ]
	result $? "source of $name.o"
done <"$tmp/objects"
for file in driver/hw/nvdla_validate.c uapi/drm/nvdla_accel.h uapi/linux/nvdla_netlink.h Kbuild; do
	[ -e "$src/$file" ]
	result $? "$file"
done

# dkms reads the file as bash does.
# shellcheck disable=SC2016 # for the inner shell
version=$(bash -c '. "$1" && echo "$PACKAGE_NAME-$PACKAGE_VERSION"' - "$src/dkms.conf")
[ "$version" = "$(basename "$src")" ]
result $? "dkms.conf names $(basename "$src")"

# dkms_builds KERNEL: would dkms build for it?
dkms_builds()
{
	# shellcheck disable=SC2016 # for the inner shell
	bash -c '. "$1" && [[ $2 =~ $BUILD_EXCLUSIVE_KERNEL ]]' - "$src/dkms.conf" "$1"
}
for kernel in 6.12.117+deb12-amd64 6.19.3 7.3.4+deb13-amd64 10.1.0; do
	dkms_builds $kernel
	result $? "dkms builds for $kernel"
done
for kernel in 6.1.0-28-amd64 6.2.1 6.11.9 5.10.0-33-amd64; do
	! dkms_builds $kernel
	result $? "dkms leaves $kernel alone"
done

grep -q '^SUBSYSTEM=="accel".*GROUP="render"' "$tmp/root/usr/lib/udev/rules.d/60-nvdla.rules"
result $? 'the udev rule is there, and gives nodes to a group'

# As make says it, without building: a module that is staged below another root leaves this machine's rules alone.
make -n O="$O" INSTALL_MOD_PATH=/staged modules_install >"$tmp/steps" 2>&1
grep -q ' /staged/usr/lib/udev/rules.d/60-nvdla.rules$' "$tmp/steps"
result $? 'and goes where the module goes'
finish
