# shellcheck shell=bash
# Lanes run side by side: each is a shell of its own, "util/check --lane NAME SUITE...", in a session of its own, that runs
# its suites one after the other, and then those that any lane may run. What several of them need is made once.
# Expects $top, $logs, $results and the functions of setup.sh and results.sh.
: "${top:?}" "${logs:?}" "${results:?}"

declare -A lane_pid lane_printer

# run_lane SUITE...: the lane's own shell.
run_lane() {
	local suite
	for suite in "$@"; do
		run_suite "$suite"
	done
	while suite=$(take_suite) && [ -n "$suite" ]; do
		run_suite "$suite"
	done
	record end
}

# A suite that says nothing about any test has failed.
run_suite() {
	local before
	say "$1"
	before=$(steps_recorded)
	"suite_$1"
	[ "$(steps_recorded)" != "$before" ] ||
		step "suite-$1" 1 sh -c 'echo "the suite ran no test"; exit 1'
}

# offer_suites SUITE...: to whichever lane has nothing else to do.
offer_suites() {
	: >"$results/offered"
	[ $# = 0 ] || printf '%s\n' "$@" >"$results/offered"
}

# The next one that was offered; nothing when there is none.
take_suite() {
	(
		flock 9
		sed -n 1p "$results/offered"
		sed -i 1d "$results/offered"
	) 9>"$results/offered.lock"
}

# once NAME COMMAND...: runs the command unless a lane has done so, and returns its status; a lane that comes meanwhile
# waits. The command does not have the lock: what it leaves running would keep it.
once() {
	local mark=$results/$1.once
	shift
	exec 9>"$mark.lock" || return
	flock 9
	if [ ! -s "$mark" ]; then
		"$@" 9>&-
		echo $? >"$mark"
	fi
	exec 9>&-
	return "$(<"$mark")"
}

# start_lane NAME PREFIX SUITE...: every line it prints gets the prefix; without, they are in build/logs/lane-NAME.log.
# Shells let their background processes ignore SIGINT, which not every program under test takes.
start_lane() {
	local name=$1 prefix=$2 out
	shift 2
	exec {out}> >(exec sed -u -e "w $logs/lane-$name.log" -e "s/^/$prefix/")
	lane_printer[$name]=$!
	env --default-signal=INT,QUIT setsid "$top/util/check" --lane "$name" "$@" </dev/null >&"$out" 2>&1 {out}>&- &
	lane_pid[$name]=$!
	exec {out}>&-
}

# end_lane NAME: waits. A lane that did not come to its end is a failed test.
end_lane() {
	local status lane=$1
	wait "${lane_pid[$lane]}"
	status=$?
	wait "${lane_printer[$lane]}"
	if [ $status != 0 ] || ! grep -qx end "$results/$lane"; then
		record step "lane-$lane" 0 0 0 1 0
		printf 'FAIL lane-%s: its shell ended early, with status %d\n' "$lane" $status
		stop_sessions "${lane_pid[$lane]}"
	fi
	unset "lane_pid[$lane]"
}

# Ends all lanes and what they have started. rdmavm needs some time, to end its command in the guest.
stop_lanes() {
	local lane
	stop_sessions "${lane_pid[@]}"
	for lane in "${!lane_pid[@]}"; do
		end_lane "$lane"
	done
}

# stop_sessions ID...
stop_sessions() {
	local ids deadline=$((SECONDS + 30))
	[ $# != 0 ] || return 0
	ids=$(IFS=, && echo "$*")
	pkill -TERM -s "$ids"
	while pgrep -s "$ids" >/dev/null; do
		if [ $SECONDS -ge $deadline ]; then
			pkill -KILL -s "$ids"
			return
		fi
		sleep 0.2
	done
}
