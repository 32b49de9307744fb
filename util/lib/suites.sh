# shellcheck shell=bash
# The suites of util/check. A suite is a function suite_NAME and a line in "suites".
: "${top:?}" "${patience:?}"

# NAME LANE TEXT; a lane runs its own in this order, and then those of any lane: nothing that another one uses at that time,
# such as a port or a folder of a build, is theirs.
# shellcheck disable=SC2034 # read by util/check
suites=(
	style host "C formatting, shell scripts, manual pages, the order of rooms, pictures, util/check and run-functional themselves"
	unit host "unit tests and fuzz targets"
	explore host "the explorers: durable operations and power failures, rpcrdma, route, all states"
	tcp host "functional programs over libfabric's tcp provider: are the tests themselves right?"
	asan any "the unit tests and functional programs under AddressSanitizer and UBSan"
	tsan any "the unit tests and functional programs under ThreadSanitizer"
	valgrind host "the unit tests under valgrind"
	simverbs host "the software device: pverbs, and other people's programs on Debian 12 and 13"
	layer host "programs over the example layer, on libfabric's tcp and on pverbs and the software device"
	rpcrdma host "programs over rpcrdma, on libfabric's tcp, and on pverbs and stock verbs and the software device"
	rpc host "RPC and NFS programs over rpcrdma: libcairn-rpc, fi_nfsget, fi_rpcping"
	route-graph host "the graph of route: unit tests, simulated networks, the document's figures"
	route host "the data path of route and its router; programs through routers, each in a network of its own: ours, libfabric's, Open MPI"
	multicast host "multicast on an IPoIB link: subnet administration of opensm and of simverbs, row by row of its requirements"
	install any "make install, man pages, distcheck"
	rdmavm guest "the virtual machine tool"
	kernel guest "pverbs and stock verbs on kernel RDMA: Debian 13's libfabric 2.1"
	rpc-kernel guest "rpcrdma and the Linux kernel: its NFS server with our client, its NFS client with our server"
	portable guest "one binary, built on Debian 12, on Debian 12 and 13 and, with --full, the next one"
	pmem guest "durable writes on kernel RDMA: the method for each kind of memory, and the power cut"
)

# --- this machine

suite_style() {
	local version scripts

	version=$(clang-format --version | sed 's/.*version \([0-9]*\).*/\1/')
	if [ "$version" = 14 ]; then
		step style-c 600 sh -c "cd '$top' && git ls-files '*.[ch]' | xargs clang-format --dry-run --Werror"
	else
		skip style-c "the sources are formatted by clang-format 14, this is $version"
	fi
	mapfile -t scripts < <(cd "$top" && git ls-files util .ci autogen.sh fabtests examples | while read -r name; do
		head -n 2 "$name" | grep -qE '^#!.*sh|shellcheck shell' && echo "$name"
	done)
	step style-sh 600 sh -c "cd '$top' && shellcheck -x ${scripts[*]}"
	step style-man 600 manual_complete
	step style-rooms 600 sh -c "cd '$top' && util/lib/check-rooms prov/pverbs prov/pverbs/persist prov/rpcrdma prov/route util/fi_router util/fi_ibmc \
		util/simverbs examples/layer"
	step style-pictures 600 pictures_current
	step style-conformance 600 sh -c "cd '$top' && util/lib/conformance -c fabtests/conformance doc/rpcrdma-conformance.md"
	step style-coverage 600 sh -c "cd '$top' && util/lib/check-coverage"
	counted check-itself 600 "$top/util/lib/test-check"
	counted functional-itself 600 "$top/fabtests/functional/test-run-functional"
}

# Pictures and tables that scripts make are of what they show now.
pictures_current() (
	cd "$top" || exit 1
	status=0
	util/lib/draw-speed doc/speed.tsv | cmp - doc/speed.svg || status=1
	[ "$(util/lib/draw-speed -t doc/speed.tsv)" = "$(grep -E '^[|] (bare verbs|pverbs, FI_|libfabric verbs, FI_|UCX )' README.md)" ] || {
		echo "README.md: its table of speed is not of doc/speed.tsv"
		status=1
	}
	util/lib/draw-rooms -c prov/pverbs doc/rooms-pverbs.svg || status=1
	util/lib/draw-rooms -c prov/rpcrdma doc/rooms-rpcrdma.svg || status=1
	util/lib/draw-rooms -c prov/route doc/rooms-route.svg || status=1
	util/lib/draw-rooms -c util/fi_router doc/rooms-fi_router.svg || status=1
	util/lib/draw-parts -c doc/parts.svg || status=1
	exit $status
)

manual_complete() {
	local name status=0
	for name in $(providers); do
		manual_names_all "$name" || status=1
	done
	return $status
}

# manual_names_all PROVIDER: every code that it returns is in its manual page; test-params.sh looks after its parameters.
manual_names_all() {
	local page=$top/man/fi_$1.7.md name missing=0

	while read -r name; do
		grep -qwF "$name" "$page" || {
			echo "not in fi_$1(7): $name"
			missing=1
		}
	done < <(grep -rhoE -- '-FI_E[A-Z]+' "$top/prov/$1" | sed 's/^-//' | sort -u)
	return $missing
}

# The tests that enumerate all plans: one thread's arithmetic, most of the time of all unit tests.
plans_all=plans.are_safe:plans.need_every_step:plans.hold_exactly_what_later_operations_could_overtake
plans_all+=':plan_truths.*:methods.are_as_safe_*'

# Counts the cases of the GoogleTest programs and the other programs of "make check". What valgrind reports, or a crash,
# is a failure of the program.
make_check() {
	local dir=$1 log n p=0 f=0 s=0 rc
	# Those of a choice that was made before do not count.
	rm -f "$dir"/{fabtests,util}/*/*.{log,trs}
	make -C "$dir" -j2 check "${@:2}"
	rc=$?
	for log in "$dir"/{fabtests,util}/*/*.log; do
		# Of a part there are none in util/.
		[ -e "$log" ] || continue
		if grep -q '^\[==========\]' "$log"; then
			n=$(sed -n 's/^\[  PASSED  \] \([0-9]*\) test.*/\1/p' "$log" | tail -n 1)
			p=$((p + ${n:-0}))
			n=$(sed -n 's/^\[  FAILED  \] \([0-9]*\) test.*/\1/p' "$log" | tail -n 1)
			if [ -z "$n" ] && grep -q '^:test-result: FAIL' "${log%.log}.trs"; then
				n=1
				echo "not ok ${log#"$dir"/}: the program failed, and none of its cases"
			fi
			f=$((f + ${n:-0}))
			n=$(sed -n 's/^\[  SKIPPED \] \([0-9]*\) test.*/\1/p' "$log" | tail -n 1)
			s=$((s + ${n:-0}))
			grep -E '^\[  (FAILED|SKIPPED) ' "$log"
		elif grep -q '^:test-result: PASS' "${log%.log}.trs"; then
			p=$((p + 1))
		elif grep -q '^:test-result: SKIP' "${log%.log}.trs"; then
			s=$((s + 1))
			cat "$log"
		else
			f=$((f + 1))
			echo "not ok ${log#"$dir"/}"
		fi
	done
	[ "$rc" = 0 ] || [ "$f" != 0 ] || f=1
	echo "$p passed, $f failed, $s skipped"
	return "$rc"
}

