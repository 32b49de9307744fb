# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
# A part of check-route: autonomous systems. Which way data go is what the routers' interfaces have received (route-way).
# shellcheck disable=SC2034,SC2154 # check-route has the rest

# For the shell below route-net.
# shellcheck disable=SC2016
systems_text='ctl() {
	local router=$1
	shift
	timeout 100 fi_routectl "$@" -s "$ROUTE_NET/$router.sock"
}
# transfer FROM TO ADDRESS: 11 MB each way.
transfer() {
	FCT_SERVER_ENV=FI_ROUTE_CONFIG=$ROUTE_NET/$2.conf "$net" in "$1" "$programs/fi_cairn_routed" -p route "--self=$3" \
		--peer-netns "/run/netns/$2" -t mixed -i 100
}
export programs net; export -f transfer
# way FROM TO ADDRESS SUBNETS ROUTERS: it goes there by these (a regular expression), and nothing is to be seen elsewhere.
way() {
	local said
	said=$("$here/route-way" "$1" "$2" bash -c "transfer \"\$@\"" bash "$1" "$2" "$3" 2>"$ROUTE_NET/way.err")
	if [[ ${said% *} =~ ^"$4 "($5)$ ]]; then
		echo "ok $1 to $2: $4 by ${BASH_REMATCH[1]}; elsewhere at most ${said##* } bytes"
		return 0
	fi
	cat "$ROUTE_NET/way.err"
	echo "$1 to $2: $said, not $4 by $5"
	return 1
}
# soon COMMAND...: it succeeds in time. How long it took is for people.
soon() {
	local began=${EPOCHREALTIME/./} end=$((SECONDS + 60))
	until "$@"; do
		[ $SECONDS -lt $end ] || { echo "not in 60 s: $*"; return 1; }
		sleep 0.2
	done
	echo "after $(((${EPOCHREALTIME/./} - began) / 1000)) ms: $*"
}
# best ROUTER TO COST SUBNETS ROUTERS: its best route.
best() { ctl "$1" show routes | grep -qE "^$2 +best +$3 +$4 +$5\$"; }
# shows ROUTER WHAT EXPRESSION: of d, what it shows.
shows() {
	ctl "$1" show "$2" --json >"$ROUTE_NET/shown" && /usr/bin/python3 -c "import json, sys; d = json.load(open(\"$ROUTE_NET/shown\")); sys.exit(not ($3))"
}
# link_to ROUTER AS STATE: the router knows that the private WAN to that AS is up, or down.
link_to() { shows "$1" topology "{l[\"up\"] for r in d[\"routers\"] for l in r[\"links\"] if l.get(\"to_as\") == $2 and l[\"uri\"]} == {$3}"; }
# AS 4 knows that its private WAN leads nowhere.
as4_by_public() { link_to as4r1 3 False; }
# cut HOST INTERFACE, mend HOST INTERFACE
cut() { "$net" in "$1" ip link set "$2" down; }
mend() { "$net" in "$1" ip link set "$2" up; }
'

