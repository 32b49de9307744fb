# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
# A part of check-route: peers that keep no rules.
# shellcheck disable=SC2034,SC2154 # check-route has the rest

# raw HOST ARGUMENT...: fi_cairn_rawroute there, in the background, once it serves.
# shellcheck disable=SC2016
raw_text='raw() {
	local host=$1 tries
	shift
	# What another one has said there is no answer.
	rm -f "$ROUTE_NET/raw.out"
	# shellcheck disable=SC2016 # for the shell there
	"$net" in "$host" sh -c "echo \$\$ >\$0; exec \"\$@\"" "$ROUTE_NET/raw.pid" fi_cairn_rawroute "$@" \
		>"$ROUTE_NET/raw.out" 2>&1 &
	raw=$!
	for ((tries = 0; tries < 1200; tries++)); do
		! grep -qs serves "$ROUTE_NET/raw.out" || return 0
		sleep 0.05
	done
	cat "$ROUTE_NET/raw.out"
	return 1
}
# over STATUS: that of the test, if the other one ends well.
over() {
	kill "$(<"$ROUTE_NET/raw.pid")" && wait $raw && return "$1"
	cat "$ROUTE_NET/raw.out"
	return 1
}
soon() { sed -i "s/^\[$1\]/\[routing]\nconnect_timeout = 1s\n\n&/" "$ROUTE_NET/$2.conf"; }
'

# shellcheck disable=SC2016
part_hostile() {
	[ "$provider" = route ] || { skip hostile "$provider is another protocol"; return; }
	counted hostile-router 400 T1 "$raw_text"'
		soon router r1
		"$net" stop r1 && "$net" start r1 && raw b serve "$ROUTE_B" 7471 || exit 1
		"$net" in a fi_cairn_rawroute -P "$(<"$ROUTE_NET/r1.pid")" attack 10.0.1.101 7000 "$ROUTE_B" 7471
		over $?'
	counted hostile-program 400 T0 "$raw_text"'
		sed -i "s/^\[routing\]/&\nconnect_timeout = 1s/" "$ROUTE_NET/b.conf"
		raw b serve "$ROUTE_B" 7471 || exit 1
		"$net" in a fi_cairn_rawroute -P "$(<"$ROUTE_NET/raw.pid")" attack "$ROUTE_B" 7471 "$ROUTE_B" 7471
		over $?'
	counted hostile-to-clients 200 T1 "$raw_text"'
		sed -i "s/^\[routing\]/&\nconnect_timeout = 1s/" "$ROUTE_NET/a.conf"
		"$net" stop r1 && raw r1 evil 10.0.1.101 7000 || exit 1
		"$net" in a fi_cairn_rawroute -n 60 suffer "$ROUTE_B" 7471
		over $?'
	counted hostile-lender 200 T1 "$raw_text"'
		soon router r1
		"$net" stop r1 && "$net" start r1 && raw b serve "$ROUTE_B" 7471 || exit 1
		serve=$(<"$ROUTE_NET/raw.pid") serving=$raw
		raw b lend "$ROUTE_B" 7472 || exit 1
		"$net" in a fi_cairn_rawroute -P "$(<"$ROUTE_NET/r1.pid")" -n 60 suffer "$ROUTE_B" 7472 "$ROUTE_B" 7471
		status=$?
		kill "$serve" && wait $serving || status=1
		over $status'
}
