#!/bin/sh
# SPDX-License-Identifier: MIT
# The headers for user space: each one alone, in C and in C++, with every warning; sizes that 32 and 64 bit share.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2046 # flags are words
compiles()
{
	what=$1
	shift
	exits 0 "$what" "$@" -Wall -Wextra -Wpedantic -Werror -Iuapi $(pkg-config --cflags libdrm | sed 's/-I/-isystem /g') -c "$tmp/program.$suffix" -o "$tmp/program.o"
}

for header in drm/nvdla_accel.h linux/nvdla_netlink.h nvdla_chain.h; do
	suffix=c
	printf '#include <%s>\nint main(void)\n{\n\treturn 0;\n}\n' $header >"$tmp/program.c"
	for standard in gnu99 c11; do
		compiles "$header alone in $standard" "${CC:-cc}" -std=$standard
	done
	if command -v c++ >/dev/null; then
		suffix=cc
		cp "$tmp/program.c" "$tmp/program.cc"
		for standard in c++11 c++17; do
			compiles "$header alone in $standard" c++ -std=$standard
		done
	else
		skip "$header in C++" 'there is no C++ compiler'
	fi
done

# Structs of the ioctls: no implicit padding, a multiple of 8 bytes, every 64-bit field at a multiple of 8.
awk '/^struct drm_nvdla_[a-z_]* \{/ { name = $2 } name && /^\};/ { print name; name = "" }' uapi/drm/nvdla_accel.h >"$tmp/structs"
[ "$(wc -l <"$tmp/structs")" -ge 15 ]
result $? 'the header has structs'
{
	echo '#include <drm/nvdla_accel.h>'
	while read -r name; do
		echo "_Static_assert(sizeof(struct $name) % 8 == 0, \"$name\");"
	done <"$tmp/structs"
	echo 'int main(void) { return 0; }'
} >"$tmp/program.c"
suffix=c
compiles 'sizes are multiples of 8, nothing is padded' "${CC:-cc}" -std=gnu11 -Wpadded
# The kernel's own headers are the same for 32 bit, but lie in the folder of this machine.
arch=/usr/include/$(${CC:-cc} -print-multiarch 2>/dev/null)
if echo '#include <linux/types.h>' | ${CC:-cc} -m32 -isystem "$arch" -x c -c -o /dev/null - 2>/dev/null; then
	compiles 'nor for 32 bit' "${CC:-cc}" -m32 -ffreestanding -isystem "$arch" -std=gnu11 -Wpadded
else
	skip 'nor for 32 bit' 'the compiler makes none'
fi
finish
