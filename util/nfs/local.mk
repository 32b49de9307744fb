# SPDX-License-Identifier: BSD-2-Clause
# A client of NFSv4.1 over rpcrdma's rpc mode; not installed.
noinst_LTLIBRARIES += util/nfs/libnfs.la util/nfs/libnfs41.la

# The XDR: rpcgen's C, which has variables that it does not use.
nfs41_x = $(srcdir)/util/nfs/nfs41.x
util/nfs/nfs41.h: util/nfs/nfs41.x util/rpcmsg/rpcmsg.h
	$(AM_V_GEN)$(MKDIR_P) util/nfs && $(RPCGEN) -h $(nfs41_x) >$@.new && mv $@.new $@
util/nfs/nfs41_xdr.c: util/nfs/nfs41.x util/nfs/nfs41.h
	$(AM_V_GEN)$(RPCGEN) -c $(nfs41_x) | sed 's|#include ".*nfs41.h"|#include "nfs41.h"|' >$@.new && \
		mv $@.new $@
BUILT_SOURCES += util/nfs/nfs41.h
CLEANFILES += util/nfs/nfs41.h util/nfs/nfs41_xdr.c
nodist_util_nfs_libnfs41_la_SOURCES = util/nfs/nfs41.h util/nfs/nfs41_xdr.c
util_nfs_libnfs41_la_CPPFLAGS = $(AM_CPPFLAGS) -Iutil $(TIRPC_CFLAGS)
util_nfs_libnfs41_la_CFLAGS = $(AM_CFLAGS) -Wno-unused-variable
util_nfs_libnfs41_la_LIBADD = $(TIRPC_LIBS)

util_nfs_libnfs_la_SOURCES = \
	util/nfs/callback.c \
	util/nfs/callback.h \
	util/nfs/conn.c \
	util/nfs/conn.h \
	util/nfs/data.c \
	util/nfs/directory.c \
	util/nfs/file.h \
	util/nfs/message.c \
	util/nfs/message.h \
	util/nfs/open.c \
	util/nfs/ops.h \
	util/nfs/path.c \
	util/nfs/session.c \
	util/nfs/session.h \
	util/nfs/slot.c \
	util/nfs/status.c \
	util/nfs/status.h \
	util/nfs/turn.c
util_nfs_libnfs_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/util -I$(top_srcdir)/util/nfs -Iutil -Iutil/nfs $(LIBFABRIC_CFLAGS) \
	$(TIRPC_CFLAGS)
util_nfs_libnfs_la_LIBADD = util/nfs/libnfs41.la util/rpcmsg/librpcmsg.la util/link/liblink.la $(LIBFABRIC_LIBS)

EXTRA_DIST += util/nfs/local.mk util/nfs/nfs41.x
