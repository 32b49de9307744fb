# shellcheck shell=bash disable=SC2034,SC2154 # settings of steps, and what util/check has
# Daily they run under AddressSanitizer and UBSan: the suite asan. What would take too long there runs here.
suite unit "unit tests and fuzz targets"
suite_unit() {
	local suite=unit part='' needs=unit cores=2

	counted unit-plans 600 "CHECK_UNIT=unit_plan unit_simverbs" "GTEST_FILTER=$plans_all" unit_tests
	# libfabric does not load a provider that a sanitizer is in.
	counted unit-loaded 600 "CHECK_UNIT=test-*.sh" unit_tests
	part=sanitizers
	counted unit 1200 unit_tests
	counted valgrind 1800 CT_PART=10 FUZZ_PART=10 "GTEST_FILTER=-$plans_all" make_check "$top/build/unit" \
		LOG_COMPILER="valgrind -q --fair-sched=yes --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite"
}

# All of them, or the programs that CHECK_UNIT names by patterns.
unit_tests() {
	local name pattern tests=()

	# shellcheck disable=SC2016 # for make
	for name in $(make -s -C "$top/build/unit" -f Makefile -f - print <<<'print: ; @echo $(TESTS)'); do
		for pattern in ${CHECK_UNIT-}; do
			# shellcheck disable=SC2053 # a pattern
			[[ ${name##*/} != $pattern ]] || tests+=("$name")
		done
	done
	[ -z "${CHECK_UNIT-}" ] || [ ${#tests[@]} != 0 ] || return
	# Only those of the choice are built.
	make_check "$top/build/unit" ${CHECK_UNIT:+TESTS="${tests[*]}" check_PROGRAMS="${tests[*]}"}
}

# The tests that enumerate all plans: one thread's arithmetic, most of the time of all unit tests.
plans_all='plans.are_safe:plans.need_every_step:plans.no_overtake_is_set_*:methods.are_safe_*:methods.are_as_safe_*'
