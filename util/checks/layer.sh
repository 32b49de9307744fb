# shellcheck shell=bash disable=SC2034,SC2154 # settings of steps, and what util/check has
suite layer "programs over the example layer, on libfabric's tcp and on pverbs and the software device"
suite_layer() {
	local suite=layer part='' needs=unit

	layer_over tcp 127.0.0.1
	counted layer-over-layer 600 with unit "$top/fabtests/functional/run-functional" \
		-b "$top/build/unit/fabtests/functional" -p example_top --lower "tcp;example_layer" cm msg rma
	if [ -z "$address" ]; then
		skip layer-pverbs "no interface has an address besides the loopback one"
		return
	fi
	layer_over pverbs "$address" simverbs
	part=configurations
	# What fails in the layer: the lower provider has its own turn in the suite simverbs.
	counted layer-fault 600 functional_on_simverbs unit "$address" -T 240 -p example_layer --lower pverbs fault
	counted layer-rxm 600 with_pmem 2M with unit simverbs "$top/build/unit/fabtests/functional/fi_cairn_rxm" \
		-p "example_layer;ofi_rxm" --lower pverbs "--self=$address"
	part=releases needs="unit guest-trixie" counted layer-pverbs-trixie 600 in_root trixie functional_on_simverbs trixie "$address" \
		-p example_layer --lower pverbs cm msg rma srx atomic
}

# layer_over LOWER ADDRESS [WRAPPER]: daily, over tcp all programs and over pverbs a few; libfabric's own programs, and Open MPI.
layer_over() {
	local part='' stack="$1;example_layer" w=("${@:3}") programs=()

	[ "$1" = tcp ] || programs=(cm msg rma atomic srx)
	counted "layer-$1" 600 with unit "$top/fabtests/functional/run-functional" \
		-b "$top/build/unit/fabtests/functional" ${w[0]+-w "${w[0]}"} -a "$2" -p example_layer --lower "$1" "${programs[@]}"
	part=configurations
	[ "$1" = tcp ] || counted "layer-$1-all" 600 with unit "$top/fabtests/functional/run-functional" \
		-b "$top/build/unit/fabtests/functional" ${w[0]+-w "${w[0]}"} -a "$2" -p example_layer --lower "$1"
	counted "layer-$1-rdm" 600 with unit "${w[@]}" "$top/build/unit/fabtests/functional/fi_cairn_rdm" -n 4 \
		-p "example_layer;ofi_rxm" --lower "$1" "--self=$2"
	counted "layer-$1-mesh" 600 with unit "${w[@]}" "$top/build/unit/fabtests/functional/fi_cairn_mesh" -n 4 \
		-p example_layer --lower "$1" -s "$2"
	part=interop
	step "layer-$1-pingpong" 600 with unit "${w[@]}" "$top/fabtests/interop/check-pingpong" "$2" "$stack" "$stack"
	step "layer-$1-pingpong-rdm" 600 with unit "${w[@]}" "$top/fabtests/interop/check-pingpong" "$2" "$stack;ofi_rxm" \
		"$stack;ofi_rxm" rdm
	counted "layer-$1-openmpi" 600 FI_PROVIDER=example_layer,ofi_rxm "FI_EXAMPLE_LAYER_LOWER=$1" with unit "${w[@]}" \
		"$top/fabtests/interop/check-openmpi" "example_layer;ofi_rxm"
}
