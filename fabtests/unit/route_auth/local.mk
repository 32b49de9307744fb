# SPDX-License-Identifier: BSD-2-Clause
# Proofs of a shared key: no device, no provider.
check_PROGRAMS += fabtests/unit/unit_route_auth
TESTS += fabtests/unit/unit_route_auth
fabtests_unit_unit_route_auth_SOURCES = \
	fabtests/unit/route_auth/test_proof.c \
	fabtests/unit/route_auth/test_ring.c
nodist_EXTRA_fabtests_unit_unit_route_auth_SOURCES = fabtests/unit/dummy.cc
fabtests_unit_unit_route_auth_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/fabtests/unit -I$(top_srcdir)/prov/route \
	$(LIBFABRIC_CFLAGS)
fabtests_unit_unit_route_auth_LDFLAGS = $(AM_LDFLAGS) $(CT_WRAP_ALLOC) $(CT_WRAP_LOG)
fabtests_unit_unit_route_auth_LDADD = fabtests/unit/libct.la prov/route/auth/libauth.la \
	prov/route/config/librouteconfig.la prov/route/topo/libtopo.la prov/common/libcairn-common.la $(LIBFABRIC_LIBS)
EXTRA_DIST += fabtests/unit/route_auth/local.mk
