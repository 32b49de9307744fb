# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared with the other parts
# Messages, settings, locks and namespaces: what every other part uses.

say() {
	printf 'rdmavm: %s\n' "$*" >&2
}

# A line of a long step, with the seconds since rdmavm was started.
progress() {
	printf 'rdmavm: [%3d s] %s\n' "$SECONDS" "$*" >&2
}

die() {
	say "$*"
	exit 1
}

usage_error() {
	say "$*; see \"rdmavm --help\""
	exit 2
}

# require PROGRAM PACKAGE...: pairs of what must be there and the Debian package that has it.
require() {
	local missing=()
	while [ $# -gt 0 ]; do
		command -v "$1" > /dev/null || missing+=("$2")
		shift 2
	done
	[ ${#missing[@]} = 0 ] || die "missing here: run apt-get install ${missing[*]}"
}

check_number() {
	[[ $2 =~ ^[1-9][0-9]{0,6}$ ]] || usage_error "$1 must be a positive number, not \"$2\""
}

# Turns options and environment into the variables that the other parts read.
read_settings() {
	cache=${RDMAVM_CACHE:-${XDG_CACHE_HOME:-${HOME:?}/.cache}/rdmavm}
	mkdir -p "$cache/images" "$cache/build" "$cache/vm" ||
		die "cannot write to $cache; set RDMAVM_CACHE to a folder that you own"
	cache=$(realpath -- "$cache")

	# An instance that exists keeps its release, so its name alone is enough.
	local recorded=
	if [ -n "${given[name]-}" ] && [ -z "${given[release]-}" ]; then
		[[ ${given[name]} == */* ]] || recorded=$(state_of "$cache/vm/${given[name]}" release)
	fi
	release=${given[release]:-${recorded:-trixie}}
	name=${given[name]:-$release}
	accel=${given[accel]:-auto}
	cpus=${given[cpus]:-2}
	memory=${given[memory]:-4096}
	pmem=${given[pmem]:-512}
	persistence=${given[persistence]:-mem-ctrl}
	boot_timeout=${RDMAVM_BOOT_TIMEOUT:-900}
	vm=$cache/vm/$name
	[ "$(uname -m)" = x86_64 ] || die "this machine is no x86-64, which is the only kind of guest that rdmavm makes"
	image=

	[[ $release =~ ^(trixie|bookworm|forky)$ ]] || usage_error "--release must be trixie, bookworm or forky, not \"$release\""
	[[ $name =~ ^[A-Za-z0-9][A-Za-z0-9._-]*$ ]] || usage_error "--name \"$name\" is no plain file name"
	[[ $accel =~ ^(auto|kvm|tcg)$ ]] || usage_error "--accel must be auto, kvm or tcg, not \"$accel\""
	[[ $persistence =~ ^(mem-ctrl|cpu)$ ]] || usage_error "--persistence must be mem-ctrl or cpu, not \"$persistence\""
	check_number --cpus "$cpus"
	check_number --memory "$memory"
	check_number --pmem "$pmem"
	# The kernel takes persistent memory in sections of this size.
	[ $((pmem % 128)) = 0 ] || usage_error "--pmem must be a multiple of 128, not $pmem"
	check_number RDMAVM_BOOT_TIMEOUT "$boot_timeout"
	[ "$timeout" = 0 ] || check_number --timeout "$timeout"

	local package
	for package in $packages; do
		[[ $package =~ ^[a-z0-9][a-z0-9.+-]+$ ]] || usage_error "--package \"$package\" is no name of a Debian package"
	done
	# shellcheck disable=SC2086 # the list is split on purpose
	packages=$(printf '%s\n' $packages | sort -u | paste -sd' ')
	[ -z "$packages" ] || given[packages]=$packages

	share=${given[share]:-$(git rev-parse --show-toplevel 2> /dev/null || pwd -P)}
	share=$(realpath -e -- "$share" 2> /dev/null)
	if [ -n "${given[share]-}" ]; then
		[ -d "$share" ] || usage_error "--share ${given[share]} is no folder that you can read"
		given[share]=$share
	fi
}

# The shared folder lies over the same path in the guest, so it must not hide the guest's system.
check_share() {
	[ -d "$share" ] || die "cannot share this folder, which you cannot read; use --share DIR"
	case $share in
	/ | /bin | /boot | /etc | /lib | /lib64 | /sbin | /usr | /var | /run | /dev | /dev/* | /proc | /proc/* | /sys | /sys/*)
		die "cannot share $share: it would hide the guest's own; use --share DIR"
		;;
	esac
	[[ $share != *$'\n'* ]] || die "cannot share a folder with a line break in its name"
}

# state_of FOLDER KEY: one value of a machine's record.
state_of() {
	[ -f "$1/state" ] && sed -n "s/^$2=//p" "$1/state"
}

# folder_below SHARE: the caller's folder if a guest that has SHARE has it, else the home folder there.
folder_below() {
	local here
	here=$(pwd -P)
	if [[ $here/ == "$1"/* ]]; then
		printf '%s\n' "$here"
	else
		echo /root
	fi
}

# take_lock FD FILE SECONDS WHAT: holds FILE exclusively for as long as FD is open.
take_lock() {
	flock -n "$1" && return
	say "another rdmavm $4; waiting for it"
	flock -w "$3" "$1" || die "gave up after $3 s: another rdmavm still $4 (lock: $2)"
}

# Runs a command as root of the guest's files: as it is for root, else in a user namespace where the
# caller is root and the caller's subordinate ids (/etc/subuid) are the others.
as_guest_root() {
	if [ "$EUID" = 0 ]; then
		"$@"
	else
		unshare --user --map-root-user --map-auto -- "$@"
	fi
}

# What as_guest_root needs.
check_namespaces() {
	local file
	[ "$EUID" != 0 ] || return 0
	require newuidmap uidmap unshare util-linux
	for file in /etc/subuid /etc/subgid; do
		if ! grep -qsE "^($(id -un)|$EUID):" "$file"; then
			say "you have no line in $file; as root, with a range that nobody else has there, run"
			die "usermod --add-subuids 100000-165535 --add-subgids 100000-165535 $(id -un)"
		fi
	done
	unshare --user --map-root-user --map-auto true 2> /dev/null || {
		say "this machine allows you no user namespaces"
		die "allow them (sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone) or run rdmavm as root"
	}
}

# Reads the number of a process group; ends that group if this input closes before a second line comes, as it does
# when the rdmavm that writes it is killed.
guard() {
	local group
	trap '' INT TERM HUP
	read -r group && ! read -r && kill -TERM -- "-$group"
}

# end_on_signals [FIRST]: a signal runs the command FIRST, says that it interrupted, and ends this program.
end_on_signals() {
	# shellcheck disable=SC2064 # FIRST is the text of a command
	trap "${1:+$1; }say interrupted; exit 130" INT TERM HUP
}

# end_group GROUP: ends the job GROUP, a process group, and waits until nothing of it is left that could write.
end_group() {
	local deadline=$((SECONDS + 30))
	kill -TERM -- "-$1" 2> /dev/null
	while kill -0 -- "-$1" 2> /dev/null && [ "$SECONDS" -lt "$deadline" ]; do
		sleep 0.1
	done
	kill -KILL -- "-$1" 2> /dev/null
	wait "$1"
}

# logged LOG SECONDS PROGRESS-FUNCTION COMMAND...: runs COMMAND with its output going to LOG and returns its status;
# calls PROGRESS-FUNCTION LOG every five seconds. Leaves end_on_signals behind.
logged() {
	local log=$1 deadline=$((SECONDS + $2)) report=$3 next=$((SECONDS + 5)) signal=TERM status signalled=
	shift 3
	# Until the command's number is known.
	trap 'signalled=yes' INT TERM HUP
	# Job control gives it a process group of its own, so that all of it can be stopped.
	exec 5> >(guard)
	set -m
	"$@" < /dev/null >> "$log" 2>&1 5>&- &
	set +m
	job=$!
	echo "$job" >&5
	# shellcheck disable=SC2016 # for the trap to expand
	end_on_signals 'end_group "$job"'
	[ -z "$signalled" ] || kill -TERM $$
	while kill -0 "$job" 2> /dev/null; do
		if [ "$SECONDS" -ge "$deadline" ]; then
			echo "rdmavm: stopped, for it took too long" >> "$log"
			kill "-$signal" -- "-$job"
			deadline=$((SECONDS + 10)) signal=KILL
		elif [ "$SECONDS" -ge "$next" ]; then
			"$report" "$log"
			next=$((SECONDS + 5))
		fi
		sleep 0.2
	done
	wait "$job"
	status=$?
	echo end >&5
	exec 5>&-
	end_on_signals
	return "$status"
}

# stoppable STOP-FUNCTION COMMAND...: runs COMMAND with this shell's stdin and returns its status; on a signal calls
# STOP-FUNCTION PID and exits.
stoppable() {
	local status signalled=
	stop=$1
	shift
	# Until the command's number is known.
	trap 'signalled=INT' INT
	trap 'signalled=TERM' TERM
	trap 'signalled=HUP' HUP
	"$@" <&0 &
	job=$!
	trap '"$stop" "$job"; exit 130' INT
	trap '"$stop" "$job"; exit 143' TERM
	trap '"$stop" "$job"; exit 129' HUP
	[ -z "$signalled" ] || kill "-$signalled" $$
	wait "$job"
	status=$?
	trap - INT TERM HUP
	return "$status"
}
