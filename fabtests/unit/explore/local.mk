# SPDX-License-Identifier: BSD-2-Clause
# The search over all states, by a model of two threads: no provider, no device.
%D%/%.o: private AM_CPPFLAGS += -I$(srcdir)/fabtests/explore/search -I$(srcdir)/util/simverbs
unit_tests += fabtests/unit/unit_explore
fabtests_unit_unit_explore_SOURCES = %D%/test_search.c
fabtests_unit_unit_explore_LDADD = $(ct_libs) fabtests/explore/libsearch.a
