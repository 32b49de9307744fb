#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# fi_pmem says what simverbs models, what is declared, and what it would do. Run by "make check" in
# the build folder.
set -u -o pipefail

if [ ! -d /dev/shm ]; then
	echo "skip: no /dev/shm"
	exit 77
fi
tmp=$(mktemp -d /dev/shm/fi_pmem.XXXXXX) || exit 1
trap 'rm -rf "$tmp"' EXIT
chmod 700 "$tmp"
export SIMVERBS_DIR=$tmp
unset FI_PVERBS_PMEM_CONFIG FI_PVERBS_PERSISTENCE FI_PVERBS_DDIO
truncate -s 64K "$tmp/pm" "$tmp/other"
failed=0

# expect WHAT STATUS PATTERN...: the last output and its status
expect() {
	local what=$1 wanted=$2 pattern
	shift 2
	for pattern; do
		if [ "$status" != "$wanted" ] || ! grep -Eq -- "$pattern" <<<"$out"; then
			printf 'not ok: %s: status %s, wanted %s and "%s" in\n%s\n' "$what" "$status" "$wanted" \
				"$pattern" "$out"
			failed=1
			return
		fi
	done
	echo "ok: $what"
}

sim() {
	out=$(timeout 60 util/simverbs/simverbs --persistent "$tmp/pm" "$@" 2>&1)
	status=$?
}

pmem=util/fi_pmem/fi_pmem
sim --domain mhp $pmem
expect "what simverbs models is declared" 0 'sim0 .*FLUSH yes' 'MHP \(declared\), DDIO on \(declared\)' \
	'write +W F C +1'
sim --domain dmp $pmem
expect "with DDIO under DMP a native FLUSH makes writes durable" 0 'write +W FP C +1'
sim --domain dmp --flush off $pmem
expect "without it a message does" 0 'FLUSH no' 'write +W D M A +1'
sim --domain wsp --link iwarp $pmem
expect "over iWARP a completion is not enough" 0 'iWARP' 'WSP \(declared\)' 'write +W F C +1'
sim --domain dmp --flush off --link iwarp $pmem
expect "and a message has to wait until the data is there" 0 'write +W F C M A +2'
expect "an operation that the device lacks has no method" 0 'atomic +none'
FI_PVERBS_COMMIT_METHOD=message sim --domain mhp $pmem
expect "the user's wish for messages counts" 0 'write +W D M A +1'
FI_PVERBS_DURABLE=off sim --domain dmp --flush off $pmem
expect "and that there be none" 0 'write +none'
sim --domain mhp $pmem "$tmp/pm"
expect "a file is looked at as it is mapped" 0 'persistent \(declared'
sim --power-fail 1000000 --domain mhp $pmem "$tmp/pm"
expect "also the one that a modelled machine has in its place" 0 'persistent \(declared'
sim $pmem "$tmp/other"
expect "another file is not persistent memory" 1 'NOT persistent \(default'
sim $pmem "$tmp/missing"
expect "a file that is not there is an error" 1 'missing.*No such file'

printf '[path %s]\npersistent = yes\npersistence = wsp\n' "$tmp/other" >"$tmp/config"
export FI_PVERBS_PMEM_CONFIG=$tmp/config
sim $pmem "$tmp/other"
expect "unless it is declared so" 0 'persistent \(declared, .*WSP \(declared\), DDIO on'
sim $pmem
expect "what is declared is listed" 0 "^$tmp/other:"
echo 'nonsense' >"$tmp/config"
sim $pmem
expect "a configuration that cannot be used is an error" 1 'FI_PVERBS_PMEM_CONFIG'

unset FI_PVERBS_PMEM_CONFIG
# Not by env(1), which no sanitizer is in.
FI_PVERBS_PERSISTENCE=wsp FI_LOG_LEVEL=warn sim $pmem
expect "a declaration that contradicts the machine is warned of" 0 'WSP \(declared\)' 'DMP'
sim $pmem a b
expect "one file at most" 2 FILE
exit $failed
