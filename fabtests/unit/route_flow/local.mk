# SPDX-License-Identifier: BSD-2-Clause
# Flow control of routed connections: no device, no provider.
unit_tests += fabtests/unit/unit_route_flow
fabtests_unit_unit_route_flow_SOURCES = %D%/test_credit.c
fabtests_unit_unit_route_flow_LDADD = $(ct_libs) $(route_config_libs)
