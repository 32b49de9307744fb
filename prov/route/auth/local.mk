# SPDX-License-Identifier: BSD-2-Clause
# Proofs of a shared key alone, as a convenience library: peers are linked with it, the daemon, and unit tests.
noinst_LTLIBRARIES += prov/route/auth/libauth.la
prov_route_auth_libauth_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/prov/route $(LIBFABRIC_CFLAGS) $(CRYPTO_CFLAGS)
prov_route_auth_libauth_la_SOURCES = \
	prov/route/auth/auth.h \
	prov/route/auth/heard.c \
	prov/route/auth/proof.c \
	prov/route/auth/ring.c
prov_route_auth_libauth_la_LIBADD = $(CRYPTO_LIBS)
EXTRA_DIST += prov/route/auth/local.mk
