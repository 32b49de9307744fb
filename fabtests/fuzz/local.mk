# SPDX-License-Identifier: BSD-2-Clause
# Fuzz targets. fuzz_main.c runs each over its corpus and a bounded number of mutations;
# its first comment says how to run one under libFuzzer instead.

fuzz_main = fabtests/fuzz/fuzz_main.c fabtests/fuzz/fuzz.h
fuzz_ldadd = prov/common/libcairn-common.la $(LIBFABRIC_LIBS)

fuzz_targets = fabtests/fuzz/fuzz_addr
check_PROGRAMS += $(fuzz_targets)
TESTS += $(fuzz_targets)

fabtests_fuzz_fuzz_addr_SOURCES = fabtests/fuzz/fuzz_addr.c $(fuzz_main)
fabtests_fuzz_fuzz_addr_CPPFLAGS = $(AM_CPPFLAGS) $(LIBFABRIC_CFLAGS)
fabtests_fuzz_fuzz_addr_LDADD = $(fuzz_ldadd)
EXTRA_DIST += fabtests/fuzz/corpus/addr
