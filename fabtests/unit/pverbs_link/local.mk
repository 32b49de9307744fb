# SPDX-License-Identifier: BSD-2-Clause
# An IPoIB link (prov/pverbs/link): no device, no provider.
%D%/%.o: private AM_CPPFLAGS += -I$(srcdir)/prov/pverbs
unit_tests += fabtests/unit/unit_pverbs_link
fabtests_unit_unit_pverbs_link_SOURCES = %D%/test_link.c
fabtests_unit_unit_pverbs_link_LDADD = $(ct_libs) $(pverbs_sa_libs)
