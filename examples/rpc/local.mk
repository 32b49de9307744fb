# SPDX-License-Identifier: BSD-2-Clause
# rpcgen's stubs over rpcrdma.
%D%/%.o: private AM_CPPFLAGS += -I%D% $(TIRPC_CFLAGS)
%D%/%.o: private AM_CFLAGS += $(stub_warnings)
stub_libs = lib/rpc/libcairn-rpc.la $(TIRPC_LIBS) $(LIBFABRIC_LIBS)

noinst_PROGRAMS += %D%/count_client %D%/count_server
%C%_count_client_SOURCES = %D%/count_client.c
nodist_%C%_count_client_SOURCES = %D%/count.h %D%/count_clnt.c %D%/count_xdr.c %D%/watch_svc.c
%C%_count_client_LDADD = $(stub_libs)
%C%_count_server_SOURCES = %D%/count_server.c
nodist_%C%_count_server_SOURCES = %D%/count_svc.c %D%/count_xdr.c %D%/watch.h %D%/watch_clnt.c
%C%_count_server_LDADD = $(stub_libs)
rpc_stubs += $(nodist_%C%_count_client_SOURCES) %D%/count_svc.c %D%/watch.h %D%/watch_clnt.c
dist_doc_DATA += %D%/count.x %D%/watch.x %D%/count_client.c %D%/count_server.c
EXTRA_DIST += %D%/stub %D%/test-count
