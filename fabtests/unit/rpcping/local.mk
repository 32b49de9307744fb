# SPDX-License-Identifier: BSD-2-Clause
# What fi_rpcping makes of times and of Calls, and what it prints: no device.
check_PROGRAMS += fabtests/unit/unit_rpcping
TESTS += fabtests/unit/unit_rpcping
fabtests_unit_unit_rpcping_SOURCES = \
	fabtests/unit/rpcping/test_answer.c \
	fabtests/unit/rpcping/test_histogram.c \
	fabtests/unit/rpcping/test_report.c \
	util/fi_rpcping/answer.c \
	util/fi_rpcping/report.c \
	util/fi_rpcping/turn.c
nodist_EXTRA_fabtests_unit_unit_rpcping_SOURCES = fabtests/unit/dummy.cc
fabtests_unit_unit_rpcping_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/fabtests/unit -I$(top_srcdir)/util/fi_rpcping \
	$(util_fi_rpcping_fi_rpcping_CPPFLAGS)
fabtests_unit_unit_rpcping_LDFLAGS = $(AM_LDFLAGS) $(CT_WRAP_ALLOC) $(CT_WRAP_LOG)
fabtests_unit_unit_rpcping_LDADD = fabtests/unit/libct.la util/fi_rpcping/libping.la \
	util/fi_rpcping/libpingxdr.la util/rpcmsg/librpcmsg.la util/link/liblink.la $(LIBFABRIC_LIBS) $(JANSSON_LIBS)
EXTRA_DIST += fabtests/unit/rpcping/local.mk
