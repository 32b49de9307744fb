# SPDX-License-Identifier: BSD-2-Clause
# An IPoIB link (prov/pverbs/link): no device, no provider.
check_PROGRAMS += fabtests/unit/unit_pverbs_link
TESTS += fabtests/unit/unit_pverbs_link
fabtests_unit_unit_pverbs_link_SOURCES = \
	fabtests/unit/pverbs_link/test_link.c
nodist_EXTRA_fabtests_unit_unit_pverbs_link_SOURCES = fabtests/unit/dummy.cc
fabtests_unit_unit_pverbs_link_CPPFLAGS = $(fabtests_unit_unit_pverbs_sa_CPPFLAGS)
fabtests_unit_unit_pverbs_link_LDFLAGS = $(AM_LDFLAGS) $(CT_WRAP_ALLOC) $(CT_WRAP_LOG)
fabtests_unit_unit_pverbs_link_LDADD = fabtests/unit/libct.la prov/pverbs/link/libpverbs-link.la \
	prov/pverbs/sa/libpverbs-sa.la prov/common/libcairn-common.la $(LIBFABRIC_LIBS)
EXTRA_DIST += fabtests/unit/pverbs_link/local.mk
