# SPDX-License-Identifier: BSD-2-Clause
# Subnet administration (prov/pverbs/sa): no device, no provider.
check_PROGRAMS += fabtests/unit/unit_pverbs_sa
TESTS += fabtests/unit/unit_pverbs_sa
fabtests_unit_unit_pverbs_sa_SOURCES = \
	fabtests/unit/pverbs_sa/fake_umad.c \
	fabtests/unit/pverbs_sa/fake_umad.h \
	fabtests/unit/pverbs_sa/test_mc_map.c \
	fabtests/unit/pverbs_sa/test_sa_client.c \
	fabtests/unit/pverbs_sa/test_sa_mad.c \
	fabtests/unit/pverbs_sa/test_sa_umad.c \
	fabtests/unit/pverbs_sa/test_sa_watch.c
nodist_EXTRA_fabtests_unit_unit_pverbs_sa_SOURCES = fabtests/unit/dummy.cc
fabtests_unit_unit_pverbs_sa_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/fabtests/unit -I$(top_srcdir)/prov/pverbs \
	$(LIBFABRIC_CFLAGS) $(UMAD_CFLAGS)
fabtests_unit_unit_pverbs_sa_LDFLAGS = $(AM_LDFLAGS) $(CT_WRAP_ALLOC) $(CT_WRAP_LOG)
fabtests_unit_unit_pverbs_sa_LDADD = fabtests/unit/libct.la prov/pverbs/sa/libpverbs-umad.la prov/pverbs/sa/libpverbs-sa.la \
	prov/common/libcairn-common.la $(LIBFABRIC_LIBS)
EXTRA_DIST += fabtests/unit/pverbs_sa/local.mk
