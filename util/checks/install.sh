# shellcheck shell=bash disable=SC2034,SC2154 # settings of steps, and what util/check has
suite install "make install, man pages, distcheck"
suite_install() {
	local suite=install part='' needs=unit root=$top/build/install-root

	gives installed make-install 600 make_install "$root"
	needs=installed
	step installed-files 600 installed_files "$root"
	step installed-providers 600 installed_providers "$root"
	# Builds, installs and removes from the archive; what it builds was tested before.
	part=interop cores=2 needs=unit step distcheck 1800 with_ccache make -C "$top/build/unit" -j2 distcheck TESTS=
}

make_install() { # ROOT
	rm -rf "$1" && make -C "$top/build/unit" install DESTDIR="$1"
}

# What somebody who installs the project finds.
installed_files() {
	local root=$1 name pages
	mapfile -t pages < <(providers | sed 's|.*|share/man/man7/fi_&.7|')
	for name in include/rdma/fi_ext_cairn.h include/rdma/fi_cairn_rpc.h bin/rdmavm bin/fi_cairn_file bin/fi_nfsget \
		bin/fi_remotelog bin/fi_rpcping share/man/man1/rdmavm.1 share/man/man1/fi_nfsget.1 share/man/man1/fi_rpcping.1 bin/fi_ibmc \
		share/man/man1/fi_ibmc.1 bin/fi_routectl share/man/man1/fi_routectl.1 sbin/fi_router \
		share/man/man8/fi_router.8 share/man/man3/fi_cairn_rpc.3 "${pages[@]}"; do
		[ -e "$root/usr/$name" ] || [ -e "$root/usr/$name.gz" ] || {
			echo "missing: $name"
			return 1
		}
		echo "$name"
	done
	for name in cairn.pc cairn-rpc.pc libcairn-rpc.so; do
		find "$root/usr/lib" -name "$name" | grep . || return 1
	done
	# Below DESTDIR the parts are not yet where the command will look for them.
	sed "s|^parts=/usr/|parts=$root/usr/|" "$root/usr/bin/rdmavm" >"$root/rdmavm"
	bash "$root/rdmavm" --version
}

# Those of the list are installed, and no others. libfabric loads each from where it was put, and each exports one symbol.
installed_providers() {
	local dir name so

	dir=$(dirname "$(find "$1" -name 'lib*-fi.so' -print -quit)")
	[ "$(basename "$dir")" = libfabric ] || {
		echo "not in libfabric's folder: $dir"
		return 1
	}
	diff <(providers | sort) <(find "$1" -name 'lib*-fi.so' | sed 's|.*/lib\(.*\)-fi.so|\1|' | sort) || {
		echo "prov/list (<) differs from what is installed (>)"
		return 1
	}
	for name in $(providers); do
		so=$dir/lib$name-fi.so
		[ "$(nm -D --defined-only "$so" | awk '{ print $3 }')" = fi_prov_ini ] || {
			echo "exports more than fi_prov_ini:"
			nm -D --defined-only "$so"
			return 1
		}
		FI_PROVIDER_PATH=$dir fi_info -e | grep -q "FI_${name^^}_" || {
			echo "libfabric does not show the parameters of $name"
			return 1
		}
	done
}
