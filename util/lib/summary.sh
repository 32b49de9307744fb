# shellcheck shell=bash disable=SC2154 # variables are shared with util/check
# What a run ends with: durations, unstable steps, parts, failures, and the closing line.
# Expects $logs, $results, $ran (the names of the steps of this run).
: "${logs:?}" "${results:?}"

# result NAME: the line of its last attempt; a step that did not run failed.
result() {
	if [ -s "$results/$1" ]; then
		tail -n 1 "$results/$1"
	else
		echo "0 0 0 1 0"
	fi
}

# How often a step failed before it passed; 0 as well when it never passed.
failures_before() {
	awk '{ failed += ($4 > 0); last = $4 } END { print (last > 0 ? 0 : failed + 0) }' "$results/$1" 2>/dev/null
}

# Prints it all; the exit status says whether nothing failed.
summary() {
	local name totals

	for name in "${ran[@]}"; do
		printf '%s %s\n' "$name" "$(result "$name")"
	done >"$results/all"
	awk '{ printf "%6d s %6d s cpu  %s: %d passed, %d failed, %d skipped\n", $2, $3, $1, $4, $5, $6 }' "$results/all" |
		sort -rn >"$logs/durations"
	printf 'The ten slowest steps (all: %s):\n' "$logs/durations"
	head -n 10 "$logs/durations"
	summary_unstable
	summary_parts
	while read -r name; do
		printf 'failed: %s\n' "$name"
		if [ ! -s "$results/$name" ]; then
			echo "  > it did not run: what it needs failed, or the run was stopped"
		elif [ -e "$results/$name.failure" ]; then
			sed 's/^/  > /' "$results/$name.failure"
		fi
	done < <(awk '$5 > 0 { print $1 }' "$results/all")
	totals=$(awk '{ p += $4; f += $5; s += $6 } END { printf "%d passed, %d failed, %d skipped", p, f, s }' "$results/all")
	printf '%s\n' "$totals"
	[[ $totals == *", 0 failed, "* && $totals != "0 passed, "* ]]
}

# A step that failed and passed when it was run again is a defect of the product or of the test.
summary_unstable() {
	local name count

	for name in "${ran[@]}"; do
		count=$(failures_before "$name")
		[ "${count:-0}" != 0 ] || continue
		[ -e "$results/unstable" ] || printf 'Unstable: failed, and passed when run again:\n'
		echo "$name" >>"$results/unstable"
		printf '  %s: %d of %d attempts failed; in earlier runs on record %d\n' "$name" "$count" "$(wc -l <"$results/$name")" \
			"$(history_unstable "$name")"
		sed 's/^/  > /' "$results/$name.failure"
	done
}

# The parts that this run did not have.
summary_parts() {
	local name

	for name in daily "${part_names[@]}"; do
		[[ " ${run_parts[*]} " == *" $name "* ]] || printf 'part %s: %s\n' "$name" "$(history_part "$name")"
	done
}

# record_run: a note for each part of which every step ran, on a commit without changes.
record_run() {
	local name part commit lines=()

	commit=$(history_commit) || return 0
	for part in "${run_parts[@]}"; do
		lines+=("$(for name in $(steps_of "$part"); do
			printf '%s %s\n' "$name" "$(result "$name")"
		done | awk -v part="$part" '{ p += $4; f += $5; s += $6 } END {
			printf "part %s %s: %d passed, %d failed, %d skipped\n", part, f || !p ? "failed" : "passed", p, f, s }')")
	done
	[ ! -e "$results/unstable" ] || while read -r name; do
		lines+=("unstable $name")
	done <"$results/unstable"
	[ ${#lines[@]} = 0 ] || history_add "$commit" "${lines[@]}"
}
