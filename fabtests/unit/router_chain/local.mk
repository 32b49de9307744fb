# SPDX-License-Identifier: BSD-2-Clause
# Connections through real routers in a row, over libfabric's tcp.
check_PROGRAMS += fabtests/unit/unit_router_chain
TESTS += fabtests/unit/unit_router_chain
fabtests_unit_unit_router_chain_SOURCES = \
	fabtests/unit/router_chain/chain.c \
	fabtests/unit/router_chain/chain.h \
	fabtests/unit/router_chain/chain_end.c \
	fabtests/unit/router_chain/test_chain.c
nodist_EXTRA_fabtests_unit_unit_router_chain_SOURCES = fabtests/unit/dummy.cc
fabtests_unit_unit_router_chain_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/fabtests/unit \
	-I$(top_srcdir)/prov/route -I$(top_srcdir)/util/fi_router $(LIBFABRIC_CFLAGS)
fabtests_unit_unit_router_chain_LDFLAGS = $(AM_LDFLAGS) $(CT_WRAP_ALLOC) $(CT_WRAP_LOG)
fabtests_unit_unit_router_chain_LDADD = fabtests/unit/libct.la util/fi_router/libfirouter.la \
	prov/route/peer/libpeer.la prov/route/config/librouteconfig.la prov/route/wire/libroutewire.la \
	prov/route/topo/libtopo.la prov/common/libcairn-common.la $(LIBFABRIC_LIBS)
EXTRA_DIST += fabtests/unit/router_chain/local.mk
