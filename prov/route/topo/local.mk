# SPDX-License-Identifier: BSD-2-Clause
# The graph alone, as a convenience library: the provider, the daemon, fi_routectl and unit tests are linked with it.
noinst_LTLIBRARIES += prov/route/topo/libtopo.la
prov_route_topo_libtopo_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/prov/route/topo $(LIBFABRIC_CFLAGS)
prov_route_topo_libtopo_la_SOURCES = \
	prov/route/topo/graph.c \
	prov/route/topo/graph.h \
	prov/route/topo/label.c \
	prov/route/topo/label.h \
	prov/route/topo/lsa.c \
	prov/route/topo/lsdb.c \
	prov/route/topo/map.c \
	prov/route/topo/map.h \
	prov/route/topo/metric.c \
	prov/route/topo/missing.c \
	prov/route/topo/paths.c \
	prov/route/topo/redirect.c \
	prov/route/topo/search.c \
	prov/route/topo/search.h \
	prov/route/topo/spf.c \
	prov/route/topo/topo.h
EXTRA_DIST += prov/route/rooms prov/route/topo/local.mk
