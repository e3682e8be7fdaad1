# SPDX-License-Identifier: MIT
# shellcheck shell=dash
# npu-budget on the kernel's NPU: its numbers, the limit, what a watcher sees, and without privileges.
#
# vm-test: kernel=packaged program=bin/npu-budget
number=0 bad=0

# check WHAT COMMAND...: one TAP line.
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

# prints PATTERN COMMAND...
prints()
{
	pattern=$1 failed=
	shift
	"$@" >printed 2>&1 || failed=yes
	cat printed
	[ -z "$failed" ] && grep -qE "$pattern" printed
}

# complains PATTERN COMMAND...
complains()
{
	pattern=$1 failed=
	shift
	"$@" >printed 2>&1 && failed=no
	cat printed
	[ -z "$failed" ] && grep -qE "$pattern" printed
}

# watcher_saw PATTERN
watcher_saw()
{
	tries=0
	until grep -qE "$1" watched; do
		tries=$((tries + 1))
		[ $tries -lt 50 ] || { cat watched; return 1; }
		usleep 100000
	done
}

check 'the first NPU of the kernel is the default' prints '^accel0: 32 of 32 banks available' npu-budget get
npu-budget --json --device accel0 watch >watched 2>&1 &
watcher=$!
check 'a watcher prints the budget first' watcher_saw '"banks_limit": 32,'
check 'the limit is set' prints '16 of 32 banks available \(limit 16,' npu-budget --device /dev/accel/accel0 set-limit 16
check 'the watcher saw old and new' watcher_saw '"cause": "limit", "old": .*"banks_limit": 32,.*"now": .*"banks_limit": 16,'
check 'and lifted' prints '32 of 32' npu-budget set-limit 32
check 'the watcher saw that' watcher_saw '"old": .*"banks_limit": 16,.*"now": .*"banks_limit": 32,'
check 'more than there are' complains '1 to 32 banks' npu-budget set-limit 33
check 'a device that is not there' complains 'accel7: no such NPU' npu-budget --device accel7 get
kill $watcher
wait $watcher
check 'without privileges: get' prints '^accel0: 32 of 32' unshare -U npu-budget get
check 'but no limit' complains 'CAP_NET_ADMIN' unshare -U npu-budget set-limit 3
echo "1..$number"
[ $bad = 0 ]
