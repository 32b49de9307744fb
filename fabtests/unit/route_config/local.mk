# SPDX-License-Identifier: BSD-2-Clause
# Configurations of routers and clients.
check_PROGRAMS += fabtests/unit/unit_route_config
TESTS += fabtests/unit/unit_route_config
fabtests_unit_unit_route_config_SOURCES = \
	fabtests/unit/route_config/conf.c \
	fabtests/unit/route_config/conf.h \
	fabtests/unit/route_config/random.c \
	fabtests/unit/route_config/random.h \
	fabtests/unit/route_config/test_alloc.c \
	fabtests/unit/route_config/test_bad.c \
	fabtests/unit/route_config/test_examples.c \
	fabtests/unit/route_config/test_keyfile.c \
	fabtests/unit/route_config/test_man.c \
	fabtests/unit/route_config/test_query.c \
	fabtests/unit/route_config/test_read.c \
	fabtests/unit/route_config/test_set.c \
	fabtests/unit/route_config/test_uri.c \
	fabtests/unit/route_config/test_value.c \
	fabtests/unit/route_config/test_write.c
nodist_EXTRA_fabtests_unit_unit_route_config_SOURCES = fabtests/unit/dummy.cc
fabtests_unit_unit_route_config_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/fabtests/unit -I$(top_srcdir)/prov/route \
	$(LIBFABRIC_CFLAGS)
fabtests_unit_unit_route_config_LDFLAGS = $(AM_LDFLAGS) $(CT_WRAP_ALLOC) $(CT_WRAP_LOG)
fabtests_unit_unit_route_config_LDADD = fabtests/unit/libct.la prov/route/config/librouteconfig.la \
	prov/route/topo/libtopo.la $(LIBFABRIC_LIBS)
EXTRA_DIST += fabtests/unit/route_config/bad fabtests/unit/route_config/local.mk
