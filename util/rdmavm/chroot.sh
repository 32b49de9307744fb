# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared with the other parts
# Commands in the guest's root on the host itself: compilers at full speed instead of under emulation.

stop_build() {
	kill -KILL "$1" 2> /dev/null
}

build_in() {
	local how=(--mount --pid --fork --kill-child)
	check_share
	check_namespaces
	[ "$EUID" = 0 ] || how+=(--user --map-root-user --map-auto)
	unshare "${how[@]}" true || die "build-in needs mount namespaces, which this machine does not allow"
	# What is compiled for a machine that is up must fit that machine.
	if vm_pid > /dev/null; then
		check_running
		image=$(state_of "$vm" image)
	fi
	use_image
	[ "$timeout" = 0 ] || set -- timeout -k 5 "$timeout" "$@"
	stoppable stop_build unshare "${how[@]}" bash "$parts/chroot-enter" "$image" "$share" "$(folder_below "$share")" "$@"
	exit
}
