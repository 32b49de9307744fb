# SPDX-License-Identifier: BSD-2-Clause
# What fi_ibmc makes of the subnet administrator's tables: no device.
%D%/%.o: private AM_CPPFLAGS += -I$(srcdir)/util/fi_ibmc -I$(srcdir)/prov/pverbs $(util_include)
unit_tests += fabtests/unit/unit_ibmc
fabtests_unit_unit_ibmc_SOURCES = %D%/test_draw.c %D%/test_model.c %D%/test_rules.c %D%/world.c \
	%D%/world.h
fabtests_unit_unit_ibmc_LDADD = $(ct_libs) $(ibmc_libs)
