# shellcheck shell=bash disable=SC2034,SC2154 # settings of steps, and what util/check has
suite rpc "RPC and NFS programs over rpcrdma: libcairn-rpc, fi_nfsget, fi_rpcping"
suite_rpc() {
	local suite=rpc part='' needs=unit
	local nfsget=("$top/util/fi_nfsget/test-fi_nfsget" --build "$top/build/unit")
	local rpcping=("$top/util/fi_rpcping/test-fi_rpcping" --build "$top/build/unit")

	rpc_over tcp 127.0.0.1
	if [ -n "$address" ]; then
		rpc_over pverbs "$address" simverbs
	else
		skip rpc-pverbs "no interface has an address besides the loopback one"
	fi
	# All tests over tcp; over pverbs those of what a device does otherwise.
	counted rpc-nfsget-tcp 600 with unit "${nfsget[@]}" --lower tcp
	counted rpc-nfsget-pverbs 600 with unit "${nfsget[@]}" --lower pverbs content credits leaves no-server case resume-killed
	counted rpc-rpcping-tcp 600 with unit "${rpcping[@]}" --lower tcp
	counted rpc-rpcping-pverbs 600 with unit "${rpcping[@]}" --lower pverbs count sizes second
	part=configurations
	counted rpc-nfsget-pverbs-all 900 with unit "${nfsget[@]}" --lower pverbs
	counted rpc-rpcping-pverbs-all 600 with unit "${rpcping[@]}" --lower pverbs
}

# rpc_over LOWER ADDRESS [WRAPPER]
rpc_over() {
	local stack="$1;rpcrdma" w=("${@:3}")

	counted "rpc-clnt-$1" 600 with unit "${w[@]}" "$top/build/unit/fabtests/rpc/fi_cairn_clnt" -p "$stack" -s "$2"
	step "rpc-$1-example" 600 with unit "$top/examples/rpc/test-count" "$top/build/unit" "$stack" "$2" "${w[@]}"
}
