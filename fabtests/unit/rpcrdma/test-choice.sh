#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# rpcrdma as libfabric loads it: who gets it, in which mode, for FI_PROVIDER, the name and the protocol in the hints. Run
# by "make check" in the build folder.
set -u -o pipefail

folder=$PWD/prov/rpcrdma/.libs
passed=0 failed=0
# Not grep -q, which ends nm early: with pipefail that reads as "not found".
if nm -D "$folder/librpcrdma-fi.so" | grep -E '__(asan|tsan)_init' >/dev/null; then
	echo "skip: libfabric does not load what a sanitizer was built into"
	exit 77
fi
export FI_PROVIDER_PATH=$folder
unset FI_PROVIDER FI_RPCRDMA_LOWER FI_RPCRDMA_MODE

result() { # NAME HAVE WANTED
	if [ "$2" = "$3" ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "not ok $1: $2, expected: $3"
	fi
}

# The layer and the tcp provider among the providers that answer, with their protocols.
answers() { # FI_PROVIDER HINT PROTOCOL [VARIABLE=VALUE...]
	env ${1:+"FI_PROVIDER=$1"} "${@:4}" timeout 60 fabtests/unit/rpcrdma/who_answers "$2" "$3" 2>/dev/null |
		sort -u | grep -E '^(tcp|rpcrdma):' | paste -sd ' ' || true
}

# FI_PROVIDER, prov_name and protocol of the hints (-: none), who answers, and what else is set.
while read -r filter hint protocol wanted settings; do
	[ "$filter" != - ] || filter=
	[ "$wanted" != - ] || wanted=
	# shellcheck disable=SC2086 # none or several
	result "FI_PROVIDER=$filter hint=$hint protocol=$protocol $settings" \
		"$(answers "$filter" "$hint" "$protocol" $settings)" "${wanted//+/ }"
done <<-TABLE
	-            -                -    tcp:own
	-            -                rpc  rpcrdma:rpc
	-            rpcrdma          -    rpcrdma:own
	-            rpcrdma          rpc  rpcrdma:rpc
	-            tcp;rpcrdma      -    rpcrdma:own
	-            tcp;rpcrdma      rpc  rpcrdma:rpc
	-            sockets;rpcrdma  -    rpcrdma:own
	-            nosuch;rpcrdma   -    -
	-            rpcrdma;rpcrdma  -    -
	-            ^tcp;rpcrdma     -    -
	-            tcp              -    tcp:own
	-            tcp              rpc  -
	tcp          rpcrdma          -    -
	tcp          -                rpc  -
	rpcrdma      -                -    rpcrdma:own
	rpcrdma      -                rpc  rpcrdma:rpc
	rpcrdma      tcp              -    -
	tcp,rpcrdma  -                -    rpcrdma:own+tcp:own
	^rpcrdma     rpcrdma          -    -
	^tcp         tcp;rpcrdma      -    -
	-            rpcrdma          -    rpcrdma:rpc  FI_RPCRDMA_MODE=rpc
	-            rpcrdma          rpc  rpcrdma:rpc  FI_RPCRDMA_MODE=rpc
	-            rpcrdma          -    rpcrdma:own  FI_RPCRDMA_MODE=wrap
	-            rpcrdma          rpc  -            FI_RPCRDMA_MODE=wrap
	-            -                rpc  -            FI_RPCRDMA_MODE=wrap
	-            -                -    tcp:own      FI_RPCRDMA_MODE=rpc
	-            rpcrdma          -    rpcrdma:own  FI_RPCRDMA_LOWER=tcp
	-            rpcrdma          -    -            FI_RPCRDMA_LOWER=nosuch
	-            rpcrdma          -    -            FI_RPCRDMA_LOWER=rpcrdma
	-            tcp;rpcrdma      -    rpcrdma:own  FI_RPCRDMA_LOWER=nosuch
TABLE

# What is wrong is one line, and says what to set.
told() {
	env "$@" FI_LOG_LEVEL=warn FI_LOG_PROV=rpcrdma fabtests/unit/rpcrdma/who_answers rpcrdma - 2>&1 >/dev/null |
		grep -c "rpcrdma:.*FI_RPCRDMA_LOWER"
}
result "one line about a provider that there is not" "$(told FI_RPCRDMA_LOWER=nosuch)" 1
result "one line about the layer over itself" "$(told FI_RPCRDMA_LOWER=rpcrdma)" 1

echo "$passed passed, $failed failed"
[ $failed = 0 ]
