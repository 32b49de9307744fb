# SPDX-License-Identifier: BSD-2-Clause
# The codec alone, as a convenience library: the provider, its unit tests and a fuzz target are linked with it.
# Needs prov/common/libcairn-common.la as well.
noinst_LTLIBRARIES += prov/rpcrdma/libwire.la
prov_rpcrdma_libwire_la_CPPFLAGS = $(AM_CPPFLAGS) $(LIBFABRIC_CFLAGS)
prov_rpcrdma_libwire_la_SOURCES = \
	prov/rpcrdma/wire/message.c \
	prov/rpcrdma/wire/pack.c \
	prov/rpcrdma/wire/parse.c \
	prov/rpcrdma/wire/private.c \
	prov/rpcrdma/wire/short.c \
	prov/rpcrdma/wire/wire.h
EXTRA_DIST += prov/rpcrdma/wire/local.mk
