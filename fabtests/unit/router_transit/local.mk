# SPDX-License-Identifier: BSD-2-Clause
# Connections that fi_router passes on, among peers that do what the test says.
unit_tests += fabtests/unit/unit_router_transit
fabtests_unit_unit_router_transit_SOURCES = %D%/hop.c %D%/hop.h %D%/test_ack.c %D%/test_end.c \
	%D%/test_forward.c %D%/test_lasthop.c %D%/test_lasthop_acks.c %D%/test_lasthop_keys.c \
	%D%/test_memory.c %D%/test_probe.c %D%/test_refuse.c %D%/test_setup.c %D%/world.c \
	%D%/world.h fabtests/unit/route_fake/fake_peer.c fabtests/unit/route_fake/fake_peer.h
fabtests_unit_unit_router_transit_LDFLAGS = $(AM_LDFLAGS) $(CT_WRAP_TIME)
fabtests_unit_unit_router_transit_LDADD = $(ct_libs) $(router_libs)
