# shellcheck shell=bash
# Which part passed on which commit, and which steps were unstable, as notes of git (refs/notes/checks): they outlive build/, and
# "git log --notes=checks" shows them.
: "${top:?}"

history_git() {
	git -C "$top" -c user.name=util/check -c user.email=check@localhost "$@"
}

# The commit that was checked; fails when the sources are not exactly of one.
history_commit() {
	[ -z "$(git -C "$top" status --porcelain --untracked-files=no 2>/dev/null)" ] && git -C "$top" rev-parse -q --verify HEAD 2>/dev/null
}

# history_add COMMIT LINE...: a line is "part NAME passed|failed COUNTS" or "unstable STEP".
history_add() {
	history_git notes --ref=checks append -m "$(printf '%s\n' "${@:2}")" "$1"
}

# history_part PART: on which commit it passed last.
history_part() {
	git -C "$top" log --notes=checks --format='%h %ad%x09%N' --date=short 2>/dev/null | awk -v want="part $1 passed" '
		{ tab = index($0, "\t") }
		tab { commits++; commit = substr($0, 1, tab - 1); $0 = substr($0, tab + 1) }
		index($0, want) == 1 {
			split(commit, word, " ")
			printf "last passed on %s (%s), %d commits ago\n", word[1], word[2], commits - 1
			found = 1
			exit
		}
		END { if (!found) print "no commit of this history is known to have passed" }'
}

# history_unstable STEP: how often it failed and then passed, in all runs on record.
history_unstable() {
	git -C "$top" log --notes=checks --format=%N 2>/dev/null | grep -cxF "unstable $1"
}
