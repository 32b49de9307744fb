# SPDX-License-Identifier: BSD-2-Clause
# fi_rpcping: Calls per second and latency over rpcrdma.
noinst_LTLIBRARIES += util/fi_rpcping/libping.la
util_fi_rpcping_libping_la_SOURCES = util/fi_rpcping/histogram.c util/fi_rpcping/histogram.h

# rpcgen's C has variables that it does not use.
noinst_LTLIBRARIES += util/fi_rpcping/libpingxdr.la
ping_x = $(srcdir)/util/fi_rpcping/ping.x
util/fi_rpcping/ping.h: util/fi_rpcping/ping.x
	$(AM_V_GEN)$(MKDIR_P) util/fi_rpcping && $(RPCGEN) -h $(ping_x) >$@.new && mv $@.new $@
util/fi_rpcping/ping_xdr.c: util/fi_rpcping/ping.x util/fi_rpcping/ping.h
	$(AM_V_GEN)$(RPCGEN) -c $(ping_x) | sed 's|#include ".*ping.h"|#include "ping.h"|' >$@.new && mv $@.new $@
BUILT_SOURCES += util/fi_rpcping/ping.h
CLEANFILES += util/fi_rpcping/ping.h util/fi_rpcping/ping_xdr.c
nodist_util_fi_rpcping_libpingxdr_la_SOURCES = util/fi_rpcping/ping.h util/fi_rpcping/ping_xdr.c
util_fi_rpcping_libpingxdr_la_CPPFLAGS = $(AM_CPPFLAGS) $(TIRPC_CFLAGS)
util_fi_rpcping_libpingxdr_la_CFLAGS = $(AM_CFLAGS) -Wno-unused-variable
util_fi_rpcping_libpingxdr_la_LIBADD = $(TIRPC_LIBS)

bin_PROGRAMS += util/fi_rpcping/fi_rpcping
util_fi_rpcping_fi_rpcping_SOURCES = \
	util/fi_rpcping/answer.c \
	util/fi_rpcping/call.c \
	util/fi_rpcping/client.c \
	util/fi_rpcping/end.c \
	util/fi_rpcping/end.h \
	util/fi_rpcping/fi_rpcping.c \
	util/fi_rpcping/options.c \
	util/fi_rpcping/options.h \
	util/fi_rpcping/report.c \
	util/fi_rpcping/report.h \
	util/fi_rpcping/run.h \
	util/fi_rpcping/server.c \
	util/fi_rpcping/turn.c
util_fi_rpcping_fi_rpcping_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/util -Iutil $(LIBFABRIC_CFLAGS) \
	$(TIRPC_CFLAGS) $(JANSSON_CFLAGS)
util_fi_rpcping_fi_rpcping_LDADD = util/fi_rpcping/libping.la util/fi_rpcping/libpingxdr.la \
	util/rpcmsg/librpcmsg.la util/link/liblink.la $(LIBFABRIC_LIBS) $(JANSSON_LIBS)

EXTRA_DIST += util/fi_rpcping/local.mk util/fi_rpcping/ping.x util/fi_rpcping/test-fi_rpcping
