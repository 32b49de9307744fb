# SPDX-License-Identifier: BSD-2-Clause
# The router daemon: its decisions, and what it exchanges with others, over peers that are made up.
check_PROGRAMS += fabtests/unit/unit_router
TESTS += fabtests/unit/unit_router
fabtests_unit_unit_router_SOURCES = \
	fabtests/unit/route_config/conf.c \
	fabtests/unit/route_config/conf.h \
	fabtests/unit/router/fake_peer.c \
	fabtests/unit/router/fake_peer.h \
	fabtests/unit/router/one.c \
	fabtests/unit/router/one.h \
	fabtests/unit/router/test_adjacency.c \
	fabtests/unit/router/test_ask.c \
	fabtests/unit/router/test_control.c \
	fabtests/unit/router/test_convert.c \
	fabtests/unit/router/test_device.c \
	fabtests/unit/router/test_documents.c \
	fabtests/unit/router/test_drain.c \
	fabtests/unit/router/test_fault.c \
	fabtests/unit/router/test_figures.c \
	fabtests/unit/router/test_log.c \
	fabtests/unit/router/test_own.c \
	fabtests/unit/router/test_ready.c \
	fabtests/unit/router/test_refusal.c \
	fabtests/unit/router/test_reload.c \
	fabtests/unit/router/test_request.c \
	fabtests/unit/router/test_turn.c \
	fabtests/unit/router/test_worker.c \
	fabtests/unit/router/world.c \
	fabtests/unit/router/world.h \
	prov/route/peer/rules.c \
	util/fi_routectl/between.c \
	util/fi_routectl/fail.c \
	util/fi_routectl/pair.c \
	util/fi_routectl/sim.c
nodist_EXTRA_fabtests_unit_unit_router_SOURCES = fabtests/unit/dummy.cc
fabtests_unit_unit_router_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/fabtests/unit -I$(top_srcdir)/prov/route \
	-I$(top_srcdir)/util/fi_router $(LIBFABRIC_CFLAGS) $(JANSSON_CFLAGS)
fabtests_unit_unit_router_LDFLAGS = $(AM_LDFLAGS) $(CT_WRAP_ALLOC) $(CT_WRAP_LOG) $(CT_WRAP_TIME)
fabtests_unit_unit_router_LDADD = fabtests/unit/libct.la util/fi_router/libfirouter.la $(LIBFABRIC_LIBS) $(JANSSON_LIBS)
EXTRA_DIST += fabtests/unit/router/local.mk
