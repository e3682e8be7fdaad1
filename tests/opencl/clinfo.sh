#!/bin/sh
# SPDX-License-Identifier: MIT
# clinfo, which asks everything that can be asked: no query fails, nothing is odd, and the NPU stands beside PoCL.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../cli/lib.sh"

if ! command -v clinfo >/dev/null; then
	skip 'clinfo' 'it is not installed (Debian: clinfo)'
	finish
fi
case ${SANITIZE:-} in
thread*)
	skip 'clinfo' 'it does not start with the thread sanitizer before it'
	finish
	;;
esac

# clean WHAT: the last command ended well, without a word on standard error, and no value of it is an error.
clean()
{
	[ $status = 0 ] && [ ! -s "$tmp/err" ] && ! grep -nE 'clGet[A-Za-z]* *[:(].*(-[0-9]+|rror)|CL_(INVALID|OUT_OF)|<[a-z]|: error' "$tmp/out"
	result $? "$1 is without errors and warnings"
}

foreign clinfo
clean 'clinfo'
says '^ *Platform Name +NPU$' 'it shows the platform'
says '^Number of devices +1$' 'with its device'
says '^ *Device Name +NVDLA nv_small \(sim:nv_small\)$' 'by name'
says '^ *Device Type +Accelerator$' 'as an accelerator'
says '^ *Device Profile +EMBEDDED_PROFILE$' 'in the embedded profile'
says '^ *Local memory size +131072 \(128KiB\)$' 'and its on-chip buffer as local memory'
says '^ *cl_khr_command_buffer +0x9008 \(0\.9\.8\)$' 'and the version of its command buffers'
# With --raw clinfo 3.0.23 writes behind one of its own texts, which the sanitizer sees before anything of ours.
if [ -z "${SANITIZE:-}" ]; then
	foreign clinfo --raw
	clean 'clinfo --raw'
fi

NPU_OPENCL_DEVICE_TYPE=custom foreign clinfo
clean 'clinfo with a custom device'
says '^Number of devices +0$' 'which programs that do not ask for it do not see'

exits 0 'the budget is halved' "$bin/npu-budget" --device sim:nv_small set-limit 16
foreign clinfo
clean 'clinfo with half of the budget'
says '^ *Local memory size +65536 \(64KiB\)$' 'shows half of the local memory'
exits 0 'the budget is whole again' "$bin/npu-budget" --device sim:nv_small set-limit 32

NPU_DEVICE=sim:nv_small,sim:nv_large foreign clinfo
clean 'clinfo with two NPUs'
says '^Number of devices +2$' 'shows both'
says '^ *Device Name +NVDLA nv_large \(sim:nv_large\)$' 'the second one too'

NPU_DEVICE=accel4711 foreign clinfo
[ $status = 0 ] && [ ! -s "$tmp/err" ]
result $? 'clinfo goes through with an NPU that is not there'
says '^ *Device Available +No$' 'and says that it is not available'

# Both drivers in one program: the vendor files in one folder.
if [ -e /etc/OpenCL/vendors/pocl.icd ]; then
	mkdir "$tmp/vendors"
	cp "$OCL_ICD_VENDORS/npu.icd" /etc/OpenCL/vendors/pocl.icd "$tmp/vendors/"
	OCL_ICD_VENDORS=$tmp/vendors foreign clinfo
	[ $status = 0 ]
	result $? 'clinfo beside PoCL'
	says '^Number of platforms +2$' 'has two platforms'
	says '^ *Platform Name +NPU$' 'ours'
	says '^ *Platform Name +Portable Computing Language$' 'and PoCL'
	for test in "$bin"/../tests/opencl/test_*; do
		[ -x "$test" ] || continue
		OCL_ICD_VENDORS=$tmp/vendors exits 0 "${test##*/} beside PoCL" "$test"
	done
else
	skip 'beside PoCL' 'it is not installed (Debian: pocl-opencl-icd)'
fi
finish
