# shellcheck shell=bash disable=SC2034,SC2154 # settings of steps, and what util/check has
suite route-graph "the graph of route: simulated networks, the document's figures"
suite_route-graph() {
	local suite=route-graph part='' needs=unit

	gives routectl build-routectl 600 make -C "$top/build/unit" util/fi_routectl/fi_routectl
	needs=routectl counted routectl 600 "$top/util/fi_routectl/test-fi_routectl" --build "$top/build/unit"
	# It ends with an error where Boost finds other costs.
	gives route-graph-bench build-route-bench 600 make -C "$top/build/unit" fabtests/benchmarks/fi_cairn_route
	needs=route-graph-bench
	step route-1000 600 "$top/build/unit/fabtests/benchmarks/fi_cairn_route" -n 20
	part=route-long step route-10000 600 "$top/build/unit/fabtests/benchmarks/fi_cairn_route" -s 10000 -n 3
}

suite route "the data path of route and its router; programs through routers, each in a network of its own: ours, libfabric's, Open MPI"
suite_route() {
	local suite=route part='' needs=unit check=("$top/fabtests/interop/check-route" -b unit)
	local exact=(-x stress.domain -x stress.reopen_domain)

	gives router build-router 600 make -C "$top/build/unit" util/fi_router/fi_router util/fi_routectl/fi_routectl
	needs=router
	counted route-router 600 "$top/util/fi_router/test-fi_router" --build "$top/build/unit"
	# The limits say what a connection leaves to others.
	counted route-programs 600 "${check[@]}" -j 2 "${exact[@]}" -s -n 1 functional auth systems drain
	counted route-failure 600 "FAILURE_STEPS=failure-@(killed|still-all|target-killed)" "${check[@]}" -s -n 1 failure
	part=route-long
	counted route-net-itself 600 "$top/fabtests/interop/test-route-net"
	counted route-programs-all 900 "${check[@]}" -j 3 "${exact[@]}" -n 1 functional hostile auth systems operators workers drain local figure
	counted route-programs-few 900 "${check[@]}" -j 3 "${exact[@]}" -n 0,2 -s functional failure fault others crowd soak
	counted route-interop 600 "${check[@]}" -j 3 -n 0,2 commit verbs rdm mesh pingpong
	counted route-openmpi 600 "${check[@]}" -n 2 openmpi
	# Shares are measured, which two workers do not keep where they have to wait for a processor.
	cores=3 counted route-limits 600 "${check[@]}" -w 1 -n 1 limits
	counted route-many 600 "${check[@]}" -s -n 1 many
	counted route-many-all 600 "${check[@]}" -n 1 many
	# How many workers a router has otherwise depends on the processors.
	counted route-two-workers 600 "${check[@]}" -j 2 -w 2 -s -n 2 functional mesh
	counted route-two-workers-hostile 600 "${check[@]}" -w 2 -s -n 2 hostile
	counted route-failure-all 1800 "${check[@]}" -f failure
	counted route-soak 1200 "${check[@]}" -f soak
	counted route-functional-all 1800 "${check[@]}" -n 0,1,2,3,5 functional
	counted route-table 600 "${check[@]}" -f systems
	counted route-limits-long 1800 "${check[@]}" -f limits
	route_upgrade
	# Figures of a loaded machine say nothing: what is tested is that every path gives one.
	gives relay build-relay 600 make -C "$top/build/unit" fabtests/benchmarks/tcp_relay
	needs="router relay" step route-bench 600 with unit "$top/fabtests/benchmarks/route-bench" -n 1 -r 2
}

# A daemon with the first protocol, before there were workers, durable writes in routers, and writes that they execute.
route_older=6703b0da7d812248eeb1d031d1ab455656200be2
# An early one that can be drained.
route_early=dd9458f70c6c83be6879fca64ed3beb7060ed998

# Routers of earlier versions and this one, in one network.
route_upgrade() {
	local needs=$needs

	if ! git -C "$top" cat-file -e "$route_early^{commit}" 2>/dev/null || ! git -C "$top" cat-file -e "$route_older^{commit}" 2>/dev/null; then
		skip route-upgrade "the history is not here"
		return
	fi
	gives router-early build-router-early 600 old_router "$route_early"
	gives router-older build-router-older 600 old_router "$route_older"
	needs="router router-early router-older" counted route-upgrade 600 "${check[@]}" \
		-o "$top/build/old/$route_early/build/util/fi_router/fi_router,$top/build/old/$route_older/build/util/fi_router/fi_router" drain
}

# old_router REVISION: builds the daemon of that revision in build/old.
old_router() {
	local dir=$top/build/old/$1
	[ ! -x "$dir/build/util/fi_router/fi_router" ] || return 0
	rm -rf "$dir" && mkdir -p "$dir/build" && git -C "$top" archive "$1" | tar -x -C "$dir" && cd "$dir" &&
		./autogen.sh && cd build && ../configure --disable-man && make -j2 util/fi_router/fi_router
}
