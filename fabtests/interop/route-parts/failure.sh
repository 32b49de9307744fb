# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
# A part of check-route: whatever fails, operations end once, errors name who it was, and another way is found.
# shellcheck disable=SC2034,SC2154 # check-route has the rest

# begin [OPTION...]: the target at b and the client at a, until all connections are up and have done something.
# over: ends both, which have found nothing wrong.  named ROUTER...: errors of operations name nobody else.
# afresh: a new connection comes about.  cut, mend ROUTER: its interfaces go down, and up.
# shellcheck disable=SC2016
failover_text='ledger=$ROUTE_NET/ledger at=7471
say() { echo "# $*"; }
serve() {
	rm -f "$ROUTE_NET/serve.out"
	"$net" in b sh -c "echo \$\$ >\$0; exec \"\$@\"" "$ROUTE_NET/serve.pid" fi_cairn_failover serve "$ROUTE_B" $at "$ledger" \
		>"$ROUTE_NET/serve.out" 2>&1 & serving=$!
	until grep -qs serves "$ROUTE_NET/serve.out"; do
		kill -0 $serving 2>/dev/null || { cat "$ROUTE_NET/serve.out"; return 1; }
		sleep 0.02
	done
}
run() {
	local before
	touch "$ROUTE_NET/run.out"
	before=$(grep -c "^runs" "$ROUTE_NET/run.out")
	"$net" in a sh -c "echo \$\$ >\$0; exec \"\$@\"" "$ROUTE_NET/run.pid" fi_cairn_failover run "$ROUTE_B" $at "$ledger" "$@" \
		>>"$ROUTE_NET/run.out" 2>&1 & running=$!
	until [ "$(grep -c "^runs" "$ROUTE_NET/run.out")" -gt "$before" ]; do
		kill -0 $running 2>/dev/null || { say "the client does not begin"; return 1; }
		sleep 0.02
	done
}
await() {
	local said
	said=$(fi_cairn_failover await "$ledger" "$@") || { say "waited in vain for $*: $said"; return 1; }
}
begin() {
	serve || return
	run -n 4 "$@"
	await up 4 && await ok +500
}
# Until that router has one of the connections, which is chance; then how many the client has is told.
begin_at() { # ROUTER
	begin || return
	until [ "$(passes "$1")" != 0 ]; do again || return; done
}
works() { await up 4 && await ok +500; }
end_of() { # NAME JOB
	kill "$(<"$ROUTE_NET/$1.pid")" && wait "$2" && return 0
	say "$1 has ended with status $?"
	return 1
}
over() {
	local status=0
	end_of run $running || status=1
	end_of serve $serving || status=1
	sed "/^runs$/d; s/^/# /" "$ROUTE_NET/run.out"
	[ $status = 0 ] || tail -n 5 "$ROUTE_NET/serve.out" | sed "s/^/# /"
	return $status
}
named() {
	local ids=" $* " line
	while read -r line; do
		[[ $ids == *" $line "* ]] || { say "errors of operations name router $line, and not $*"; return 1; }
	done < <(sed -nE "s/^operations: .*, router ([0-9]+): .*/\1/p" "$ROUTE_NET/run.out")
}
afresh() {
	local said
	said=$("$net" in a fi_cairn_failover try "$ROUTE_B" $at "$ledger") || { echo "$said"; return 1; }
	say "a new connection: ${said//$'"'\\\\n'"'/; }"
}
interfaces() { "$net" in "$1" ip -br link | sed -n "s/^\([^@ ]*\)@.*/\1/p"; }
links() { # ROUTER up|down
	local name
	for name in $(interfaces "$1"); do "$net" in "$1" ip link set dev "$name" "$2" || return; done
}
pid() { cat "$ROUTE_NET/$1.pid"; }
# A router that stands still, or is cut off, is not one that route-net waits for.
aside() { touch "$ROUTE_NET/$1.stopped"; }
back() { rm -f "$ROUTE_NET/$1.stopped"; }
fault() { fi_routectl fault "${@:2}" -s "$ROUTE_NET/$1.sock" >/dev/null; }
# Those that run know each other again, and the same.
agree() {
	local router sockets=()
	for router in "$ROUTE_NET"/r*.conf; do
		router=${router%.conf}
		[ -e "$router.stopped" ] || sockets+=("$router.sock")
	done
	"$here/route-agreed" -t $((30 * ${FCT_TIME_SCALE:-1})) "$@" "${sockets[@]}"
}
passes() { # ROUTER: a number of connections
	fi_routectl show counters --json -s "$ROUTE_NET/$1.sock" | sed -nE "s/^ +\"connections\": ([0-9]+).*/\1/p"
}
again() { end_of run $running && run -n 4 && works; }
restart() { "$net" start "$1"; }
'

