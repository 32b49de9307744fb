# shellcheck shell=bash
# Counting what passed: one step at a time, its output in a file, its end shown when it failed. Results and durations are
# lines of a file, so that they outlive the shell that wrote them.
# Expects $logs, a folder for outputs; $results, a folder for the records of this run; $lane, whose record it is.
: "${logs:?}" "${results:?}" "${lane:?}"

# By how much steps may be slower than on a machine of their own.
patience=${CHECK_PATIENCE:-1}

# step NAME SECONDS COMMAND...: one test; a time limit, so that nothing hangs for ever.
step() {
	local log rc seconds cpu
	measured "$@"
	if [ "$rc" = 0 ]; then
		record step "$1" "$seconds" "$cpu" 1 0 0
		printf 'ok   %s (%d s)\n' "$1" "$seconds"
	else
		record step "$1" "$seconds" "$cpu" 0 1 0
		failure "$1" "$rc" "$seconds" "$log"
	fi
}

# counted NAME SECONDS COMMAND...: many tests, whose output ends in "N passed, N failed, N skipped".
counted() {
	local log rc seconds cpu line n
	measured "$@"
	line=$(grep -aE '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$log" | tail -n 1)
	[ -n "$line" ] || rc="${rc/#0/no count of tests}"
	read -r -a n <<<"${line:-0 passed, 0 failed, 0 skipped}"
	grep -aE '^(skip|[^ ]+ +skip) ' "$log" | sort -u | sed 's|^|     |' || :
	if [ "$rc" = 0 ] && [ "${n[2]}" = 0 ]; then
		record step "$1" "$seconds" "$cpu" "${n[0]}" 0 "${n[4]}"
		printf 'ok   %s: %s (%d s)\n' "$1" "$line" "$seconds"
	else
		record step "$1" "$seconds" "$cpu" "${n[0]}" $((n[2] > 0 ? n[2] : 1)) "${n[4]}"
		failure "$1" "$rc${line:+, $line}" "$seconds" "$log"
	fi
}

skip() {
	record step "$1" 0 0 0 0 1
	printf 'skip %s: %s\n' "$1" "$2"
}

# full_only NAME WHAT: true for a run with everything; otherwise says what is left out.
full_only() {
	[ -z "${CHECK_FULL-}" ] || return 0
	record left "$1" "$2"
	printf 'left %s: %s\n' "$1" "$2"
	return 1
}

# record step NAME SECONDS CPU-SECONDS PASSED FAILED SKIPPED, record left NAME WHAT, record end
record() {
	local IFS=$'\t'
	printf '%s\n' "$*" >>"$results/$lane"
}

# How many steps this lane has recorded.
steps_recorded() {
	grep -c '^step' "$results/$lane" 2>/dev/null || :
}

# measured NAME SECONDS COMMAND...: sets the caller's log, rc, seconds and cpu: those of its processes on this machine.
measured() {
	local limit=$(($2 * patience)) TIMEFORMAT='%0R %0U %0S' timing=$results/$lane.time user system
	log=$logs/${1//[^a-zA-Z0-9_.-]/_}.log
	shift 2
	{ time limited "$limit" "$@" >"$log" 2>&1 </dev/null; } 2>"$timing"
	rc=$?
	read -r seconds user system <"$timing"
	cpu=$((user + system))
}

# A shell function runs in this shell's functions, as a process group; anything else under timeout(1).
limited() {
	local limit=$1
	shift
	if [ "$(type -t "$1")" = function ]; then
		(
			set -m
			"$@" &
			child=$!
			(sleep "$limit" && kill -- -$child && sleep 10 && kill -KILL -- -$child) >/dev/null 2>&1 &
			timer=$!
			wait "$child"
			rc=$?
			kill -- -$timer 2>/dev/null
			exit "$rc"
		)
	else
		timeout --kill-after=10 "$limit" "$@"
	fi
}

# failure NAME WHY SECONDS LOG
failure() {
	printf 'FAIL %s (%s, %d s); the end of %s:\n' "$1" "$2" "$3" "$4"
	{
		{
			what_failed "$4"
			tail -n 5 "$4"
		} | awk '!said[$0]++'
		printf '(%s, %d s)\n' "$2" "$3"
	} | tee "$results/$lane.failed.$1" | sed 's/^/     > /'
	tail -n 15 "$4" | sed 's/^/     | /'
	return 1
}

# what_failed LOG: the lines that say so.
what_failed() {
	grep -aE -A 3 '^not ok|^[^ ]+ +not ok|FAIL|error:|Error |^rdmavm: the (guest|command|connection) ' "$1" | tail -n 20
}

# records KIND: "LANE<tab>NAME<tab>..." of all lanes.
records() {
	local file
	for file in "$results"/*; do
		[[ ${file##*/} != *.* ]] || continue
		sed -n "s/^$1\t/${file##*/}\t/p" "$file"
	done
}

# The durations, what was left out, and the closing line; the exit status says whether all is well.
summary() {
	local totals lane name
	records step | awk -F '\t' '{ printf "%6d s %6d s cpu  %-5s %s: %d passed, %d failed, %d skipped\n",
		$3, $4, $1, $2, $5, $6, $7 }' | sort -rn >"$logs/durations"
	printf 'The ten slowest steps (all: %s):\n' "$logs/durations"
	head -n 10 "$logs/durations"
	if [ -n "$(records left)" ]; then
		printf 'Left out, run by util/check --full:\n'
		records left | awk -F '\t' '{ printf "  %s: %s\n", $2, $3 }'
	fi
	while IFS=$'\t' read -r lane name; do
		printf 'failed: %s\n' "$name"
		[ ! -e "$results/$lane.failed.$name" ] || sed 's/^/  > /' "$results/$lane.failed.$name"
	done < <(records step | awk -F '\t' '$6 > 0 { print $1 "\t" $2 }')
	totals=$(records step | awk -F '\t' '{ p += $5; f += $6; s += $7 }
		END { printf "%d passed, %d failed, %d skipped", p, f, s }')
	printf '%s\n' "$totals"
	[[ $totals == *", 0 failed, "* && $totals != "0 passed, "* ]]
}
