# SPDX-License-Identifier: BSD-2-Clause
# Routes: no device, no provider.
check_PROGRAMS += fabtests/unit/unit_route
TESTS += fabtests/unit/unit_route
fabtests_unit_unit_route_SOURCES = \
	fabtests/unit/route/brute.c \
	fabtests/unit/route/brute.h \
	fabtests/unit/route/test_change.c \
	fabtests/unit/route/test_figures.c \
	fabtests/unit/route/test_graph.c \
	fabtests/unit/route/test_lsa.c \
	fabtests/unit/route/test_lsdb.c \
	fabtests/unit/route/test_map.c \
	fabtests/unit/route/test_metric.c \
	fabtests/unit/route/test_random.c \
	fabtests/unit/route/test_redirect.c \
	fabtests/unit/route/test_static.c \
	fabtests/unit/route/world.c \
	fabtests/unit/route/world.h
nodist_EXTRA_fabtests_unit_unit_route_SOURCES = fabtests/unit/dummy.cc
fabtests_unit_unit_route_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/fabtests/unit -I$(top_srcdir)/prov/route/topo \
	$(LIBFABRIC_CFLAGS)
fabtests_unit_unit_route_LDFLAGS = $(AM_LDFLAGS) $(CT_WRAP_ALLOC) $(CT_WRAP_LOG)
fabtests_unit_unit_route_LDADD = fabtests/unit/libct.la prov/route/topo/libtopo.la $(LIBFABRIC_LIBS)
EXTRA_DIST += fabtests/unit/route/local.mk
