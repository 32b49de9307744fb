# SPDX-License-Identifier: BSD-2-Clause
# What fi_rpcping makes of times: no device.
check_PROGRAMS += fabtests/unit/unit_rpcping
TESTS += fabtests/unit/unit_rpcping
fabtests_unit_unit_rpcping_SOURCES = fabtests/unit/rpcping/test_histogram.c
nodist_EXTRA_fabtests_unit_unit_rpcping_SOURCES = fabtests/unit/dummy.cc
fabtests_unit_unit_rpcping_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/fabtests/unit -I$(top_srcdir)/util/fi_rpcping \
	$(LIBFABRIC_CFLAGS)
fabtests_unit_unit_rpcping_LDFLAGS = $(AM_LDFLAGS) $(CT_WRAP_ALLOC) $(CT_WRAP_LOG)
fabtests_unit_unit_rpcping_LDADD = fabtests/unit/libct.la util/fi_rpcping/libping.la $(LIBFABRIC_LIBS)
EXTRA_DIST += fabtests/unit/rpcping/local.mk
