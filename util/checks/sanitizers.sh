# shellcheck shell=bash disable=SC2034,SC2154 # settings of steps, and what util/check has
# pverbs and the software device, both built with the sanitizer. The tests that enumerate all plans run in the suite unit, and daily
# one in ten of the random runs.
suite asan "unit tests and functional programs under AddressSanitizer and UBSan"
suite_asan() {
	local suite=asan part='' needs=asan check=("$top/fabtests/interop/check-route" -b asan -s -n 1)

	cores=2 counted asan 1200 CT_PART=10 "GTEST_FILTER=-$plans_all" make_check "$top/build/asan"
	part=sanitizers cores=2 counted asan-all 1800 make_check "$top/build/asan"
	sanitized_functional asan
	counted asan-route 600 "${check[@]}" -w 2 functional
	part=sanitizers counted asan-route-mesh 600 "${check[@]}" -w 2 mesh workers
	part=sanitizers counted asan-route-limits 600 "${check[@]}" -w 1 limits
	# LeakSanitizer cannot stop the threads of these processes at their end.
	part=sanitizers counted asan-route-rdm 600 ASAN_OPTIONS=detect_leaks=0 "${check[@]}" rdm
	part=sanitizers needs=asan-all
	counted asan-nfsget 600 with asan "$top/util/fi_nfsget/test-fi_nfsget" --build "$top/build/asan" --lower pverbs
	counted asan-rpcping 600 with asan "$top/util/fi_rpcping/test-fi_rpcping" --build "$top/build/asan" --lower tcp
	counted asan-ibmc 600 "$top/util/fi_ibmc/test-fi_ibmc" --build "$top/build/asan"
	counted asan-routectl 600 "$top/util/fi_routectl/test-fi_routectl" --build "$top/build/asan"
	counted asan-router 600 "$top/util/fi_router/test-fi_router" --build "$top/build/asan" check alone two borders reload
	[ -n "$address" ] || return 0
	counted asan-clnt 600 with asan simverbs "$top/build/asan/fabtests/rpc/fi_cairn_clnt" -p "pverbs;rpcrdma" -s "$address"
	counted asan-fault 600 FCT_TIME_SCALE=10 functional_on_simverbs asan "$address" -p pverbs -T 340 fault
}

suite tsan "unit tests and functional programs under ThreadSanitizer"
suite_tsan() {
	local suite=tsan part=sanitizers needs=tsan

	cores=2 counted tsan 1800 CT_PART=10 FUZZ_PART=10 "GTEST_FILTER=-$plans_all" make_check "$top/build/tsan"
	sanitized_functional tsan
	counted tsan-route 600 "$top/fabtests/interop/check-route" -b tsan -w 2 -s -n 1 functional mesh workers
}

# sanitized_functional BUILD: daily, each program once.
sanitized_functional() {
	local part=$part scale=FCT_TIME_SCALE=10

	if [ -z "$address" ]; then
		skip "$1-functional" "no interface has an address besides the loopback one"
		return
	fi
	counted "$1-functional" 600 $scale functional_on_simverbs "$1" "$address" -p pverbs
	counted "$1-commit" 600 $scale commit_on_simverbs "$1" "$address" dmp on off auto commit
	counted "$1-rpcrdma-pverbs" 600 $scale functional_on_simverbs "$1" "$address" -p rpcrdma --lower pverbs msg cm rma
	counted "$1-mcast-link" 600 $scale SIMVERBS_EVENTS=on FI_PVERBS_LINK=draft functional_on_simverbs "$1" "$address" -p pverbs mcast
	part=sanitizers
	counted "$1-rpcrdma-pverbs-all" 600 $scale functional_on_simverbs "$1" "$address" -p rpcrdma --lower pverbs msg cm rma srx end close
	counted "$1-stress" 600 $scale commit_on_simverbs "$1" "$address" dmp on off auto stress store
	counted "$1-commit-lost" 600 $scale commit_on_simverbs "$1" "$address" dmp on off auto lost
	counted "$1-commit-messages" 600 $scale commit_on_simverbs "$1" "$address" dmp on off message commit
	counted "$1-commit-flushes" 600 $scale commit_on_simverbs "$1" "$address" dmp on on auto commit
	counted "$1-commit-iwarp" 600 $scale SIMVERBS_LINK_LAYER=iwarp commit_on_simverbs "$1" "$address" dmp on off auto commit
	# libfabric's tcp leaks a request that nobody answers.
	counted "$1-rpcrdma-tcp" 600 $scale with "$1" "$top/fabtests/functional/run-functional" \
		-b "$top/build/$1/fabtests/functional" -p rpcrdma --lower tcp -x cm.request_unused msg cm rma srx end close
	counted "$1-dgram" 600 $scale functional_on_simverbs "$1" "$address" -p pverbs dgram
	counted "$1-mcast" 600 $scale mcast_on_simverbs "$1" "$address"
	counted "$1-link" 600 "$top/fabtests/interop/check-link" -b "$1"
}
