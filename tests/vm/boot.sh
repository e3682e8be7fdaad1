# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# shellcheck disable=SC2154 # kernel, config, iommu, msix, smp, memory, verbose, name: options of run
# The steps of one boot; sourced by run.

# What in a kernel's log is a report of a fault.
REPORTS='WARNING: |BUG: |BUG |Oops|KASAN|UBSAN|general protection|Kernel panic|Call Trace:|stack segment|divide error'
REPORTS+='|INFO: task .* blocked|rcu: INFO|soft lockup|hard LOCKUP|possible (recursive|circular) locking|possible irq lock'
REPORTS+='|inconsistent lock state|suspicious RCU|sleeping function called|scheduling while atomic|DMA-API: [^ ]+ [0-9a-z:.]+: |ODEBUG'
REPORTS+='|refcount_t: |list_(add|del) corruption|unreferenced object|kernel memory leak|Memory manager not clean'
REPORTS+='|Bad page|usercopy: |irq [0-9]+: nobody cared|spurious interrupt|DMAR: .*fault|invalid opcode|WARN_ON|deprecated workqueue'

# test_file NAME: its source.
test_file()
{
	local file
	for file in "$VM/guest/$1.c" "$VM/guest/$1.sh"; do
		[ ! -e "$file" ] || { echo "$file"; return; }
	done
	die "no guest test '$1'"
}

# test_key NAME KEY DEFAULT: what the test's line "vm-test: KEY=VALUE ..." says.
test_key()
{
	local words word file
	file=$(test_file "$1")
	read -ra words <<<"$(sed -n '1,15s/.*vm-test: *//p' "$file")"
	for word in "${words[@]}"; do
		[ "${word%%=*}" != "$2" ] || { echo "${word#*=}"; return; }
	done
	echo "$3"
}

# times FACTOR NUMBER: that many times as much on debug kernels: what they check takes time and memory.
times()
{
	case $kernel in
	debug-*) echo $(($1 * $2)) ;;
	*) echo "$2" ;;
	esac
}

# copy_changed DIRECTORY PATH...: what is another there.  A copy is as young as its content, so that make
# compiles what changed and nothing else.
copy_changed()
{
	local to=$1 file
	shift
	find "$@" -type f | while read -r file; do
		cmp -s "$file" "$to/$file" && continue
		mkdir -p "$to/$(dirname "$file")"
		cp "$file" "$to/$file"
	done
}

# make_module KERNEL DIRECTORY [ARGUMENT...]: builds the tree's module from a copy, with further
# arguments of build-module.
make_module()
{
	local kernel=$1 dir=$2 old
	shift 2
	mkdir -p "$dir"
	(cd "$dir" && find . -name '*.[ch]' ! -name '*.mod.c') | while read -r old; do
		[ -e "$old" ] || rm "$dir/$old"
	done
	copy_changed "$dir" Kbuild driver uapi tests/common
	if ! "$VM/build-module" "$kernel" "$dir" NVDLA_TESTS=y "$@" >"$dir/build.log" 2>&1; then
		cat "$dir/build.log" >&2
		die "nvdla.ko does not build for kernel $kernel"
	fi
	sed -i '/^Skipping BTF generation/d' "$dir/build.log"
}

# kernel_module NAME: its file; nothing where the kernel has none.
kernel_module()
{
	find "$CACHE/kernel/$kernel/modules/kernel" -name "${1//[-_]/[-_]}.ko*" | head -n 1
}

# with_dependencies KO: the modules that it needs, in the order of loading, itself last.
with_dependencies()
{
	local need file
	for need in $(modinfo -F depends "$1" | tr , ' '); do
		file=$(kernel_module "$need")
		[ -n "$file" ] || die "kernel $kernel has no module '$need'"
		with_dependencies "$file" || return
	done
	echo "$1"
}

# put_module ROOT FILE LIST: into the guest, unpacked, and on that list, once.
put_module()
{
	local name
	name=$(basename "$2" | sed 's/\.[xg]z$//; s/\.zst$//')
	! grep -qx "$name" "$1/vm/$3" 2>/dev/null || return 0
	case $2 in
	*.xz) xz -dc "$2" ;;
	*.gz) gzip -dc "$2" ;;
	*.zst) zstd -dqc "$2" ;;
	*) cat "$2" ;;
	esac >"$1/vm/module/$name"
	echo "$name" >>"$1/vm/$3"
}

# put_program ROOT FILE DIRECTORY: with the libraries that it is linked with.  All without what only a
# debugger reads: it would be most of the initrd, which has to be unpacked into half of the memory.
put_program()
{
	local library
	[ -x "$2" ] || die "$2 is not there: build it first"
	strip -g -o "$1/$3/$(basename "$2")" "$2"
	ldd "$2" 2>/dev/null | awk '$3 ~ /^\// { print $3 } $1 ~ /^\// { print $1 }' | while read -r library; do
		mkdir -p "$1$(dirname "$library")"
		[ -e "$1$library" ] || strip -g -o "$1$library" "$library"
	done
}

