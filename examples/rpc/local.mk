# SPDX-License-Identifier: BSD-2-Clause
# rpcgen's stubs over rpcrdma. The code that rpcgen makes has warnings.
STUB_CFLAGS = $(AM_CFLAGS) -Wno-unused-variable -Wno-cast-function-type -Wno-missing-prototypes -Wno-strict-prototypes
STUB_CPPFLAGS = $(AM_CPPFLAGS) -I$(builddir)/examples/rpc $(LIBFABRIC_CFLAGS) $(TIRPC_CFLAGS)
STUB_LIBS = lib/rpc/libcairn-rpc.la $(TIRPC_LIBS) $(LIBFABRIC_LIBS)

STUB = $(AM_V_GEN)$(srcdir)/examples/rpc/stub $(RPCGEN)

noinst_LTLIBRARIES += examples/rpc/libcount.la examples/rpc/libwatch.la
examples_rpc_libcount_la_SOURCES =
examples_rpc_libcount_la_CPPFLAGS = $(STUB_CPPFLAGS)
examples_rpc_libcount_la_CFLAGS = $(STUB_CFLAGS)
nodist_examples_rpc_libcount_la_SOURCES = examples/rpc/count.h examples/rpc/count_xdr.c examples/rpc/count_clnt.c
examples_rpc_libwatch_la_SOURCES =
examples_rpc_libwatch_la_CPPFLAGS = $(STUB_CPPFLAGS)
examples_rpc_libwatch_la_CFLAGS = $(STUB_CFLAGS)
nodist_examples_rpc_libwatch_la_SOURCES = examples/rpc/watch.h examples/rpc/watch_clnt.c

noinst_PROGRAMS += examples/rpc/count_client examples/rpc/count_server
examples_rpc_count_client_SOURCES = examples/rpc/count_client.c
nodist_examples_rpc_count_client_SOURCES = examples/rpc/watch_svc.c
examples_rpc_count_client_CPPFLAGS = $(STUB_CPPFLAGS)
examples_rpc_count_client_CFLAGS = $(STUB_CFLAGS)
examples_rpc_count_client_LDADD = examples/rpc/libcount.la $(STUB_LIBS)
examples_rpc_count_server_SOURCES = examples/rpc/count_server.c
nodist_examples_rpc_count_server_SOURCES = examples/rpc/count_svc.c
examples_rpc_count_server_CPPFLAGS = $(STUB_CPPFLAGS)
examples_rpc_count_server_CFLAGS = $(STUB_CFLAGS)
examples_rpc_count_server_LDADD = examples/rpc/libcount.la examples/rpc/libwatch.la $(STUB_LIBS)

examples/rpc/count.h: examples/rpc/count.x
	$(STUB) -h $< $@
examples/rpc/count_xdr.c: examples/rpc/count.x examples/rpc/count.h
	$(STUB) -c $< $@
examples/rpc/count_clnt.c: examples/rpc/count.x examples/rpc/count.h
	$(STUB) -l $< $@
examples/rpc/count_svc.c: examples/rpc/count.x examples/rpc/count.h
	$(STUB) -m $< $@
examples/rpc/watch.h: examples/rpc/watch.x
	$(STUB) -h $< $@
examples/rpc/watch_clnt.c: examples/rpc/watch.x examples/rpc/watch.h
	$(STUB) -l $< $@
examples/rpc/watch_svc.c: examples/rpc/watch.x examples/rpc/watch.h
	$(STUB) -m $< $@

STUBS = examples/rpc/count.h examples/rpc/count_xdr.c examples/rpc/count_clnt.c examples/rpc/count_svc.c \
	examples/rpc/watch.h examples/rpc/watch_clnt.c examples/rpc/watch_svc.c
BUILT_SOURCES += examples/rpc/count.h examples/rpc/watch.h
CLEANFILES += $(STUBS)
dist_doc_DATA += examples/rpc/count.x examples/rpc/watch.x examples/rpc/count_client.c examples/rpc/count_server.c
EXTRA_DIST += examples/rpc/local.mk examples/rpc/stub examples/rpc/test-count
