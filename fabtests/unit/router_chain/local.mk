# SPDX-License-Identifier: BSD-2-Clause
# Connections through real routers in a row, over libfabric's tcp.
unit_tests += fabtests/unit/unit_router_chain
fabtests_unit_unit_router_chain_SOURCES = %D%/chain.c %D%/chain.h %D%/chain_end.c %D%/test_chain.c
fabtests_unit_unit_router_chain_LDADD = $(ct_libs) $(router_libs)
