# shellcheck shell=bash disable=SC2154 # a step's file sets them
# Runs one step: its output goes to a file, the end of that file is shown when the step failed. Each attempt adds a line to the
# step's file of results: seconds, processor seconds, and how many tests passed, failed and were skipped.
# Expects $top, $logs, $checks, $results, $patience.
: "${top:?}" "${logs:?}" "${checks:?}" "${results:?}" "${patience:?}"

run_step() { # NAME
	local name=$1 kind limit command log=$logs/${1//[^a-zA-Z0-9_.-]/_}.log rc seconds user system line n=(1 0 0) TIMEFORMAT='%0R %0U %0S'

	# shellcheck disable=SC1090 # written by write_ctest
	source "$checks/steps/$name" || return
	if [ "$kind" = none ]; then
		echo "skip ${command[0]}" >"$log"
		echo "0 0 0 0 1" >>"$results/$name"
		return
	fi
	[ ! -e "$results/$name" ] || mv "$log" "$log.first"
	# Programs under test take SIGINT, which a background shell would let them ignore.
	{ time timeout --kill-after=10 $((limit * patience)) env --default-signal=INT,QUIT \
		"$top/util/check" --command "$name" >"$log" 2>&1 </dev/null; } 2>"$results/$name.time"
	rc=$?
	read -r seconds user system <"$results/$name.time"
	if [ "$kind" = many ]; then
		line=$(grep -aE '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$log" | tail -n 1)
		[ -n "$line" ] || rc=${rc/#0/no count of tests}
		read -r -a n <<<"${line:-0 passed, 0 failed, 0 skipped}"
		n=("${n[0]}" "${n[2]}" "${n[4]}")
		[ "$rc" = 0 ] || [ "${n[1]}" != 0 ] || n[1]=1
	elif [ "$rc" != 0 ]; then
		n=(0 1 0)
	fi
	echo "$seconds $((user + system)) ${n[*]}" >>"$results/$name"
	[ "$rc" != 0 ] || [ "${n[1]}" != 0 ] || return 0
	show_failure "$name" "$rc${line:+, $line}" "$seconds" "$log"
}

# run_command NAME: what a step runs. Words VARIABLE=VALUE before the command are its environment.
run_command() {
	local kind limit command

	# shellcheck disable=SC1090 # written by write_ctest
	source "$checks/steps/$1" || return
	while [[ ${command[0]} =~ ^[A-Z_]+= ]]; do
		export "${command[0]?}"
		command=("${command[@]:1}")
	done
	"${command[@]}"
}

# show_failure NAME WHY SECONDS LOG
show_failure() {
	printf 'FAIL %s (%s, %d s); the end of %s:\n' "$1" "$2" "$3" "$4"
	{
		{
			failed_lines "$4"
			tail -n 5 "$4"
		} | awk '!shown[$0]++'
		printf '(%s, %d s)\n' "$2" "$3"
	} | tee "$results/$1.failure" | sed 's/^/     > /'
	tail -n 15 "$4" | sed 's/^/     | /'
	return 1
}

# failed_lines LOG: the lines that name a failure.
failed_lines() {
	grep -aE -A 3 '^not ok|^[^ ]+ +not ok|FAIL|error:|Error |^rdmavm: the (guest|command|connection) ' "$1" | tail -n 20
}
