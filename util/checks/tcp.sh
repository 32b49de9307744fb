# shellcheck shell=bash disable=SC2034,SC2154 # settings of steps, and what util/check has
suite tcp "functional programs over libfabric's tcp provider: are the tests themselves right?"
suite_tcp() {
	local suite=tcp part='' needs=unit net=$top/fabtests/interop/net functional

	functional=("$top/fabtests/functional/run-functional" -b "$top/build/unit/fabtests/functional" -p tcp)
	counted tcp 900 "${functional[@]}"
	# Client and server in two network namespaces, with nothing but a link between them.
	counted tcp-namespaces 600 in_networks "$net" up -e 'link client 10.0.0.1/24 server 10.0.0.2/24' "$net" in client \
		"${functional[@]}" --peer-netns server -s 10.0.0.1 -a 10.0.0.2 cm msg
	part=interop
	counted tcp-mesh 600 in_networks "$net" up -e 'link a 10.0.1.1/24 r 10.0.1.9/24; link b 10.0.2.1/24 r 10.0.2.9/24;
		link c 10.0.3.1/24 r 10.0.3.9/24; forward r; route a default 10.0.1.9; route b default 10.0.2.9;
		route c default 10.0.3.9' "$top/build/unit/fabtests/functional/fi_cairn_mesh" -p tcp -n 6 \
		--hosts=a=10.0.1.1,b=10.0.2.1,c=10.0.3.1
	counted net-itself 600 "$top/fabtests/interop/test-net"
}

# in_networks COMMAND...: skipped where there are no user namespaces.
in_networks() {
	local rc

	"$@"
	rc=$?
	[ $rc = 77 ] || return $rc
	echo "skip networks: no user namespaces here"
	echo "0 passed, 0 failed, 1 skipped"
}
