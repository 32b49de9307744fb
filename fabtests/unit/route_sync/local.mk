# SPDX-License-Identifier: BSD-2-Clause
# The exchange of link states: one router among made-up peers, and simulated networks.
check_PROGRAMS += fabtests/unit/unit_route_sync
TESTS += fabtests/unit/unit_route_sync
fabtests_unit_unit_route_sync_SOURCES = \
	fabtests/unit/route_sync/message.c \
	fabtests/unit/route_sync/message.h \
	fabtests/unit/route_sync/net.c \
	fabtests/unit/route_sync/net.h \
	fabtests/unit/route_sync/net_check.c \
	fabtests/unit/route_sync/one.c \
	fabtests/unit/route_sync/one.h \
	fabtests/unit/route_sync/shape.c \
	fabtests/unit/route_sync/shape.h \
	fabtests/unit/route_sync/test_adjacency.c \
	fabtests/unit/route_sync/test_faults.c \
	fabtests/unit/route_sync/test_flood.c \
	fabtests/unit/route_sync/test_garbage.c \
	fabtests/unit/route_sync/test_net.c \
	fabtests/unit/route_sync/test_own.c \
	fabtests/unit/route_sync/test_reach.c \
	fabtests/unit/route_sync/test_request.c
nodist_EXTRA_fabtests_unit_unit_route_sync_SOURCES = fabtests/unit/dummy.cc
fabtests_unit_unit_route_sync_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/fabtests/unit -I$(top_srcdir)/prov/route \
	$(LIBFABRIC_CFLAGS)
fabtests_unit_unit_route_sync_LDFLAGS = $(AM_LDFLAGS) $(CT_WRAP_ALLOC) $(CT_WRAP_LOG)
fabtests_unit_unit_route_sync_LDADD = fabtests/unit/libct.la prov/route/sync/libsync.la $(LIBFABRIC_LIBS)
EXTRA_DIST += fabtests/unit/route_sync/local.mk
