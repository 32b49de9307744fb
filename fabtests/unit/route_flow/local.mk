# SPDX-License-Identifier: BSD-2-Clause
# Flow control of routed connections: no device, no provider.
check_PROGRAMS += fabtests/unit/unit_route_flow
TESTS += fabtests/unit/unit_route_flow
fabtests_unit_unit_route_flow_SOURCES = \
	fabtests/unit/route_flow/test_credit.c
nodist_EXTRA_fabtests_unit_unit_route_flow_SOURCES = fabtests/unit/dummy.cc
fabtests_unit_unit_route_flow_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/fabtests/unit -I$(top_srcdir)/prov/route \
	$(LIBFABRIC_CFLAGS)
fabtests_unit_unit_route_flow_LDFLAGS = $(AM_LDFLAGS) $(CT_WRAP_ALLOC) $(CT_WRAP_LOG)
fabtests_unit_unit_route_flow_LDADD = fabtests/unit/libct.la prov/route/flow/libflow.la prov/route/wire/libroutewire.la \
	prov/common/libcairn-common.la $(LIBFABRIC_LIBS)
EXTRA_DIST += fabtests/unit/route_flow/local.mk
