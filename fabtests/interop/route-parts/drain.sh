# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
# A part of check-route: routers are drained, and replaced by others, while programs connect through them all the time.
# shellcheck disable=SC2034,SC2154 # check-route has the rest

# For the shell below route-net, and the one that fi_cairn_routed starts.
# shellcheck disable=SC2016
drain_text=$routed_text'ctl() {
	local router=$1
	shift
	timeout 100 fi_routectl "$@" -s "$ROUTE_NET/$router.sock"
}
# told ROUTER OTHER STATE: the first knows that the other one, by its id, is in that state.
told() {
	local end=$((SECONDS + 60))
	until ctl "$1" show topology | grep -qE "^$2 +$3 +[0-9]+ "; do
		[ $SECONDS -lt $end ] || { echo "$1 does not know that router $2 is \"$3\""; return 1; }
		sleep 0.05
	done
}
# ended ROUTER: by itself, with status 0.
ended() {
	local end=$((SECONDS + 60))
	until [ -e "$ROUTE_NET/$1.status" ]; do
		[ $SECONDS -lt $end ] || { echo "$1 has not ended"; return 1; }
		sleep 0.05
	done
	[ "$(<"$ROUTE_NET/$1.status")" = 0 ]
}
# idle ROUTER: what it receives is no data: others have some GB/s.
idle() {
	local before
	before=$("$net" bytes "$1") && sleep 0.3 && set -- "$1" $(($("$net" bytes "$1") - before))
	echo "$1 has received $2 bytes in 0.3 s"
	[ "$2" -lt 1000000 ]
}
# replace ROUTER OTHER [NAME=VALUE...]: it ends when it has nothing left, and starts again.
replace() {
	ctl "r$1" drain --exit --wait && ended "r$1" && "$net" start "r$1" "${@:3}" && told "r$2" "$1" ""
}
# under_load FUNCTION: fi_cairn_routed makes connections, and transfers, while that runs. Shells between here and there keep
# no functions.
under_load() {
	{ declare -f; echo "$1"; } >"$ROUTE_NET/load.sh"
	routed -t drained -e "bash $ROUTE_NET/load.sh"
}
'

# shellcheck disable=SC2016
part_drain() {
	local link=("${link[@]}")
	[ "$provider" = route ] || { skip drain "$provider has no routers"; return; }
	# One has nothing left while the other one has all; then that one ends, and one that speaks as the first version takes
	# its place.
	counted drain-load 120 T5-2 "$drain_text"'turns() {
			ctl r1 drain && told r2 1 drain && ctl r1 drain --wait && idle r1 && ctl r1 drain --undo && told r2 1 "" &&
				replace 2 1 FI_ROUTER_EARLY=1
		}
		under_load turns'
	# What is the only way leads nowhere while it drains. Then it is of another version than those on either side.
	counted drain-chain 60 T2-3 "$drain_text"'ctl r2 drain && told r1 2 drain || exit 1
		! ctl r1 ping 1:4:10.0.4.2 -n 1 -w 10000 >"$ROUTE_NET/ping" || exit 1
		grep "router 1: no routers lead to 1:4 now" "$ROUTE_NET/ping" && replace 2 3 FI_ROUTER_EARLY=1 && routed -t mixed -i 100'
	[ -n "$old_router" ] || return 0
	# From an older version to this one, and back. What has no drain is but stopped.
	link+=(-n)
	counted drain-upgrade 200 T5-2 "$drain_text old=$old_router"'
		old() { "$net" start r$1 "FI_ROUTER=$old"; }
		turns() { replace 1 2 && replace 2 1 && replace 1 2 FI_ROUTER='"$old_router"'; }
		old 1 && old 2 && under_load turns'
	counted drain-older 300 T2-3 "$drain_text $functional_text old=$older_router"'
		"$net" start r1 && "$net" start r2 "FI_ROUTER=$old" && "$net" start r3 && routed -t mixed -i 1000 &&
			functional '"${except[*]}"' msg cm rma'
}
