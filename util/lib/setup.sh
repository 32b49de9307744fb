# shellcheck shell=bash
# Set-up that util/quickstart and util/check share: packages, builds, the virtual machine.
# Expects $top, the source folder, and $logs, a folder for outputs.
: "${top:?}" "${logs:?}"

say() {
	printf '== %s\n' "$*" >&2
}

die() {
	printf '%s: %s\n' "$(basename "$0")" "$*" >&2
	exit 1
}

# setup_packages GROUP...: installs what is missing of util/packages.list: what building needs, and the groups.
setup_packages() {
	local wanted missing=() name as_root=()

	command -v dpkg-query >/dev/null || die "this is no Debian system: install the packages in util/packages.list by hand"
	mapfile -t wanted < <(sed 's/#.*//' "$top/util/packages.list" |
		awk -v groups=" $* " 'NF == 1 || NF == 2 && index(groups, " " $2 " ") { print $1 }')
	for name in "${wanted[@]}"; do
		[ "$(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null)" = installed ] ||
			missing+=("$name")
	done
	[ ${#missing[@]} = 0 ] && return 0
	if [ "$(id -u)" != 0 ]; then
		command -v sudo >/dev/null ||
			die "as root, run: apt-get update; apt-get install ${missing[*]}"
		as_root=(sudo)
	fi
	say "installing ${#missing[@]} Debian packages: ${missing[*]}"
	# A fresh machine has no package lists. Where they cannot all be had, such as those of a source
	# that is no longer there, the rest may do: what counts is the second command.
	{
		"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -qq
		"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
			--no-install-recommends "${missing[@]}"
	} >"$logs/packages.log" 2>&1 </dev/null || {
		tail -n 20 "$logs/packages.log" >&2
		die "the packages could not be installed (see above, and $logs/packages.log). If apt does not find" \
			"them, name a Debian mirror that this machine reaches in /etc/apt/sources.list and try again"
	}
}

# ./configure, made anew when what it is made from is newer.
setup_configure() {
	[ ! -e "$top/config.status" ] ||
		die "the source folder itself is configured; run \"make distclean\" in it first"
	if [ -x "$top/configure" ] && [ -z "$(find "$top" -path "$top/build" -prune -o \
		\( -name '*.ac' -o -name '*.am' -o -name local.mk \) \
		-newer "$top/configure" -print -quit)" ]; then
		return 0
	fi
	say "making ./configure"
	"$top/autogen.sh" >"$logs/autogen.log" 2>&1 || {
		tail -n 20 "$logs/autogen.log" >&2
		die "autogen.sh failed (see above)"
	}
}

# Builds of the same sources share what they compiled, those of another checkout, too: ccache keeps it in its usual folder. The source
# folder, which is all that differs, counts for debuggers only. What a source includes is known from its compiler, so it is not
# preprocessed by itself first.
export CCACHE_NOHASHDIR=${CCACHE_NOHASHDIR-1} CCACHE_DEPEND=${CCACHE_DEPEND-1}

# with_ccache COMMAND...: configure takes its compilers through ccache, if it is installed and nobody names others.
with_ccache() (
	if [ -z "${CC-}${CXX-}" ] && command -v ccache >/dev/null; then
		export CC="ccache gcc" CXX="ccache g++"
	fi
	"$@"
)

# build_tree NAME WRAPPER... -- OPTION...: configures and builds in build/NAME. The wrapper runs the
# commands (none: this machine, "rdmavm build-in": the guest's root). TARGET: what to make.
build_tree() {
	local name=$1 wrapper=()
	shift
	while [ "$1" != -- ]; do
		wrapper+=("$1")
		shift
	done
	shift
	mkdir -p "$top/build/$name"
	# shellcheck disable=SC2016 # expanded by the inner shell
	with_ccache "${wrapper[@]}" sh -c '
		set -e
		cd "$1"
		target=$2
		shift 2
		[ -e config.status ] && [ config.status -nt ../../configure ] || ../../configure "$@"
		make -j2 $target' sh "$top/build/$name" "${TARGET-}" "$@" >"$logs/build-$name.log" 2>&1
}

# The names of the providers.
providers() {
	sed 's/[[:space:]]*#.*//; /^$/d' "$top/prov/list"
}

# The virtual machine of this source folder with the Debian release: "guest RELEASE COMMAND...".
# Another checkout has another machine; the image is shared.
guest() {
	local release=$1
	shift
	"$top/util/rdmavm/rdmavm" --release "$release" --name "$(guest_name "$release")" --share "$top" "$@"
}

guest_name() {
	printf '%s-%s\n' "$1" "$(printf '%s' "$top" | cksum | cut -d ' ' -f 1)"
}

# guest_tree RELEASE [NAME OPTION...]: compiles for the guest, in its own root, into build/NAME.
guest_tree() {
	local release=$1 name=${2-$1}

	TARGET=all build_tree "$name" guest "$release" build-in -- --disable-man "${@:3}"
}