# told NAME SECONDS TOPOLOGY TEXT: a step, and what it has measured. FAILURE_STEPS: a pattern of their names, to repeat one.
told() {
	# shellcheck disable=SC2053
	[[ $1 == ${FAILURE_STEPS:-*} ]] || return 0
	step "$@"
	sed -n 's/^# /#   /p' "$work/output"
}

# away NAME SECONDS HOW [BACK]: one of two routers fails, and the other one is there.
away() {
	told "failure-$1" "$2" T5-2 "$failover_text begin_at r1 || exit 1
		$3
		afresh && await lost 1 && works || exit 1
		${4:-true}
		over && named 1"
}

# The better one of two is killed, and what it has said of itself holds for much longer than anybody waits.
# shellcheck disable=SC2016
failure_better() {
	told failure-better 60 T5-2 "$failover_text"'"$net" stop r1 && "$net" stop r2 || exit 1
		sed -i "s/^id = 1\$/&\nrefresh = 600s/" "$ROUTE_NET/r1.conf"
		sed -i "s/^subnet = 1\$/&\ncost = 900/" "$ROUTE_NET/r2.conf"
		"$net" start r1 & "$net" start r2 && wait $! && begin && [ "$(passes r2)" = 0 ] || exit 1
		"$net" stop r1 KILL
		afresh && await lost 1 && works && over && named 1'
}

# kept NAME SECONDS TOPOLOGY HOW: whatever it is, no connection ends and no operation fails.
kept() {
	told "failure-$1" "$2" "$3" "$failover_text begin || exit 1
		$4
		works && over && [[ \$(fi_cairn_failover show \"\$ledger\") == *\"failed 0, lost 0,\"* ]]"
}

# broken NAME SECONDS TOPOLOGY HOW: it costs a connection, and the next one works.
broken() {
	told "failure-$1" "$2" "$3" "$failover_text begin || exit 1
		$4
		await lost 1 && works && over"
}

# shellcheck disable=SC2016
part_failure() {
	local link=("${link[@]}") still='stop() { kill -STOP "$@"; sleep 4; kill -CONT "$@"; }'
	[ "$provider" = route ] || { skip failure "$provider has no routers"; return; }
	if [ -n "$short" ]; then
		kept still-all 60 T2-2 "$still"'; stop $(pid run) $(pid serve) $(pid r1) $(pid r2)'
		link+=(-q)
		away killed 60 '"$net" stop r1 KILL'
		failure_better
		away blackholed-in 90 'fault r1 set blackhole --way in' 'fault r1 clear'
		# No router has failed.
		broken target-killed 60 T1 'kill -KILL "$(pid serve)"; wait $serving; serve; await lost 4; named 0'
		broken target-cut 90 T1 'links b down; await lost 4; links b up'
		failure_kills 4 $RANDOM
		return
	fi
	away killed 60 '"$net" stop r1 KILL'
	failure_better
	away stopped 90 'kill -STOP "$(pid r1)"' 'kill -CONT "$(pid r1)"'
	away cut 90 'links r1 down' 'links r1 up'
	away blackholed 90 'fault r1 set blackhole' 'fault r1 clear'
	away blackholed-in 90 'fault r1 set blackhole --way in' 'fault r1 clear'
	away blackholed-out 90 'fault r1 set blackhole --way out' 'fault r1 clear'
	# Who stood still itself blames nobody; and a router waits for who computes, however full its memory is.
	kept still-client 60 T1 "$still"'; stop $(pid run)'
	kept still-target 60 T1 "$still"'; stop $(pid serve)'
	kept still-all 60 T2-2 "$still"'; stop $(pid run) $(pid serve) $(pid r1) $(pid r2)'
	kept held 60 T2-2 'fault r1 set blackhole; sleep 1; fault r1 clear'
	kept flapping 60 T1 'for i in 1 2 3 4 5; do links r1 down; sleep 0.1; links r1 up; sleep 0.2; done'
	kept readdressed 60 T1 '"$net" in r1 ip addr flush dev a; sleep 1
		"$net" in r1 ip addr add 10.0.1.101/24 dev a'
	# Acknowledgements of all kinds, late and twice; and data that are late.
	kept acks-late 60 T2-2 'fault r1 set delay --delay 20 --class acks --chance 0.2 --seed 7
		fault r2 set delay --delay 20 --class acks --chance 0.2 --seed 8; await ok +1000'
	kept acks-twice 60 T2-2 'fault r1 set duplicate --class acks --way out; fault r2 set duplicate --class acks --way out
		await ok +1000'
	kept data-late 60 T2-2 'fault r1 set delay --delay 5 --chance 0.05 --seed 9; await ok +500'
	# What is lost on the way is told when the connection ends, at the latest.
	broken acks-lost 120 T2-2 'fault r1 set drop --class acks --count 3; await ok +100; fault r1 clear; "$net" stop r2 KILL
		restart r2'
	broken requests-lost 90 T2-2 'fault r2 set drop --class control --way in --count 2; "$net" stop r1 KILL; restart r1'
	broken target-killed 60 T1 'kill -KILL "$(pid serve)"; wait $serving; serve; await lost 4; named 0'
	# Nothing is heard of its host, whether it is to acknowledge something or not.
	broken target-cut 90 T1 'links b down; await lost 4; links b up'
	broken client-cut 90 T1 'links a down; await lost 4; links a up'
	broken client-killed 60 T1 'kill -KILL "$(pid run)"; wait $running; run -n 4; works; "$net" stop r1 KILL; restart r1'
	failure_figure
	failure_ring
	failure_parted
	if [ -n "$full" ]; then failure_kills 100 $RANDOM; else failure_kills 10 $RANDOM; fi
}

# failure_kills ROUNDS SEED: each kills one of them all, at any time.
failure_kills() {
	local link=("${link[@]}" -q)
	# shellcheck disable=SC2016
	told failure-kills $((60 + 6 * $1)) T5-2 "$failover_text rounds=$1 RANDOM=$2 seed=$2"'
		victims=(r1 r2 run serve)
		begin || exit 1
		for ((round = 0; round < rounds; round++)); do
			victim=${victims[RANDOM % 4]}
			sleep 0.$((RANDOM % 10))$((RANDOM % 10))
			case $victim in
			r[12]) "$net" stop $victim KILL && works && restart $victim ;;
			run) kill -KILL "$(pid run)"; wait $running; run -n 4 && works ;;
			serve) kill -KILL "$(pid serve)"; wait $serving; serve && works ;;
			esac || { say "round $round, $victim, of seed $seed"; exit 1; }
		done 2>/dev/null
		say "$rounds rounds of seed $seed" && over && fi_cairn_failover show "$ledger"'
}

