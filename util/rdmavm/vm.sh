# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared with the other parts
# The virtual machine: up, down and status. A machine is a folder vm/NAME with
#   state        what it was started with, KEY=VALUE lines; pid, serial.log
#   key, ctl     ssh: its own key, and the socket of the connection that every command shares
#   pmem.img     the persistent memory; the only thing that stays when the machine goes down
#   lock         held while it is started or stopped
# The disk is thrown away: QEMU writes to an unnamed temporary file instead of the image.

vm_tools() {
	require qemu-system-x86_64 qemu-system-x86 ssh openssh-client ssh-keygen openssh-client flock util-linux
}

vm_pid() {
	local pid
	pid=$(cat "$vm/pid" 2> /dev/null) && [ -n "$pid" ] || return 1
	# A process of that number that does not name this machine's folder is somebody else's.
	tr '\0' '\n' 2> /dev/null < "/proc/$pid/cmdline" | grep -qxF -- "$vm/pid" && echo "$pid"
}

vm_ready() {
	grep -qsa '^rdmavm: ready' "$vm/serial.log"
}

# wait_gone PID SECONDS
wait_gone() {
	local deadline=$((SECONDS + $2))
	while [ -e "/proc/$1" ]; do
		[ "$SECONDS" -lt "$deadline" ] || return 1
		sleep 0.1
	done
}

# Whoever asks for a setting must not get a machine that has another one.
check_running() {
	local setting value
	for setting in "${!given[@]}"; do
		value=$(state_of "$vm" "$setting")
		[ "$setting" != accel ] || [ "${given[accel]}" != auto ] || continue
		[ "$value" = "${given[$setting]}" ] ||
			die "$name is up with $setting \"$value\", not \"${given[$setting]}\"; first run rdmavm down --name $name"
	done
}

vm_up() {
	vm_tools
	mkdir -p "$vm" && chmod 700 "$vm"
	exec 9> "$vm/lock"
	take_lock 9 "$vm/lock" "$((boot_timeout + 60))" "starts or stops $name"
	if ! vm_pid > /dev/null; then
		check_share
		use_image
		choose_accel
		vm_start
		for _ in 1 2; do
			if [ "$accel" != tcg ] || vm_kernel_lives; then
				break
			fi
			say "the kernel died before it had begun anything, which emulated ones do now and then; it is started once more"
			vm_kill
			vm_start
		done
		exec 8>&-
		vm_wait
		progress "$name is up"
	else
		check_running
		vm_wait
	fi
	connect
	exec 9>&-
}

# The settings are written before QEMU starts, and count only while it runs.
vm_start() {
	local try error
	rm -f "$vm"/{pid,ctl,serial.log,key,key.pub}
	ssh-keygen -q -t ed25519 -N '' -C "rdmavm $name" -f "$vm/key" || die "ssh-keygen failed"
	if [ -s "$vm/pmem.img" ] && [ "$(stat -c %s "$vm/pmem.img")" != "$((pmem << 20))" ]; then
		die "the persistent memory of $name has $(($(stat -c %s "$vm/pmem.img") >> 20)) MiB, not $pmem: \
say so with --pmem, or forget it with rdmavm --name $name --wipe down"
	fi
	truncate -s "${pmem}M" "$vm/pmem.img" || die "cannot write $vm/pmem.img"
	for try in 1 2 3 4 5 6 7 8 9 10; do
		port=$((20000 + (RANDOM << 15 | RANDOM) % 40000))
		printf '%s\n' "release=$release" "name=$name" "share=$share" "accel=$accel" "cpus=$cpus" "memory=$memory" \
			"pmem=$pmem" "persistence=$persistence" "packages=$packages" "image=$image" "port=$port" > "$vm/state"
		progress "starting $name ($accel, ssh on 127.0.0.1:$port, sharing $share)"
		error=$(start_qemu 2>&1) && return
		# Somebody else has the port.
		[[ $error == *"host forwarding rule"* ]] || break
	done
	rm -f "$vm/state"
	if [[ $error == *"emory"* ]]; then
		say "$error"
		die "QEMU did not start; --memory and --pmem make the machine smaller"
	fi
	die "QEMU did not start: $error"
}

