# SPDX-License-Identifier: BSD-2-Clause
# libcairn-rpc: libtirpc's CLIENT and SVCXPRT over rpcrdma.
%D%/%.lo: private AM_CPPFLAGS += $(TIRPC_CFLAGS)
lib_LTLIBRARIES += %D%/libcairn-rpc.la
%C%_libcairn_rpc_la_LIBADD = $(LIBFABRIC_LIBS) $(TIRPC_LIBS) -lpthread
%C%_libcairn_rpc_la_LDFLAGS = $(AM_LDFLAGS) -version-info 0:0:0 -no-undefined
%C%_libcairn_rpc_la_SOURCES = %D%/call.c %D%/clnt.c %D%/clnt.h %D%/clnt_control.c %D%/conn.c \
	%D%/conn.h %D%/connect.c %D%/encode.c %D%/fabric.c %D%/listen.c %D%/progress.c %D%/recv.c \
	%D%/reply.c %D%/svc.c %D%/svc.h %D%/svc_listen.c %D%/svc_ops.c %D%/svc_reject.c %D%/wait.c
rdmainclude_HEADERS += include/rdma/fi_cairn_rpc.h
pkgconfig_DATA += %D%/cairn-rpc.pc
