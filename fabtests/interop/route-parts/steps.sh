# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
# Parts of check-route: what each is made of. One step is one network.
# shellcheck disable=SC2034,SC2154 # check-route has the rest

ok() { passed=$((passed + 1)); echo "ok $1"; }
skip() { skipped=$((skipped + 1)); echo "skip $1: $2"; }
fail() {
	failed=$((failed + 1))
	echo "not ok $1: $2"
	# A router's own words are in front of its peers' logs.
	{ grep -aE '^route-net: |error: .*\breport\b' "$work/output"; tail -n 30 "$work/output"; } | sed 's/^/#   /'
}

# Within N routers: T0, T1, T2-2, ...
topology() {
	case $1 in
	0 | 1) echo "T$1" ;;
	*) echo "T2-$1" ;;
	esac
}

# in_net SECONDS TOPOLOGY TEXT: the text, for the shell, in a network; its output in a file. In the background, for a trap
# waits for what is not.
in_net() {
	timeout --kill-after=20 $(($1 * ${FCT_TIME_SCALE:-1})) "${with[@]}" "$net" "${link[@]}" "$2" bash -c "$3" >"$work/output" 2>&1 \
		</dev/null &
	wait $!
}

# step NAME SECONDS TOPOLOGY TEXT: one test.
step() {
	local status
	in_net "${@:2}"
	status=$?
	if [ $status = 0 ]; then ok "$1"; else fail "$1" "exit status $status"; fi
}

# sum LINE: adds what it counts, and leaves it in n.
sum() {
	read -r -a n <<<"${1:-0 passed, 0 failed, 0 skipped}"
	passed=$((passed + n[0])) failed=$((failed + n[2])) skipped=$((skipped + n[4]))
}

# counted NAME SECONDS TOPOLOGY TEXT: many tests, which are counted in the last line.
counted() {
	local name=$1 status line n
	in_net "${@:2}"
	status=$?
	line=$(grep -aE '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$work/output" | tail -n 1)
	sum "$line"
	grep -aE '^(skip |not ok |#  )' "$work/output" | sed -E "s|^(skip\|not ok) |\1 $name: |"
	if [ $status = 0 ] && [ -n "$line" ]; then
		echo "ok $name: $line"
	elif [ "${n[2]}" = 0 ] || [ $status = 3 ]; then
		fail "$name" "exit status $status${line:+, $line}"
	else
		echo "not ok $name: $line"
	fi
}

# not_short NAME: false, and said, in the short form.
not_short() {
	[ -n "$short" ] || return 0
	skip "$1" "not in the short form"
	return 1
}