# put_test ROOT NAME: the test, what it asks for, and its line on the list.
put_test()
{
	local item command=/vm/test/$2 shared=${NPU_SHARED:-../shared}
	case $(test_file "$2") in
	*.c) put_program "$1" "$O/tests/vm/guest/$2" vm/test ;;
	*.sh)
		cp "$VM/guest/$2.sh" "$1/vm/test/"
		command="sh $command.sh"
		;;
	esac
	for item in $(test_key "$2" program '' | tr , ' '); do
		put_program "$1" "$O/$item" vm/bin
	done
	for item in $(test_key "$2" file '' | tr , ' '); do
		mkdir -p "$1/shared/$(dirname "$item")"
		[ ! -e "$shared/$item" ] || cp -R "$shared/$item" "$1/shared/$(dirname "$item")/"
	done
	for item in $(test_key "$2" tree '' | tr , ' '); do
		mkdir -p "$1/tree/$(dirname "$item")"
		cp -R "$item" "$1/tree/$(dirname "$item")/"
	done
	echo "$2 $(times 4 "$(test_key "$2" timeout 120)") $(test_key "$2" module yes) $command $(
		test_key "$2" args '' | tr , ' ')" >>"$1/vm/tests"
}

# make_initrd BOOT MODULES TEST...
make_initrd()
{
	local boot=$1 module=$2/nvdla.ko root=$1/root needed file dir test
	shift 2
	for dir in bin dev proc sys tmp shared vm/bin vm/module vm/test lib usr/lib; do
		mkdir -p "$root/$dir"
	done
	ln -s lib "$root/lib64"
	cp "$CACHE/trixie/usr/bin/busybox" "$root/bin/"
	cp "$VM/init.sh" "$root/init"
	cp "$VM/guest/lib.sh" "$root/vm/"
	needed=$(with_dependencies "$module")
	for file in $needed; do
		put_module "$root" "$file" modules
	done
	# Not loaded unless a test does so: the tree's other modules.
	for file in "${module%/*}"/*.ko; do
		[ "$file" = "$module" ] || put_module "$root" "$file" other-modules
	done
	{
		echo "export NPU_SHARED=/shared NPU_VM_KERNEL=$kernel NPU_VM_CONFIG=$config NPU_VM_IOMMU=$iommu"
		env | sed -n "s/^\(NPU_TEST_[A-Z_]*\)=\([A-Za-z0-9._:,/-]*\)$/export \1=\2/p"
	} >"$root/vm/environment"
	for test in "$@"; do
		put_test "$root" "$test"
		for needed in $(test_key "$test" kmod '' | tr , ' '); do
			# Debug kernels have all that tests need built in.
			[ -d "$CACHE/kernel/$kernel/modules" ] || continue
			file=$(kernel_module "$needed")
			[ -n "$file" ] || die "kernel $kernel has no module '$needed'"
			for file in $(with_dependencies "$file"); do
				put_module "$root" "$file" modules
			done
		done
	done
	(cd "$root" && find . | cpio -o -H newc --quiet) >"$boot/initrd"
}

# serve_npu BOOT SOCKET: starts the modelled device, waits until it listens; sets server.
serve_npu()
{
	local options=() wait=0
	[ "$msix" = no ] || options+=(--msix)
	"$O/bin/npusim" serve --config "$config" --socket "$2" --once "${options[@]}" >"$1/npusim.log" 2>&1 &
	server=$!
	until [ -S "$2" ]; do
		wait=$((wait + 1))
		if [ $wait = 100 ] || ! kill -0 $server 2>/dev/null; then
			cat "$1/npusim.log" >&2
			die "npusim serve does not listen"
		fi
		sleep 0.1
	done
}

# run_machine BOOT SOCKET: the kernel's log goes to console.log, the tests' output to tests.log; sets
# machine, for that is to be stopped when this script is.
run_machine()
{
	local status=0 limit seconds arch megabytes prefix=$CACHE/trixie options=()
	local append="console=ttyS0 panic=-1 oops=panic no_timer_check iomem=relaxed printk.devkmsg=on log_buf_len=4M"
	arch=$(uname -m)
	limit=$(times 4 120)
	megabytes=$(times 2 "$memory")M
	while read -r _ seconds _; do
		limit=$((limit + seconds))
	done <"$1/root/vm/tests"
	if [ "$iommu" = yes ]; then
		options+=(-device 'intel-iommu,caching-mode=on')
		append+=" intel_iommu=on iommu.strict=1"
	fi
	# shellcheck disable=SC2206 # words: further options, for measurements
	options+=(${NPU_VM_QEMU:-})
	: >"$1/tests.raw"
	# The unpacked one, with its own loader and libraries.  Without page tables of five levels: an interrupt
	# while the kernel finds out about them lets KASAN report a spinlock of its own.
	QEMU_MODULE_DIR=$prefix/usr/lib/$arch-linux-gnu/qemu timeout -k 5 "$limit" \
		"$prefix"/lib64/ld-linux-*.so.2 --library-path "$prefix/usr/lib/$arch-linux-gnu" \
		"$prefix/usr/bin/qemu-system-$arch" -L "$prefix/usr/share/qemu" -L "$prefix/usr/share/seabios" \
		-M q35 -accel "${NPU_VM_ACCEL:-tcg}" -cpu max,la57=off -smp "$smp" -m "$megabytes" -nodefaults -display none \
		-no-reboot -object "memory-backend-memfd,share=on,id=mem,size=$megabytes" -machine memory-backend=mem \
		-serial "file:$1/console.raw" -serial stdio \
		-kernel "$CACHE/kernel/$kernel/vmlinuz" -initrd "$1/initrd" -append "$append" "${options[@]}" \
		-device "{\"driver\":\"vfio-user-pci\",\"rombar\":0,\"socket\":{\"type\":\"unix\",\"path\":\"$2\"}}" \
		</dev/null >"$1/tests.raw" 2>"$1/qemu.log" &
	machine=$!
	tail -f -n +1 --pid=$machine "$1/tests.raw" | tr -d '\r' | progress &
	wait $machine || status=$?
	[ $status != 124 ] || echo "the machine was stopped after $limit s" >>"$1/qemu.log"
	wait $! || :
	plain_logs "$1"
}

# plain_logs BOOT: serial lines end with a carriage return, too.
plain_logs()
{
	local log
	for log in tests console; do
		touch "$1/$log.raw"
		tr -d '\r' <"$1/$log.raw" >"$1/$log.log"
	done
}

# What is seen while the machine runs.
progress()
{
	local line
	while IFS= read -r line; do
		if [ "$verbose" = yes ]; then
			echo "$line"
		else
			case $line in
			'#vm begin '*) say "$name: ${line#\#vm begin }" ;;
			esac
		fi
	done
}

# section FILE NAME: the part of a log that is a test's.
section()
{
	awk -v test="$2" '/vm:? begin / { inside = $NF == test } inside' "$1"
}

# judge_test BOOT NAME: prints the test's line and why it failed; counts into passed and failed.
judge_test()
{
	local out=$1/$2.log good bad skipped end verdict=ok note=
	section "$1/tests.log" "$2" >"$out"
	section "$1/console.log" "$2" >"$out.kernel"
	skipped=$(grep -ciE '^(ok [^#]*# *)?skip' "$out" || :)
	good=$(($(grep -cE '^ok' "$out" || :) - $(grep -ciE '^ok [^#]*# *skip' "$out" || :)))
	bad=$(grep -cE '^not ok' "$out" || :)
	end=$(sed -n "s/^#vm end $2 //p" "$out")
	if [ "$bad" = 0 ] && [ -z "$end" ]; then
		bad=1 note="it did not end"
	elif [ "$bad" = 0 ] && [ "${end%% *}" != 0 ]; then
		bad=1 note="ended with status ${end%% *}"
	elif [ $((good + bad + skipped)) = 0 ]; then
		bad=1 note="printed no result"
	elif [ "$skipped" != 0 ]; then
		note=$(grep -iE '^(ok [^#]*# *)?skip' "$out" | head -n 1)
		[ -z "${CI:-}" ] || bad=$((bad + skipped))
	fi
	if ! grep -q "vm: begin $2\$" "$out.kernel"; then
		bad=$((bad + 1)) note="${note:+$note; }the kernel's log does not tell of it"
	elif grep -qE "$REPORTS" "$out.kernel"; then
		bad=$((bad + 1)) note="${note:+$note; }the kernel reported a fault"
	fi
	passed=$((passed + good)) failed=$((failed + bad))
	[ "$bad" = 0 ] || verdict=FAIL
	printf '%-4s %-40s %4d passed %3d failed %3d skipped %6.1f s%s\n' $verdict "vm/$name/$2" \
		"$good" "$bad" "$skipped" "${end##* }" "${note:+  ($note)}"
	[ "$bad" != 0 ] || return 0
	{
		grep -E '^not ok' "$out" | head -n 20 || :
		tail -n 5 "$out"
		grep -E -m 1 -A 40 "$REPORTS" "$out.kernel" || tail -n 10 "$out.kernel"
	} | sed 's/^/     | /'
}

# judge BOOT: the tests' verdicts, what the kernel said while it booted, and whether the machine ended well.
judge()
{
	local test note=
	passed=0 failed=0
	for test in $(cut -d ' ' -f 1 "$1/root/vm/tests") kernel; do
		judge_test "$1" "$test"
	done
	if ! grep -q '^#vm done' "$1/tests.log"; then
		note="the machine ended early: $(tail -n 1 "$1/qemu.log")"
	elif sed '/vm: begin /,$d' "$1/console.log" | grep -qE "$REPORTS"; then
		note="the kernel reported a fault while it booted"
	elif grep -q 'Bad address' "$1/npusim.log"; then
		note="the NPU reached for memory that was not mapped for it: $(grep -m 1 'Bad address' "$1/npusim.log")"
	fi
	if [ -n "$note" ]; then
		failed=$((failed + 1))
		echo "FAIL vm/$name: $note"
		tail -n 30 "$1/console.log" | sed 's/^/     | /'
	fi
	echo "logs: $1"
	echo "$passed passed, $failed failed"
	[ "$failed" = 0 ] && [ "$passed" != 0 ]
}
