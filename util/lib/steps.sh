# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared with the suites and with util/check
# What the suites of util/checks declare, and the file that ctest(1) runs them from. Nothing runs while suites are declared.
# Expects $top and $checks, the folder of the generated files.
: "${top:?}" "${checks:?}"

# In order of declaration. Suites find the address of this machine, or "", in $address.
suite_names=() step_names=()
declare -A suite_text suite_of part_of step_kind step_limit step_command step_needs step_holds step_cores step_cost step_gives

# The settings of the steps that follow, which a suite's function makes local, or of one: "part=NAME step ...". part: "" for the daily run. needs: what "gives"
# steps give, such as builds. holds: what only one step at a time may use. cores: how many processors. cost: steps with a high one
# start first; without, those that took longest in the last run here.
part='' needs='' holds='' cores=1 cost=0

# suite NAME TEXT: the function suite_NAME declares its steps.
suite() {
	suite_names+=("$1")
	suite_text[$1]=$2
}

# The parts of util/check, each with what it is for.
declare -A part_text=()
part_names=()
new_part() {
	part_names+=("$1")
	part_text[$1]=$2
}

# step NAME SECONDS [VARIABLE=VALUE...] COMMAND...: one test. The command is a program or a function of the suites.
step() { declare_step one "$@"; }

# counted: many tests, whose output ends in "N passed, N failed, N skipped".
counted() { declare_step many "$@"; }

# gives WHAT NAME SECONDS COMMAND...: a step that must have passed before those that need WHAT.
gives() {
	declare_step one "${@:2}"
	step_gives[$2]=$1
}

# skip NAME WHY: a test that this machine cannot run.
skip() { declare_step none "$1" 10 "$2"; }

declare_step() { # KIND NAME SECONDS WORD...
	local name=$2 words

	[ -z "${step_kind[$name]-}" ] || die "two steps are called $name"
	step_names+=("$name")
	step_kind[$name]=$1
	step_limit[$name]=$3
	printf -v words '%q ' "${@:4}"
	step_command[$name]=$words
	step_needs[$name]=$needs
	step_holds[$name]=$holds
	step_cores[$name]=$cores
	step_cost[$name]=$cost
	part_of[$name]=${part:-daily}
	suite_of[$name]=$suite
}

source_suites() {
	local file

	for file in "$top"/util/checks/*.sh; do
		# shellcheck disable=SC1090 # each is checked by itself
		source "$file"
	done
}

declare_suites() {
	local suite address

	source_suites
	address=$(host_address)
	for suite in "${suite_names[@]}"; do
		"suite_$suite"
	done
}

# The names of the steps of the parts, one a line: steps_of PART...
steps_of() {
	local name
	for name in "${step_names[@]}"; do
		[[ " $* " != *" ${part_of[$name]} "* ]] || printf '%s\n' "$name"
	done
}

# The chosen steps and what they need, directly or not, one a line in order of declaration: with_needs NAME...
with_needs() {
	local -A wanted=() giver=()
	local name need queue=("$@")

	for name in "${!step_gives[@]}"; do
		giver[${step_gives[$name]}]+=" $name"
	done
	while [ ${#queue[@]} != 0 ]; do
		name=${queue[0]}
		queue=("${queue[@]:1}")
		[ -z "${wanted[$name]-}" ] || continue
		wanted[$name]=1
		for need in ${step_needs[$name]}; do
			[ -n "${giver[$need]-}" ] || die "$name needs $need, which no step gives"
			# shellcheck disable=SC2206 # a list of names
			queue+=(${giver[$need]})
		done
	done
	for name in "${step_names[@]}"; do
		[ -z "${wanted[$name]-}" ] || printf '%s\n' "$name"
	done
}

# write_ctest NAME...: the file for ctest. Its time limits are behind those of steps, which end their processes better.
write_ctest() {
	local name

	mkdir -p "$checks/steps" || return
	for name in "$@"; do
		printf 'add_test(%s "%s/util/check" --step %s)\n' "$name" "$top" "$name"
		printf 'set_tests_properties(%s PROPERTIES TIMEOUT %d PROCESSORS %d COST %d LABELS %s' "$name" \
			$((step_limit[$name] * patience + 60)) "${step_cores[$name]}" "${step_cost[$name]}" "${suite_of[$name]}"
		cmake_list FIXTURES_SETUP "${step_gives[$name]-}"
		cmake_list FIXTURES_REQUIRED "${step_needs[$name]}"
		cmake_list RESOURCE_LOCK "${step_holds[$name]}"
		printf ')\n'
		printf 'kind=%s limit=%d\ncommand=(%s)\n' "${step_kind[$name]}" "${step_limit[$name]}" "${step_command[$name]}" \
			>"$checks/steps/$name"
	done >"$checks/CTestTestfile.cmake"
}

cmake_list() { # PROPERTY "WORD WORD..."
	[ -z "$2" ] || printf ' %s "%s"' "$1" "${2// /;}"
}
