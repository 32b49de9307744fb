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
		sleep 0.1
	done
	echo "after $(((${EPOCHREALTIME/./} - began) / 1000)) ms: $*"
}
# best ROUTER TO COST SUBNETS ROUTERS: its best route.
best() { ctl "$1" show routes | grep -qE "^$2 +best +$3 +$4 +$5\$"; }
# shows ROUTER WHAT EXPRESSION: of d, what it shows.
shows() {
	ctl "$1" show "$2" --json >"$ROUTE_NET/shown" && python3 -c "import json, sys; d = json.load(open(\"$ROUTE_NET/shown\")); sys.exit(not ($3))"
}
# link_to ROUTER AS STATE: the router knows that the private WAN to that AS is up, or down.
link_to() { shows "$1" topology "{l[\"up\"] for r in d[\"routers\"] for l in r[\"links\"] if l.get(\"to_as\") == $2 and l[\"uri\"]} == {$3}"; }
# cut HOST INTERFACE, mend HOST INTERFACE
cut() { "$net" in "$1" ip link set "$2" down; }
mend() { "$net" in "$1" ip link set "$2" up; }
'

# shellcheck disable=SC2016
part_systems() {
	[ "$provider" = route ] || { skip systems "$provider has no AS"; return; }
	# Table I: each pair of subnets that has hosts, in the directions in which they ask. Two routers lead from SN1 to SN2.
	step systems-table 200 T3 "$systems_text"'
		way desk storage 10.3.2.20 3:1,3:2 "r[34]" && way storage desk 10.3.1.20 3:2,3:1 "r[34]" &&
		way desk compute 10.3.3.20 3:1,3:3 r4 && way compute desk 10.3.1.20 3:3,3:1 r4 &&
		way storage compute 10.3.3.20 3:2,3:3 r4 && way compute storage 10.3.2.20 3:3,3:2 r4 &&
		way desk far 10.4.2.20 3:1,0:40,4:2 r2,as4r2 && way far desk 10.3.1.20 4:2,0:40,3:1 as4r2,r2 &&
		way far compute 10.3.3.20 4:2,0:40,3:1,3:3 as4r2,r2,r4 &&
		way storage far 10.4.2.20 3:2,3:1,0:40,4:2 "r[34],r2,as4r2"'
	# Section VI.B: 125 against 215. Then the private WAN fails, then the one network between R4 and the WANs.
	step systems-failover 200 T3 "$systems_text"'
		best r4 0:40 110 3:1,0:40 2 && best r4 0:0 200 3:1,0:0 1 &&
		way compute far 10.4.2.20 3:3,3:1,0:40,4:2 r4,r2,as4r2 || exit 1
		cut r2 as4r2 && soon link_to r4 4 False &&
		way compute far 10.4.2.20 3:3,3:1,0:0,4:2 r4,r1,as4r1 || exit 1
		cut r4 campus && soon best r4 0:0 231 3:2,3:1,0:0 3,1 && way compute far 10.4.2.20 3:3,3:2,3:1,0:0,4:2 r4,r3,r1,as4r1 || exit 1
		mend r4 campus && mend r2 as4r2 && soon best r4 0:40 110 3:1,0:40 2 && way compute far 10.4.2.20 3:3,3:1,0:40,4:2 r4,r2,as4r2'
	# AS 1 and AS 2 have the same subnet id, and hosts of the same address. AS 3 comes to AS 4 by their WAN, AS 4 to AS 3 by
	# the public one: for each it costs less within its own AS (section VI.B).
	step systems-four 200 T8 "$systems_text"'
		way h3 h1 fi_route://1:1/tcp://10.0.1.1:0 3:3,3:1,0:0,1:1 s3r4,s3r1,s1r1 &&
		way h3 h2 fi_route://2:1/tcp://10.0.1.1:0 3:3,3:1,0:0,2:1 s3r4,s3r1,s2r1 &&
		way h1 h2 fi_route://2:1/tcp://10.0.1.1:0 1:1,0:0,2:1 s1r1,s2r1 &&
		way h2 h4 10.4.2.20 2:1,0:0,4:2 s2r1,s4r1 && way h1 h3 10.3.3.20 1:1,0:0,3:1,3:3 s1r1,s3r1,s3r4 &&
		way h3 h4 10.4.2.20 3:3,3:1,0:40,4:1,4:2 s3r4,s3r2,s4r2,s4r3 && way h4 h3 10.3.3.20 4:2,0:0,3:1,3:3 s4r1,s3r1,s3r4'
}
