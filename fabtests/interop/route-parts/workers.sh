# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
# A part of check-route: routers with workers.
# shellcheck disable=SC2034,SC2154 # check-route has the rest

# shellcheck disable=SC2016
part_workers() {
	local link=(-m -w 2) text=$routed_text'
		connections() { fi_routectl show connections --json -s "$ROUTE_NET/r1.sock" | grep -o "\"worker\": *[0-9]*" | sort | uniq -c; }
		# As many at one as at the other, and none elsewhere.
		spread() {
			local end=$((SECONDS + 30)) said
			while [ $SECONDS -lt $end ]; do
				mapfile -t said < <(connections)
				[ ${#said[@]} != 2 ] || [[ ${said[0]} != *32*:*1 ]] || [[ ${said[1]} != *32*:*2 ]] || return 0
				sleep 0.1
			done
			printf "%s\n" "not 32 at each worker:" "${said[@]}"
			return 1
		}
		routed -t stalled >"$ROUTE_NET/routed.out" 2>&1 & load=$!
		spread || exit 1
		'
	[ "$provider" = route ] || { skip workers "$provider has no routers"; return; }
	step workers-reload 100 T1 "$text"'
		for i in 1 2 3 4 5; do "$net" reload r1 || exit 1; done
		spread && wait $load || { cat "$ROUTE_NET/routed.out"; exit 1; }
		# A device that is another one now ends its connections, and has new ones.
		routed -t stalled >"$ROUTE_NET/routed.out" 2>&1 & load=$!
		spread && sed -i "s/^subnet = 2/&\nfrag = 128K/" "$ROUTE_NET/r1.conf" || exit 1
		"$net" reload r1 && ! wait $load || exit 1
		routed -t refused'
	step workers-stop 100 T1 "$text"'
		"$net" stop r1 && [ "$(<"$ROUTE_NET/r1.status")" = 0 ] || exit 1
		! wait $load'
}
