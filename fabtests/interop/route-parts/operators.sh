# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
# A part of check-route: what people who run routers do, and are told.
# shellcheck disable=SC2034,SC2154 # check-route has the rest

# shellcheck disable=SC2016
operators_text='
	patience=$((30 * ${FCT_TIME_SCALE:-1}))
	# soon COMMAND...: some time it is true.
	soon() {
		local end=$((${EPOCHREALTIME/./} + patience * 1000000))
		until "$@"; do
			[ "${EPOCHREALTIME/./}" -lt $end ] || { echo "not true in time: $*"; return 1; }
			sleep 0.2
		done
	}
	ctl() { fi_routectl "${@:2}" -s "$ROUTE_NET/$1.sock"; }
	# holds ROUTER EXPRESSION COMMAND...: of d, what fi_routectl says.
	holds() {
		ctl "$1" "${@:3}" --json >"$ROUTE_NET/said" 2>"$ROUTE_NET/said.err" &&
			/usr/bin/python3 -c "import json, sys; d = json.load(open(sys.argv[1])); sys.exit(not ($2))" "$ROUTE_NET/said"
	}
	# logs ROUTER PATTERN: the data of a line.
	logs() { grep -qsE -- "$2" "$ROUTE_NET/$1.log"; }
	serves() { [ -e "$ROUTE_NET/$1.sock" ]; }
	# A router that others need not know yet.
	launch() { "$net" in "$1" "${FI_ROUTER:-fi_router}" -v -c "$ROUTE_NET/$1.conf" >>"$ROUTE_NET/$1.log" 2>&1 & }
	shoot() { kill -9 "$1"; wait "$1" 2>/dev/null; return 0; }
	# One pass of a program through the routers: from a to b.
	passes() {
		local server status
		"$net" in b fi_pingpong -p route -e msg -I 20 -S 4096 >/dev/null 2>&1 & server=$!
		soon listens || return 1
		timeout "$patience" "$net" in a fi_pingpong -p route -e msg -I 20 -S 4096 "$ROUTE_B" >"$ROUTE_NET/pingpong" 2>&1
		status=$?
		[ $status = 0 ] || { cat "$ROUTE_NET/pingpong"; kill $server 2>/dev/null; }
		wait $server
		return $status
	}
	# fi_pingpong waits for the other at a port of its own.
	listens() { [ -n "$("$net" in b ss -Hltn "sport = :47592")" ]; }
'

