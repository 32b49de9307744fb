# SPDX-License-Identifier: BSD-2-Clause
# Heads of RPC messages, for programs in rpcrdma's rpc mode; not installed.
noinst_LTLIBRARIES += util/rpcmsg/librpcmsg.la util/rpcmsg/librpcmsgxdr.la

# rpcgen's C has variables that it does not use.
rpcmsg_x = $(srcdir)/util/rpcmsg/rpcmsg.x
util/rpcmsg/rpcmsg.h: util/rpcmsg/rpcmsg.x
	$(AM_V_GEN)$(MKDIR_P) util/rpcmsg && $(RPCGEN) -h $(rpcmsg_x) >$@.new && mv $@.new $@
util/rpcmsg/rpcmsg_xdr.c: util/rpcmsg/rpcmsg.x util/rpcmsg/rpcmsg.h
	$(AM_V_GEN)$(RPCGEN) -c $(rpcmsg_x) | sed 's|#include ".*rpcmsg.h"|#include "rpcmsg.h"|' >$@.new && \
		mv $@.new $@
BUILT_SOURCES += util/rpcmsg/rpcmsg.h
CLEANFILES += util/rpcmsg/rpcmsg.h util/rpcmsg/rpcmsg_xdr.c
nodist_util_rpcmsg_librpcmsgxdr_la_SOURCES = util/rpcmsg/rpcmsg.h util/rpcmsg/rpcmsg_xdr.c
util_rpcmsg_librpcmsgxdr_la_CPPFLAGS = $(AM_CPPFLAGS) $(TIRPC_CFLAGS)
util_rpcmsg_librpcmsgxdr_la_CFLAGS = $(AM_CFLAGS) -Wno-unused-variable
util_rpcmsg_librpcmsgxdr_la_LIBADD = $(TIRPC_LIBS)

util_rpcmsg_librpcmsg_la_SOURCES = util/rpcmsg/head.c util/rpcmsg/head.h
util_rpcmsg_librpcmsg_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/util -Iutil $(LIBFABRIC_CFLAGS) $(TIRPC_CFLAGS)
util_rpcmsg_librpcmsg_la_LIBADD = util/rpcmsg/librpcmsgxdr.la

EXTRA_DIST += util/rpcmsg/local.mk util/rpcmsg/rpcmsg.x
