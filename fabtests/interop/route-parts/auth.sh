# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
# A part of check-route: who proves that it has a key, and who does not.
# shellcheck disable=SC2034,SC2154 # check-route has the rest

# shellcheck disable=SC2016
keys_text='
for id in 1 2; do
	(umask 077 && head -c 32 /dev/urandom >"$ROUTE_NET/$id.key")
done
# keys HOST ID...: all its devices require those.
keys() {
	local host=$1 id lines="auth = required"
	shift
	for id; do lines+="\nkey_file = $ROUTE_NET/$id.key\nkey_id = $id"; done
	sed -i "/^auth = /d; /^key_/d; s|^transport = .*|&\n$lines|" "$ROUTE_NET/$host.conf"
}
counted_by() { # ROUTER NAME...: each of them is counted
	local router=$1 name all
	shift
	all=$(fi_routectl show counters --json -s "$ROUTE_NET/$router.sock")
	for name; do
		grep -qE "\"$name\": [1-9]" <<<"$all" || { echo "$router counts no $name"; return 1; }
	done
}
# refused HOST ADDRESS PORT: nobody is reached from there.
refused() {
	local said
	said=$("$net" in "$1" fi_cairn_rawroute reach "$2" "$3")
	[ "$said" = "Permission denied" ] || { echo "from $1: $said"; return 1; }
}
'

# shellcheck disable=SC2016
part_auth() {
	local link=(-n)
	[ "$provider" = route ] || { skip auth "$provider is another protocol"; return; }
	counted auth-peers 200 T1 "$raw_text$keys_text"'
		soon router r1
		keys r1 1 && keys a 1 && keys b 1
		sed -i "s/^id = 1\$/&\nacl = 1:1 -> 1:2/" "$ROUTE_NET/r1.conf"
		"$net" start r1 && raw b serve "$ROUTE_B" 7471 || exit 1
		serve=$(<"$ROUTE_NET/raw.pid") serving=$raw
		raw a serve "$ROUTE_A" 7471 || exit 1
		"$net" in a fi_cairn_rawroute -n '"${full:+20}"'40 -k "$ROUTE_NET/1.key" -K 1 prove 10.0.1.101 7000 "$ROUTE_B" 7471
		status=$?
		refused b "$ROUTE_A" 7471 || status=1
		sed -i "/^auth = /d; /^key_/d" "$ROUTE_NET/a.conf"
		refused a "$ROUTE_B" 7471 || status=1
		counted_by r1 no_proof unknown_key wrong_key replayed unknown_as acl || status=1
		[ "$(grep -c "warning: .*key_file" "$ROUTE_NET/r1.log")" = 1 ] || { echo "one line is not enough"; status=1; }
		kill "$serve" && wait $serving || status=1
		over $status'
	[ -n "$short" ] || step auth-rotation 200 T2-2 "$raw_text$keys_text"'
		for host in a b r1 r2; do keys $host 1; done
		"$net" start r1 & "$net" start r2 && wait $! && raw b serve "$ROUTE_B" 7471 || exit 1
		"$net" in a sh -c "echo \$\$ >\$0; exec \"\$@\"" "$ROUTE_NET/go.pid" fi_cairn_rawroute go "$ROUTE_B" 7471 \
			>"$ROUTE_NET/go.out" 2>&1 &
		going=$!
		until grep -q goes "$ROUTE_NET/go.out"; do kill -0 $going || exit 1; sleep 0.05; done
		for now in "1 2" "2 1" "2"; do
			for host in r2 a b r1; do
				# shellcheck disable=SC2086
				keys $host $now
				[[ $host != r* ]] || "$net" reload $host || exit 1
				"$net" in a fi_cairn_rawroute reach "$ROUTE_B" 7471 || exit 1
			done
		done
		kill "$(<"$ROUTE_NET/go.pid")" && wait $going
		status=$?
		cat "$ROUTE_NET/go.out"
		! "$net" in a fi_cairn_rawroute -k "$ROUTE_NET/1.key" -K 1 -t good prove 10.0.1.101 7000 || status=1
		"$net" in a fi_cairn_rawroute -k "$ROUTE_NET/2.key" -K 2 -R -t good prove 10.0.1.101 7000 || status=1
		over $status'
	link=()
	counted auth-wan 100 T3 "$keys_text"'
		key=$(sed -n "/^\[wan/,\$s/^key_file = //p" "$ROUTE_NET/r1.conf" | head -n 1)
		id=$(sed -n "/^\[wan/,\$s/^key_id = //p" "$ROUTE_NET/r1.conf" | head -n 1)
		at=$(sed -n "/^\[wan/,\$s|^uri = tcp://\(.*\):7000|\1|p" "$ROUTE_NET/r1.conf" | head -n 1)
		"$net" in as4r1 fi_cairn_rawroute -R -i 4:0 -k "$key" -K "$id" -t good -t no_key -t wrong_key -t unknown_key \
			-t changed -t replayed prove "$at" 7000
		status=$?
		counted_by r1 no_proof wrong_key unknown_key replayed || status=1
		exit $status'
}
