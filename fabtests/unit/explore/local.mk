# SPDX-License-Identifier: BSD-2-Clause
# The search over all states, by a model of two threads: no provider, no device.
check_PROGRAMS += fabtests/unit/unit_explore
TESTS += fabtests/unit/unit_explore
fabtests_unit_unit_explore_SOURCES = fabtests/unit/explore/test_search.c
nodist_EXTRA_fabtests_unit_unit_explore_SOURCES = fabtests/unit/dummy.cc
fabtests_unit_unit_explore_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/fabtests/unit \
	-I$(top_srcdir)/fabtests/explore/search -I$(top_srcdir)/util/simverbs
fabtests_unit_unit_explore_LDFLAGS = $(AM_LDFLAGS) $(CT_WRAP_ALLOC) $(CT_WRAP_LOG)
fabtests_unit_unit_explore_LDADD = fabtests/unit/libct.la fabtests/explore/libsearch.a
EXTRA_DIST += fabtests/unit/explore/local.mk
