# SPDX-License-Identifier: BSD-2-Clause
# The provider, as objects of a convenience library so that unit tests reach them.
noinst_LTLIBRARIES += prov/rpcrdma/librpcrdma-objs.la
prov_rpcrdma_librpcrdma_objs_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/prov/rpcrdma $(LIBFABRIC_CFLAGS)
prov_rpcrdma_librpcrdma_objs_la_LIBADD = prov/rpcrdma/libwire.la prov/common/libcairn-common.la $(LIBFABRIC_LIBS)
prov_rpcrdma_librpcrdma_objs_la_SOURCES = \
	prov/rpcrdma/call/call.h \
	prov/rpcrdma/call/calls.c \
	prov/rpcrdma/call/deliver.c \
	prov/rpcrdma/call/down.c \
	prov/rpcrdma/call/inbound.c \
	prov/rpcrdma/call/layout.c \
	prov/rpcrdma/call/mem.c \
	prov/rpcrdma/call/poison.c \
	prov/rpcrdma/call/post.c \
	prov/rpcrdma/call/progress.c \
	prov/rpcrdma/call/rx.c \
	prov/rpcrdma/call/serve.c \
	prov/rpcrdma/cm/cm.h \
	prov/rpcrdma/cm/connect.c \
	prov/rpcrdma/cm/event.c \
	prov/rpcrdma/cm/private.c \
	prov/rpcrdma/cm/request.c \
	prov/rpcrdma/cq.c \
	prov/rpcrdma/domain.c \
	prov/rpcrdma/ep/conn.c \
	prov/rpcrdma/ep/dump.c \
	prov/rpcrdma/ep/ep.c \
	prov/rpcrdma/ep/ep.h \
	prov/rpcrdma/ep/opt.c \
	prov/rpcrdma/ep/stats.c \
	prov/rpcrdma/fabric.c \
	prov/rpcrdma/info.c \
	prov/rpcrdma/init.c \
	prov/rpcrdma/objects.h \
	prov/rpcrdma/pep.c \
	prov/rpcrdma/recv.c \
	prov/rpcrdma/recv.h \
	prov/rpcrdma/rpc/call.c \
	prov/rpcrdma/rpc/msg.c \
	prov/rpcrdma/rpc/prepare.c \
	prov/rpcrdma/rpc/reply.c \
	prov/rpcrdma/rpc/rpc.h \
	prov/rpcrdma/rpcrdma.h \
	prov/rpcrdma/tick.c \
	prov/rpcrdma/wrap/format.c \
	prov/rpcrdma/wrap/reply.c \
	prov/rpcrdma/wrap/rma.c \
	prov/rpcrdma/wrap/send.c \
	prov/rpcrdma/wrap/wrap.h

provider_LTLIBRARIES += prov/rpcrdma/librpcrdma-fi.la
prov_rpcrdma_librpcrdma_fi_la_SOURCES =
prov_rpcrdma_librpcrdma_fi_la_LIBADD = prov/rpcrdma/librpcrdma-objs.la
prov_rpcrdma_librpcrdma_fi_la_LDFLAGS = \
	$(AM_LDFLAGS) -module -avoid-version -shared -export-symbols-regex '^fi_prov_ini$$' \
	-Wl,-z,nodelete
EXTRA_DIST += prov/rpcrdma/local.mk prov/rpcrdma/rooms
