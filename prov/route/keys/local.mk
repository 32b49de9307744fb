# SPDX-License-Identifier: BSD-2-Clause
# Keys of a peer's regions, as a convenience library: an end and a router are linked with it, and unit tests, which have a
# peer of their own.
noinst_LTLIBRARIES += prov/route/keys/libroutekeys.la
prov_route_keys_libroutekeys_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/prov/route $(LIBFABRIC_CFLAGS)
prov_route_keys_libroutekeys_la_SOURCES = \
	prov/route/keys/keys.c \
	prov/route/keys/keys.h
EXTRA_DIST += prov/route/keys/local.mk
