# SPDX-License-Identifier: BSD-2-Clause
# The codec of route: no device, no provider.
check_PROGRAMS += fabtests/unit/unit_route_wire
TESTS += fabtests/unit/unit_route_wire
fabtests_unit_unit_route_wire_SOURCES = \
	fabtests/unit/route_wire/any.c \
	fabtests/unit/route_wire/any.h \
	fabtests/unit/route_wire/golden.c \
	fabtests/unit/route_wire/golden.h \
	fabtests/unit/route_wire/golden_conn.c \
	fabtests/unit/route_wire/golden_data.c \
	fabtests/unit/route_wire/golden_peers.c \
	fabtests/unit/route_wire/test_golden.c \
	fabtests/unit/route_wire/test_join.c \
	fabtests/unit/route_wire/test_lists.c \
	fabtests/unit/route_wire/test_lsa.c \
	fabtests/unit/route_wire/test_packet.c \
	fabtests/unit/route_wire/test_random.c \
	fabtests/unit/route_wire/test_tlv.c \
	fabtests/unit/route_wire/test_values.c
nodist_EXTRA_fabtests_unit_unit_route_wire_SOURCES = fabtests/unit/dummy.cc
fabtests_unit_unit_route_wire_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/fabtests/unit -I$(top_srcdir)/prov/route \
	$(LIBFABRIC_CFLAGS)
fabtests_unit_unit_route_wire_LDFLAGS = $(AM_LDFLAGS) $(CT_WRAP_ALLOC) $(CT_WRAP_LOG)
fabtests_unit_unit_route_wire_LDADD = fabtests/unit/libct.la prov/route/wire/libroutewire.la \
	prov/route/topo/libtopo.la prov/common/libcairn-common.la $(LIBFABRIC_LIBS)
EXTRA_DIST += fabtests/unit/route_wire/local.mk