# shellcheck disable=SC2016
part_systems() {
	[ "$provider" = route ] || { skip systems "$provider has no AS"; return; }
	# Table I, in the long form: each pair of subnets that has hosts, in the directions in which they ask. Two routers lead from SN1 to SN2.
	[ -z "$full" ] || step systems-table 200 T3 "$systems_text"'
		way desk storage 10.3.2.20 3:1,3:2 "r[34]" && way storage desk 10.3.1.20 3:2,3:1 "r[34]" &&
		way desk compute 10.3.3.20 3:1,3:3 r4 && way compute desk 10.3.1.20 3:3,3:1 r4 &&
		way storage compute 10.3.3.20 3:2,3:3 r4 && way compute storage 10.3.2.20 3:3,3:2 r4 &&
		way desk far 10.4.2.20 3:1,0:40,4:2 r2,as4r2 && way far desk 10.3.1.20 4:2,0:40,3:1 as4r2,r2 &&
		way far compute 10.3.3.20 4:2,0:40,3:1,3:3 as4r2,r2,r4 &&
		way compute far 10.4.2.20 3:3,3:1,0:40,4:2 r4,r2,as4r2 &&
		way storage far 10.4.2.20 3:2,3:1,0:40,4:2 "r[34],r2,as4r2" && way far storage 10.3.2.20 4:2,0:40,3:1,3:2 "as4r2,r2,r[34]" || exit 1
		# The column and the row of W*, while there is no other way to AS 4.
		cut r2 as4r2 && soon link_to r4 4 False && soon link_to r3 4 False && soon link_to r1 4 False && soon as4_by_public && way desk far 10.4.2.20 3:1,0:0,4:2 r1,as4r1 &&
		way storage far 10.4.2.20 3:2,3:1,0:0,4:2 "r[34],r1,as4r1" && way compute far 10.4.2.20 3:3,3:1,0:0,4:2 r4,r1,as4r1 &&
		way far desk 10.3.1.20 4:2,0:0,3:1 as4r1,r1 && way far storage 10.3.2.20 4:2,0:0,3:1,3:2 "as4r1,r1,r[34]" &&
		way far compute 10.3.3.20 4:2,0:0,3:1,3:3 as4r1,r1,r4'
	# Section VI.B: 125 against 215. Then the private WAN fails, then the one network between R4 and the WANs.
	step systems-failover 200 T3 "$systems_text"'
		best r4 0:40 110 3:1,0:40 2 && best r4 0:0 200 3:1,0:0 1 &&
		way compute far 10.4.2.20 3:3,3:1,0:40,4:2 r4,r2,as4r2 || exit 1
		cut r2 as4r2 && soon link_to r4 4 False &&
		way compute far 10.4.2.20 3:3,3:1,0:0,4:2 r4,r1,as4r1 || exit 1
		cut r4 campus && soon best r4 0:0 231 3:2,3:1,0:0 3,1 && way compute far 10.4.2.20 3:3,3:2,3:1,0:0,4:2 r4,r3,r1,as4r1 || exit 1
		mend r4 campus && mend r2 as4r2 && soon best r4 0:40 110 3:1,0:40 2 && way compute far 10.4.2.20 3:3,3:1,0:40,4:2 r4,r2,as4r2'
	# AS 1 and AS 2 have the same subnet id, and hosts of the same address. AS 3 comes to AS 4 by their WAN, AS 4 to AS 3 by
	# the public one: for each it costs less within its own AS (section VI.B). Nobody else goes by their WAN.
	# Then what borders say of themselves, and of others. Nothing of one AS is known in another, but what it costs to come in
	# from a WAN: 10 Gb/s of W* are 100, 100 Gb/s of W4 are 10, whatever is behind them.
	[ -n "$short" ] || step systems-four 200 T8 "$systems_text full=$full"'
		way h3 h1 fi_route://1:1/tcp://10.0.1.1:0 3:3,3:1,0:0,1:1 s3r4,s3r1,s1r1 &&
			way h3 h2 fi_route://2:1/tcp://10.0.1.1:0 3:3,3:1,0:0,2:1 s3r4,s3r1,s2r1 &&
			way h2 h4 10.4.2.20 2:1,0:0,4:2 s2r1,s4r1 &&
			way h3 h4 10.4.2.20 3:3,3:1,0:40,4:1,4:2 s3r4,s3r2,s4r2,s4r3 &&
			way h4 h3 10.3.3.20 4:2,0:0,3:1,3:3 s4r1,s3r1,s3r4 || exit 1
		[ -z "$full" ] || { way h1 h2 fi_route://2:1/tcp://10.0.1.1:0 1:1,0:0,2:1 s1r1,s2r1 &&
			way h1 h3 10.3.3.20 1:1,0:0,3:1,3:3 s1r1,s3r1,s3r4; } || exit 1
		for r in "$ROUTE_NET"/s*r*.conf; do
			r=${r##*/} r=${r%.conf}
			shows "$r" topology "{r[\"as\"] for r in d[\"routers\"]} == {${r:1:1}} and 1 <= len(d[\"routers\"]) <= 3" || { echo "$r knows others"; exit 1; }
		done
		cost() { shows "$1" adjacencies "{(a[\"as\"], a[\"cost\"]) for a in d[\"adjacencies\"] if a[\"subnet\"].startswith(\"0:\")} == {$2}"; }
		soon cost s3r1 "(1, 100000), (2, 100000), (4, 100000)" && soon cost s1r1 "(2, 100000), (3, 100000), (4, 100000)" &&
			soon cost s3r2 "(4, 10000)" && soon cost s4r2 "(3, 10000)" || exit 1
		# said HOST ADDRESS TEXT ON FROM TO: what the router there answers one that has the key of the WAN.
		key=$ROUTE_NET/public.key
		said() {
			"$net" in "$1" fi_cairn_rawroute -k "$key" -K 1 border "$2" 7000 "${@:4}" >"$ROUTE_NET/said"
			grep -E "$3" "$ROUTE_NET/said" && return 0
			cat "$ROUTE_NET/said"
			echo "not: $3"
			return 1
		}
		# 13 is EACCES; the router that refuses it is R1.
		said s2r1 192.0.2.31 "status 13, router 1: .*AS 3" 2:0 2:1 4:2 &&
			said s2r1 192.0.2.31 "status 13, router 1: .*AS 2" 2:0 4:2 3:3 &&
			said s2r1 192.0.2.31 "not greeted" 3:0 3:1 3:3 && key=$ROUTE_NET/private.key said s4r2 198.51.100.32 "not greeted" 2:40 2:1 3:3 || exit 1
		shows s3r1 counters "d[\"node\"][\"unknown_as\"] > 0" && shows s3r2 counters "d[\"node\"][\"unknown_as\"] > 0" || exit 1
		# Link states of AS 3, or of another one, that come over a WAN are not heard.
		intrude() { "$net" in s2r1 fi_cairn_rawroute -k "$key" -K 1 intrude 192.0.2.31 7000 "$1"; }
		intrude 3:0 && intrude 2:0 &&
			shows s3r1 topology "{r[\"router\"] for r in d[\"routers\"]} == {1, 2, 4}" || exit 1
		# A border that drains: another AS goes by another WAN, and comes back. Either router of its subnet may be the one
		# that h4 asks.
		public() { shows "$1" topology "(3 in {l.get(\"to_as\") for r in d[\"routers\"] for l in r[\"links\"] if l[\"subnet\"] == \"0:0\" and l[\"up\"]}) == $2"; }
		both() { soon public s4r1 "$1" && soon public s4r3 "$1"; }
		ctl s3r1 drain && both False && way h4 h3 10.3.3.20 4:2,4:1,0:40,3:1,3:3 s4r3,s4r2,s3r2,s3r4 &&
			ctl s3r1 drain --undo && both True && way h4 h3 10.3.3.20 4:2,0:0,3:1,3:3 s4r1,s3r1,s3r4'
}
