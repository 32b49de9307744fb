# SPDX-License-Identifier: BSD-2-Clause
# Unit tests of provider route: its addresses, its answers, and connections of one process over
# libfabric's tcp, with routers that say what the test wants.
unit_tests += fabtests/unit/unit_route_prov
fabtests_unit_unit_route_prov_SOURCES = %D%/ends.c %D%/ends.h %D%/router.c %D%/router.h \
	%D%/test_bypass.c %D%/test_connect.c %D%/test_info.c %D%/test_keys.c %D%/test_listen.c \
	%D%/test_misuse.c %D%/test_pack.c %D%/test_place.c %D%/test_pmem.c %D%/test_routers.c \
	%D%/test_silent.c
fabtests_unit_unit_route_prov_LDADD = $(ct_libs) $(route_libs)
