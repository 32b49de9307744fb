# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
# Parts of check-route: ours, libfabric's and Open MPI's programs through routers.
# shellcheck disable=SC2034,SC2154 # check-route has the rest

# --- For the shell below route-net

# Data came through the first router, if there are any.
# shellcheck disable=SC2016 # for that shell
passed_through='through() {
	local bytes
	[ -e "$ROUTE_NET/r1.pid" ] || return 0
	bytes=$("$net" bytes r1)
	[ "$bytes" -ge "$1" ] || { echo "r1 has received only $bytes bytes"; return 1; }
}
'
# pingpong PROVIDER TYPE BYTES [WRAPPER...]: fi_pingpong sends 10 MiB and more each way; so many come through the first
# router's network interfaces.
# shellcheck disable=SC2016
pingpong_text=$passed_through'from=a to=b address=$ROUTE_B
pingpong() {
	local stack=$1 type=$2 bytes=$3 server tries status=0
	shift 3
	"$net" in "$to" "$@" timeout 300 fi_pingpong -p "$stack" -e "$type" -c & server=$!
	for ((tries = 0; tries < 6000; tries++)); do
		[ -z "$("$net" in "$to" ss -Hltn "sport = :47592")" ] || break
		kill -0 $server 2>/dev/null || break
		sleep 0.05
	done
	"$net" in "$from" "$@" timeout 300 fi_pingpong -p "$stack" -e "$type" -c "$address" || status=1
	wait $server || status=1
	[ $status = 0 ] && through "$bytes"
}
'
# functional OPTION... PROGRAM...: run-functional between a and b.
# shellcheck disable=SC2016
functional_text='functional() {
	export FCT_SERVER_ENV=FI_ROUTE_CONFIG=$ROUTE_NET/b.conf
	"$net" in a "$run_functional" -b "$programs" -p "$provider" -a "$ROUTE_B" --peer-netns b "$@"
}
'

part_pingpong() {
	local n
	not_short pingpong || return
	for n in ${counts//,/ }; do
		step "pingpong-$n" 120 "$(topology "$n")" "$pingpong_text pingpong '$provider' msg 20000000"
	done
}

part_functional() {
	local n more run=(msg cm rma cq cntr srx mr refused end process file store stress)
	[ -z "$short" ] || run=(msg cm rma srx end)
	for n in ${counts//,/ }; do
		# Without routers reads and writes go another way.
		[ -n "$short" ] && [ "$n" = 0 ] && more=stress || more=''
		counted "functional-$n" 600 "$(topology "$n")" "$functional_text functional ${except[*]} ${run[*]} $more"
	done
}

part_others() {
	local topology
	[ "$provider" = route ] || { skip others "$provider has no routers"; return; }
	for topology in T5-2 T9; do
		counted "$topology" 300 "$topology" "$functional_text functional ${except[*]} msg rma"
	done
}

# In a child of fork nothing of the provider may be called: fi_route(7), NOT YET.
part_local() {
	# shellcheck disable=SC2016
	counted local 300 T1 '"$net" in a "$run_functional" -b "$programs" -p "$provider" \
		-a "$ROUTE_A" -x process.fork_close '"${except[*]}"' getinfo close lost process'
}

part_fault() {
	local except=()
	[ "$provider" = route ] || { skip fault "$provider has nothing to be put in the way of"; return; }
	[ -z "$short" ] || except=(-x fi_cairn_fault.memory_gone)
	# shellcheck disable=SC2016
	counted fault 300 T1 '"$net" in a "$run_functional" -b "$programs" -p "$provider" -T 280 -a "$ROUTE_A" '"${except[*]}"' fault'
}

# What route does otherwise than a provider whose keys say what the memory is, or has no part in: fi_route(7).
commit_except=(unknown_key before before_volatile before_damaged stopped replay)

part_commit() {
	local n file=$work/pmem config=$work/pmem.conf text left=()
	[ "$provider" = route ] || { skip commit "$provider is not asked to be durable here"; return; }
	truncate -s 2M "$file"
	printf '[path %s]\npersistent = yes\n' "$file" >"$config"
	text="$functional_text export FI_CAIRN_PMEM=$file FI_ROUTE_PMEM_CONFIG=$config; functional ${except[*]}"
	for n in "${commit_except[@]}"; do left+=(-x "commit.$n"); done
	for n in ${counts//,/ }; do
		counted "commit-$n" 300 "$(topology "$n")" "$text ${left[*]} commit mr"
	done
	for n in T11-tcp-pverbs T11-pverbs-pverbs; do
		counted "commit-$n" 300 "$n" "$text -w simverbs ${left[*]} commit"
	done
	# shellcheck disable=SC2016
	counted commit-lost 120 T1 "export FI_CAIRN_PMEM=$file FI_ROUTE_PMEM_CONFIG=$config"'
		"$net" in a "$run_functional" -b "$programs" -p route -a "$ROUTE_A" lost'
}

part_rdm() {
	local n
	for n in ${counts//,/ }; do
		# shellcheck disable=SC2016
		counted "rdm-$n" 120 "$(topology "$n")" 'export FCT_SERVER_ENV=FI_ROUTE_CONFIG=$ROUTE_NET/b.conf
			"$net" in a "$programs/fi_cairn_rdm" -n 4 -p "$provider;ofi_rxm" "--self=$ROUTE_B" \
			--peer-netns /run/netns/b'
		not_short "rdm-pingpong-$n" || continue
		step "rdm-pingpong-$n" 120 "$(topology "$n")" "$pingpong_text pingpong '$provider;ofi_rxm' rdm 20000000"
	done
}

part_mesh() {
	[ "$provider" = route ] || { skip mesh "$provider has no way from a2 to b"; return; }
	# shellcheck disable=SC2016
	counted mesh 120 T7-2 'export FCT_HOST_ENV=FI_ROUTE_CONFIG=$ROUTE_NET/@.conf
		"$net" in a1 "$programs/fi_cairn_mesh" -n 6 -p "$provider" -H "a1=10.0.1.1,a2=10.0.1.2,b=10.0.2.2"'
}

part_openmpi() {
	local n
	not_short openmpi || return
	if [ ! -x "$top/build/$build/fabtests/interop/mpi_check" ]; then
		skip openmpi "openmpi-bin or libopenmpi-dev was not installed when build/$build was configured"
		return
	fi
	for n in ${counts//,/ }; do
		[ "$n" != 0 ] || [ "$provider" != route ] || continue
		# shellcheck disable=SC2016
		counted "openmpi-$n" 600 "$(topology "$n")" "$passed_through"'FI_PROVIDER="$provider,ofi_rxm" "$net" in a \
			unshare --uts sh -c "hostname a && exec \"\$@\"" sh "$here/check-openmpi" -H a,b -A "$here/route-agent" \
			-s "$provider;ofi_rxm" && through 1000000'
	done
}

part_verbs() {
	local topology bytes=10000000
	[ "$provider" = route ] || { skip verbs "no device of $provider has a way from a to b"; return; }
	for topology in T11-tcp-pverbs T11-pverbs-pverbs T11-verbs-verbs; do
		counted "$topology" 300 "$topology" "$functional_text functional -w simverbs ${except[*]} msg cm rma file"
		not_short "$topology-pingpong" || continue
		step "$topology-pingpong" 120 "$topology" "$pingpong_text pingpong '$provider' msg $bytes simverbs"
		# What the software device carries passes no interface.
		bytes=0
	done
}
