# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
# A part of check-route: what connections take of each other, of their routers, and of their ends.
# shellcheck disable=SC2034,SC2154 # check-route has the rest

# routed OPTION...: fi_cairn_routed between a and b, which looks at the routers' memory.
# shellcheck disable=SC2016
routed_text='routed() {
	local pid routers=()
	export FCT_SERVER_ENV=FI_ROUTE_CONFIG=$ROUTE_NET/b.conf
	for pid in "$ROUTE_NET"/r*.pid; do
		[ ! -e "$pid" ] || routers+=(-r "$(<"$pid")")
	done
	"$net" in a "$programs/fi_cairn_routed" -p "$provider" "--self=$ROUTE_B" --peer-netns /run/netns/b \
		"${routers[@]}" "$@"
}
'

part_limits() {
	local n seconds=250 options=(-i 2000 -x huge) link=("${link[@]}")
	[ "$provider" = route ] || { skip limits "$provider has no routers"; return; }
	[ -z "$short" ] || options=(-i 200 -n 16 -x huge)
	[ -z "$full" ] || { seconds=1200 options=(-i 200000 --full); }
	options+=(-x quota -x many -x drained -T $((seconds * ${FCT_TIME_SCALE:-1})))
	for n in ${counts//,/ }; do
		if [ "$n" = 0 ]; then
			counted limits-0 $((seconds + 20)) T0 "$routed_text routed ${options[*]} -x router_lost"
			continue
		fi
		counted "limits-$n" $((seconds + 20)) "$(topology "$n")" "$routed_text
			routed ${options[*]} -e '\"\$net\" stop r$n KILL'"
	done
	# What a router that stands still has open stays open: only its silence tells.
	# shellcheck disable=SC2016
	counted limits-silent 60 T1 "$routed_text"'routed -t router_lost -e "kill -STOP $(<"$ROUTE_NET/r1.pid")"
		status=$?
		"$net" stop r1 KILL
		exit $status'
	link+=(-n)
	# shellcheck disable=SC2016
	counted limits-quota 60 T1 "$routed_text"'sed -i "s/^id = 1\$/&\nconnections = 8/" "$ROUTE_NET/r1.conf"
		"$net" start r1 && routed -t quota -q 8@1'
}
