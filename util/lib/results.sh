# shellcheck shell=bash
# Counting what passed: one step at a time, its output in a file, its end shown when it failed.
# Expects $logs, a folder.
: "${logs:?}"

passed=0 failed=0 skipped=0
failures=()

# step NAME SECONDS COMMAND...: one test; a time limit, so that nothing hangs for ever.
step() {
	local name=$1 limit=$2 log=$logs/${1//[^a-zA-Z0-9_.-]/_}.log began=$SECONDS
	shift 2
	limited "$limit" "$@" >"$log" 2>&1 </dev/null
	conclude "$name" $? "$log" "$began" && passed=$((passed + 1))
}

# counted NAME SECONDS COMMAND...: many tests, whose output ends in "N passed, N failed, N skipped".
counted() {
	local name=$1 limit=$2 log=$logs/${1//[^a-zA-Z0-9_.-]/_}.log began=$SECONDS rc line n
	shift 2
	limited "$limit" "$@" >"$log" 2>&1 </dev/null
	rc=$?
	line=$(grep -aE '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$log" | tail -n 1)
	if [ -z "$line" ]; then
		conclude "$name" "${rc/#0/no count of tests}" "$log" "$began"
		return
	fi
	read -r -a n <<<"$line"
	passed=$((passed + n[0]))
	skipped=$((skipped + n[4]))
	grep -aE '^(skip|[^ ]+ +skip) ' "$log" | sort -u | sed 's|^|     |' || :
	if [ "${n[2]}" != 0 ] || [ $rc != 0 ]; then
		conclude "$name" "$rc, $line" "$log" "$began"
		failed=$((failed + (n[2] > 1 ? n[2] - 1 : 0)))
	else
		conclude "$name: $line" 0 "$log" "$began"
	fi
}

skip() {
	skipped=$((skipped + 1))
	printf 'skip %s: %s\n' "$1" "$2"
}

# A shell function runs in this shell's functions; anything else under timeout(1).
limited() {
	local limit=$1
	shift
	if [ "$(type -t "$1")" = function ]; then
		(
			"$@" &
			child=$!
			(sleep "$limit" && kill "$child" 2>/dev/null) >/dev/null 2>&1 &
			timer=$!
			wait "$child"
			rc=$?
			kill "$timer" 2>/dev/null
			exit "$rc"
		)
	else
		timeout --kill-after=10 "$limit" "$@"
	fi
}

conclude() {
	local name=$1 rc=$2 log=$3 began=$4

	if [ "$rc" = 0 ]; then
		printf 'ok   %s (%d s)\n' "$name" $((SECONDS - began))
		return 0
	fi
	failed=$((failed + 1))
	failures+=("$name")
	printf 'FAIL %s (%s, %d s); the end of %s:\n' "$name" "$rc" $((SECONDS - began)) "$log"
	grep -aE '^not ok|^[^ ]+ +not ok|FAIL|error:|Error ' "$log" | tail -n 20 | sed 's/^/     > /'
	tail -n 15 "$log" | sed 's/^/     | /'
	return 1
}

# The closing line; the exit status says whether all is well.
summary() {
	[ ${#failures[@]} = 0 ] || printf 'failed: %s\n' "${failures[@]}"
	printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
	[ "$failed" = 0 ]
}
