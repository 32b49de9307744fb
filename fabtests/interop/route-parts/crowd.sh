# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
# A part of check-route: hosts that connect and say nothing, as often as they may. hostile.sh has "raw" and "over".
# shellcheck disable=SC2034,SC2154 # check-route has the rest

# hold NAME HOST ADDRESS ROLE COUNT: in the background, once it has as many as it may; what it holds in "held".
# shellcheck disable=SC2016
crowd_text='hold() {
	local name=$1 host=$2 tries
	shift 2
	# shellcheck disable=SC2016 # for the shell there
	"$net" in "$host" sh -c "echo \$\$ >\$0; exec \"\$@\"" "$ROUTE_NET/$name.pid" fi_cairn_rawroute hold "$1" 7000 "$2" "$3" \
		>"$ROUTE_NET/$name.out" 2>&1 &
	for ((tries = 0; tries < 600; tries++)); do
		held=$(sed -n "s/^holds //p" "$ROUTE_NET/$name.out")
		[ -z "$held" ] || { echo "$host holds $held as $2"; return 0; }
		sleep 0.05
	done
	echo "$name does not come to its end"
	return 1
}
let_go() { kill "$(<"$ROUTE_NET/$1.pid")"; }
look() { "$net" in "$1" timeout 40 fi_cairn_rawroute look "$ROUTE_B" 7471; }
ask() { timeout 10 fi_routectl show counters -s "$ROUTE_NET/r1.sock" >/dev/null; }
# silent HOST ADDRESS COUNT: TCP connections that send nothing, in the background.
silent() {
	# shellcheck disable=SC2016 # for the shell there
	"$net" in "$1" sh -c "echo \$\$ >\$0; exec \"\$@\"" "$ROUTE_NET/silent.pid" /usr/bin/python3 -c "
import resource, socket, sys, time
count = int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_NOFILE, (count + 50, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
held = [socket.socket() for i in range(count)]
for one in held:
    one.setblocking(False)
    one.connect_ex((sys.argv[1], 7000))
time.sleep(100)" "$2" "$3" & silent=$!
}
# Ticks of the processor that the router has used.
ticks() { awk "{ print \$14 + \$15 }" "/proc/$(<"$ROUTE_NET/r1.pid")/stat"; }
serve() {
	raw b serve "$ROUTE_B" 7471 || return 1
	mv "$ROUTE_NET/raw.pid" "$ROUTE_NET/serve.pid"
}
'

# shellcheck disable=SC2016
part_crowd() {
	local link=(-w 1) text=$raw_text$crowd_text
	[ "$provider" = route ] || { skip crowd "$provider is another protocol"; return; }
	# Those who are counted are refused for their number, those of other kinds and hosts are not.
	step crowd-clients 100 T7-2 "$text"'
		serve && hold one a1 10.0.1.101 client 1000 && [ "$held" = 768 ] || exit 1
		look a2 && hold two a1 10.0.1.101 router 200 && [ "$held" = 128 ] && look a2 && ask || exit 1
		let_go one && let_go two && let_go serve'
	# A router that comes is a neighbour, whoever else says that he is one.
	step crowd-routers 100 T2-2 "$text"'
		hold one a 10.0.1.101 router 200 && [ "$held" = 128 ] || exit 1
		"$net" stop r2 && "$net" start r2 && serve && look a || exit 1
		let_go one && let_go serve'
	# TCP connections that send nothing: the kernel keeps them at first, what it gives to the router then is closed.
	step crowd-silent 100 T1 "$text"'
		serve && look a && prlimit --pid "$(<"$ROUTE_NET/r1.pid")" --nofile=160:160 || exit 1
		silent a 10.0.1.101 1200
		for ((tries = 0; tries < 45; tries++)); do
			before=$(ticks)
			ask && look a || exit 1
			sleep 0.5
			busy=$(($(ticks) - before)) most=$((busy > ${most-0} ? busy : ${most-0}))
			! grep -q "have connected and sent nothing" "$ROUTE_NET/r1.log" || break
		done
		echo "the router used up to $most ticks in a half second, and noticed after $tries of them"
		[ "$tries" != 45 ] && ask && look a || exit 1
		fi_routectl show counters -s "$ROUTE_NET/r1.sock" | grep -E "mute +[1-9]" || exit 1
		kill "$(<"$ROUTE_NET/silent.pid")"
		ask && look a && let_go serve'
	step crowd-descriptors 100 T1 "$text"'
		serve && look a && prlimit --pid "$(<"$ROUTE_NET/r1.pid")" --nofile=160:160 || exit 1
		hold one a 10.0.1.101 client 400 && [ "$held" -lt 160 ] && [ "$held" -gt 50 ] || exit 1
		grep -q "error: .*\b160\b" "$ROUTE_NET/r1.log" && ask || exit 1
		before=$(ticks)
		hold two a 10.0.1.101 client 1 && [ "$held" = 0 ] && sleep 1 || exit 1
		echo "the router used $(($(ticks) - before)) ticks meanwhile"
		[ $(($(ticks) - before)) -lt 50 ] && ask && let_go one || exit 1
		for ((tries = 0; tries < 20; tries++)); do
			! look a || break
			sleep 0.2
		done
		[ $tries != 20 ] && [[ $(grep descriptors "$ROUTE_NET/r1.log" | tail -n 1) != *error:* ]] || exit 1
		let_go two && let_go serve'
}