# host_suite NAME LABEL MAKE-ARGUMENT... -- CONFIGURE-OPTION...
host_suite() {
	local name=$1 args=()
	shift
	while [ "$1" != -- ]; do
		args+=("$1")
		shift
	done
	once "build-$name" step "build-$name" 1200 build_tree "$name" "$@" || return
	counted "$name" 1200 make_check "$top/build/$name" "${args[@]}"
}

# What several suites use, in both lanes.
build_unit() {
	once build-unit step build-unit 1200 build_tree unit -- --disable-man
}

# Where the suite unit runs as well, its tests are not run twice.
unit_wanted() { [[ " ${CHECK_SUITES-} " == *" unit "* ]]; }

suite_unit() {
	host_suite unit -- --disable-man
}

# rpcrdma in every order in which messages, completions, events and calls may happen, and with faults; flow
# control of routed connections and the exchange of routers in the same way.
# Every state in which the power may fail; programs by chance, of seeds that are the same each time and
# of one that is printed; each part of each plan left out, and faults of the provider.
suite_explore() {
	local run=("$top/fabtests/interop/with-build" unit "$top/build/unit/fabtests/explore/explore")

	build_unit || return
	step build-explore 600 make -C "$top/build/unit" fabtests/explore/explore || return
	step explore 600 "${run[@]}"
	step explore-chance 600 "${run[@]}" -r 4 -S 1
	step explore-fresh 600 "${run[@]}" -r 4
	! full_only explore-mutations "each mutation of a durable write's plan, which the explorer has to find" || step explore-mutations 900 "${run[@]}" -m
	run[2]=$top/build/unit/fabtests/explore/explore_rpcrdma
	step build-explore-rpcrdma 600 make -C "$top/build/unit" fabtests/explore/explore_rpcrdma \
		fabtests/script/libscript-fi.la fabtests/script/libtested-fi.la || return
	step explore-rpcrdma 600 "${run[@]}"
	step explore-rpcrdma-mutations 600 "${run[@]}" -m
	run[2]=$top/build/unit/fabtests/explore/explore_route_credit
	step build-explore-route 600 make -C "$top/build/unit" fabtests/explore/explore_route_credit \
		fabtests/explore/explore_route_flood || return
	step explore-route-credit 600 "${run[@]}"
	step explore-route-credit-mutations 600 "${run[@]}" -m
	run[2]=$top/build/unit/fabtests/explore/explore_route_flood
	step explore-route-flood 600 "${run[@]}"
	step explore-route-flood-mutations 600 "${run[@]}" -m
}

# slow_choice SUITE: where a tool makes unit tests slow. Sets the caller's GTEST_FILTER, CT_PART and FUZZ_PART, all exported.
slow_choice() {
	full_only "$1-plans" "the unit tests that enumerate all plans, which the suite unit runs" || GTEST_FILTER=-$plans_all
	full_only "$1-random" "nine in ten of the random runs of route's unit tests, all of which the suite unit makes" || CT_PART=10
	[ "$1" = asan ] || full_only "$1-mutations" "nine in ten inputs of the fuzz targets, all of which the suites unit and asan make" || FUZZ_PART=10
}

suite_asan() {
	local -x GTEST_FILTER='*' CT_PART=1
	slow_choice asan
	host_suite asan -- --disable-man --enable-asan || return
	functional_sanitized asan
}

suite_tsan() {
	local -x GTEST_FILTER='*' CT_PART=1 FUZZ_PART=1
	slow_choice tsan
	host_suite tsan -- --disable-man --enable-tsan || return
	functional_sanitized tsan
}

# functional_sanitized BUILD: pverbs and the software device, both built so.
functional_sanitized() {
	local address FCT_TIME_SCALE=$((5 * patience))

	address=$(host_address)
	if [ -z "$address" ]; then
		skip "$1-functional" "no interface has an address besides the loopback one"
		return
	fi
	export FCT_TIME_SCALE
	counted "$1-functional" 600 functional_on_simverbs "$1" "$address" -p pverbs
	counted "$1-stress" 600 commit_on_simverbs "$1" "$address" dmp on off auto stress store
	counted "$1-commit-lost" 600 commit_on_simverbs "$1" "$address" dmp on off auto lost
	counted "$1-commit-messages" 600 commit_on_simverbs "$1" "$address" dmp on off message commit
	counted "$1-commit-flushes" 600 commit_on_simverbs "$1" "$address" dmp on on auto commit
	counted "$1-rpcrdma-pverbs" 600 functional_on_simverbs "$1" "$address" -p rpcrdma --lower pverbs \
		msg cm rma srx end close
	[ "$1" != asan ] || counted asan-clnt 600 "$top/fabtests/interop/with-build" asan simverbs \
		"$top/build/asan/fabtests/rpc/fi_cairn_clnt" -p "pverbs;rpcrdma" -s "$address"
	# libfabric's tcp leaks a request that nobody answers.
	counted "$1-rpcrdma-tcp" 600 "$top/fabtests/interop/with-build" "$1" "$top/fabtests/functional/run-functional" \
		-b "$top/build/$1/fabtests/functional" -p rpcrdma --lower tcp -x cm.request_unused msg cm rma srx end close
	[ "$1" != asan ] || counted asan-route 600 "$top/fabtests/interop/check-route" -b asan -w 2 -s -n 1 functional mesh workers
	[ "$1" != asan ] || ! full_only asan-route-limits "what routed connections take, which the suite route measures" ||
		counted asan-route-limits 600 "$top/fabtests/interop/check-route" -b asan -w 1 -s -n 1 limits
	[ "$1" != tsan ] || counted tsan-route 600 "$top/fabtests/interop/check-route" -b tsan -w 2 -s -n 1 functional mesh workers
	# LeakSanitizer cannot stop the threads of these processes at their end.
	[ "$1" != asan ] || ASAN_OPTIONS=detect_leaks=0 counted asan-route-rdm 600 "$top/fabtests/interop/check-route" -b asan -s -n 1 rdm
	SIMVERBS_LINK_LAYER=iwarp counted "$1-commit-iwarp" 600 commit_on_simverbs "$1" "$address" dmp on off auto commit
	[ "$1" != asan ] || counted asan-nfsget 600 "$top/fabtests/interop/with-build" asan \
		"$top/util/fi_nfsget/test-fi_nfsget" --build "$top/build/asan" --lower pverbs
	[ "$1" != asan ] || counted asan-rpcping 600 "$top/fabtests/interop/with-build" asan \
		"$top/util/fi_rpcping/test-fi_rpcping" --build "$top/build/asan" --lower tcp
	[ "$1" != asan ] || counted asan-ibmc 600 "$top/util/fi_ibmc/test-fi_ibmc" --build "$top/build/asan"
	[ "$1" != asan ] || counted asan-routectl 600 "$top/util/fi_routectl/test-fi_routectl" --build "$top/build/asan"
	[ "$1" != asan ] || counted asan-router 600 "$top/util/fi_router/test-fi_router" --build "$top/build/asan" \
		check alone two borders reload
	counted "$1-dgram" 600 functional_on_simverbs "$1" "$address" -p pverbs dgram
	counted "$1-mcast" 600 mcast_on_simverbs "$1" "$address"
	SIMVERBS_EVENTS=on FI_PVERBS_LINK=draft counted "$1-mcast-link" 600 functional_on_simverbs "$1" "$address" -p pverbs mcast
	counted "$1-link" 600 "$top/fabtests/interop/check-link" -b "$1"
	[ "$1" != asan ] || counted asan-fault 600 functional_on_simverbs asan "$address" -p pverbs -T 340 fault
}

