# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared with the other parts
# The cache of images: which one to use, when to make a new one, which ones to drop.
# An image is a folder images/RELEASE-KEY with
#   root/       the guest's root, for build-in
#   disk.ext4   the same as a disk
#   vmlinuz, initrd.img
#   recipe      fingerprint of what was asked for; the KEY covers the resolved versions as well
#   versions    what apt installed
#   lock        held in shared mode by whoever uses the image

image_tools() {
	require mmdebstrap mmdebstrap mkfs.ext4 e2fsprogs apt-get apt flock util-linux
	[ -f /usr/share/keyrings/debian-archive-keyring.gpg ] ||
		die "missing here: run apt-get install debian-archive-keyring"
	check_namespaces
}

recipe_fingerprint() {
	{
		printf '%s\n' "$release" "$packages"
		cat "$parts"/{packages.list,recipe.sh,guest-setup,guest-boot,guest-run}
	} | sha256sum | cut -c1-16
}

# Prints the newest image of this recipe.
find_image() {
	local recipe folder newest=
	recipe=$(recipe_fingerprint)
	for folder in "$cache/images/$release"-*; do
		[ "$(cat "$folder/recipe" 2> /dev/null)" = "$recipe" ] || continue
		[ -n "$newest" ] && [ "$newest/versions" -nt "$folder/versions" ] || newest=$folder
	done
	[ -n "$newest" ] && printf '%s\n' "$newest"
}

# Sets "image", unless it is set, to an image of this recipe, made now if there is none, and holds it until
# this process and the machine that it starts are gone.
use_image() {
	[ -n "$image" ] || image=$(find_image) || build_image if-none
	if exec 8< "$image/lock" && flock -s 8 && [ -d "$image/root" ]; then
		touch "$image/lock"
	else
		# Another rdmavm has made a newer one just now and removes this one.
		image=
		use_image
	fi
}

# The Debian mirror that apt uses on this machine.
host_mirror() {
	# shellcheck disable=SC2016 # $(...) is for apt
	apt-get indextargets --format '$(ORIGIN) $(LABEL) $(COMPONENT) $(REPO_URI)' 'Created-By: Packages' 2> /dev/null |
		sed -nE 's,^Debian Debian main ((mirror\+)?https?://.*),\1,p' | head -n 1
}

# A proxy, certificates and the like from this machine's apt configuration.
host_apt_options() {
	apt-config dump --format '%F "%v";%n' |
		grep -E '^Acquire::(http|https|Retries|ForceIPv|Check-Valid-Until|Check-Date)' | grep -v ' "";$'
}

report_resolve() {
	progress "still asking $mirror for package versions"
}

report_install() {
	progress "$(awk -v total="$total" '
		/^Get:.* (amd64|all) / { got++ } /^Unpacking / { unpacked++ } /^Setting up / { set++ }
		END { printf "of %d packages: %d downloaded, %d unpacked, %d set up", total, got, unpacked, set }' "$1")"
}

report_files() {
	progress "still at it: $(du -sm "$work" 2> /dev/null | cut -f1) MiB written"
}

# Leaves the log where the next build does not remove it.
build_failed() {
	mv -f "$log" "$cache/build-$release.log"
	tail -n 15 "$cache/build-$release.log" >&2
	remove_tree "$work" "$scratch"
	say "building the $release image failed: $1"
	die "the full log is $cache/build-$release.log"
}

# Parts of a tree may belong to subordinate ids.
remove_tree() {
	as_guest_root rm -rf --one-file-system -- "$@"
}

# What a build that was killed has left. Its mounts were in namespaces that died with it.
remove_stale_builds() {
	local folder
	for folder in "$cache/build"/*; do
		[ ! -f "$folder/scratch" ] || remove_tree "$(cat "$folder/scratch")"
		remove_tree "$folder"
	done
}

# Images of a release that nobody uses go, except for the two used last: switching between two recipes is
# common, and an image takes a minute to make and gigabytes to keep.
prune_images() {
	local folder
	# shellcheck disable=SC2012 # names are ours: RELEASE-KEY
	ls -dt "$cache/images/$release"-*/lock | tail -n +3 | while read -r folder; do
		folder=${folder%/lock}
		(
			exec 7< "$folder/lock"
			flock -n 7 || exit
			progress "removing the old image $folder"
			mv "$folder" "$cache/build/" && remove_tree "$cache/build/${folder##*/}"
		)
	done
}

