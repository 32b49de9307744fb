# SPDX-License-Identifier: BSD-2-Clause
# Routes: no device, no provider.
%D%/%.o: private AM_CPPFLAGS += -I$(srcdir)/prov/route/topo
unit_tests += fabtests/unit/unit_route
fabtests_unit_unit_route_SOURCES = %D%/brute.c %D%/brute.h %D%/test_change.c %D%/test_figures.c \
	%D%/test_graph.c %D%/test_lsa.c %D%/test_lsdb.c %D%/test_map.c %D%/test_metric.c \
	%D%/test_random.c %D%/test_redirect.c %D%/test_static.c %D%/world.c %D%/world.h
fabtests_unit_unit_route_LDADD = $(ct_libs) $(route_config_libs)
