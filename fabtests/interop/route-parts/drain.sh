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
	[ "$provider" = route ] || { skip drain "$provider has no routers"; return; }
	# One has nothing left while the other one has all; then that one ends, and one that speaks as the first version takes
	# its place.
	counted drain-load 120 T5-2 "$drain_text"'turns() {
			ctl r1 drain && told r2 1 drain && ctl r1 drain --wait && idle r1 && ctl r1 drain --undo && told r2 1 "" &&
				replace 2 1 FI_ROUTER_EARLY=1
		}
		under_load turns'
	# The file is read again with each keyword that may change, while connections come and go: no device is closed.
	counted drain-reload 120 T1 "$drain_text"'turns() {
			local conf=$ROUTE_NET/r1.conf line
			opened() { grep -cE "sn[12]: .*sock://10\.0\.[12]\.101:7000" "$ROUTE_NET/r1.log"; }
			cp "$conf" "$conf.first" && (umask 077 && head -c 32 /dev/urandom >"$ROUTE_NET/key")
			for line in "rate = 20G" "latency = 5us" "cost = 3" "transit = no" "caps = zerocopy" "router = sock://10.0.2.199:7000" \
				"provider = tcp" "key_file = $ROUTE_NET/key\\nkey_id = 7" \
				"[router]name = other" "[router]metric = hops,latency" "[router]metric_scale = doc" "[router]static = 1,2" \
				"[router]acl = 1:1 -> *" "[router]connections = 2000" "[router]slots = 100" "[router]resolves = 100" \
				"[router]workers = 7" "[router]refresh = 5s" "[router]hold_down = 10ms-1s" "[routing]heartbeat = 2s" \
				"[routing]heartbeat_loss = 9" "[routing]connect_timeout = 9s" "[routing]ports = 7000-7999" \
				"[routing]prefix = 10.0.2.0/24 -> 1:2" ""; do
				case $line in
				"[router]"*) sed "/^workers = /d; s|^id = 1\$|&\n${line#*]}|" "$conf.first" >"$conf" ;;
				"[routing]"*) { cat "$conf.first"; printf "\n[routing]\n%s\n" "${line#*]}"; } >"$conf" ;;
				"rate ="*) sed "s|^rate = .*|$line|" "$conf.first" >"$conf" ;;
				*) sed "s|^subnet = 2\$|&\n$line|" "$conf.first" >"$conf" ;;
				esac
				"$net" reload r1 || { echo "not read again: $line"; return 1; }
			done
			[ "$(opened)" = 2 ]
		}
		under_load turns'
	# What is the only way leads nowhere while it drains. Then it is of another version than those on either side.
	counted drain-chain 60 T2-3 "$drain_text"'ctl r2 drain && told r1 2 drain || exit 1
		! ctl r1 ping 1:4:10.0.4.2 -n 1 -w 10000 >"$ROUTE_NET/ping" || exit 1
		grep "router 1: .*1:4" "$ROUTE_NET/ping" && replace 2 3 FI_ROUTER_EARLY=1 && routed -t mixed -i 100'
	[ -n "$old_router" ] || return 0
	# From an older version to this one, and back; and one in the middle that knows no drain.
	FI_ROUTER=$old_router counted drain-upgrade 200 T5-2 "$drain_text"'
		turns() { replace 1 2 FI_ROUTER=fi_router && replace 2 1 FI_ROUTER=fi_router && replace 1 2 FI_ROUTER='"$old_router"'; }
		under_load turns'
	counted drain-older 300 T2-3 "$drain_text $functional_text"'
		for n in 1 3 2; do
			"$net" stop r$n && "$net" start r$n FI_ROUTER='"$older_router"' && routed -t mixed -i 200 || exit 1
			[ $n = 2 ] || { "$net" stop r$n && "$net" start r$n FI_ROUTER=fi_router; } || exit 1
		done
		functional '"${except[*]}"' msg cm rma'
}
