# shellcheck shell=bash disable=SC2034,SC2154 # settings of steps, and what util/check has
# Steps in the virtual machine run one at a time. Its release is Debian 13's unless it is said otherwise; a build is that of a
# release, or bookworm, what Debian 12 builds.
suite kernel "pverbs and stock verbs on kernel RDMA: Debian 13's libfabric 2.1"
suite_kernel() {
	local suite=kernel part='' needs="up-trixie $guest_gives" holds=guest cost=9000 build=$guest_build
	local run=fabtests/functional/run-functional

	step trixie-fi_info 600 in_build trixie "$build" 50 fabtests/interop/check-fi_info
	guest_functional trixie "$build" pverbs pverbs getinfo cm msg rma atomic srx mr end
	guest_functional trixie "$build" pverbs verbs msg rma
	step trixie-pingpong-verbs-pverbs 600 in_build trixie "$build" 180 fabtests/interop/check-pingpong host1 verbs pverbs
	step trixie-pingpong-rdm 600 in_build trixie "$build" 180 fabtests/interop/check-pingpong host1 "pverbs;ofi_rxm" "pverbs;ofi_rxm" rdm
	step trixie-file-write 600 in_build trixie "$build" 280 fabtests/interop/check-file host1 write
	guest_dgram trixie "$build" pverbs pverbs
	counted trixie-mcast 600 in_build trixie "$build" 180 $run -b "build/$build/fabtests/functional" -p pverbs -a 10.77.0.1 mcast
	part=kernel-long needs="up-trixie guest-trixie"
	guest_long trixie trixie
	needs="up-trixie trixie-asan" guest_functional trixie trixie-asan pverbs pverbs
	guest_functional trixie trixie pverbs verbs
	guest_functional trixie trixie verbs verbs
	guest_functional trixie trixie verbs pverbs
	guest_functional trixie trixie pverbs pverbs store stress
	guest_dgram trixie trixie pverbs verbs
	guest_dgram trixie trixie verbs pverbs
	counted trixie-mckey 600 in_build trixie trixie 580 fabtests/interop/check-mckey -k 10.77.0.1
	counted trixie-layer 600 in_build trixie trixie 580 $run -b build/trixie/fabtests/functional -p example_layer --lower pverbs \
		-a 10.77.0.1 cm msg rma
}

# in_build RELEASE BUILD SECONDS COMMAND...: in the guest, with what was built.
in_build() {
	in_guest "$1" "$3" fabtests/interop/with-build "$2" "${@:4}"
}

# guest_functional RELEASE BUILD CLIENT SERVER [PROGRAM...]
guest_functional() {
	local except=(-x lost.nobody_there) name="$1-$2-functional-$3-$4${5:+-$5}"

	# The kernel asks for more than a minute until it believes that nobody is there: once is enough.
	[ "$1 $2 $3 $4 $#" != "trixie trixie pverbs pverbs 4" ] || except=()
	counted "$name" 1500 in_build "$1" "$2" 1480 fabtests/functional/run-functional -b "build/$2/fabtests/functional" -p "$3" --peer "$4" \
		-a 10.77.0.1 "${except[@]}" "${@:5}"
}

# guest_long RELEASE BUILD: all that has two processes over pverbs.
guest_long() {
	local server client mode name=$1-$2

	guest_functional "$1" "$2" pverbs pverbs
	for server in pverbs verbs; do
		for client in pverbs verbs; do
			step "$name-pingpong-$server-$client" 600 in_build "$1" "$2" 180 fabtests/interop/check-pingpong host1 "$server" "$client"
		done
	done
	# Its programs are for that release's Open MPI.
	[ "$1" != "$2" ] || counted "$name-openmpi" 900 in_build "$1" "$2" 880 fabtests/interop/check-openmpi
	for mode in msg write read; do
		step "$name-file-$mode" 600 in_build "$1" "$2" 280 fabtests/interop/check-file host1 "$mode"
	done
}

