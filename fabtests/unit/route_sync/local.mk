# SPDX-License-Identifier: BSD-2-Clause
# The exchange of link states: one router among made-up peers, and simulated networks.
unit_tests += fabtests/unit/unit_route_sync
fabtests_unit_unit_route_sync_SOURCES = %D%/message.c %D%/message.h %D%/net.c %D%/net.h \
	%D%/net_check.c %D%/one.c %D%/one.h %D%/shape.c %D%/shape.h %D%/test_adjacency.c \
	%D%/test_faults.c %D%/test_flood.c %D%/test_garbage.c %D%/test_net.c %D%/test_own.c \
	%D%/test_reach.c %D%/test_request.c
fabtests_unit_unit_route_sync_LDADD = $(ct_libs) prov/route/sync/libsync.a $(route_config_libs)