# shellcheck disable=SC2016
part_operators() {
	local link=(-m)
	[ "$provider" = route ] || { skip operators "$provider has no routers"; return; }

	# A target that does not read: its router says who waits for whom, and how busy it is.
	step operators-blocked 100 T1 "$routed_text$operators_text"'
		routed -t stalled >"$ROUTE_NET/routed.out" 2>&1 & load=$!
		# said is what was read last.
		told() { cat "$ROUTE_NET/said" "$ROUTE_NET/routed.out"; exit 1; }
		soon holds r1 "[b for b in d[\"blockers\"] if b[\"stalled\"] and b[\"end\"] and b[\"blocker\"] == \"$ROUTE_B\" and b[\"longest_ns\"]] and
			d[\"waiting\"][0][\"blocked_by\"].startswith(\"$ROUTE_B:\") and d[\"waiting\"][0][\"lane\"] == \"requests\"" show blocked || told
		ctl r1 show blocked | tee "$ROUTE_NET/sheet" | grep -q "^$ROUTE_B  *sn2" || { cat "$ROUTE_NET/sheet"; told; }
		soon holds r1 "len(d[\"connections\"]) == 10 and d[\"connections\"][0][\"bytes_per_second\"] >= d[\"connections\"][9][\"bytes_per_second\"] and
			d[\"connections\"][0][\"bytes_per_second\"] > 0 and max(v[\"sent_bytes_per_second\"] for v in d[\"devices\"]) > 0" top -n 1 -d 0.1 || told
		wait $load || told
		cat "$ROUTE_NET/sheet"'
	step operators-ports 100 T1 "$operators_text"'
		ports() { sed -i "/^\[sn$1\]/,/^rate/{s/^uri = .*/domain = $2/}" "$ROUTE_NET/r1.conf"; }
		# The router has the first that is free of each network: others are taken.
		"$net" stop r1 || exit 1
		ports 1 a
		ports 2 b
		printf "[routing]\nports = 7100-7101\n" >>"$ROUTE_NET/r1.conf"
		take="import socket, sys, time
taken = []
for port in sys.argv[2:]:
    taken.append(socket.create_server((sys.argv[1], int(port))))
print(1, flush=True)
time.sleep(600)"
		take() { "$net" in r1 /usr/bin/python3 -c "$take" "$@" >"$ROUTE_NET/taken.$2" & soon test -s "$ROUTE_NET/taken.$2"; }
		take 10.0.1.101 7100 || exit 1
		first=$!
		launch r1
		r1=$!
		soon holds r1 "{l[\"uri\"] for r in d[\"routers\"] for l in r[\"links\"]} == {\"sock://10.0.1.101:7101\", \"sock://10.0.2.101:7100\"}" show topology || exit 1
		sed -i "s/10.0.1.101:7000/10.0.1.101:7101/" "$ROUTE_NET/a.conf"
		sed -i "s/10.0.2.101:7000/10.0.2.101:7100/" "$ROUTE_NET/b.conf"
		passes || exit 1
		# All of them are: it says so, and has one when it is free again.
		shoot $r1
		rm "$ROUTE_NET/r1.sock"
		take 10.0.1.101 7101 || exit 1
		second=$!
		launch r1
		r1=$!
		soon logs r1 "sn1: .*7100.*7101.*Address already in use" || exit 1
		waits() { ! ctl r1 ready 2>"$ROUTE_NET/why" && grep -qw sn1 "$ROUTE_NET/why"; }
		soon waits || exit 1
		shoot $second
		soon ctl r1 ready && passes || exit 1
		shoot $first
		shoot $r1'

	# Names of routers: one that comes to have an address, one with two, one whose address changes, and a name server that is silent.
	step operators-names 200 T2-2 "$operators_text"'
		"$net" stop r1 && "$net" stop r2 || exit 1
		: >"$ROUTE_NET/hosts"
		echo "options timeout:30
nameserver 10.0.2.99" >"$ROUTE_NET/resolv"
		mount --bind "$ROUTE_NET/hosts" /etc/hosts && mount --bind "$ROUTE_NET/resolv" /etc/resolv.conf || exit 1
		sed -i "/^router = /d" "$ROUTE_NET/r1.conf"
		sed -i "/^subnet = 2/a router = sock://gate.test:7000" "$ROUTE_NET/r2.conf"
		sed -i "s|^router = .*|router = sock://door.test:7000|" "$ROUTE_NET/a.conf"
		# Who is asked for names does not answer.
		"$net" in r1 ip addr add 10.0.2.99/24 dev r2
		"$net" in r1 ip addr add 10.0.1.99/24 dev a
		"$net" in r1 /usr/bin/python3 -c "import socket, time
mute = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
mute.bind((\"10.0.2.99\", 53))
print(1, flush=True)
time.sleep(600)" >"$ROUTE_NET/mute" & mute=$!
		soon test -s "$ROUTE_NET/mute" || exit 1
		launch r1
		r1=$!
		launch r2
		r2=$!
		soon serves r1 && soon serves r2 || exit 1
		# The socket is there a moment before it answers.
		soon holds r2 True show adjacencies || exit 1
		met() { holds r2 "[(n[\"router\"], n[\"peer\"].count(\"$1\")) for n in d[\"adjacencies\"]] == [(1, 1)]" show adjacencies; }
		asked=${EPOCHREALTIME/./}
		holds r2 True ready
		[ "$(ctl r2 show adjacencies --json | grep -c peer)" = 0 ] || exit 1
		echo "while a name is looked up $(((${EPOCHREALTIME/./} - asked) / 1000)) ms for two questions"
		grep -q "sock://gate.test:7000" "$ROUTE_NET/said" || { cat "$ROUTE_NET/said"; exit 1; }
		# What is looked up already ends with its time; here the name server does.
		kill $mute
		echo "options timeout:1 attempts:1" >"$ROUTE_NET/resolv"
		shoot $r2
		rm "$ROUTE_NET/r2.sock" "$ROUTE_NET/r2.log"
		launch r2
		r2=$!
		soon logs r2 "sock://gate\.test:7000" || exit 1
		# At the first of its addresses nobody listens.
		printf "10.0.2.99 gate.test\n10.0.2.101 gate.test\n10.0.1.99 door.test\n10.0.1.101 door.test\n" >"$ROUTE_NET/hosts"
		soon met 10.0.2.101:7000 && passes || exit 1
		# Another one, and r1 comes back there.
		shoot $r1
		rm "$ROUTE_NET/r1.sock"
		echo "10.0.2.99 gate.test
10.0.1.101 door.test" >"$ROUTE_NET/hosts"
		sed -i "s/10.0.2.101/10.0.2.99/" "$ROUTE_NET/r1.conf"
		launch r1
		r1=$!
		soon met 10.0.2.99:7000 && passes || exit 1
		shoot $r1
		shoot $r2'
}
