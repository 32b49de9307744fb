# SPDX-License-Identifier: BSD-2-Clause
# What fi_rpcping makes of times and of Calls, and what it prints: no device.
%D%/%.o: private AM_CPPFLAGS += -I$(srcdir)/util/fi_rpcping $(util_include)
unit_tests += fabtests/unit/unit_rpcping
fabtests_unit_unit_rpcping_SOURCES = %D%/test_answer.c %D%/test_histogram.c %D%/test_report.c
fabtests_unit_unit_rpcping_LDADD = $(ct_libs) $(ping_libs)
