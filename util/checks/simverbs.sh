# shellcheck shell=bash disable=SC2034,SC2154 # settings of steps, and what util/check has
# On the software device the functional programs run at native speed. It has the addresses of this
# machine's interfaces; what is sent to them stays on this machine.
suite simverbs "the software device: pverbs, and other people's programs"
suite_simverbs() {
	local suite=simverbs part='' needs=unit name long=()
	local test=("$top/util/simverbs/test-simverbs" --strict --except pverbs-functional)

	# Each program on one kind of link, ib_send_bw on all and pyverbs on two; power failures of two kinds of memory by three methods; what sanitizers and
	# valgrind see in one of four operations. Subnet administration is in the suite multicast.
	for name in power-{dmp-nothing,dmp-read,dmp-ddio,mhp-nothing,mhp-relaxed,wsp} mckey- kills group-data sa- fork-{write,read,add} \
		ib_{send_lat,write_lat,write_bw,read_lat,atomic_lat}-r ib_read_bw libfabric-verbs-msg- denied-ib copy-thread-ib_{write,read,atomic} \
		ucx-ud pyverbs-roce valgrind-{write,read,add,ibv} sanitize-thread sanitize-address,undefined-{write,read,add}; do
		long+=(--except "$name")
	done
	counted simverbs-programs 900 "${test[@]}" --build "$top/build/unit" "${long[@]}"
	part=configurations counted simverbs-programs-all 1500 "${test[@]}" --build "$top/build/unit"
	step quickstart 600 "$top/util/quickstart"
	if [ -z "$address" ]; then
		skip simverbs-pverbs "no interface has an address besides the loopback one"
		return
	fi
	simverbs_functional
	simverbs_commit
	simverbs_commit_troubles
	simverbs_dgram
	simverbs_remotelog
	simverbs_many
	simverbs_others
	simverbs_releases
}

simverbs_functional() {
	local part='' pair

	counted simverbs-pverbs-pverbs 900 functional_on_simverbs unit "$address" -p pverbs
	counted simverbs-pverbs-verbs 900 functional_on_simverbs unit "$address" -p pverbs --peer verbs
	counted simverbs-process 600 FI_PVERBS_DURABLE=on with_pmem 2M functional_on_simverbs unit "$address" -p pverbs process
	counted simverbs-pmem 600 SIMVERBS_PERSISTENCE=mhp with_pmem 64K functional_on_simverbs unit "$address" -p pverbs mr
	counted simverbs-store 600 commit_on_simverbs unit "$address" dmp on off auto store
	part=configurations
	counted simverbs-stress 600 commit_on_simverbs unit "$address" dmp on off auto stress
	for pair in "verbs pverbs" "verbs verbs"; do
		counted "simverbs-${pair/ /-}" 900 functional_on_simverbs unit "$address" -p "${pair#* }" --peer "${pair% *}"
	done
	counted simverbs-removed-silent 600 SIMVERBS_REMOVAL=silent functional_on_simverbs unit "$address" -p pverbs removed
	counted simverbs-removed-durable 600 FI_PVERBS_DURABLE=on SIMVERBS_REMOVAL=silent \
		functional_on_simverbs unit "$address" -p pverbs removed
}

# The daily choice: any two values of two columns meet in a row.
#	link	domain	DDIO	FLUSH	method
simverbs_commit_daily='
	infiniband	dmp	on	on	message
	infiniband	mhp	off	on	auto
	infiniband	mhp	off	off	message
	infiniband	wsp	on	on	auto
	iwarp	dmp	off	off	auto
	iwarp	mhp	on	off	auto
	iwarp	wsp	off	off	message
'

# Durable writes to every kind of target, by the method that is best for it and by messages. On iWARP there is no native
# FLUSH, and the control queue pair has a connection of its own.
simverbs_commit() {
	local part link domain ddio flush method row

	for row in {infiniband,iwarp}\ {dmp,mhp,wsp}\ {on,off}\ {on,off}\ {auto,message}; do
		read -r link domain ddio flush method <<<"$row"
		[ "$link $flush" != "iwarp on" ] || continue
		part=configurations
		[[ $simverbs_commit_daily != *$'\t'"${row// /$'\t'}"$'\n'* ]] || part=''
		counted "simverbs-commit-${row// /-}" 200 SIMVERBS_LINK_LAYER="$link" \
			commit_on_simverbs unit "$address" "$domain" "$ddio" "$flush" "$method" commit
	done
}