# Debian's next release: rdma-core 65, which librpma is not packaged with. What was built on Debian 12 runs there, too.
simverbs_forky() {
	local address

	guest_build forky || return
	counted simverbs-programs-forky 900 guest forky build-in "$top/util/simverbs/test-simverbs" \
		--build "$top/build/forky" --strict --except pverbs-functional --except rpma --except sa-statuses-of-opensm
	address=$(host_address)
	[ -n "$address" ] || return 0
	counted simverbs-portable-forky 600 guest forky build-in "$top/fabtests/interop/with-build" unit \
		"$top/fabtests/functional/run-functional" -b "$top/build/unit/fabtests/functional" -w simverbs \
		-a "$address" -p pverbs
}

# An address of this machine that is not the loopback one; nothing when there is none. The software device
# has it unless it is told otherwise.
host_address() {
	ip -4 -o addr show scope global | awk '{ sub("/.*", "", $4); print $4; exit }'
}

# functional_on_simverbs BUILD ADDRESS ARGUMENT...: programs of build/BUILD. Each by itself is put on the
# device, for what a sanitizer is in cannot be preloaded into the shell.
functional_on_simverbs() {
	"$top/fabtests/interop/with-build" "$1" "$top/fabtests/functional/run-functional" \
		-b "$top/build/$1/fabtests/functional" -w simverbs -a "$2" "${@:3}"
}

suite_valgrind() {
	local -x GTEST_FILTER='*' CT_PART=1 FUZZ_PART=1
	slow_choice valgrind
	build_unit || return
	counted valgrind 1800 make_check "$top/build/unit" \
		LOG_COMPILER="valgrind -q --fair-sched=yes --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite"
}

suite_tcp() {
	build_unit || return
	counted tcp 900 "$top/fabtests/functional/run-functional" -b "$top/build/unit/fabtests/functional" -p tcp
	counted net-itself 600 "$top/fabtests/interop/test-net"
	tcp_in_namespaces
}

# Client and server in two network namespaces, with nothing but a link between them.
tcp_in_namespaces() {
	local net=$top/fabtests/interop/net

	"$net" up -e 'host a' true 2>/dev/null || { skip tcp-namespaces "no user namespaces here"; return; }
	counted tcp-namespaces 600 "$net" up -e 'link client 10.0.0.1/24 server 10.0.0.2/24' "$net" in client \
		"$top/fabtests/functional/run-functional" -b "$top/build/unit/fabtests/functional" -p tcp \
		--peer-netns server -s 10.0.0.1 -a 10.0.0.2 cm msg rma end
	counted tcp-mesh 600 "$net" up -e 'link a 10.0.1.1/24 r 10.0.1.9/24; link b 10.0.2.1/24 r 10.0.2.9/24;
		link c 10.0.3.1/24 r 10.0.3.9/24; forward r; route a default 10.0.1.9; route b default 10.0.2.9;
		route c default 10.0.3.9' "$top/build/unit/fabtests/functional/fi_cairn_mesh" -p tcp -n 6 \
		--hosts=a=10.0.1.1,b=10.0.2.1,c=10.0.3.1
}

# On the software device the functional programs run at native speed. It has the addresses of this
# machine's interfaces; what is sent to them stays on this machine. In the guest's root the programs
# and libraries are Debian 13's; no machine is started.
suite_simverbs() {
	local dir=$top/build/unit address server client

	build_unit || return
	counted simverbs-programs 900 "$top/util/simverbs/test-simverbs" --build "$dir" --strict \
		--except pverbs-functional
	guest_build trixie &&
		counted simverbs-programs-trixie 900 guest trixie build-in "$top/util/simverbs/test-simverbs" \
			--build "$top/build/trixie" --strict --except pverbs-functional --except sa-statuses-of-opensm
	! full_only simverbs-programs-forky "programs, libraries and our own binaries in the root of Debian's next release" || simverbs_forky
	address=$(host_address)
	if [ -z "$address" ]; then
		skip simverbs-pverbs "no interface has an address besides the loopback one"
		return
	fi
	step quickstart 600 "$top/util/quickstart"
	for server in pverbs verbs; do
		for client in pverbs verbs; do
			[ "$client $server" != "verbs verbs" ] ||
				full_only simverbs-verbs-verbs "libfabric's verbs with itself on the software device" || continue
			counted "simverbs-$client-$server" 900 functional_on_simverbs unit "$address" \
				-p "$client" --peer "$server"
		done
	done
	counted simverbs-process 600 process_with_thread unit "$address"
	# That it runs; nothing is asserted of its times.
	step simverbs-conns 600 "$top/fabtests/interop/with-build" unit simverbs \
		"$top/build/unit/fabtests/benchmarks/fi_cairn_conns" -n 300 "$address"
	SIMVERBS_REMOVAL=silent counted simverbs-removed-silent 600 functional_on_simverbs unit "$address" -p pverbs removed
	FI_PVERBS_DURABLE=on SIMVERBS_REMOVAL=silent counted simverbs-removed-durable 600 \
		functional_on_simverbs unit "$address" -p pverbs removed
	counted simverbs-store 600 functional_on_simverbs unit "$address" -p pverbs store
	counted simverbs-stress 600 commit_on_simverbs unit "$address" dmp on off auto stress
	simverbs_pmem "$address"
	simverbs_commit "$address"
	simverbs_commit_troubles "$address"
	simverbs_dgram "$address"
	simverbs_rxm "$address"
	simverbs_many "$address"
	simverbs_remotelog
	simverbs_openmpi
	simverbs_bench
}

# process_with_thread BUILD ADDRESS: as a target of durable operations the provider has a thread of its own.
process_with_thread() {
	local file=$top/build/$1/pmem-process

	truncate -s 2M "$file"
	FI_PVERBS_DURABLE=on FI_CAIRN_PMEM=$file SIMVERBS_PERSISTENT_FILE=$file \
		functional_on_simverbs "$1" "$2" -p pverbs process
}

