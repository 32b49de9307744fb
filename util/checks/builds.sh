# shellcheck shell=bash disable=SC2034,SC2154 # settings of steps, and what util/check has
# What several suites need: builds, the virtual machine, an address.

suite builds "what the others need: builds, the image of the virtual machine and the machine itself"
suite_builds() {
	# Of no part: what the chosen steps need is built.
	local suite=builds part=needed release

	cores=2 cost=9000 gives unit build-unit 1200 unit_tree
	# What the compiler warns of with sanitizers and less optimization is often wrong; the other builds have its warnings as errors.
	cores=2 cost=8000 gives asan build-asan 1200 TARGET=functional \
		build_tree asan -- --disable-man --enable-asan CFLAGS="-g1 -O1 -Wno-error"
	cores=2 needs=asan gives asan-all build-asan-all 1200 make -C "$top/build/asan" -j2
	cores=2 gives tsan build-tsan 1200 build_tree tsan -- --disable-man --enable-tsan CFLAGS="-g1 -O1 -Wno-error"
	for release in trixie bookworm forky; do
		# The machine comes first: what runs in it is the longest chain of steps.
		cost=10000 gives "image-$release" "image-$release" 1800 guest "$release" build
		cores=2 cost=9500 needs="image-$release" gives "guest-$release" "build-$release" 1200 guest_tree "$release"
		cost=9500 needs="image-$release" holds=guest gives "up-$release" "up-$release" 1000 guest "$release" up
	done
	cores=2 needs=guest-trixie gives trixie-asan build-trixie-asan 1200 guest_tree trixie trixie-asan --enable-asan
}

# What runs in the virtual machine daily: what this machine built, where Debian 13 has its libraries; otherwise what the guest's own
# compiler makes, which takes longer. guest_gives is what gives it.
guest_build=trixie guest_gives=guest-trixie
case $(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release) in
bookworm | trixie) guest_build=unit guest_gives=unit ;;
esac

# With manual pages, which util/quickstart does without.
unit_tree() {
	local status=$top/build/unit/config.status

	[ ! -x "$status" ] || "$status" --config | grep -q prefix=/usr || rm "$status"
	build_tree unit -- --prefix=/usr
}

machines_down() {
	guest trixie down
	guest bookworm down
	guest forky down
}

# in_guest RELEASE SECONDS COMMAND...: in the source folder, as root.
in_guest() {
	local release=$1 limit=$(($2 * patience))
	shift 2
	guest "$release" --timeout "$limit" run "$@"
}

# An address of this machine that is not the loopback one; nothing when there is none. The software device
# has it unless it is told otherwise.
host_address() {
	ip -4 -o addr show scope global | awk '{ sub("/.*", "", $4); print $4; exit }'
}

# with BUILD COMMAND...: in the environment of the build, on a software device that no other step uses.
with() {
	own_device "$top/fabtests/interop/with-build" "$@"
}

# own_device COMMAND...: with a folder of the software device for this step alone.
own_device() {
	local folder rc

	folder=$(mktemp -d "/dev/shm/cairn-check.XXXXXX") || return
	SIMVERBS_DIR=$folder "$@"
	rc=$?
	rm -rf "$folder"
	return $rc
}

# functional_on_simverbs BUILD ADDRESS ARGUMENT...: programs of build/BUILD. Each by itself is put on the
# device, for what a sanitizer is in cannot be preloaded into the shell.
functional_on_simverbs() {
	with "$1" "$top/fabtests/functional/run-functional" -b "$top/build/$1/fabtests/functional" -w simverbs -a "$2" "${@:3}"
}

# commit_on_simverbs BUILD ADDRESS PERSISTENCE DDIO FLUSH METHOD [PROGRAM...]: with persistent memory.
commit_on_simverbs() {
	local SIMVERBS_PERSISTENCE=$3 SIMVERBS_DDIO=$4 SIMVERBS_FLUSH=$5 FI_PVERBS_COMMIT_METHOD=$6
	export SIMVERBS_PERSISTENCE SIMVERBS_DDIO SIMVERBS_FLUSH FI_PVERBS_COMMIT_METHOD

	with_pmem 2M functional_on_simverbs "$1" "$2" -p pverbs "${@:7}"
}

# with_pmem SIZE COMMAND...: with a file that stands for persistent memory, for this step alone.
with_pmem() {
	local file rc

	file=$(mktemp "$top/build/pmem.XXXXXX") && truncate -s "$1" "$file" || return
	FI_CAIRN_PMEM=$file SIMVERBS_PERSISTENT_FILE=$file "${@:2}"
	rc=$?
	rm -f "$file"
	return $rc
}

# Counts the cases of the GoogleTest programs and the other programs of "make check". What valgrind reports, or a crash,
# is a failure of the program.
make_check() { # FOLDER MAKE-ARGUMENT...
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
