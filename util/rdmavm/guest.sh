# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared with the other parts
# Commands in the guest, over one ssh connection that all of them share: under emulation a login of its own
# would cost each of them a second.

# The path of a socket may not be long, so ssh runs in the machine's folder.
in_vm_folder() {
	cd "$vm" && exec "$@"
}

# Sets "ssh" to the command that reaches the guest from the machine's folder.
ssh_command() {
	ssh=(ssh -F none -S ctl -i key -p "$(state_of "$vm" port)"
		-o HostName=127.0.0.1 -o "HostKeyAlias=rdmavm-$name" -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null
		-o IdentitiesOnly=yes -o BatchMode=yes -o ConnectTimeout=30 -o LogLevel=ERROR -o EscapeChar=none)
}

connected() {
	(in_vm_folder "${ssh[@]}" -O check rdmavm) > /dev/null 2>&1
}

# Opens the shared connection; the caller holds the machine's lock.
connect() {
	ssh_command
	connected && return
	rm -f "$vm/ctl"
	(in_vm_folder timeout 60 "${ssh[@]}" -M -N -f root@rdmavm) < /dev/null > /dev/null 2> "$vm/ssh.log" 8>&- 9>&- ||
		die "no ssh connection to $name: $(cat "$vm/ssh.log"); console log: $vm/serial.log"
}

need_guest() {
	ssh_command
	if vm_pid > /dev/null && vm_ready && connected; then
		check_running
	else
		vm_up
	fi
}

# stop_guest_command PID: ends the ssh client and whatever its command started in the guest.
stop_guest_command() {
	kill -TERM "$1" 2> /dev/null
	# shellcheck disable=SC2016 # for the guest's shell
	local stop='s=$(cat /run/rdmavm/run.'$id') || exit 0
		pkill -TERM -s "$s"
		timeout 5 sh -c "while pgrep -s $s; do sleep 0.1; done" > /dev/null || pkill -KILL -s "$s"'
	(in_vm_folder timeout 20 "${ssh[@]}" -T root@rdmavm "$stop") < /dev/null > /dev/null 2>&1
}

# QEMU closes the connection before it has ended itself: a kernel that has said its last word counts as stopped.
guest_gone() {
	! vm_pid > /dev/null || grep -qsa 'Kernel panic' "$vm/serial.log"
}

# Why a guest stopped that was not told to: what its kernel said.
guest_stopped() {
	grep -aE 'Oops|BUG:|RIP: 0010|Kernel panic' "$vm/serial.log" | head -n 5
	if grep -qaF 'Oops: int3' "$vm/serial.log" && [ "$(state_of "$vm" accel)" = tcg ]; then
		say "QEMU before 8.1 may do that to a kernel that changes its code while the other processor executes it"
	fi
}

guest_run() {
	local id=$$.$RANDOM words status guard=() began
	need_guest
	began=$SECONDS
	printf -v words '%q ' /usr/local/lib/rdmavm/run "$id" "$(folder_below "$(state_of "$vm" share)")" "$timeout" "$@"
	# The guest itself ends the command in time; this is for a guest that no longer answers.
	[ "$timeout" = 0 ] || guard=(timeout --foreground "$((timeout + 60))")
	stoppable stop_guest_command in_vm_folder "${guard[@]}" "${ssh[@]}" -T root@rdmavm "$words"
	status=$?
	if [ "$status" = 124 ] && [ "$timeout" != 0 ] && [ $((SECONDS - began)) -ge "$timeout" ]; then
		say "the command was stopped after $timeout s"
	elif [ "$status" = 255 ] && guest_gone; then
		say "the guest stopped while the command ran; its console log is $vm/serial.log"
		guest_stopped >&2
	elif [ "$status" = 255 ] && ! connected; then
		say "the connection to the guest was lost while the command ran; its console log is $vm/serial.log"
	fi
	exit "$status"
}

guest_shell() {
	local words
	need_guest
	printf -v words 'cd %q; exec bash -l' "$(folder_below "$(state_of "$vm" share)")"
	in_vm_folder "${ssh[@]}" -t root@rdmavm "$words"
}
