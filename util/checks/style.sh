# shellcheck shell=bash disable=SC2034,SC2154 # settings of steps, and what util/check has
suite style "C formatting, shell scripts, manual pages, the order of rooms, pictures, util/check and run-functional themselves"
suite_style() {
	local suite=style part='' needs=''

	counted style-c 600 c_formatted
	step style-sh 600 scripts_clean
	step style-man 600 manual_complete
	step style-rooms 600 rooms_kept
	step style-pictures 600 pictures_current
	step style-conformance 600 sh -c "cd '$top' && util/lib/conformance -c fabtests/conformance doc/rpcrdma-conformance.md"
	step style-coverage 600 sh -c "cd '$top' && util/lib/check-coverage"
	part=interop counted check-itself 600 "$top/util/lib/test-check"
	counted functional-itself 600 "$top/fabtests/functional/test-run-functional"
}

# The referee is clang-format 14.
c_formatted() {
	local version

	version=$(clang-format --version | sed 's/.*version \([0-9]*\).*/\1/')
	if [ "$version" != 14 ]; then
		echo "skip style-c: the sources are formatted by clang-format 14, this is $version"
		echo "0 passed, 0 failed, 1 skipped"
	else
		cd "$top" && git ls-files '*.[ch]' | xargs -P 2 -n 200 clang-format --dry-run --Werror && echo "1 passed, 0 failed, 0 skipped"
	fi
}

scripts_clean() {
	local scripts

	cd "$top" || return
	# Those that say so in one of their first two lines.
	mapfile -t scripts < <(git ls-files util .ci autogen.sh fabtests examples |
		xargs awk 'FNR > 2 { nextfile } /^#!.*sh|shellcheck shell/ { print FILENAME; nextfile }')
	printf '%s\n' "${scripts[@]}" | xargs -P 2 -n 20 shellcheck -x
}

rooms_kept() {
	cd "$top" && util/lib/check-rooms prov/pverbs prov/pverbs/persist prov/rpcrdma prov/route util/fi_router util/fi_ibmc \
		util/simverbs examples/layer
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

# manual_names_all PROVIDER: every code of its calls, events and completions is in its manual page, those of the queues and counters that providers share
# as well; test-params.sh checks its parameters.
manual_names_all() {
	local page=$top/man/fi_$1.7.md name missing=0

	while read -r name; do
		grep -qwF "$name" "$page" || {
			echo "not in fi_$1(7): $name"
			missing=1
		}
	done < <(grep -rhowE --include='*.c' 'FI_E[A-Z]+' "$top/prov/$1" "$top"/prov/common/{cntr.c,eq.c,wait.c,cq} |
		grep -vxE 'FI_(EVENT|ENABLE)' | sort -u)
	return $missing
}
