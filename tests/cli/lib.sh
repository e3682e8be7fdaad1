# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# What the tests of command lines share: TAP lines, a folder of their own, expected outcomes.
set -u
cd "$(dirname "$0")/../.." || exit
O=${O:-build}
NPU_SHARED=${NPU_SHARED:-../shared}
bin=$PWD/$O/bin
# shellcheck disable=SC2034 # for the tests
case $O in /*) bin=$O/bin ;; esac
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
number=0 failed=0

# result STATUS WHAT: one TAP line; on failure with what the last command printed.
result()
{
	number=$((number + 1))
	if [ "$1" = 0 ]; then
		echo "ok $number - $2"
	else
		echo "not ok $number - $2"
		failed=$((failed + 1))
		[ ! -f "$tmp/out" ] || sed 's/^/# out: /' "$tmp/out" | head -n 10
		[ ! -f "$tmp/err" ] || sed 's/^/# err: /' "$tmp/err" | head -n 10
	fi
}

# run COMMAND...: keeps its output in $tmp/out and $tmp/err and its exit status in $status.
run()
{
	status=0
	"$@" >"$tmp/out" 2>"$tmp/err" || status=$?
}

# foreign COMMAND...: run, for a program that is not ours and loads our library.  With a sanitizer its runtime has
# to be there before the program, and C++'s before that looks for it; what the program itself leaks is not our matter.
foreign()
{
	runtime=
	case ${SANITIZE:-} in
	'') ;;
	thread*) runtime=libtsan.so ;;
	*) runtime=libasan.so ;;
	esac
	if [ -z "$runtime" ]; then
		run "$@"
		return
	fi
	run env ASAN_OPTIONS=detect_leaks=0 LD_PRELOAD="$(${CC:-cc} -print-file-name=$runtime) $(
		${CC:-cc} -print-file-name=libstdc++.so.6)" "$@"
}

# exits CODE WHAT COMMAND...
exits()
{
	want=$1 what=$2
	shift 2
	run "$@"
	[ $status = "$want" ] || echo "# status $status, not $want"
	[ $status = "$want" ]
	result $? "$what"
}

# refuses WHAT PATTERN COMMAND...: ends with 1 or 2 and a message that has PATTERN.
refuses()
{
	what=$1 pattern=$2
	shift 2
	run "$@"
	{ [ $status = 1 ] || [ $status = 2 ]; } && grep -qE -e "$pattern" "$tmp/err"
	result $? "$what is refused"
}

# says PATTERN WHAT: the last command's standard output has it; complains: its standard error.
says()
{
	grep -qE -e "$1" "$tmp/out"
	result $? "$2"
}

complains()
{
	grep -qE -e "$1" "$tmp/err"
	result $? "$2"
}

skip()
{
	number=$((number + 1))
	echo "ok $number - $1 # SKIP $2"
}

# finish: the last line of each test.
finish()
{
	echo "1..$number"
	[ $failed = 0 ] && [ $number != 0 ]
	exit
}
