# SPDX-License-Identifier: BSD-2-Clause
# Peers of route, over libfabric's tcp.
unit_tests += fabtests/unit/unit_route_peer
fabtests_unit_unit_route_peer_SOURCES = %D%/front.c %D%/front.h %D%/pair.c %D%/pair.h \
	%D%/test_auth.c %D%/test_credit.c %D%/test_elastic.c %D%/test_end.c %D%/test_fault.c \
	%D%/test_life.c %D%/test_look.c %D%/test_peer.c %D%/test_send.c %D%/test_slot.c
fabtests_unit_unit_route_peer_LDFLAGS = $(AM_LDFLAGS) $(CT_WRAP_TIME)
fabtests_unit_unit_route_peer_LDADD = $(ct_libs) $(route_peer_libs)