# QEMU keeps the image (descriptor 8) in use for as long as it runs, and nothing else of the caller's: an open
# pipe would make whoever reads its other end wait for the machine to go down.
start_qemu() {
	local cpu=max how=tcg,thread=multi,tb-size=1024 fd
	local v=${vm//,/,,} i=${image//,/,,} s=${share//,/,,}
	if [ "$accel" = kvm ]; then
		cpu=host how=kvm
	fi
	for fd in /proc/self/fd/*; do
		fd=${fd##*/}
		[ "$fd" -le 2 ] || [ "$fd" = 8 ] || [ ! -e "/proc/self/fd/$fd" ] || eval "exec $fd>&-"
	done
	TMPDIR=$vm qemu-system-x86_64 -name "rdmavm-$name" -daemonize -pidfile "$vm/pid" \
		-machine "q35,nvdimm=on,nvdimm-persistence=$persistence" -accel "$how" -cpu "$cpu" -smp "$cpus" \
		-m "${memory}M,slots=4,maxmem=$((memory + pmem + 1024))M" \
		-nodefaults -no-user-config -no-reboot -display none -monitor none -serial "file:$v/serial.log" \
		-kernel "$image/vmlinuz" -initrd "$image/initrd.img" -append "$kernel_line" \
		-drive "file=$i/disk.ext4,format=raw,if=none,id=disk,snapshot=on,cache=unsafe" \
		-device virtio-blk-pci,drive=disk \
		-object "memory-backend-file,id=pmem,share=on,mem-path=$v/pmem.img,size=${pmem}M" \
		-device nvdimm,id=nvdimm,memdev=pmem \
		-virtfs "local,path=$s,mount_tag=share,security_model=none,multidevs=remap" \
		-netdev "user,id=ssh,restrict=on,ipv6=off,hostfwd=tcp:127.0.0.1:$port-:22" \
		-device virtio-net-pci,netdev=ssh,romfile= \
		-object rng-random,id=rng,filename=/dev/urandom -device virtio-rng-pci,rng=rng \
		-fw_cfg "name=opt/rdmavm/key,file=$v/key.pub" -fw_cfg "name=opt/rdmavm/share,string=$s" \
		< /dev/null
}

kernel_line="root=/dev/vda rw console=ttyS0 net.ifnames=0 panic=-1 mitigations=off audit=0 SYSTEMD_COLORS=0"

# False: the kernel has died before its first process, and why was said. Whatever else goes wrong is vm_wait's.
vm_kernel_lives() {
	local deadline=$((SECONDS + boot_timeout)) log=$vm/serial.log gone=no
	until grep -qsaE 'Run /init as init process|^rdmavm:' "$log" || [ "$SECONDS" -ge "$deadline" ]; do
		vm_pid > /dev/null || gone=yes
		if grep -qsaE 'Kernel panic|\[#1\]' "$log"; then
			sleep 1 # it may have more to say
			vm_complaint "$log"
			return 1
		fi
		[ "$gone" = no ] || return 0
		sleep 0.1
	done
}

# What a kernel has to complain of, from its first word of it on: 25 lines at most.
vm_complaint() {
	grep -aE -m 1 -A 24 'cut here|BUG:|Oops|general protection|Kernel panic' "$1" >&2
}

# Waits for the guest's own word that everything is set up.
vm_wait() {
	local deadline=$((SECONDS + boot_timeout)) next=$((SECONDS + 10)) reason=
	while ! vm_ready; do
		if ! vm_pid > /dev/null; then
			reason="the guest stopped while it started"
		elif grep -qsaE '^rdmavm: failed|Kernel panic' "$vm/serial.log"; then
			reason=$(grep -aE '^rdmavm: failed|Kernel panic' "$vm/serial.log" | head -n 1)
		elif [ "$SECONDS" -ge "$deadline" ]; then
			reason="the guest was not ready after $boot_timeout s (RDMAVM_BOOT_TIMEOUT allows more)"
		fi
		if [ -n "$reason" ]; then
			vm_complaint "$vm/serial.log" || tail -n 15 "$vm/serial.log" >&2
			vm_kill
			say "$name did not start: ${reason%$'\r'}"
			die "the full console log is $vm/serial.log"
		fi
		if [ "$SECONDS" -ge "$next" ]; then
			progress "the guest boots"
			next=$((SECONDS + 10))
		fi
		sleep 0.2
	done
}

# Ends QEMU, and only the one that this machine's folder names.
vm_kill() {
	local pid
	if pid=$(vm_pid); then
		kill -TERM "$pid"
		if ! wait_gone "$pid" 5; then
			[ "$(vm_pid)" = "$pid" ] && kill -KILL "$pid"
			wait_gone "$pid" 5 || die "cannot end QEMU, process $pid"
		fi
	fi
	rm -f "$vm"/{pid,ctl,state}
}

vm_down() {
	local pid
	[ -d "$vm" ] || return 0
	exec 9> "$vm/lock"
	take_lock 9 "$vm/lock" "$((boot_timeout + 60))" "starts or stops $name"
	if pid=$(vm_pid); then
		# Services need no goodbye: what matters is what the guest wrote to the shared folder.
		if vm_ready; then
			ssh_command
			(in_vm_folder timeout 20 "${ssh[@]}" root@rdmavm 'sync; systemctl poweroff -f') < /dev/null > /dev/null 2>&1
			wait_gone "$pid" 20
		fi
		vm_kill
		say "$name is down"
	fi
	[ "$wipe" = no ] || rm -f "$vm"/{pmem.img,serial.log,ssh.log,key,key.pub}
	exec 9>&-
}

vm_status() {
	local pid
	if ! pid=$(vm_pid); then
		echo "$name: down"
		exit 3
	fi
	if vm_ready; then
		echo "$name: up"
	else
		echo "$name: starting"
	fi
	sed -E 's/^([a-z]+)=/  \1: /' "$vm/state"
	echo "  pid: $pid"
	echo "  uptime: $(($(date +%s) - $(stat -c %Y "$vm/pid"))) s"
	echo "  console: $vm/serial.log"
	vm_ready || exit 3
}
