# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared with the other parts
# KVM or software emulation? /dev/kvm can exist and be usable and still not start a stock kernel (nested
# virtualization does that), and then QEMU hangs: only a kernel that has reached user space is a proof.

# kernel_starts ACCELERATOR CPU SECONDS: boots just the kernel and initial ram disk of "image".
kernel_starts() {
	local console=$vm/probe.console messages=$vm/probe.messages pid status=1
	rm -f "$console"
	timeout -k 1 "$3" qemu-system-x86_64 -machine q35 -accel "$1" -cpu "$2" -m 512M -nodefaults -no-user-config \
		-no-reboot -display none -monitor none -serial "file:${console//,/,,}" \
		-kernel "$image/vmlinuz" -initrd "$image/initrd.img" -append "console=ttyS0 panic=-1" \
		< /dev/null > "$messages" 2>&1 8<&- 9>&- &
	pid=$!
	while kill -0 "$pid" 2> /dev/null; do
		# The first words of Debian's initial ram disk, made by initramfs-tools or, since forky, by dracut.
		if grep -qsaE 'Loading, please wait|Booting initrd of' "$console"; then
			status=0
			break
		fi
		! grep -qsa 'KVM internal error' "$messages" || break
		sleep 0.1
	done
	kill -TERM "$pid" 2> /dev/null
	wait "$pid"
	rm -f "$console" "$messages"
	return "$status"
}

# Sets "accel" to kvm or tcg. The answer holds until the next boot of this machine or another QEMU or kernel.
choose_accel() {
	[ "$accel" = auto ] || return 0
	accel=tcg
	if [ ! -e /dev/kvm ]; then
		say "no /dev/kvm here: the guest's processors are emulated, which is slow"
		return
	elif [ ! -r /dev/kvm ] || [ ! -w /dev/kvm ]; then
		say "no permission for /dev/kvm (as root: adduser $(id -un) kvm, then log in again): the guest's processors are emulated, which is slow"
		return
	fi
	local boot question answer answers file=$cache/accel
	boot=$(cat /proc/sys/kernel/random/boot_id)
	question="$boot $(cksum < "$image/vmlinuz") $(qemu-system-x86_64 --version | head -n 1)"
	answer=$(grep -sF "$question " "$file" | tail -n 1)
	if [ -z "$answer" ]; then
		progress "testing whether KVM starts this kernel"
		# The shell tells of a QEMU that aborts, as it may.
		if kernel_starts kvm host 20 2> /dev/null; then
			answer="$question kvm"
		else
			answer="$question tcg"
		fi
		answers=$(grep -sF "$boot" "$file")
		printf '%s\n' "$answers" "$answer" > "$file"
	fi
	accel=${answer##* }
	[ "$accel" = kvm ] || say "KVM does not start this kernel here: the guest's processors are emulated, which is slow"
}
