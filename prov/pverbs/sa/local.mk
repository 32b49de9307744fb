# SPDX-License-Identifier: BSD-2-Clause
# Subnet administration alone, as a convenience library: no provider, no device.
noinst_LTLIBRARIES += prov/pverbs/sa/libpverbs-sa.la
prov_pverbs_sa_libpverbs_sa_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/prov/pverbs $(LIBFABRIC_CFLAGS)
prov_pverbs_sa_libpverbs_sa_la_SOURCES = \
	prov/pverbs/sa/mc_map.c \
	prov/pverbs/sa/mc_map.h \
	prov/pverbs/sa/sa.h \
	prov/pverbs/sa/sa_client.c \
	prov/pverbs/sa/sa_client.h \
	prov/pverbs/sa/sa_mad.c \
	prov/pverbs/sa/sa_mad.h \
	prov/pverbs/sa/sa_rmpp.c \
	prov/pverbs/sa/sa_rmpp.h \
	prov/pverbs/sa/sa_watch.c \
	prov/pverbs/sa/sa_watch.h
# A port to send from, over libibumad.
noinst_LTLIBRARIES += prov/pverbs/sa/libpverbs-umad.la
prov_pverbs_sa_libpverbs_umad_la_CPPFLAGS = $(prov_pverbs_sa_libpverbs_sa_la_CPPFLAGS) $(UMAD_CFLAGS)
prov_pverbs_sa_libpverbs_umad_la_LIBADD = $(UMAD_LIBS)
prov_pverbs_sa_libpverbs_umad_la_SOURCES = \
	prov/pverbs/sa/sa_umad.c \
	prov/pverbs/sa/sa_umad.h \
	prov/pverbs/sa/sa_wait.c
EXTRA_DIST += prov/pverbs/sa/local.mk
