# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
# A part of check-route: very many connections through one router.
# shellcheck disable=SC2034,SC2154 # check-route has the rest

# shellcheck disable=SC2016
part_many() {
	local count=1000 link=("${link[@]}")
	[ "$provider" = route ] || { skip many "$provider has no routers"; return; }
	[ -z "$short" ] || count=300
	[ -n "$workers" ] || link+=(-w 1)
	# What the last connection leaves is what the router had before: nothing, and 24 MiB of memory at most.
	counted many 200 T1 "$routed_text"'
		taken() { fi_routectl show counters --json -s "$ROUTE_NET/r1.sock" | sed -n "s/.*\"messages_taken\": *\([0-9]*\).*/\1/p"; }
		sed -i "s/^id = 1\$/&\nconnections = 5000/" "$ROUTE_NET/r1.conf"
		"$net" stop r1 && "$net" start r1 || exit 1
		rss() { awk "/^VmRSS/ { print \$2 }" "/proc/$(<"$ROUTE_NET/r1.pid")/status"; }
		before=$(taken) memory=$(rss)
		routed -t many -n '$count' || exit 1
		for ((i = 0; i < 200; i++)); do
			[ "$(taken)" != "$before" ] || [ "$(rss)" -gt $((memory + 24576)) ] || exit 0
			sleep 0.1
		done
		echo "the router has $(rss) kB of memory, and had $memory"
		echo "$(taken) receives of the router are taken, as nobody is there any more: it had $before"
		exit 1'
}
