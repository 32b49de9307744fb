# SPDX-License-Identifier: BSD-2-Clause
# The data path of a connection, as a convenience library: the provider is linked with it, unit tests and a fuzz target,
# the latter with a peer of their own. Needs prov/route/wire/libroutewire.la and prov/common/libcairn-common.la as well.
noinst_LTLIBRARIES += prov/route/xfer/libroutexfer.la
prov_route_xfer_libroutexfer_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/prov/route $(LIBFABRIC_CFLAGS)
prov_route_xfer_libroutexfer_la_SOURCES = \
	prov/route/xfer/ack.c \
	prov/route/xfer/arrive.c \
	prov/route/xfer/direct.c \
	prov/route/xfer/direct.h \
	prov/route/xfer/iov.c \
	prov/route/xfer/lend.c \
	prov/route/xfer/op.h \
	prov/route/xfer/ops.h \
	prov/route/xfer/place.c \
	prov/route/xfer/post.c \
	prov/route/xfer/quick.c \
	prov/route/xfer/read.c \
	prov/route/xfer/recv.c \
	prov/route/xfer/send.c \
	prov/route/xfer/serve.c \
	prov/route/xfer/tx.c \
	prov/route/xfer/vc.c \
	prov/route/xfer/vc.h \
	prov/route/xfer/xfer.h
prov_route_xfer_libroutexfer_la_LIBADD = prov/route/keys/libroutekeys.la
EXTRA_DIST += prov/route/xfer/local.mk
