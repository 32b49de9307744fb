# SPDX-License-Identifier: BSD-2-Clause
# Subnet administration (prov/pverbs/sa): no device, no provider.
%D%/%.o: private AM_CPPFLAGS += -I$(srcdir)/prov/pverbs
unit_tests += fabtests/unit/unit_pverbs_sa
fabtests_unit_unit_pverbs_sa_SOURCES = %D%/fake_umad.c %D%/fake_umad.h %D%/test_mc_map.c \
	%D%/test_sa_client.c %D%/test_sa_mad.c %D%/test_sa_umad.c %D%/test_sa_watch.c
fabtests_unit_unit_pverbs_sa_LDADD = $(ct_libs) $(pverbs_umad_libs)
