# SPDX-License-Identifier: BSD-2-Clause
# What fi_remotelog writes and reads: no device, no file.
check_PROGRAMS += fabtests/unit/unit_remotelog
TESTS += fabtests/unit/unit_remotelog
fabtests_unit_unit_remotelog_SOURCES = \
	fabtests/unit/remotelog/test_format.c \
	fabtests/unit/remotelog/test_journal.c \
	fabtests/unit/remotelog/test_method.c \
	fabtests/unit/remotelog/test_orderings.c \
	fabtests/unit/remotelog/test_stats.c \
	fabtests/unit/remotelog/test_trips.c \
	fabtests/unit/remotelog/test_wire.c \
	util/fi_remotelog/journal.c \
	util/fi_remotelog/journal.h \
	util/fi_remotelog/medium.c \
	util/fi_remotelog/medium.h
nodist_EXTRA_fabtests_unit_unit_remotelog_SOURCES = fabtests/unit/dummy.cc
fabtests_unit_unit_remotelog_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/fabtests/unit \
	-I$(top_srcdir)/util/fi_remotelog $(LIBFABRIC_CFLAGS) $(PMEM_CFLAGS)
fabtests_unit_unit_remotelog_LDFLAGS = $(AM_LDFLAGS) $(CT_WRAP_ALLOC) $(CT_WRAP_LOG)
fabtests_unit_unit_remotelog_LDADD = fabtests/unit/libct.la \
	util/fi_remotelog/libremotelog.la $(LIBFABRIC_LIBS) $(PMEM_LIBS)
EXTRA_DIST += fabtests/unit/remotelog/local.mk