# commit_without BUILD ADDRESS CLIENT SERVER: one side can do nothing for durable operations.
commit_without() {
	SIMVERBS_PERSISTENCE=dmp with_pmem 2M with "$1" simverbs "$top/build/$1/fabtests/functional/fi_cairn_commit" \
		-t without "--self=$2" -p "$3" --peer-prov "$4"
}

# reach_on_simverbs BUILD ADDRESS: one peer of a domain does not change another's sequence word.
reach_on_simverbs() {
	SIMVERBS_PERSISTENCE=dmp SIMVERBS_FLUSH=off with_pmem 1M with "$1" \
		sh -c "exec simverbs fi_cairn_beside -w -m 1 '$2' \"\$FI_CAIRN_PMEM\""
}

# Stock verbs on either side, FI_PVERBS_DURABLE=off on one; and targets that are stopped or killed.
simverbs_commit_troubles() {
	local part='' side flush

	counted simverbs-commit-lost 600 commit_on_simverbs unit "$address" dmp on off auto lost
	counted simverbs-commit-verbs-server 600 commit_without unit "$address" pverbs verbs
	step simverbs-reach 600 reach_on_simverbs unit "$address"
	part=configurations
	counted simverbs-commit-verbs-client 600 commit_without unit "$address" verbs pverbs
	for side in SERVER CLIENT; do
		for flush in on off; do
			counted "simverbs-commit-off-$side-$flush" 600 SIMVERBS_FLUSH=$flush FCT_${side}_ENV=FI_PVERBS_DURABLE=off \
				commit_without unit "$address" pverbs pverbs
		done
	done
	counted simverbs-commit-lost-reads 600 commit_on_simverbs unit "$address" mhp on off auto lost
}

# Datagrams, also with the stock provider on either side, and multicast.
simverbs_dgram() {
	local part='' link name run=(functional_on_simverbs unit "$address")

	for link in roce infiniband; do
		name=simverbs-dgram-$link
		counted "$name" 600 SIMVERBS_LINK_LAYER=$link "${run[@]}" -p pverbs dgram
		counted "simverbs-mcast-$link" 600 SIMVERBS_LINK_LAYER=$link mcast_on_simverbs unit "$address"
		[ $link = roce ] || part=configurations
		counted "$name-verbs-server" 600 SIMVERBS_LINK_LAYER=$link "${run[@]}" -p pverbs --peer verbs dgram
		part=configurations
		counted "$name-verbs-client" 600 SIMVERBS_LINK_LAYER=$link "${run[@]}" -p verbs --peer pverbs dgram
		[ $link = roce ] || part=''
		counted "$name-lossy" 600 SIMVERBS_LINK_LAYER=$link lossy_on_simverbs unit "$address"
		counted "$name-without-ip" 600 SIMVERBS_LINK_LAYER=$link on_port_without_ip functional_on_simverbs unit -p pverbs dgram
		part=''
	done
	counted simverbs-mcast-link 600 SIMVERBS_EVENTS=on SIMVERBS_LINK_LAYER=infiniband FI_PVERBS_LINK=rfc \
		"${run[@]}" -p pverbs mcast
	part=configurations
	# A port on Ethernet without an address joins no groups.
	counted simverbs-mcast-without-ip 600 SIMVERBS_LINK_LAYER=infiniband on_port_without_ip mcast_on_simverbs unit
	counted simverbs-mcast-link-rdma_cm 600 SIMVERBS_UMAD=off SIMVERBS_EVENTS=on SIMVERBS_LINK_LAYER=infiniband FI_PVERBS_LINK=rfc \
		"${run[@]}" -p pverbs mcast
	counted simverbs-datagram-feed 600 with unit "$top/examples/test-datagram_feed" "$top/build/unit"
	part=interop counted simverbs-mckey 600 with unit "$top/fabtests/interop/check-mckey" "$address"
}

# on_port_without_ip FUNCTION BUILD ARGUMENT...: at the GID of a device that has no IP address.
on_port_without_ip() {
	SIMVERBS_DEVICES=2 FI_PVERBS_DEVICE=sim1 "$1" "$2" fe80::273:6d00:7662:11 "${@:3}"
}