# Fig. 3 of the document: connections go where fi_routectl simulate says they do, also without each of the routers.
# shellcheck disable=SC2016
failure_figure() {
	local metric
	for metric in bandwidth hops native latency widest; do
		told "failure-fig3-$metric" 200 "T4-$metric" "$failover_text"'
			foretold() {
				fi_routectl simulate --from 1:1 --to 1:8 -a 1 "$@" "$ROUTE_NET"/r*.conf |
					awk "\$1 == \"SN1\" && \$2 == \"SN8\" { print \$5 }"
			}
			taken() {
				local router way=""
				for router in 1 2 3 4 5; do
					[ -e "$ROUTE_NET/r$router.stopped" ] || [ "$(passes r$router)" = 0 ] || way+=,R$router
				done
				echo "${way#,}"
			}
			same() { [ "$(taken)" = "$1" ] || { say "foretold $1, taken $(taken) without ${2:-anybody}"; return 1; }; }
			way=$(foretold)
			begin && same "$way" || exit 1
			for router in ${way//,/ }; do
				"$net" stop r${router#R} KILL && await up 4 && await lost +0 || exit 1
				agree -d && again && same "$(foretold --fail "$router")" "$router" || exit 1
				say "without $router: $(taken), else $way"
				restart r${router#R} && again && same "$way" || exit 1
			done
			over && named ${way//[R,]/ }'
	done
}

# A ring, each of whose routers is killed: whoever is behind it is reached the other way round.
# shellcheck disable=SC2016
failure_ring() {
	told failure-ring 200 T6 "$failover_text"'begin || exit 1
		for router in r1 r2 r3 r4; do
			"$net" stop $router KILL && works && restart $router && again || exit 1
		done
		over'
}

# A network in two parts, which are told apart and heal; a way that is broken one way; a device that comes and goes.
# shellcheck disable=SC2016
failure_parted() {
	told failure-parted 120 T2-2 "$failover_text"'begin && fault r1 set blackhole --peer 2 && await lost 1 && await refused 3 || exit 1
		fault r1 clear && agree && works && over && named 1 2 && grep -q "^connecting: .*, router 1:" "$ROUTE_NET/run.out"'
	told failure-one-way 120 T6 "$failover_text"'begin && fault r2 set blackhole --peer 1 --way in || exit 1
		for ((i = 0; i < 20; i++)); do
			again || exit 1
			[ "$(passes r2)" != 0 ] || break
			sleep 0.5
		done
		[ "$(passes r4)" != 0 ] && [ "$(passes r2)" = 0 ] && fault r2 clear && agree && again && over'
	told failure-flap 120 T6 "$failover_text"'begin || exit 1
		name=r1
		for i in 1 2 3; do
			"$net" in r2 ip link set dev "$name" down; sleep 3.5
			works && "$net" in r2 ip link set dev "$name" up && agree || exit 1
		done
		again && over'
}
