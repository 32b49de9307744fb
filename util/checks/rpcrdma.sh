# shellcheck shell=bash disable=SC2034,SC2154 # settings of steps, and what util/check has
suite rpcrdma "programs over rpcrdma, on libfabric's tcp, and on pverbs and stock verbs and the software device"
suite_rpcrdma() {
	local suite=rpcrdma part='' needs=unit

	gives conformance build-conformance 600 make -C "$top/build/unit" fabtests/conformance/fi_cairn_rpc
	rpcrdma_over tcp 127.0.0.1
	if [ -z "$address" ]; then
		skip rpcrdma-pverbs "no interface has an address besides the loopback one"
		return
	fi
	rpcrdma_over pverbs "$address" simverbs
	part=configurations counted rpcrdma-verbs 600 functional_on_simverbs unit "$address" -p rpcrdma --lower verbs msg cm rma
	part=releases
	needs="unit guest-trixie"
	counted rpcrdma-pverbs-trixie 600 in_root trixie functional_on_simverbs trixie "$address" -p rpcrdma --lower pverbs cm msg rma srx
	counted rpcrdma-tcp-trixie 600 in_root trixie with trixie "$top/fabtests/functional/run-functional" \
		-b "$top/build/trixie/fabtests/functional" -p rpcrdma --lower tcp cm msg rma srx
}

# What suits a layer that has connections, messages and RMA.
rpcrdma_programs=(getinfo cm msg rma cq cntr srx mr close refused end process file store)

# rpcrdma_over LOWER ADDRESS [WRAPPER]: wrap mode under the programs and libfabric's own; daily, over pverbs those with two sides.
rpcrdma_over() {
	local part='' stack="$1;rpcrdma" w=("${@:3}") run

	run=(with unit "$top/fabtests/functional/run-functional" -b "$top/build/unit/fabtests/functional" ${w[0]+-w "${w[0]}"} -a "$2"
		-p rpcrdma --lower "$1")
	# In a child of fork nothing of the layer may be called: fi_rpcrdma(7), DEVIATIONS.
	if [ "$1" = tcp ]; then
		counted "rpcrdma-$1" 600 "${run[@]}" -x process.fork_close "${rpcrdma_programs[@]}"
	else
		counted "rpcrdma-$1" 600 "${run[@]}" cm msg rma srx end
		part=configurations counted "rpcrdma-$1-all" 600 "${run[@]}" -x process.fork_close "${rpcrdma_programs[@]}"
	fi
	part=configurations counted "rpcrdma-$1-many" 600 "${run[@]}" many mesh
	needs=conformance counted "rpcrdma-rows-$1" 600 rpcrdma_rows unit "$1" "$2" "${w[@]}"
	part=interop step "rpcrdma-$1-pingpong" 600 with unit "${w[@]}" "$top/fabtests/interop/check-pingpong" "$2" "$stack" "$stack"
}

# rpcrdma_rows BUILD LOWER ADDRESS [simverbs]: each row of the conformance tables by name. A crash leaves no count, which
# is a failure as well.
rpcrdma_rows() {
	RPC_LOWER=$2 RPC_ADDRESS=$3 with "$1" "${@:4}" "$top/build/$1/fabtests/conformance/fi_cairn_rpc" | awk '
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