# lossy_on_simverbs BUILD ADDRESS: datagrams some of which are lost, arrive twice or late. The counters of the device say how many
# have to arrive.
lossy_on_simverbs() {
	SIMVERBS_UD_LOSS=0.1 SIMVERBS_UD_DUPLICATE=0.1 SIMVERBS_UD_REORDER=0.1 \
		with "$1" simverbs fi_cairn_dgram -p pverbs --self="$2" -t lossy
}

# mcast_on_simverbs BUILD ADDRESS: multicast groups, some of which cannot be joined, on ports that change.
mcast_on_simverbs() {
	local -x SIMVERBS_EVENTS=on FI_PVERBS_JOIN_TIMEOUT=500
	local -x SIMVERBS_JOIN_FAIL='239.254.0.1=ENOSPC*1 239.254.0.2=0x0200*1 239.254.0.3=call:EPERM*1 239.254.0.4=never*1'

	functional_on_simverbs "$1" "$2" -p pverbs mcast
}

# A log in persistent memory whose server loses power; all kinds of failures: --runs, without names.
simverbs_remotelog() {
	local part='' test=(with unit "$top/util/fi_remotelog/test-fi_remotelog" --build "$top/build/unit")

	counted simverbs-remotelog 600 "${test[@]}" singleton-write- compound-send- machine-dmp-on machine-mhp-on mistake volatile \
		kill-server-compound-writedata kill-client-singleton-write
	counted simverbs-replicated-log 600 with unit "$top/examples/test-replicated_log" "$top/build/unit"
	part=configurations
	counted simverbs-remotelog-methods 600 "${test[@]}" singleton compound machine kill
	counted simverbs-remotelog-more 600 "${test[@]}" librpma again sweep
	counted simverbs-remotelog-power 600 "${test[@]}" --runs 4 power-dmp-noflush power-hand-dmp power-librpma
}

# Many peers and connections.
simverbs_many() {
	local part=''

	counted simverbs-many 600 with unit "$top/fabtests/interop/check-many" "$address" 300 50
	part=configurations counted simverbs-many-all 1200 with unit "$top/fabtests/interop/check-many" "$address"
	# That it runs; nothing is asserted of its times.
	part=interop step simverbs-conns 600 with unit simverbs "$top/build/unit/fabtests/benchmarks/fi_cairn_conns" -n 300 "$address"
}

# What ofi_rxm makes of the flag, Open MPI, and benchmarks: that every peer gives a figure.
simverbs_others() {
	local part='' rxm=(functional_on_simverbs unit "$address" -p "pverbs;ofi_rxm" rxm)

	counted simverbs-rxm 600 with_pmem 2M "${rxm[@]}"
	# In this order: the test "memory" and the persistent memory of "outstanding" are different files.
	step simverbs-bench-order 600 with unit "$top/util/bench" -s -n 1 memory outstanding compound
	part=interop
	counted simverbs-openmpi 600 with unit simverbs "$top/fabtests/interop/check-openmpi"
	step simverbs-bench 600 with unit "$top/util/bench" -s -n 1
}

# In the guest's root the programs and libraries are those of its release; no machine is started. librpma is not packaged for
# Debian's next release.
simverbs_releases() {
	local part=releases rxm portable

	rxm=(functional_on_simverbs unit "$address" -p "pverbs;ofi_rxm" rxm)
	portable=(functional_on_simverbs unit "$address" -p pverbs)
	needs="unit guest-trixie"
	counted simverbs-programs-trixie 900 guest trixie build-in "${test[@]}" --build "$top/build/trixie" --except sa-statuses-of-opensm
	counted simverbs-rxm-trixie 600 with_pmem 2M in_root trixie "${rxm[@]}"
	counted simverbs-many-trixie 600 in_root trixie with trixie "$top/fabtests/interop/check-many" "$address"
	part=next-release
	needs="unit guest-forky"
	counted simverbs-programs-forky 900 guest forky build-in "${test[@]}" --build "$top/build/forky" --except rpma --except sa-statuses-of-opensm
	counted simverbs-portable-forky 600 in_root forky "${portable[@]}"
}

# in_root RELEASE FUNCTION...: the function of these suites, run in the root of the release.
in_root() {
	guest "$1" build-in "$top/util/check" --function "${@:2}"
}
