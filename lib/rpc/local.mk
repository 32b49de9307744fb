# SPDX-License-Identifier: BSD-2-Clause
# libcairn-rpc: libtirpc's CLIENT and SVCXPRT over rpcrdma.
lib_LTLIBRARIES += lib/rpc/libcairn-rpc.la
lib_rpc_libcairn_rpc_la_CPPFLAGS = $(AM_CPPFLAGS) $(LIBFABRIC_CFLAGS) $(TIRPC_CFLAGS)
lib_rpc_libcairn_rpc_la_LIBADD = $(LIBFABRIC_LIBS) $(TIRPC_LIBS) -lpthread
lib_rpc_libcairn_rpc_la_LDFLAGS = $(AM_LDFLAGS) -version-info 0:0:0 -no-undefined
lib_rpc_libcairn_rpc_la_SOURCES = \
	lib/rpc/call.c \
	lib/rpc/clnt.c \
	lib/rpc/clnt.h \
	lib/rpc/clnt_control.c \
	lib/rpc/conn.c \
	lib/rpc/conn.h \
	lib/rpc/connect.c \
	lib/rpc/encode.c \
	lib/rpc/fabric.c \
	lib/rpc/listen.c \
	lib/rpc/progress.c \
	lib/rpc/recv.c \
	lib/rpc/reply.c \
	lib/rpc/svc.c \
	lib/rpc/svc.h \
	lib/rpc/svc_listen.c \
	lib/rpc/svc_ops.c \
	lib/rpc/svc_reject.c \
	lib/rpc/wait.c
rdmainclude_HEADERS += include/rdma/fi_cairn_rpc.h
pkgconfig_DATA += lib/rpc/cairn-rpc.pc
EXTRA_DIST += lib/rpc/local.mk lib/rpc/cairn-rpc.pc.in
