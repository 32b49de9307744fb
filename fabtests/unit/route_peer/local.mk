# SPDX-License-Identifier: BSD-2-Clause
# Peers of route, over libfabric's tcp.
check_PROGRAMS += fabtests/unit/unit_route_peer
TESTS += fabtests/unit/unit_route_peer
fabtests_unit_unit_route_peer_SOURCES = \
	fabtests/unit/route_peer/front.c \
	fabtests/unit/route_peer/front.h \
	fabtests/unit/route_peer/pair.c \
	fabtests/unit/route_peer/pair.h \
	fabtests/unit/route_peer/test_auth.c \
	fabtests/unit/route_peer/test_credit.c \
	fabtests/unit/route_peer/test_elastic.c \
	fabtests/unit/route_peer/test_end.c \
	fabtests/unit/route_peer/test_fault.c \
	fabtests/unit/route_peer/test_life.c \
	fabtests/unit/route_peer/test_look.c \
	fabtests/unit/route_peer/test_peer.c \
	fabtests/unit/route_peer/test_send.c \
	fabtests/unit/route_peer/test_slot.c
nodist_EXTRA_fabtests_unit_unit_route_peer_SOURCES = fabtests/unit/dummy.cc
fabtests_unit_unit_route_peer_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/fabtests/unit -I$(top_srcdir)/prov/route \
	$(LIBFABRIC_CFLAGS)
fabtests_unit_unit_route_peer_LDFLAGS = $(AM_LDFLAGS) $(CT_WRAP_ALLOC) $(CT_WRAP_LOG) $(CT_WRAP_TIME)
fabtests_unit_unit_route_peer_LDADD = fabtests/unit/libct.la prov/route/peer/libpeer.la \
	prov/route/config/librouteconfig.la prov/route/wire/libroutewire.la prov/route/topo/libtopo.la \
	prov/common/libcairn-common.la $(LIBFABRIC_LIBS)
EXTRA_DIST += fabtests/unit/route_peer/local.mk
