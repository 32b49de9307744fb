# SPDX-License-Identifier: BSD-2-Clause
# The codec alone, as a convenience library: the provider, the daemon, unit tests and fuzz targets are linked with it.
# Needs prov/common/libcairn-common.la as well.
noinst_LTLIBRARIES += prov/route/wire/libroutewire.la
prov_route_wire_libroutewire_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/prov/route $(LIBFABRIC_CFLAGS)
prov_route_wire_libroutewire_la_SOURCES = \
	prov/route/wire/bad.c \
	prov/route/wire/conn.c \
	prov/route/wire/data.c \
	prov/route/wire/digest.c \
	prov/route/wire/fields.h \
	prov/route/wire/flow.c \
	prov/route/wire/hello.c \
	prov/route/wire/join.c \
	prov/route/wire/layout.h \
	prov/route/wire/links.c \
	prov/route/wire/links.h \
	prov/route/wire/lsa.c \
	prov/route/wire/messages.h \
	prov/route/wire/mr.c \
	prov/route/wire/packet.c \
	prov/route/wire/preamble.c \
	prov/route/wire/tlv.c \
	prov/route/wire/wire.h
EXTRA_DIST += prov/route/wire/local.mk