# Regions of persistent memory.
simverbs_pmem() {
	local file=$top/build/unit/pmem

	truncate -s 64K "$file"
	FI_CAIRN_PMEM=$file SIMVERBS_PERSISTENT_FILE=$file SIMVERBS_PERSISTENCE=mhp \
		counted simverbs-pmem 600 functional_on_simverbs unit "$1" -p pverbs mr
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
	local link domain ddio flush method row left=()

	for row in {infiniband,iwarp}\ {dmp,mhp,wsp}\ {on,off}\ {on,off}\ {auto,message}; do
		read -r link domain ddio flush method <<<"$row"
		[ "$link $flush" != "iwarp on" ] || continue
		if [ -z "${CHECK_FULL-}" ] && ! grep -qxF $'\t'"${row// /$'\t'}" <<<"$simverbs_commit_daily"; then
			left+=("$link-$domain-$ddio-$flush-$method")
			continue
		fi
		SIMVERBS_LINK_LAYER=$link counted "simverbs-commit-${row// /-}" 200 \
			commit_on_simverbs unit "$1" "$domain" "$ddio" "$flush" "$method" commit
	done
	[ ${#left[@]} = 0 ] || full_only simverbs-commit "${#left[@]} of 36 configurations (those that ran have any two \
properties together): ${left[*]}"
}

# commit_without BUILD ADDRESS CLIENT SERVER VARIABLE=VALUE...: one side can do nothing for durable operations.
commit_without() {
	local file=$top/build/$1/pmem-without

	truncate -s 2M "$file"
	env FI_CAIRN_PMEM="$file" SIMVERBS_PERSISTENT_FILE="$file" SIMVERBS_PERSISTENCE=dmp "${@:5}" \
		"$top/fabtests/interop/with-build" "$1" simverbs "$top/build/$1/fabtests/functional/fi_cairn_commit" \
		-t without "--self=$2" -p "$3" --peer-prov "$4"
}

# Stock verbs on either side, FI_PVERBS_DURABLE=off on one; and targets that stand still or are killed.
simverbs_commit_troubles() {
	local side flush

	counted simverbs-commit-verbs-server 600 commit_without unit "$1" pverbs verbs
	counted simverbs-commit-verbs-client 600 commit_without unit "$1" verbs pverbs
	for side in SERVER CLIENT; do
		for flush in on off; do
			counted "simverbs-commit-off-$side-$flush" 600 commit_without unit "$1" pverbs pverbs \
				SIMVERBS_FLUSH=$flush FCT_${side}_ENV=FI_PVERBS_DURABLE=off
		done
	done
	step simverbs-reach 600 reach_on_simverbs unit "$1"
	counted simverbs-commit-lost 600 commit_on_simverbs unit "$1" dmp on off auto lost
	counted simverbs-commit-lost-reads 600 commit_on_simverbs unit "$1" mhp on off auto lost
}

# What ofi_rxm makes of the flag, with both versions of libfabric.
simverbs_rxm() {
	local file=$top/build/unit/pmem-rxm run

	truncate -s 2M "$file"
	run=(env "FI_CAIRN_PMEM=$file" "SIMVERBS_PERSISTENT_FILE=$file" "$top/fabtests/interop/with-build" unit
		"$top/fabtests/functional/run-functional" -b "$top/build/unit/fabtests/functional" -w simverbs -a "$1"
		-p "pverbs;ofi_rxm" rxm)
	counted simverbs-rxm 600 "${run[@]}"
	counted simverbs-rxm-trixie 600 guest trixie build-in "${run[@]}"
}

# reach_on_simverbs BUILD ADDRESS: one peer of a domain does not change another's sequence word.
reach_on_simverbs() {
	local file=$top/build/$1/pmem-reach

	truncate -s 1M "$file"
	SIMVERBS_PERSISTENT_FILE=$file SIMVERBS_PERSISTENCE=dmp SIMVERBS_FLUSH=off \
		"$top/fabtests/interop/with-build" "$1" simverbs fi_cairn_beside -w -m 1 "$2" "$file"
}

# commit_on_simverbs BUILD ADDRESS PERSISTENCE DDIO FLUSH METHOD [PROGRAM...]: with persistent memory.
commit_on_simverbs() {
	local file=$top/build/$1/pmem-commit

	truncate -s 2M "$file"
	FI_CAIRN_PMEM=$file SIMVERBS_PERSISTENT_FILE=$file SIMVERBS_PERSISTENCE=$3 SIMVERBS_DDIO=$4 SIMVERBS_FLUSH=$5 \
		FI_PVERBS_COMMIT_METHOD=$6 functional_on_simverbs "$1" "$2" -p pverbs "${@:7}"
}

# Datagrams, also with the stock provider on either side, and multicast.
simverbs_dgram() {
	local -x SIMVERBS_LINK_LAYER

	for SIMVERBS_LINK_LAYER in infiniband roce; do
		counted "simverbs-dgram-$SIMVERBS_LINK_LAYER" 600 functional_on_simverbs unit "$1" -p pverbs dgram
		counted "simverbs-dgram-$SIMVERBS_LINK_LAYER-verbs-server" 600 functional_on_simverbs unit "$1" \
			-p pverbs --peer verbs dgram
		counted "simverbs-dgram-$SIMVERBS_LINK_LAYER-verbs-client" 600 functional_on_simverbs unit "$1" \
			-p verbs --peer pverbs dgram
		counted "simverbs-dgram-$SIMVERBS_LINK_LAYER-lossy" 600 lossy_on_simverbs unit "$1"
		counted "simverbs-mcast-$SIMVERBS_LINK_LAYER" 600 mcast_on_simverbs unit "$1"
		simverbs_dgram_without_ip
	done
	SIMVERBS_EVENTS=on SIMVERBS_LINK_LAYER=infiniband FI_PVERBS_LINK=rfc \
		counted simverbs-mcast-link 600 functional_on_simverbs unit "$1" -p pverbs mcast
	SIMVERBS_UMAD=off SIMVERBS_EVENTS=on SIMVERBS_LINK_LAYER=infiniband FI_PVERBS_LINK=rfc \
		counted simverbs-mcast-link-rdma_cm 600 functional_on_simverbs unit "$1" -p pverbs mcast
	counted simverbs-datagram-feed 600 "$top/fabtests/interop/with-build" unit "$top/examples/test-datagram_feed" \
		"$top/build/unit"
	counted simverbs-mckey 600 "$top/fabtests/interop/with-build" unit "$top/fabtests/interop/check-mckey" "$1"
}

# On a device that has no IP address, by its GID. Such a port on Ethernet joins no groups.
simverbs_dgram_without_ip() {
	local -x SIMVERBS_DEVICES=2 FI_PVERBS_DEVICE=sim1
	local gid=fe80::273:6d00:7662:11

	counted "simverbs-dgram-$SIMVERBS_LINK_LAYER-without-ip" 600 functional_on_simverbs unit "$gid" -p pverbs dgram
	[ "$SIMVERBS_LINK_LAYER" = roce ] || counted simverbs-mcast-without-ip 600 mcast_on_simverbs unit "$gid"
}

# lossy_on_simverbs BUILD ADDRESS: datagrams some of which are lost, come twice or late. The device is for this alone, for its counters
# say what has to come.
lossy_on_simverbs() {
	local SIMVERBS_DIR rc

	SIMVERBS_DIR=$(mktemp -d /dev/shm/cairn-lossy.XXXXXX) || return
	SIMVERBS_DIR=$SIMVERBS_DIR SIMVERBS_UD_LOSS=0.1 SIMVERBS_UD_DUPLICATE=0.1 SIMVERBS_UD_REORDER=0.1 \
		"$top/fabtests/interop/with-build" "$1" simverbs fi_cairn_dgram -p pverbs --self="$2" -t lossy
	rc=$?
	rm -rf "$SIMVERBS_DIR"
	return $rc
}

# mcast_on_simverbs BUILD ADDRESS: multicast groups, some of which cannot be joined, on ports that change.
mcast_on_simverbs() {
	local -x SIMVERBS_EVENTS=on FI_PVERBS_JOIN_TIMEOUT=500
	local -x SIMVERBS_JOIN_FAIL='239.254.0.1=ENOSPC*1 239.254.0.2=0x0200*1 239.254.0.3=call:EPERM*1 239.254.0.4=never*1'

	functional_on_simverbs "$1" "$2" -p pverbs mcast
}

# Many peers and connections, with both versions of libfabric.
simverbs_many() {
	local check=("$top/fabtests/interop/check-many" "$1") with=$top/fabtests/interop/with-build

	counted simverbs-many 600 "$with" unit "${check[@]}"
	if guest_build trixie; then
		counted simverbs-many-trixie 600 guest trixie build-in "$with" trixie "${check[@]}"
	else
		skip simverbs-many-trixie "the build for the guest failed"
	fi
}

# A log in persistent memory whose server loses power; all kinds of failures: --runs, without names.
simverbs_remotelog() {
	local test=("$top/fabtests/interop/with-build" unit "$top/util/fi_remotelog/test-fi_remotelog" --build "$top/build/unit")

	counted simverbs-remotelog 600 "${test[@]}" singleton compound librpma machine again mistake volatile sweep kill
	counted simverbs-replicated-log 600 "$top/fabtests/interop/with-build" unit "$top/examples/test-replicated_log" \
		"$top/build/unit"
	counted simverbs-remotelog-power 600 "${test[@]}" --runs 4 power-dmp-noflush power-hand-dmp \
		power-librpma
}

# Debian 12's Open MPI and libfabric 1.17.
simverbs_openmpi() {
	local dir=$top/build/unit

	if [ ! -x "$dir/fabtests/interop/mpi_check" ]; then
		skip simverbs-openmpi "openmpi-bin or libopenmpi-dev was not installed when build/unit was configured"
	else
		counted simverbs-openmpi 600 "$top/fabtests/interop/with-build" unit simverbs \
			"$top/fabtests/interop/check-openmpi"
	fi
}

# Figures of a loaded machine say nothing: what is tested is that every peer gives one.
simverbs_bench() {
	if command -v ib_send_lat >/dev/null && command -v ucx_perftest >/dev/null; then
		step simverbs-bench 600 "$top/fabtests/interop/with-build" unit "$top/util/bench" -s -n 1
	else
		skip simverbs-bench "perftest or ucx-utils is not installed"
	fi
}

suite_layer() {
	local with=$top/fabtests/interop/with-build address file=$top/build/unit/pmem-layer

	build_unit || return
	layer_over tcp 127.0.0.1
	counted layer-over-layer 600 "$with" unit "$top/fabtests/functional/run-functional" \
		-b "$top/build/unit/fabtests/functional" -p example_top --lower "tcp;example_layer" cm msg rma
	address=$(host_address)
	if [ -z "$address" ]; then
		skip layer-pverbs "no interface has an address besides the loopback one"
		return
	fi
	layer_over pverbs "$address" simverbs
	# What fails in the layer: the lower provider has its own turn in the suite simverbs.
	counted layer-fault 600 "$with" unit "$top/fabtests/functional/run-functional" -b "$top/build/unit/fabtests/functional" \
		-w simverbs -a "$address" -T 240 -p example_layer --lower pverbs fault
	truncate -s 2M "$file"
	FI_CAIRN_PMEM=$file SIMVERBS_PERSISTENT_FILE=$file counted layer-rxm 600 "$with" unit simverbs \
		"$top/build/unit/fabtests/functional/fi_cairn_rxm" -p "example_layer;ofi_rxm" --lower pverbs "--self=$address"
	if guest_build trixie; then
		counted layer-pverbs-trixie 600 guest trixie build-in "$with" trixie "$top/fabtests/functional/run-functional" \
			-b "$top/build/trixie/fabtests/functional" -w simverbs -a "$address" -p example_layer --lower pverbs \
			cm msg rma srx atomic
	else
		skip layer-pverbs-trixie "the build for the guest failed"
	fi
}

# layer_over LOWER ADDRESS [WRAPPER]: the programs, libfabric's own, and Open MPI.
layer_over() {
	local with=$top/fabtests/interop/with-build stack="$1;example_layer" w=("${@:3}")

	counted "layer-$1" 600 "$with" unit "$top/fabtests/functional/run-functional" \
		-b "$top/build/unit/fabtests/functional" ${w[0]+-w "${w[0]}"} -a "$2" -p example_layer --lower "$1"
	counted "layer-$1-rdm" 600 "$with" unit "${w[@]}" "$top/build/unit/fabtests/functional/fi_cairn_rdm" -n 4 \
		-p "example_layer;ofi_rxm" --lower "$1" "--self=$2"
	counted "layer-$1-mesh" 600 "$with" unit "${w[@]}" "$top/build/unit/fabtests/functional/fi_cairn_mesh" -n 4 \
		-p example_layer --lower "$1" -s "$2"
	step "layer-$1-pingpong" 600 "$with" unit "${w[@]}" "$top/fabtests/interop/check-pingpong" "$2" "$stack" "$stack"
	step "layer-$1-pingpong-rdm" 600 "$with" unit "${w[@]}" "$top/fabtests/interop/check-pingpong" "$2" "$stack;ofi_rxm" \
		"$stack;ofi_rxm" rdm
	if [ -x "$top/build/unit/fabtests/interop/mpi_check" ]; then
		FI_PROVIDER=example_layer,ofi_rxm FI_EXAMPLE_LAYER_LOWER=$1 counted "layer-$1-openmpi" 600 "$with" unit "${w[@]}" \
			"$top/fabtests/interop/check-openmpi" "example_layer;ofi_rxm"
	else
		skip "layer-$1-openmpi" "openmpi-bin or libopenmpi-dev was not installed when build/unit was configured"
	fi
}

suite_rpcrdma() {
	local with=$top/fabtests/interop/with-build address

	build_unit || return
	step build-conformance 600 make -C "$top/build/unit" fabtests/conformance/fi_cairn_rpc || return
	rpcrdma_over tcp 127.0.0.1
	address=$(host_address)
	if [ -z "$address" ]; then
		skip rpcrdma-pverbs "no interface has an address besides the loopback one"
		return
	fi
	rpcrdma_over pverbs "$address" simverbs
	counted rpcrdma-verbs 600 "$with" unit "$top/fabtests/functional/run-functional" \
		-b "$top/build/unit/fabtests/functional" -w simverbs -a "$address" -p rpcrdma --lower verbs msg cm rma
	if guest_build trixie; then
		counted rpcrdma-pverbs-trixie 600 guest trixie build-in "$with" trixie "$top/fabtests/functional/run-functional" \
			-b "$top/build/trixie/fabtests/functional" -w simverbs -a "$address" -p rpcrdma --lower pverbs \
			cm msg rma srx
		counted rpcrdma-tcp-trixie 600 guest trixie build-in "$with" trixie "$top/fabtests/functional/run-functional" \
			-b "$top/build/trixie/fabtests/functional" -p rpcrdma --lower tcp cm msg rma srx
	else
		skip rpcrdma-pverbs-trixie "the build for the guest failed"
	fi
}

# Nothing here has data but what goes to groups on simverbs.
suite_multicast() {
	build_unit || return
	step build-multicast 600 make -C "$top/build/unit" util/simverbs/test/sa_client util/simverbs/test/group_data util/fi_ibmc/fi_ibmc \
		fabtests/interop/fi_cairn_link || return
	unit_wanted || counted multicast-unit 600 make_check "$top/build/unit" TESTS="fabtests/unit/unit_ibmc fabtests/unit/unit_pverbs_groups
		fabtests/unit/unit_pverbs_link fabtests/unit/unit_pverbs_sa fabtests/fuzz/fuzz_groups fabtests/fuzz/fuzz_ibmc fabtests/fuzz/fuzz_sa fabtests/fuzz/fuzz_svb_sa"
	counted multicast-rows 600 "$top/fabtests/interop/check-multicast" --strict
	counted multicast-simverbs 600 "$top/util/simverbs/test-simverbs" --build "$top/build/unit" --strict sa group-data
	counted multicast-link 600 "$top/fabtests/interop/check-link"
	counted multicast-ibmc 600 "$top/util/fi_ibmc/test-fi_ibmc" --build "$top/build/unit" --strict
}

suite_route-graph() {
	build_unit || return
	step build-routectl 600 make -C "$top/build/unit" util/fi_routectl/fi_routectl || return
	unit_wanted || counted route-unit 600 make_check "$top/build/unit" TESTS="fabtests/unit/unit_route fabtests/unit/unit_route_auth fabtests/unit/unit_route_config
		fabtests/unit/unit_route_flow fabtests/unit/unit_route_sync fabtests/unit/unit_route_wire
		fabtests/fuzz/fuzz_route_config fabtests/fuzz/fuzz_route_lsdb fabtests/fuzz/fuzz_route_wire"
	counted routectl 600 "$top/util/fi_routectl/test-fi_routectl" --build "$top/build/unit"
	# It ends with an error where Boost finds other costs.
	step build-route-bench 600 make -C "$top/build/unit" fabtests/benchmarks/fi_cairn_route || return
	step route-1000 600 "$top/build/unit/fabtests/benchmarks/fi_cairn_route" -n 20
	step route-10000 600 "$top/build/unit/fabtests/benchmarks/fi_cairn_route" -s 10000 -n 3
}

# A daemon with the first protocol, before there were workers, durable writes in routers, and writes that they execute.
route_older=6703b0da7d812248eeb1d031d1ab455656200be2
# An early one that can be drained.
route_early=dd9458f70c6c83be6879fca64ed3beb7060ed998

# old_router REVISION: builds the daemon of that revision in build/old.
old_router() {
	local dir=$top/build/old/$1
	[ ! -x "$dir/build/util/fi_router/fi_router" ] || return 0
	rm -rf "$dir" && mkdir -p "$dir/build" && git -C "$top" archive "$1" | tar -x -C "$dir" && cd "$dir" &&
		./autogen.sh && cd build && ../configure --disable-man && make -j2 util/fi_router/fi_router
}

# Routers of earlier versions and this one, in one network.
route_upgrade() {
	if ! git -C "$top" cat-file -e "$route_early^{commit}" 2>/dev/null || ! git -C "$top" cat-file -e "$route_older^{commit}" 2>/dev/null; then
		skip route-upgrade "the history is not here"
		return
	fi
	step build-router-early 600 old_router "$route_early" && step build-router-older 600 old_router "$route_older" || return
	counted route-upgrade 600 "$top/fabtests/interop/check-route" -b unit \
		-o "$top/build/old/$route_early/build/util/fi_router/fi_router,$top/build/old/$route_older/build/util/fi_router/fi_router" drain
}

# All programs with one router; with none and with two a choice, as long as the day is short.
suite_route() {
	local check=("$top/fabtests/interop/check-route" -b unit)

	build_unit || return
	step build-router 600 make -C "$top/build/unit" util/fi_router/fi_router util/fi_routectl/fi_routectl || return
	unit_wanted || counted route-parts 600 make_check "$top/build/unit" TESTS="fabtests/unit/unit_route_data fabtests/unit/unit_route_peer
		fabtests/unit/unit_route_prov fabtests/unit/unit_route_xfer fabtests/unit/unit_router
		fabtests/unit/unit_router_chain fabtests/unit/unit_router_transit fabtests/fuzz/fuzz_route_control
		fabtests/fuzz/fuzz_route_greeting fabtests/fuzz/fuzz_route_vc"
	counted route-router 600 "$top/util/fi_router/test-fi_router" --build "$top/build/unit"
	! full_only route-net-itself "the tool that makes routed networks" ||
		counted route-net-itself 600 "$top/fabtests/interop/test-route-net"
	# Three at once: most of them wait most of the time. The limits say what a connection leaves to others.
	counted route-programs 600 "${check[@]}" -j 3 -x stress.domain -x stress.reopen_domain -n 1 \
		functional hostile auth systems operators workers drain local figure
	counted route-programs-few 600 "${check[@]}" -j 3 -x stress.domain -x stress.reopen_domain -n 0,2 -s functional failure fault others crowd soak
	counted route-interop 600 "${check[@]}" -j 3 -n 0,2 commit verbs rdm mesh pingpong
	counted route-openmpi 600 "${check[@]}" -n 2 openmpi
	# Shares are measured, which two workers do not keep where they have to wait for a processor.
	counted route-limits 600 "${check[@]}" -w 1 -n 1 limits
	counted route-many 600 "${check[@]}" -s -n 1 many
	! full_only route-many-all "1,000 connections through one router" ||
		counted route-many-all 600 "${check[@]}" -n 1 many
	# How many workers a router has otherwise depends on the processors.
	counted route-two-workers 600 "${check[@]}" -j 2 -w 2 -s -n 2 functional mesh
	! full_only route-two-workers-hostile "hostile peers, and routers with two workers" ||
		counted route-two-workers-hostile 600 "${check[@]}" -w 2 -s -n 2 hostile
	! full_only route-failure-all "every failure, Fig. 3 without each of its routers, rings and partitions" ||
		counted route-failure-all 1800 "${check[@]}" -f failure
	! full_only route-soak "10 minutes" || counted route-soak 1200 "${check[@]}" -f soak
	! full_only route-functional-all "all cases of all programs with 0, 1, 2, 3 and 5 routers" ||
		counted route-functional-all 1800 "${check[@]}" -n 0,1,2,3,5 functional
	! full_only route-upgrade "routers of earlier versions, built from the history, drained and replaced" || route_upgrade
	! full_only route-table "every cell of Table I, measured" || counted route-table 600 "${check[@]}" -f systems
	! full_only route-limits-long "a million transfers, and more than 4 GiB at once, through 0, 1 and 2 routers" ||
		counted route-limits-long 3600 "${check[@]}" -f limits
	full_only route-bench "each figure of route-bench, once" || return 0
	step build-relay 600 make -C "$top/build/unit" fabtests/benchmarks/tcp_relay || return
	# Figures of a loaded machine say nothing: what is tested is that every way gives one.
	step route-bench 600 "$top/fabtests/interop/with-build" unit "$top/fabtests/benchmarks/route-bench" -n 1 -r 2
}

# What suits a layer that has connections, messages and RMA.
rpcrdma_programs=(getinfo eq cm msg rma cq cntr srx mr close refused end process file store)

# rpcrdma_over LOWER ADDRESS [WRAPPER]: wrap mode under the programs and libfabric's own.
rpcrdma_over() {
	local with=$top/fabtests/interop/with-build stack="$1;rpcrdma" w=("${@:3}")

	# In a child of fork nothing of the layer may be called: fi_rpcrdma(7), DEVIATIONS.
	counted "rpcrdma-$1" 600 "$with" unit "$top/fabtests/functional/run-functional" \
		-b "$top/build/unit/fabtests/functional" ${w[0]+-w "${w[0]}"} -a "$2" -p rpcrdma --lower "$1" \
		-x process.fork_close "${rpcrdma_programs[@]}"
	! full_only "rpcrdma-$1-many" "fi_cairn_many and fi_cairn_mesh over rpcrdma and $1" ||
		counted "rpcrdma-$1-many" 600 "$with" unit "$top/fabtests/functional/run-functional" \
			-b "$top/build/unit/fabtests/functional" ${w[0]+-w "${w[0]}"} -a "$2" -p rpcrdma --lower "$1" many mesh
	counted "rpcrdma-rows-$1" 600 rpcrdma_rows unit "$1" "$2" "${w[@]}"
	step "rpcrdma-$1-pingpong" 600 "$with" unit "${w[@]}" "$top/fabtests/interop/check-pingpong" "$2" "$stack" "$stack"
}

suite_rpc() {
	local with=$top/fabtests/interop/with-build address

	build_unit || return
	rpc_over tcp 127.0.0.1
	address=$(host_address)
	if [ -n "$address" ]; then
		rpc_over pverbs "$address" simverbs
	else
		skip rpc-pverbs "no interface has an address besides the loopback one"
	fi
	counted rpc-nfsget 600 "$with" unit "$top/util/fi_nfsget/test-fi_nfsget" --build "$top/build/unit"
	counted rpc-rpcping 600 "$with" unit "$top/util/fi_rpcping/test-fi_rpcping" --build "$top/build/unit"
}

# rpc_over LOWER ADDRESS [WRAPPER]
rpc_over() {
	local with=$top/fabtests/interop/with-build stack="$1;rpcrdma" w=("${@:3}")

	counted "rpc-clnt-$1" 600 "$with" unit "${w[@]}" "$top/build/unit/fabtests/rpc/fi_cairn_clnt" -p "$stack" -s "$2"
	step "rpc-$1-example" 600 "$with" unit "$top/examples/rpc/test-count" "$top/build/unit" "$stack" "$2" "${w[@]}"
}

# rpcrdma_rows BUILD LOWER ADDRESS [simverbs]: each row of the conformance tables by name. A crash leaves no count, which
# is a failure as well.
rpcrdma_rows() {
	RPC_LOWER=$2 RPC_ADDRESS=$3 "$top/fabtests/interop/with-build" "$1" "${@:4}" \
		"$top/build/$1/fabtests/conformance/fi_cairn_rpc" | awk '
	{ print }
	/^\[  SKIPPED \] [^0-9]/ { print "skip " $4 }
	/^\[==========\] .* ran/ { ran = $2 }
	/^\[  PASSED  \]/ { passed = $4 }
	/^\[  SKIPPED \] [0-9]/ { skipped = $4 }
	END {
		if (ran == "")
			exit 1
		printf "%d passed, %d failed, %d skipped\n", passed, ran - passed - skipped, skipped
	}'
}

suite_install() {
	local dir=$top/build/install root=$top/build/install-root

	rm -rf "$root"
	step build-install 1200 build_tree install -- --prefix=/usr || return
	step make-install 600 make -C "$dir" install DESTDIR="$root" || return
	step installed-files 600 installed_files "$root"
	step installed-providers 600 installed_providers "$root"
	# Builds, installs and removes from the archive; what it builds was tested before.
	step distcheck 1800 with_ccache make -C "$dir" -j2 distcheck TESTS=
}

# What somebody who installs the project finds.
installed_files() {
	local root=$1 name pages
	mapfile -t pages < <(providers | sed 's|.*|share/man/man7/fi_&.7|')
	for name in include/rdma/fi_ext_cairn.h include/rdma/fi_cairn_rpc.h bin/rdmavm bin/fi_cairn_file bin/fi_nfsget \
		bin/fi_remotelog bin/fi_rpcping share/man/man1/rdmavm.1 share/man/man1/fi_nfsget.1 share/man/man1/fi_rpcping.1 bin/fi_ibmc share/man/man1/fi_ibmc.1 bin/fi_routectl share/man/man1/fi_routectl.1 sbin/fi_router \
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

# --- the virtual machine

# Its image is made first, as a step of its own.
suite_rdmavm() {
	guest_build trixie
	counted rdmavm 2400 "$top/util/rdmavm/test-rdmavm"
	full_only rdmavm-forky "the same with Debian's next release" || return 0
	guest_build forky
	counted rdmavm-forky 2400 "$top/util/rdmavm/test-rdmavm" --release forky
}

machines_down() {
	guest trixie down
	guest bookworm down
	guest forky down
}

# guest_build RELEASE: the image, made anew where packages are newer, and our programs for it in build/RELEASE.
guest_build() {
	once "guest-$1" guest_build_steps "$1"
}

guest_build_steps() {
	step "rdmavm-build-$1" 1800 guest "$1" build && step "build-$1" 1200 guest_tree "$1"
}

# guest_up RELEASE: with what guest_build makes.
guest_up() {
	guest_build "$1" && step "rdmavm-up-$1" 1000 guest "$1" up
}

# in_guest RELEASE SECONDS COMMAND...: in the source folder, as root.
in_guest() {
	local release=$1 limit=$(($2 * patience))
	shift 2
	guest "$release" --timeout "$limit" run "$@"
}

suite_kernel() {
	guest_up trixie || return
	guest_tests trixie trixie
	if full_only kernel-asan "pverbs under AddressSanitizer on kernel RDMA"; then
		step build-trixie-asan 1200 guest_tree trixie trixie-asan --enable-asan || return
		functional_in_guest trixie trixie-asan pverbs pverbs
	fi
}

# The file system that is frozen to block Calls is made here: the guest has no mkfs.ext4.
suite_rpc-kernel() {
	local image=build/trixie/nfs.ext4
	local nfs=(fabtests/interop/with-build trixie fabtests/interop/check-nfs --image "$image")
	local mount=(fabtests/interop/with-build trixie fabtests/interop/check-mount)

	guest_up trixie || return
	step rpc-kernel-image 600 env PATH="$PATH:/usr/sbin:/sbin" mkfs.ext4 -q -F "$top/$image" 16M || return
	counted rpc-kernel-server 600 in_guest trixie 480 "${nfs[@]}" build/trixie 10.77.0.1
	counted rpc-kernel-client 600 in_guest trixie 380 "${mount[@]}" build/trixie 10.77.0.1
	if full_only rpc-kernel-long "100,000 Calls each way, 100 lost connections, little memory, few credits, long silence"; then
		counted rpc-kernel-server-long 2400 in_guest trixie 2380 "${nfs[@]}" --long build/trixie 10.77.0.1
		counted rpc-kernel-client-long 1500 in_guest trixie 1480 "${mount[@]}" --long build/trixie 10.77.0.1
	fi
}

# Debian 13's machine comes first: it may be up already.
suite_portable() {
	guest_build bookworm || return
	if guest_up trixie; then
		guest_tests trixie bookworm
		durable_in_guest trixie bookworm
	fi
	if guest_up bookworm; then
		guest_tests bookworm bookworm
		guest bookworm down
	fi
	! full_only portable-forky "the same binary on the kernel of Debian's next release, persistent memory included" ||
		portable_forky
}

# Kernel 7.2, rdma-core 65.
portable_forky() {
	guest_up forky || return
	guest_tests forky bookworm
	# Its own Open MPI, over the provider of Debian 12.
	# shellcheck disable=SC2016 # for the guest
	counted forky-bookworm-openmpi 900 in_guest forky 880 fabtests/interop/with-build bookworm \
		sh -c 'PATH=$PWD/build/forky/fabtests/interop:$PATH exec fabtests/interop/check-openmpi'
	pmem_tests forky bookworm
}

suite_pmem() {
	guest_up trixie || return
	pmem_tests trixie trixie
}

# pmem_tests RELEASE BUILD: the machine, which is up, says one thing of its persistent memory, then, started anew, the
# other. What the power cut shows and what it cannot: check-killed.
pmem_tests() {
	local release=$1 build=$2 name=pmem-$1-$2 with method

	with=(fabtests/interop/with-build "$build")
	build_unit || return
	durable_in_guest "$release" "$build"
	for method in auto message; do
		counted "$name-functional-$method" 600 in_guest "$release" 580 env FI_CAIRN_PMEM=/dev/dax0.0 \
			FI_PVERBS_COMMIT_METHOD=$method "${with[@]}" fabtests/functional/run-functional \
			-b "build/$build/fabtests/functional" -p pverbs -a 10.77.0.1 mr commit
	done
	step "$name-reach" 600 in_guest "$release" 100 "${with[@]}" fi_cairn_beside -w -m 8 10.77.0.1 /dev/dax0.0
	counted "$name-remotelog" 600 in_guest "$release" 580 "${with[@]}" fabtests/interop/check-remotelog 10.77.0.1 \
		/dev/dax0.0
	counted "$name-killed" 1200 "$top/fabtests/interop/check-killed" "$build" --release "$release" \
		--name "$(guest_name "$release")"
	guest "$release" down
	step "rdmavm-up-$release-cpu" 1000 guest "$release" --persistence cpu up || return
	durable_in_guest "$release" "$build" -cpu
	guest "$release" down
}

# durable_in_guest RELEASE BUILD [SUFFIX]
durable_in_guest() {
	counted "pmem-$1-$2${3-}" 600 in_guest "$1" 580 fabtests/interop/with-build "$2" \
		fabtests/interop/check-durable 10.77.0.1 /dev/dax0.0
}

# guest_tests RELEASE BUILD: pverbs from build/BUILD in the guest RELEASE.
guest_tests() {
	local release=$1 build=$2 name=$1-$2 server client mode programs=()

	step "$name-fi_info" 600 in_guest "$release" 50 fabtests/interop/with-build "$build" \
		fabtests/interop/check-fi_info
	# What is new beside trixie-trixie is whether the binary fits these libraries, and another kernel.
	[ "$name" = trixie-trixie ] ||
		full_only "$name-rest" "the functional programs close, refused, end, removed, process and file, which \
trixie-trixie runs" ||
		programs=(getinfo eq cm msg rma atomic cq cntr srx mr)
	functional_in_guest "$release" "$build" pverbs pverbs "${programs[@]}"
	step "$name-pingpong-rdm" 600 in_guest "$release" 180 fabtests/interop/with-build "$build" \
		fabtests/interop/check-pingpong host1 "pverbs;ofi_rxm" "pverbs;ofi_rxm" rdm
	[ "$name" = trixie-trixie ] ||
		full_only "$name-peers" "fi_pingpong with verbs, Open MPI, a file by three ways" || return 0
	for server in pverbs verbs; do
		for client in pverbs verbs; do
			step "$name-pingpong-$server-$client" 600 in_guest "$release" 180 \
				fabtests/interop/with-build "$build" \
				fabtests/interop/check-pingpong host1 "$server" "$client"
		done
	done
	# Its programs are for that release's Open MPI.
	if [ "$release" = "$build" ]; then
		counted "$name-openmpi" 900 in_guest "$release" 880 fabtests/interop/with-build "$build" \
			fabtests/interop/check-openmpi
	fi
	for mode in msg write read; do
		step "$name-file-$mode" 600 in_guest "$release" 280 \
			fabtests/interop/with-build "$build" fabtests/interop/check-file host1 "$mode"
	done
	[ "$name" = trixie-trixie ] || return 0
	counted "$name-layer" 600 in_guest "$release" 580 fabtests/interop/with-build "$build" \
		fabtests/functional/run-functional -b "build/$build/fabtests/functional" -p example_layer --lower pverbs \
		-a 10.77.0.1 cm msg rma
	! full_only "$name-verbs-verbs" "the functional programs over libfabric's verbs alone" ||
		functional_in_guest "$release" "$build" verbs verbs
	functional_in_guest "$release" "$build" pverbs verbs
	! full_only "$name-verbs-pverbs" "the functional programs, a client of libfabric's verbs and a server of pverbs" ||
		functional_in_guest "$release" "$build" verbs pverbs
	functional_in_guest "$release" "$build" pverbs pverbs store stress
	dgram_in_guest "$release" "$build"
}

# dgram_in_guest RELEASE BUILD: datagrams and multicast, also with the stock provider on either side, which takes the first entry of the
# GID table, a link-local one, unless it is told otherwise. rdma_rxe has RoCE version 2 alone. What is too long for a receive of
# the stock provider it drops and tells nobody, so that case would only wait.
dgram_in_guest() {
	local sides run
	# shellcheck disable=SC2016 # for the shell there
	local by_gid='gid=$(grep -l 0000:0000:0000:0000:0000:ffff:0a4d:0001 /sys/class/infiniband/*/ports/1/gids/*) &&
		FI_VERBS_GID_IDX=${gid##*/} exec "$@"'

	for sides in "pverbs pverbs" "pverbs verbs" "verbs pverbs"; do
		run=(sh -c "$by_gid" sh fabtests/interop/with-build "$2" fabtests/functional/run-functional
			-b "build/$2/fabtests/functional" -p "${sides% *}" --peer "${sides#* }" -a 10.77.0.1)
		[ "$sides" = "pverbs pverbs" ] || run+=(-x dgram.too_long)
		counted "$1-$2-dgram-${sides/ /-}" 200 in_guest "$1" 180 "${run[@]}" dgram
	done
	counted "$1-$2-mcast" 600 in_guest "$1" 180 fabtests/interop/with-build "$2" fabtests/functional/run-functional \
		-b "build/$2/fabtests/functional" -p pverbs -a 10.77.0.1 mcast
	counted "$1-$2-mckey" 600 in_guest "$1" 580 fabtests/interop/with-build "$2" fabtests/interop/check-mckey -k 10.77.0.1
}

# functional_in_guest RELEASE BUILD CLIENT SERVER [PROGRAM...]
functional_in_guest() {
	local except=(-x lost.nobody_there)

	# The kernel asks for more than a minute until it believes that nobody is there: once is enough.
	if [ "$1 $2" = "trixie trixie" ]; then
		[ "$3" != pverbs ] || except=()
	elif ! full_only "$1-$2-lost" "the functional program lost: peers that vanish"; then
		except=(-x lost)
	fi
	counted "$1-$2-functional-$3-$4${5:+-$5}" 1500 in_guest "$1" 1480 fabtests/interop/with-build "$2" \
		fabtests/functional/run-functional -b "build/$2/fabtests/functional" -p "$3" --peer "$4" -a 10.77.0.1 \
		"${except[@]}" "${@:5}"
}
