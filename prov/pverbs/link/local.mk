# SPDX-License-Identifier: BSD-2-Clause
# An IPoIB link over subnet administration, as a convenience library: no provider, no device.
noinst_LTLIBRARIES += prov/pverbs/link/libpverbs-link.la
prov_pverbs_link_libpverbs_link_la_CPPFLAGS = $(prov_pverbs_sa_libpverbs_sa_la_CPPFLAGS)
prov_pverbs_link_libpverbs_link_la_SOURCES = \
	prov/pverbs/link/link.c \
	prov/pverbs/link/link.h
EXTRA_DIST += prov/pverbs/link/local.mk
