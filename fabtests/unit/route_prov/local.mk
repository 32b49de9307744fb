# SPDX-License-Identifier: BSD-2-Clause
# Unit tests of provider route: its addresses, its answers, and connections of one process over libfabric's tcp, with routers
# that say what the test wants.
check_PROGRAMS += fabtests/unit/unit_route_prov
TESTS += fabtests/unit/unit_route_prov
fabtests_unit_unit_route_prov_SOURCES = \
	fabtests/unit/route_prov/ends.c \
	fabtests/unit/route_prov/ends.h \
	fabtests/unit/route_prov/router.c \
	fabtests/unit/route_prov/router.h \
	fabtests/unit/route_prov/test_bypass.c \
	fabtests/unit/route_prov/test_connect.c \
	fabtests/unit/route_prov/test_info.c \
	fabtests/unit/route_prov/test_keys.c \
	fabtests/unit/route_prov/test_listen.c \
	fabtests/unit/route_prov/test_misuse.c \
	fabtests/unit/route_prov/test_pack.c \
	fabtests/unit/route_prov/test_place.c \
	fabtests/unit/route_prov/test_pmem.c \
	fabtests/unit/route_prov/test_routers.c \
	fabtests/unit/route_prov/test_silent.c
nodist_EXTRA_fabtests_unit_unit_route_prov_SOURCES = fabtests/unit/dummy.cc
fabtests_unit_unit_route_prov_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/fabtests/unit -I$(top_srcdir)/prov/route \
	$(LIBFABRIC_CFLAGS)
fabtests_unit_unit_route_prov_LDFLAGS = $(AM_LDFLAGS) $(CT_WRAP_ALLOC) $(CT_WRAP_LOG)
fabtests_unit_unit_route_prov_LDADD = fabtests/unit/libct.la prov/route/libroute-objs.la $(LIBFABRIC_LIBS)
EXTRA_DIST += fabtests/unit/route_prov/local.mk
