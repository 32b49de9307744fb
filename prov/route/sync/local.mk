# SPDX-License-Identifier: BSD-2-Clause
# The exchange of link states, as a convenience library: the daemon and unit tests are linked with it.
noinst_LTLIBRARIES += prov/route/sync/libsync.la
prov_route_sync_libsync_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/prov/route $(LIBFABRIC_CFLAGS)
prov_route_sync_libsync_la_SOURCES = \
	prov/route/sync/adjacency.c \
	prov/route/sync/flood.c \
	prov/route/sync/own.c \
	prov/route/sync/reach.c \
	prov/route/sync/request.c \
	prov/route/sync/state.h \
	prov/route/sync/sync.c \
	prov/route/sync/sync.h
prov_route_sync_libsync_la_LIBADD = prov/route/topo/libtopo.la
EXTRA_DIST += prov/route/sync/local.mk
