# SPDX-License-Identifier: BSD-2-Clause
# What fi_ibmc makes of the subnet administrator's tables: no device.
check_PROGRAMS += fabtests/unit/unit_ibmc
TESTS += fabtests/unit/unit_ibmc
fabtests_unit_unit_ibmc_SOURCES = \
	fabtests/unit/ibmc/test_draw.c \
	fabtests/unit/ibmc/test_model.c \
	fabtests/unit/ibmc/test_rules.c \
	fabtests/unit/ibmc/world.c \
	fabtests/unit/ibmc/world.h
nodist_EXTRA_fabtests_unit_unit_ibmc_SOURCES = fabtests/unit/dummy.cc
fabtests_unit_unit_ibmc_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/fabtests/unit $(util_fi_ibmc_libibmc_la_CPPFLAGS)
fabtests_unit_unit_ibmc_LDFLAGS = $(AM_LDFLAGS) $(CT_WRAP_ALLOC) $(CT_WRAP_LOG)
fabtests_unit_unit_ibmc_LDADD = fabtests/unit/libct.la util/fi_ibmc/libibmc.la util/grid/libgrid.la \
	prov/pverbs/sa/libpverbs-sa.la prov/common/libcairn-common.la $(LIBFABRIC_LIBS) $(JANSSON_LIBS)
EXTRA_DIST += fabtests/unit/ibmc/local.mk
