#!/bin/sh
# SPDX-License-Identifier: MIT
# make install: what is where, and the README's first program against it, in C and C++, shared and static.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

# DESTDIR, as packagers use it; the flags keep this build's objects.
exits 0 'make install with DESTDIR' make O="$O" SANITIZE="${SANITIZE:-}" CC="${CC:-cc}" \
	DESTDIR="$tmp/root" PREFIX=/opt/npu install
for file in bin/npuc bin/npu-run bin/npu-info bin/npu-top bin/npusim include/npu.h include/cl_npu.h include/cl_npu_command_buffer.h lib/libnpu-opencl.so \
	include/drm/nvdla_accel.h include/linux/nvdla_netlink.h include/nvdla_chain.h \
	etc/OpenCL/vendors/npu.icd lib/pkgconfig/npu-opencl.pc lib/libnpu.a lib/libnpu.so lib/libnpu.so.0 \
	lib/pkgconfig/npu.pc share/man/man1/npuc.1 share/man/man1/npu-run.1 share/man/man4/nvdla.4 bin/npu-budget \
	share/man/man8/npu-budget.8 share/man/man7/libnpu-opencl.7; do
	[ -e "$tmp/root/opt/npu/$file" ]
	result $? "$file is installed"
done
! grep -q '@' "$tmp/root/opt/npu/lib/pkgconfig/npu.pc" "$tmp/root/opt/npu/lib/pkgconfig/npu-opencl.pc"
result $? 'npu.pc and npu-opencl.pc are filled in'
[ "$(cat "$tmp/root/opt/npu/etc/OpenCL/vendors/npu.icd")" = /opt/npu/lib/libnpu-opencl.so ]
result $? 'the vendor file names the driver where it is installed'
exits 0 'symbols of the OpenCL driver' nm -D --defined-only "$tmp/root/opt/npu/lib/libnpu-opencl.so"
[ "$(awk 'NF == 3 && $2 == "T" { print $3 }' "$tmp/out" | sed 's/@.*//' | sort | tr '\n' ' ')" = \
	'clGetExtensionFunctionAddress clGetPlatformInfo clIcdGetPlatformIDsKHR ' ]
result $? 'it shows what the loader looks for by name and nothing else'

exits 0 'symbols of the shared library' nm -D --defined-only "$tmp/root/opt/npu/lib/libnpu.so"
! awk '{ print $3 }' "$tmp/out" | grep -qvE '^(npu_[a-z_]*@@NPU_0|NPU_0)'
result $? 'libnpu.so shows versioned npu_ symbols alone'
exits 0 'symbols of the static library' nm -g --defined-only "$tmp/root/opt/npu/lib/libnpu.a"
[ -n "${SANITIZE:-}" ] || ! awk 'NF == 3 { print $3 }' "$tmp/out" | grep -qvE '^npu_'
result $? 'libnpu.a shows npu_ symbols alone'

# The page nvdla(4) tells how.
printf '#include <drm/nvdla_accel.h>\n#include <nvdla_chain.h>\nint main(void) { return DRM_NVDLA_DRIVER_MAJOR != 1; }\n' >"$tmp/driver.c"
# shellcheck disable=SC2046,SC2086 # flags are words
exits 0 "a program for the driver's own interface compiles" ${CC:-cc} -Wall -Wextra -Werror -I"$tmp/root/opt/npu/include" \
	$(pkg-config --cflags libdrm) "$tmp/driver.c" -o "$tmp/driver"

PKG_CONFIG_PATH=$tmp/root/opt/npu/lib/pkgconfig
PKG_CONFIG_SYSROOT_DIR=$tmp/root
export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR
sanitize=${SANITIZE:+-fsanitize=$SANITIZE}
# shellcheck disable=SC2016 # these are the README's quotes
sed -n '/^```c$/,/^```$/p' README.md | sed '1d;$d' >"$tmp/first.c"
[ -s "$tmp/first.c" ]
result $? 'the README has a first program'

# shellcheck disable=SC2046,SC2086 # flags are words
{
	exits 0 'it compiles against the shared library' ${CC:-cc} -Wall -Wextra -Werror $sanitize "$tmp/first.c" \
		$(pkg-config --cflags --libs npu) -o "$tmp/first"
	exits 0 'it runs' env LD_LIBRARY_PATH="$tmp/root/opt/npu/lib" "$tmp/first" tools/demo/digits.tflite
	says '^class [0-9], [1-9][0-9]* tasks, [1-9][0-9]* cycles$' 'it says what it saw'
	cp "$tmp/out" "$tmp/shared.out"
	PKG_CONFIG_SYSROOT_DIR='' exits 0 'it compiles against the static library' ${CC:-cc} $sanitize "$tmp/first.c" \
		-I"$tmp/root/opt/npu/include" "$tmp/root/opt/npu/lib/libnpu.a" $(PKG_CONFIG_SYSROOT_DIR='' pkg-config --libs json-c libdrm libnl-genl-3.0 libprotobuf-c) -lm -pthread \
		-o "$tmp/static"
	exits 0 'and runs' "$tmp/static" tools/demo/digits.tflite
	cmp -s "$tmp/out" "$tmp/shared.out"
	result $? 'with the same result'
	exits 1 'it fails with text where there is no model' "$tmp/static" "$tmp/missing.tflite"
	complains 'missing.tflite' 'that names the file'
	if command -v c++ >/dev/null; then
		printf '#include <npu.h>\nint main() { return npu_version()[0] == 0; }\n' >"$tmp/plus.cc"
		printf '#include <cl_npu.h>\n#include <cl_npu_command_buffer.h>\n#include <CL/cl_ext.h>\nint main() {}\n' >"$tmp/opencl.cc"
		exits 0 'and so are those of OpenCL' c++ -Wall -Werror $sanitize "$tmp/opencl.cc" $(pkg-config --cflags npu-opencl) -o "$tmp/opencl"
		exits 0 'npu.h is good C++' c++ -Wall -Werror $sanitize "$tmp/plus.cc" $(pkg-config --cflags --libs npu) -o "$tmp/plus"
	else
		skip 'npu.h in C++' 'there is no C++ compiler'
	fi
}

exits 0 'make uninstall' make O="$O" DESTDIR="$tmp/root" PREFIX=/opt/npu uninstall
[ -z "$(find "$tmp/root" ! -type d)" ]
result $? 'leaves nothing behind'
finish
