# SPDX-License-Identifier: BSD-2-Clause
# The data path of route's connections, over peers of libfabric's tcp.
check_PROGRAMS += fabtests/unit/unit_route_data
TESTS += fabtests/unit/unit_route_data
fabtests_unit_unit_route_data_SOURCES = \
	fabtests/unit/route_data/over.c \
	fabtests/unit/route_data/over.h \
	fabtests/unit/route_data/test_data.c \
	fabtests/unit/route_peer/pair.c \
	fabtests/unit/route_peer/pair.h
nodist_EXTRA_fabtests_unit_unit_route_data_SOURCES = fabtests/unit/dummy.cc
fabtests_unit_unit_route_data_CPPFLAGS = $(fabtests_unit_unit_route_peer_CPPFLAGS)
fabtests_unit_unit_route_data_LDFLAGS = $(AM_LDFLAGS) $(CT_WRAP_ALLOC) $(CT_WRAP_LOG)
fabtests_unit_unit_route_data_LDADD = prov/route/xfer/libroutexfer.la $(fabtests_unit_unit_route_peer_LDADD)
EXTRA_DIST += fabtests/unit/route_data/local.mk