# guest_dgram RELEASE BUILD CLIENT SERVER: datagrams. The stock provider takes the first entry of the GID table, a link-local one, unless
# a parameter says otherwise. rdma_rxe has RoCE version 2 alone. What is too long for a receive of the stock provider it drops
# silently, so that case would only wait.
guest_dgram() {
	# shellcheck disable=SC2016 # for the shell there
	local by_gid='gid=$(grep -l 0000:0000:0000:0000:0000:ffff:0a4d:0001 /sys/class/infiniband/*/ports/1/gids/*) &&
		FI_VERBS_GID_IDX=${gid##*/} exec "$@"' except=()

	[ "$3 $4" = "pverbs pverbs" ] || except=(-x dgram.too_long)
	counted "$1-$2-dgram-$3-$4" 200 in_guest "$1" 180 sh -c "$by_gid" sh fabtests/interop/with-build "$2" \
		fabtests/functional/run-functional -b "build/$2/fabtests/functional" -p "$3" --peer "$4" -a 10.77.0.1 "${except[@]}" dgram
}

suite rpc-kernel "rpcrdma and the Linux kernel: its NFS server with our client, its NFS client with our server"
suite_rpc-kernel() {
	local suite=rpc-kernel part='' needs='' holds='' cost=9000 build=build/$guest_build image=build/nfs.ext4 run=fabtests/interop

	# The file system that is frozen to block Calls is made here: the guest has no mkfs.ext4.
	gives nfs-image rpc-kernel-image 600 env PATH="$PATH:/usr/sbin:/sbin" mkfs.ext4 -q -F "$top/$image" 16M
	holds=guest needs="up-trixie nfs-image $guest_gives"
	counted rpc-kernel-server 600 in_build trixie "$guest_build" 480 $run/check-nfs --image "$image" "$build" 10.77.0.1
	counted rpc-kernel-client 600 in_build trixie "$guest_build" 380 $run/check-mount "$build" 10.77.0.1
	part=rpc-kernel-long needs="up-trixie nfs-image guest-trixie"
	counted rpc-kernel-server-long 2400 in_build trixie trixie 2380 $run/check-nfs --image "$image" --long build/trixie 10.77.0.1
	counted rpc-kernel-client-long 1500 in_build trixie trixie 1480 $run/check-mount --long build/trixie 10.77.0.1
}

suite pmem "durable writes on kernel RDMA: the method for each kind of memory, and the power cut"
suite_pmem() {
	local suite=pmem part='' needs="up-trixie $guest_gives" holds=guest cost=8000 build=$guest_build

	guest_durable trixie "$build"
	counted pmem-trixie-functional-auto 600 in_build trixie "$build" 580 env FI_CAIRN_PMEM=/dev/dax0.0 FI_PVERBS_COMMIT_METHOD=auto \
		fabtests/functional/run-functional -b "build/$build/fabtests/functional" -p pverbs -a 10.77.0.1 commit
	part=kernel-long needs="up-trixie guest-trixie"
	[ "$build" = trixie ] || guest_durable trixie trixie
	# After all others: the machine is stopped meanwhile.
	cost=0 guest_pmem trixie trixie
}

# guest_durable RELEASE BUILD [SUFFIX]
guest_durable() {
	counted "pmem-$1-$2${3-}" 600 in_build "$1" "$2" 580 fabtests/interop/check-durable 10.77.0.1 /dev/dax0.0
}

# guest_pmem RELEASE BUILD: the machine, which is up, has one persistence domain of its persistent memory, then, started anew, the
# other. What the power cut shows and what it cannot: check-killed.
guest_pmem() {
	local release=$1 build=$2 name=pmem-$1-$2 method need=$needs

	for method in auto message; do
		counted "$name-functional-$method" 600 in_build "$release" "$build" 580 env FI_CAIRN_PMEM=/dev/dax0.0 \
			FI_PVERBS_COMMIT_METHOD=$method fabtests/functional/run-functional \
			-b "build/$build/fabtests/functional" -p pverbs -a 10.77.0.1 mr commit
	done
	step "$name-reach" 600 in_build "$release" "$build" 100 fi_cairn_beside -w -m 8 10.77.0.1 /dev/dax0.0
	counted "$name-remotelog" 600 in_build "$release" "$build" 580 fabtests/interop/check-remotelog 10.77.0.1 /dev/dax0.0
	needs="$need unit" counted "$name-killed" 1200 "$top/fabtests/interop/check-killed" "$build" --release "$release" --name "$(guest_name "$release")"
	counted "$name-cpu" 1600 persistence_cpu "$release" "$build"
}

# persistence_cpu RELEASE BUILD: with the other persistence domain; the machine is started again as it was.
persistence_cpu() {
	local rc

	guest "$1" down && guest "$1" --persistence cpu up || return
	in_build "$1" "$2" 580 fabtests/interop/check-durable 10.77.0.1 /dev/dax0.0
	rc=$?
	guest "$1" down && guest "$1" up || return
	return $rc
}

suite rdmavm "the virtual machine tool"
suite_rdmavm() {
	local suite=rdmavm part=kernel-long needs=image-trixie holds=guest

	counted rdmavm 2400 "$top/util/rdmavm/test-rdmavm"
	part=next-release needs=image-forky counted rdmavm-forky 2400 "$top/util/rdmavm/test-rdmavm" --release forky
}

suite portable "one binary, built on Debian 12, on Debian 12, 13 and the next one"
# What is new beside what Debian 13 built is whether the binary fits these libraries, and another kernel.
suite_portable() {
	local suite=portable part=releases holds=guest release programs=(getinfo cm msg rma atomic cq cntr srx mr)

	for release in trixie bookworm; do
		needs="guest-bookworm up-$release"
		step "$release-bookworm-fi_info" 600 in_build $release bookworm 50 fabtests/interop/check-fi_info
		guest_functional $release bookworm pverbs pverbs "${programs[@]}"
		step "$release-bookworm-pingpong-rdm" 600 in_build $release bookworm 180 fabtests/interop/check-pingpong host1 \
			"pverbs;ofi_rxm" "pverbs;ofi_rxm" rdm
	done
	needs="guest-bookworm up-trixie" guest_durable trixie bookworm
	needs="guest-bookworm up-bookworm"
	guest_long bookworm bookworm
	part=next-release
	needs="guest-bookworm guest-forky up-forky"
	step forky-bookworm-fi_info 600 in_build forky bookworm 50 fabtests/interop/check-fi_info
	guest_long forky bookworm
	# Its own Open MPI, over the provider of Debian 12.
	# shellcheck disable=SC2016 # for the guest
	counted forky-bookworm-openmpi 900 in_guest forky 880 fabtests/interop/with-build bookworm \
		sh -c 'PATH=$PWD/build/forky/fabtests/interop:$PATH exec fabtests/interop/check-openmpi'
	guest_durable forky bookworm
	guest_pmem forky bookworm
}