# Sets "image" to the image of this recipe with the newest packages, made now unless it is there already.
# With "if-none", any image of this recipe will do that another rdmavm has made meanwhile.
build_image() {
	image_tools
	exec 6> "$cache/build.lock"
	take_lock 6 "$cache/build.lock" 3600 "builds an image"
	if [ "${1-}" = if-none ] && image=$(find_image); then
		exec 6>&-
		return
	fi
	remove_stale_builds

	local free log total key recipe mask
	# The guest's own folders must not be closed to its users by a caller's mask.
	mask=$(umask)
	umask 022
	recipe=$(recipe_fingerprint)
	free=$(df --output=avail -m "$cache" | tail -n 1 | tr -d ' ')
	[ "$free" -ge 4096 ] || die "$cache has $free MiB free, an image needs 4096; free some or set RDMAVM_CACHE"

	work=$(mktemp -d "$cache/build/XXXXXX") && chmod 755 "$work" && mkdir "$work/root" "$work/recipe" || exit
	log=$work/log
	scratch=$work
	if [ "$EUID" != 0 ]; then
		# mmdebstrap works as another user, who may have no way into a home folder.
		scratch=$(mktemp -d "${TMPDIR:-/var/tmp}/rdmavm.XXXXXX") && chmod 755 "$scratch" || exit
		echo "$scratch" > "$work/scratch"
	fi
	trap 'remove_tree "$work" "$scratch"' EXIT
	end_on_signals
	cp "$parts"/guest-* "$work/recipe/"
	mirror=${mirror:-$(host_mirror)}
	[ -n "$mirror" ] || die "apt on this machine knows no Debian mirror; run apt-get update, or name one with --mirror URL"
	host_apt_options > "$work/apt.conf"

	progress "asking $mirror for the packages of $release"
	wanted_packages > "$work/packages"
	logged "$log" 600 report_resolve resolve_packages ||
		build_failed "no answer from $mirror, or a package is unknown there (--mirror names another one)"
	sed -nE 's/^Inst ([^ ]+) .*\(([^ ]+) .*/\1 \2/p' "$log" | sort -u > "$work/versions"
	total=$(wc -l < "$work/versions")
	key=$(cat <(echo "$recipe") "$work/versions" | sha256sum | cut -c1-16)
	image=$cache/images/$release-$key
	if [ -d "$image" ]; then
		progress "the image is up to date: $image"
	else
		make_image
		progress "done: $image"
	fi
	remove_tree "$work" "$scratch"
	trap - EXIT INT TERM HUP
	touch "$image/lock"
	prune_images
	umask "$mask"
	exec 6>&-
}

# Fills the build's folder and gives it its final name, which only a complete image ever has.
make_image() {
	progress "installing $total packages"
	logged "$log" 3600 report_install install_packages || build_failed "mmdebstrap did not finish"
	if [ -f "$scratch/root.tar" ]; then
		progress "unpacking the guest's root"
		logged "$log" 600 report_files unpack_root || build_failed "tar did not finish"
	fi
	progress "writing the disk image"
	logged "$log" 600 report_files make_disk || build_failed "mkfs.ext4 did not finish"
	cp -L "$work/root/vmlinuz" "$work/root/initrd.img" "$work" || build_failed "the guest has no kernel"
	rm -r "$work/recipe" "$work/apt.conf" "$work/packages" "$log"
	mkdir "$work/mnt"
	echo "$recipe" > "$work/recipe"
	: > "$work/lock"
	sync -f "$work/lock"
	mv -T "$work" "$image" || die "cannot give the image its name $image"
}
