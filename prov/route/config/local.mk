# SPDX-License-Identifier: BSD-2-Clause
# The configuration alone, as a convenience library: the provider, the daemon, fi_routectl and unit tests are linked with it
# and with libtopo.la.
noinst_LTLIBRARIES += prov/route/config/librouteconfig.la
prov_route_config_librouteconfig_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/prov/route $(LIBFABRIC_CFLAGS) $(INIH_CFLAGS)
prov_route_config_librouteconfig_la_SOURCES = \
	prov/route/config/config.c \
	prov/route/config/config.h \
	prov/route/config/errors.c \
	prov/route/config/errors.h \
	prov/route/config/items.c \
	prov/route/config/join.c \
	prov/route/config/keyfile.c \
	prov/route/config/keys.c \
	prov/route/config/keys.h \
	prov/route/config/listen.c \
	prov/route/config/nearest.c \
	prov/route/config/read.c \
	prov/route/config/read.h \
	prov/route/config/rules.c \
	prov/route/config/set.c \
	prov/route/config/set.h \
	prov/route/config/types.c \
	prov/route/config/uri.c \
	prov/route/config/uri.h \
	prov/route/config/value.c \
	prov/route/config/value.h
prov_route_config_librouteconfig_la_LIBADD = $(INIH_LIBS)
EXTRA_DIST += prov/route/config/local.mk
