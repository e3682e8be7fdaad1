# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# What the scripts of tests/vm share: where the cache is, how packages of another release get in
# there, which kernels exist.  Sourced, with the current directory at the root of the tree.
#
# Nothing is installed on the host but build tools: packages of other releases are downloaded by a
# private apt area and unpacked into the cache.

# shellcheck disable=SC2034 # for those that source it
VM=tests/vm
CACHE=${NPU_VM_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/npu-vm}
# shellcheck disable=SC2034
ARCH=$(dpkg --print-architecture)

say()
{
	echo "vm: $*" >&2
}

die()
{
	say "$*"
	exit 1
}

# quietly COMMAND...: its output is shown only if it fails.
quietly()
{
	local log
	log=$(mktemp)
	if ! "$@" >"$log" 2>&1; then
		tail -n 20 "$log" >&2
		rm -f "$log"
		return 1
	fi
	rm -f "$log"
}

# need COMMAND=PACKAGE...: build tools of the host; root installs what is missing.
need()
{
	local pair missing=
	for pair in "$@"; do
		case $pair in
		/*) [ -e "${pair%%=*}" ] || missing="$missing ${pair#*=}" ;;
		*) command -v "${pair%%=*}" >/dev/null || missing="$missing ${pair#*=}" ;;
		esac
	done
	[ -n "$missing" ] || return 0
	[ "$(id -u)" = 0 ] || die "not installed:$missing"
	say "installing$missing"
	# shellcheck disable=SC2086 # a list
	quietly apt-get -q update &&
		DEBIAN_FRONTEND=noninteractive quietly apt-get -q install -y --no-install-recommends $missing
}

# once STAMP COMMAND...: runs the command unless it has succeeded before; safe against two at a time.
once()
{
	local stamp=$CACHE/stamp/$1
	shift
	[ ! -e "$stamp" ] || return 0
	mkdir -p "$CACHE/stamp"
	(
		flock 9
		[ -e "$stamp" ] || { "$@" && touch "$stamp"; }
	) 9>"$stamp.lock"
}

# The archive's address is that of the host's own apt configuration: archive main|security.
archive()
{
	local want address
	[ "$1" = security ] && want='-security$' || want='^[a-z]+$'
	address=$({
		# shellcheck disable=SC2016 # apt expands it
		apt-get indextargets --format '$(RELEASE) $(REPO_URI)' 2>/dev/null
		# Before the first update apt has no targets yet.
		cat /etc/apt/sources.list.d/*.sources 2>/dev/null |
			awk '/^URIs:/ { uri = $2 } /^Suites:/ { for (i = 2; i <= NF; i++) print $i, uri }'
		cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null |
			sed 's/\[[^]]*\]//' | awk '$1 == "deb" { print $3, $2 }'
	} | awk -v want="$want" -v security="$1" '
		$1 ~ want && $2 ~ (security == "security" ? "debian-security" : "debian\\/?$") { print $2; exit }')
	[ -n "$address" ] || die "apt's configuration names no Debian $1 archive"
	echo "${address%/}"
}

# area NAME: writes the private apt area NAME and fetches its indices.
area()
{
	local dir=$CACHE/apt/$1 keys=/usr/share/keyrings/debian-archive-keyring.gpg main security suites
	mkdir -p "$dir/state/lists/partial" "$dir/cache/archives/partial" "$dir/preferences"
	: >"$dir/status"
	main=$(archive main) && security=$(archive security) || return
	case $1 in
	bookworm) suites="bookworm bookworm-updates" ;;
	trixie) suites="trixie trixie-updates trixie-backports" ;;
	*) die "no release '$1'" ;;
	esac
	cat >"$dir/sources.sources" <<END
Types: deb
URIs: $main
Suites: $suites
Components: main
Signed-By: $keys

Types: deb
URIs: $security
Suites: $1-security
Components: main
Signed-By: $keys
END
	{
		apt-config dump Acquire | grep -iE 'proxy|Verify|Retries' || :
		cat <<END
Dir::Etc::SourceList "/dev/null";
Dir::Etc::SourceParts "$dir/";
Dir::Etc::Preferences "/dev/null";
Dir::Etc::PreferencesParts "$dir/preferences/";
Dir::State "$dir/state/";
Dir::State::status "$dir/status";
Dir::Cache "$dir/cache/";
APT::Install-Recommends "false";
APT::Default-Release "$1";
APT::Sandbox::User "";
Acquire::Languages "none";
END
	} >"$dir/apt.conf"
	APT_CONFIG=$dir/apt.conf quietly apt-get -q update
}

# in_area NAME COMMAND...
in_area()
{
	local config=$CACHE/apt/$1/apt.conf
	shift
	APT_CONFIG=$config "$@"
}

# apt_get AREA ARGUMENT...: once more with new indices if the archive has moved on since they were read.
apt_get()
{
	local from=$1
	shift
	in_area "$from" apt-get -q "$@" >/dev/null 2>&1 || { area "$from" && in_area "$from" quietly apt-get -q "$@"; }
}

# unpack AREA DIRECTORY SUITE PACKAGE...: the packages with all that they depend on.  SUITE is the
# one preferred, as for apt's -t.
unpack()
{
	local from=$1 into=$2 suite=$3 debs=$CACHE/apt/$1/cache/archives
	shift 3
	rm -f "$debs"/*.deb
	apt_get "$from" -y --download-only -t "$suite" install "$@" &&
		unpack_debs "$into" "$debs"/*.deb || return
	rm -f "$debs"/*.deb
}

# unpack_alone AREA DIRECTORY PACKAGE...: the packages without what they depend on.
unpack_alone()
{
	local from=$1 into=$2 debs=$CACHE/apt/$1/cache/alone
	shift 2
	rm -rf "$debs"
	mkdir -p "$debs"
	(cd "$debs" && apt_get "$from" download "$@") &&
		unpack_debs "$into" "$debs"/*.deb || return
	rm -rf "$debs"
}

unpack_debs()
{
	local into=$1 dir deb
	shift
	mkdir -p "$into/usr/bin" "$into/usr/sbin" "$into/usr/lib" "$into/usr/lib64"
	for dir in bin sbin lib lib64; do
		[ -e "$into/$dir" ] || ln -s usr/$dir "$into/$dir"
	done
	for deb in "$@"; do
		dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$into" --keep-directory-symlink --no-same-owner || return
	done
}

# newest AREA REGEX: the package of the highest version whose whole name matches the extended regular
# expression.
newest()
{
	in_area "$1" apt-cache pkgnames linux- | grep -xE "$2" | sort -V | tail -n 1
}

# kernel_area NAME: the release whose packages the kernel comes from.
kernel_area()
{
	case $1 in
	6.12) echo bookworm ;;
	7) echo trixie ;;
	*) die "no kernel '$1' (6.12, 7, debug-6.12, debug-7)" ;;
	esac
}
