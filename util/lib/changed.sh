# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared with util/check
# What a change can reach, by util/checks/reach, the order of modules and the folders of unit tests.
: "${top:?}"

# changed_files COMMIT: since the commit, also what is not committed.
changed_files() {
	git -C "$top" diff --name-only "$1" -- && git -C "$top" ls-files --others --exclude-standard
}

# modules_above FILE: PROVIDER/MODULE of a file of a folder with modules ("rooms"), and of all modules that include or call it, directly
# or not. Prints nothing for other files.
modules_above() {
	local folder=$1 module

	while [[ $folder == */* ]]; do
		module=${folder##*/}
		folder=${folder%/*}
		[ -e "$top/$folder/rooms" ] || continue
		module=${module%.[ch]}
		"$top/util/lib/check-rooms" -v "$top/$folder" 2>/dev/null | awk -v folder="$folder" -v first="$module" '
			$2 == "->" { sub(/:$/, "", $3); users[$3] = users[$3] " " $1 }
			END {
				queue[n = 1] = first
				for (i = 1; i <= n; i++) {
					if (queue[i] in met)
						continue
					met[queue[i]] = 1
					print folder "/" queue[i]
					m = split(users[queue[i]], user, " ")
					for (j = 1; j <= m; j++)
						queue[++n] = user[j]
				}
			}'
	done
}

# reached PATH: the words of all lines of the table that are for the path.
reached() {
	awk -v path="$1" '/^[^#]/ && (path == $1 || index(path, $1 "/") == 1) { for (i = 2; i <= NF; i++) print $i }' "$top/util/checks/reach"
}

# The unit program of a test folder has its name; a fuzz target that of its file.
test_programs() { # PATH
	local name

	case $1 in
	fabtests/unit/*/*)
		name=${1#fabtests/unit/}
		name=unit_${name%%/*}
		[ "$name" != unit_route_fake ] || name='unit_route_* unit_router*'
		printf '%s\n' "$name"
		;;
	fabtests/unit/*) echo 'unit_*' ;;
	fabtests/fuzz/fuzz_[a-z]*.c) basename "$1" .c ;;
	esac
}

# changed_choice COMMIT: adds to chosen the daily steps of the suites that the change reaches, sets CHECK_UNIT to the programs of the suite
# unit, and says why.
changed_choice() {
	local file path word words list programs=() name
	local -A why=()

	while read -r file; do
		words=$({
			reached "$file"
			test_programs "$file"
			modules_above "$file" | while read -r path; do reached "$path"; done
		} | sort -u)
		for word in ${words:-everything}; do
			why[$word]=${why[$word]-$file}
		done
	done < <(changed_files "$1")
	[ ${#why[@]} != 0 ] || die "nothing has changed since $1"
	say "changed since $1:"
	why[style]=${why[style]-always}
	mapfile -t list < <(printf '%s\n' "${!why[@]}" | sort)
	for word in "${list[@]}"; do
		say "  $word: ${why[$word]}"
		case $word in
		everything) mapfile -t -O ${#chosen[@]} chosen < <(steps_of daily) ;;
		unit_* | fuzz_*) programs+=("$word") ;;
		unit) ;;
		*) choose_named "$word" || die "util/checks/reach: no suite or step \"$word\"" ;;
		esac
	done
	if [ -n "${why[unit]-}" ] || [ ${#programs[@]} != 0 ]; then
		[[ " ${chosen[*]} " == *" unit "* ]] || chosen+=(unit)
		[ -n "${why[everything]-}${why[unit]-}" ] || export CHECK_UNIT="${programs[*]}"
	fi
}
