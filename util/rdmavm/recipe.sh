# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared with the other parts
# What is in the image and how it is made. A change in this file, packages.list or guest-* is a new image.

# Patterns of dpkg: documentation, translations and drivers for hardware that the virtual machine lacks.
left_out=(
	'/usr/share/doc/*' '/usr/share/info/*' '/usr/share/locale/*' '/usr/share/man/*'
	'/*lib/modules/*/kernel/drivers/gpu/*' '/*lib/modules/*/kernel/drivers/media/*'
	'/*lib/modules/*/kernel/drivers/net/wireless/*' '/*lib/modules/*/kernel/sound/*'
)

# A small initial ram disk with only the disk's driver starts several times faster under emulation than
# one for any hardware. Hooks see the guest's root as $1.
# shellcheck disable=SC2016
hooks=(
	--essential-hook='mkdir -p "$1/etc/initramfs-tools/conf.d" "$1/usr/share/initramfs-tools/modules.d"'
	--essential-hook='echo MODULES=list > "$1/etc/initramfs-tools/conf.d/rdmavm"'
	--essential-hook='printf "%s\n" virtio_pci virtio_blk ext4 > "$1/usr/share/initramfs-tools/modules.d/rdmavm"'
	--customize-hook='mkdir "$1/usr/local/lib/rdmavm"'
	--customize-hook='upload recipe/guest-boot /usr/local/lib/rdmavm/boot'
	--customize-hook='upload recipe/guest-run /usr/local/lib/rdmavm/run'
	--customize-hook='upload recipe/guest-setup /root/guest-setup'
	--customize-hook='chmod 755 "$1/usr/local/lib/rdmavm/boot" "$1/usr/local/lib/rdmavm/run"'
	--customize-hook='chroot "$1" bash /root/guest-setup && rm "$1/root/guest-setup"'
)

# The package list with what --package adds, one a line.
wanted_packages() {
	sed 's/#.*//' "$parts/packages.list" |
		awk -v releases=" $release " 'NF == 1 || NF > 1 && index(" " $0 " ", releases) { print $1 }'
	# shellcheck disable=SC2086 # the list is split on purpose
	[ -z "$packages" ] || printf '%s\n' $packages
}

# debian ARGUMENT...: mmdebstrap with what each use of it needs, in the build's folder. Should it be killed, its
# mounts go with its namespace.
debian() {
	local path program=(mmdebstrap --mode=unshare) options=()
	[ "$EUID" != 0 ] || program=(unshare --mount mmdebstrap --mode=root)
	for path in "${left_out[@]}"; do
		options+=(--dpkgopt="path-exclude=$path")
	done
	cd "$work" && TMPDIR=$scratch "${program[@]}" --variant=minbase --verbose \
		--keyring=/usr/share/keyrings/debian-archive-keyring.gpg --aptopt="$work/apt.conf" \
		--include="$(paste -sd, "$work/packages")" "${options[@]}" "$@" "$mirror"
}

# Has apt say what it would install.
resolve_packages() {
	debian --simulate --format=null "$release" /dev/null
}

install_packages() {
	if [ "$EUID" = 0 ]; then
		debian "${hooks[@]}" --format=directory "$release" "$work/root"
	else
		debian "${hooks[@]}" --format=tar "$release" "$scratch/root.tar"
	fi
}

# Without root, mmdebstrap used other ids than as_guest_root does, so its result comes as an archive. Device files
# cannot be made then and are not needed: guests and build-in bring their own /dev.
unpack_root() {
	as_guest_root tar -C "$work/root" --numeric-owner --xattrs --xattrs-include='*' --exclude='./dev/*' \
		-xpf "$scratch/root.tar"
}

# The room for what programs write costs nothing: the file is sparse.
make_disk() {
	local size
	size=$(as_guest_root du -sm "$work/root" | cut -f1) &&
		as_guest_root mkfs.ext4 -q -F -m 0 -O ^has_journal -E root_owner=0:0 -L rdmavm \
			-d "$work/root" "$work/disk.ext4" "$((size * 11 / 10 + 2048))M"
}
