# SPDX-License-Identifier: BSD-2-Clause
# Peers alone, as a convenience library: the provider, the daemon and unit tests are linked with it.
noinst_LTLIBRARIES += prov/route/peer/libpeer.la
prov_route_peer_libpeer_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/prov/route $(LIBFABRIC_CFLAGS)
prov_route_peer_libpeer_la_SOURCES = \
	prov/route/peer/arena.c \
	prov/route/peer/auth.c \
	prov/route/peer/elastic.c \
	prov/route/peer/fault.c \
	prov/route/peer/fault.h \
	prov/route/peer/grant.c \
	prov/route/peer/hello.c \
	prov/route/peer/host.c \
	prov/route/peer/hurry.c \
	prov/route/peer/inside.h \
	prov/route/peer/life.c \
	prov/route/peer/listen.c \
	prov/route/peer/net.c \
	prov/route/peer/peer.c \
	prov/route/peer/peer.h \
	prov/route/peer/port.c \
	prov/route/peer/receive.c \
	prov/route/peer/rules.c \
	prov/route/peer/send.c \
	prov/route/peer/socket.c
prov_route_peer_libpeer_la_LIBADD = prov/route/auth/libauth.la prov/route/flow/libflow.la prov/route/config/librouteconfig.la \
	prov/route/wire/libroutewire.la \
	prov/common/libcairn-common.la $(LIBFABRIC_LIBS)
EXTRA_DIST += prov/route/peer/local.mk
