# SPDX-License-Identifier: MIT
# shellcheck shell=dash
# npu-budget on the kernel's NPU: its numbers, the limit, what a watcher sees, and without privileges.
#
# vm-test: kernel=packaged program=bin/npu-budget
# shellcheck source=tests/vm/guest/lib.sh
. /vm/lib.sh

saw()
{
	prints "$1" cat watched
}

check 'the first NPU of the kernel is the default' prints '^accel0: 32 of 32 banks available' npu-budget get
npu-budget --json --device accel0 watch >watched 2>&1 &
watcher=$!
check 'a watcher prints the budget first' wait_for 5 saw '"banks_limit": 32,'
check 'the limit is set' prints '16 of 32 banks available \(limit 16,' npu-budget --device /dev/accel/accel0 set-limit 16
check 'the watcher saw old and new' wait_for 5 saw '"cause": "limit", "old": .*"banks_limit": 32,.*"now": .*"banks_limit": 16,'
check 'and lifted' prints '32 of 32' npu-budget set-limit 32
check 'the watcher saw that' wait_for 5 saw '"old": .*"banks_limit": 16,.*"now": .*"banks_limit": 32,'
check 'more than there are' complains '1 to 32 banks' npu-budget set-limit 33
check 'a device that is not there' complains 'accel7: no such NPU' npu-budget --device accel7 get
kill $watcher
wait $watcher
check 'without privileges: get' prints '^accel0: 32 of 32' unshare -U npu-budget get
check 'but no limit' complains 'CAP_NET_ADMIN' unshare -U npu-budget set-limit 3
verdict
