# SPDX-License-Identifier: BSD-2-Clause
# The codec of route: no device, no provider.
unit_tests += fabtests/unit/unit_route_wire
fabtests_unit_unit_route_wire_SOURCES = %D%/any.c %D%/any.h %D%/golden.c %D%/golden.h \
	%D%/golden_conn.c %D%/golden_data.c %D%/golden_peers.c %D%/test_golden.c %D%/test_join.c \
	%D%/test_lists.c %D%/test_lsa.c %D%/test_packet.c %D%/test_random.c %D%/test_tlv.c \
	%D%/test_values.c
fabtests_unit_unit_route_wire_LDADD = $(ct_libs) $(route_config_libs)
