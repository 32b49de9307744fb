#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The example layer as libfabric loads it: who gets it, over what, for every FI_PROVIDER and name in the hints; and
# messages over a stack of two. Run by "make check" in the build folder.
set -u -o pipefail

layer=$PWD/examples/layer/.libs
passed=0 failed=0
# Not grep -q, which ends nm early: with pipefail that reads as "not found".
if nm -D "$layer/libexample_layer-fi.so" | grep -E '__(asan|tsan)_init' >/dev/null; then
	echo "skip: fi_info does not load what a sanitizer was built into"
	exit 77
fi
export FI_PROVIDER_PATH=$layer
unset FI_PROVIDER FI_EXAMPLE_LAYER_LOWER FI_EXAMPLE_TOP_LOWER

result() { # NAME HAVE WANTED
	if [ "$2" = "$3" ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "not ok $1: $2, expected: $3"
	fi
}

# The layers, and the tcp provider, among the providers that answer.
answers() { # FI_PROVIDER HINT [VARIABLE=VALUE...]
	env ${1:+"FI_PROVIDER=$1"} "${@:3}" timeout 60 fi_info ${2:+-p "$2"} -t FI_EP_MSG 2>/dev/null |
		sed -n 's/^provider: //p' | sort -u | grep -xE 'tcp|example_.*' | paste -sd ' ' || true
}

# FI_PROVIDER, prov_name of the hints (-: none), who answers, and what else is set.
while read -r filter hint wanted settings; do
	[ "$filter" != - ] || filter=
	[ "$hint" != - ] || hint=
	# shellcheck disable=SC2086 # none or several
	result "FI_PROVIDER=$filter hint=$hint $settings" "$(answers "$filter" "$hint" $settings)" "${wanted//+/ }"
done <<-TABLE
	-                           -                              tcp
	-                           tcp                            tcp
	-                           example_layer                  example_layer
	-                           tcp;example_layer              example_layer
	-                           sockets;example_layer          example_layer
	-                           nosuch;example_layer
	-                           example_layer;example_layer
	-                           tcp;example_layer;example_top  example_top
	-                           example_layer;example_top      example_top
	-                           tcp;example_top;example_top
	-                           ^tcp;example_layer
	-                           ^sockets;example_layer         example_layer
	tcp                         -                              tcp
	tcp                         example_layer
	tcp                         tcp;example_layer
	example_layer               -                              example_layer
	example_layer               example_layer                  example_layer
	example_layer               tcp;example_layer              example_layer
	example_layer               tcp
	tcp,example_layer           -                              example_layer+tcp
	example_layer,tcp           -                              example_layer+tcp
	tcp,example_layer           tcp                            tcp
	tcp;example_layer           -
	example_layer,example_top   -                              example_layer+example_top
	^example_layer              -                              tcp
	^example_layer              example_layer
	^tcp                        -
	^tcp                        example_layer
	^tcp                        tcp;example_layer
	^tcp                        sockets;example_layer          example_layer
	^sockets                    example_layer                  example_layer
TABLE

# The lower provider by parameter: it holds where the hints name none, and no other one is tried.
lower=FI_EXAMPLE_LAYER_LOWER
result "a lower provider by parameter" "$(answers '' example_layer $lower=tcp)" example_layer
result "one that there is not" "$(answers '' example_layer $lower=nosuch)" ''
result "the layer itself" "$(answers '' example_layer $lower=example_layer)" ''
result "a circle" "$(answers '' example_layer $lower=example_top FI_EXAMPLE_TOP_LOWER=example_layer)" ''
result "the hint goes before it" "$(answers '' 'tcp;example_layer' $lower=nosuch)" example_layer
result "a layer on a layer" "$(answers '' example_top FI_EXAMPLE_TOP_LOWER=example_layer)" example_top

# What is wrong is one line, and says what to set.
told() {
	env "$@" FI_LOG_LEVEL=warn FI_LOG_PROV=example_layer fi_info -p example_layer -t FI_EP_MSG 2>&1 >/dev/null |
		grep -c "example_layer:.*$lower"
}
result "one line about a provider that there is not" "$(told $lower=nosuch)" 1
result "one line about the layer over itself" "$(told $lower=example_layer)" 1
result "one line about a provider that is excluded" "$(told $lower=tcp FI_PROVIDER=^tcp)" 1

# Messages and connections: the layer, and two of them, and the choice by parameter.
carries() { # NAME-OF-STACK PROGRAM
	timeout 120 "fabtests/functional/$2" -p "$1" --self=127.0.0.1 "${@:3}" >"$scratch" 2>&1
	local status=$?
	[ $status = 0 ] || tail -n 3 "$scratch"
	result "$2 over $1" $status 0
}
scratch=$(mktemp) || exit
trap 'rm -f "$scratch"' EXIT
for stack in "tcp;example_layer" "tcp;example_layer;example_top"; do
	carries "$stack" fi_cairn_msg -t sendv -t senddata
	carries "$stack" fi_cairn_cm -t cm_data -t reject_data -t pep_close
done
FI_EXAMPLE_TOP_LOWER="tcp;example_layer" carries example_top fi_cairn_msg -t sendv

echo "$passed passed, $failed failed"
[ $failed = 0 ]
