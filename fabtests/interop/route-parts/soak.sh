# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
# A part of check-route: a ring full of connections that all go one way round, with no memory beyond what each has of its own.
# shellcheck disable=SC2034,SC2154 # check-route has the rest

# Each host is the target of the one across. Routers are told no landing slots, so that data go in messages.
# shellcheck disable=SC2016
soak_text='across=(a:b b:a a2:a4 a4:a2)
address() { "$net" in "$1" ip -br -4 addr | sed -nE "s|.* (10\.0[.0-9]+)/.*|\1|p"; }
started=()
start() { # NAME HOST WORD...
	"$net" in "$2" sh -c "echo \$\$ >\$0; exec \"\$@\"" "$ROUTE_NET/$1.pid" fi_cairn_failover "${@:3}" >"$ROUTE_NET/$1.out" 2>&1 &
	started+=("$1:$!")
}
resident() { sed -nE "s/^VmRSS:[^0-9]*([0-9]+).*/\1/p" "/proc/$(<"$ROUTE_NET/r$1.pid")/status"; }
moves() { # each of them has done more, since it was asked
	local way
	for way in "${across[@]}"; do
		fi_cairn_failover await "$ROUTE_NET/${way#*:}.ledger" ok +20 >/dev/null || { echo "# $way stands still"; return 1; }
	done
}
'

part_soak() {
	local seconds=4
	[ "$provider" = route ] || { skip soak "$provider has no routers"; return; }
	[ -n "$short" ] || seconds=20
	[ -z "$full" ] || seconds=600
	# shellcheck disable=SC2016
	told soak $((seconds + 120)) T6-cycle "$soak_text seconds=$seconds"'
		for router in 1 2 3 4; do
			fi_routectl fault set drop --class grants -s "$ROUTE_NET/r$router.sock" >/dev/null || exit 1
		done
		for way in "${across[@]}"; do
			host=${way#*:}
			start "serve-$host" "$host" serve "$(address "$host")" 7471 "$ROUTE_NET/$host.ledger"
			until grep -q serves "$ROUTE_NET/serve-$host.out"; do sleep 0.02; done
		done
		for way in "${across[@]}"; do
			start "run-${way%:*}" "${way%:*}" run "$(address "${way#*:}")" 7471 "$ROUTE_NET/${way#*:}.ledger" -n 4
		done
		for way in "${across[@]}"; do
			fi_cairn_failover await "$ROUTE_NET/${way#*:}.ledger" up 4 >/dev/null || exit 1
		done
		end=$((SECONDS + seconds)) warm=$((SECONDS + seconds / 2)) most=0 before=()
		while [ $SECONDS -lt $end ]; do
			moves || exit 1
			for router in 1 2 3 4; do
				now=$(resident $router)
				[ $SECONDS -ge $warm ] && [ -n "${before[router]:-}" ] || { before[router]=$now; continue; }
				[ $((now - before[router])) -le $most ] || most=$((now - before[router]))
			done
			sleep 0.3
		done
		status=0
		for one in "${started[@]:4}" "${started[@]:0:4}"; do
			kill "$(<"$ROUTE_NET/${one%:*}.pid")"; wait "${one#*:}" || {
				echo "# ${one%:*} has ended with status $?"
				tail -n 5 "$ROUTE_NET/${one%:*}.out" | sed "s/^/# /"
				status=1
			}
		done
		for way in "${across[@]}"; do
			said=$(fi_cairn_failover show "$ROUTE_NET/${way#*:}.ledger") || status=1
			echo "# $way: $said"
			[[ $said == *"failed 0, lost 0,"* ]] || status=1
		done
		echo "# routers had ${before[*]} KiB, and $most more at most"
		[ $most -le 4096 ] && exit $status'
}
