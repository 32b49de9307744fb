# SPDX-License-Identifier: BSD-2-Clause
# The data path of route's connections, over peers of libfabric's tcp.
unit_tests += fabtests/unit/unit_route_data
fabtests_unit_unit_route_data_SOURCES = %D%/over.c %D%/over.h %D%/test_data.c \
	fabtests/unit/route_peer/pair.c fabtests/unit/route_peer/pair.h
fabtests_unit_unit_route_data_LDADD = $(ct_libs) $(route_peer_libs)
