# SPDX-License-Identifier: BSD-2-Clause
# Connections that fi_router passes on, among peers that do what the test says.
check_PROGRAMS += fabtests/unit/unit_router_transit
TESTS += fabtests/unit/unit_router_transit
fabtests_unit_unit_router_transit_SOURCES = \
	fabtests/unit/route_fake/fake_peer.c \
	fabtests/unit/route_fake/fake_peer.h \
	fabtests/unit/router_transit/hop.c \
	fabtests/unit/router_transit/hop.h \
	fabtests/unit/router_transit/test_ack.c \
	fabtests/unit/router_transit/test_end.c \
	fabtests/unit/router_transit/test_forward.c \
	fabtests/unit/router_transit/test_lasthop.c \
	fabtests/unit/router_transit/test_lasthop_acks.c \
	fabtests/unit/router_transit/test_lasthop_keys.c \
	fabtests/unit/router_transit/test_memory.c \
	fabtests/unit/router_transit/test_probe.c \
	fabtests/unit/router_transit/test_refuse.c \
	fabtests/unit/router_transit/test_setup.c \
	fabtests/unit/router_transit/world.c \
	fabtests/unit/router_transit/world.h
nodist_EXTRA_fabtests_unit_unit_router_transit_SOURCES = fabtests/unit/dummy.cc
fabtests_unit_unit_router_transit_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/fabtests/unit \
	-I$(top_srcdir)/prov/route -I$(top_srcdir)/util/fi_router $(LIBFABRIC_CFLAGS)
fabtests_unit_unit_router_transit_LDFLAGS = $(AM_LDFLAGS) $(CT_WRAP_ALLOC) $(CT_WRAP_LOG) $(CT_WRAP_TIME)
fabtests_unit_unit_router_transit_LDADD = fabtests/unit/libct.la util/fi_router/libfirouter.la $(LIBFABRIC_LIBS) \
	$(INIH_LIBS)
EXTRA_DIST += fabtests/unit/router_transit/local.mk
