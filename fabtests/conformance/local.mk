# SPDX-License-Identifier: BSD-2-Clause
# The conformance tables of RPC-over-RDMA, one test a row. As GoogleTest, yet not of "make check": it needs the providers, and
# a device for those over verbs (fabtests/interop/with-build, simverbs).
check_PROGRAMS += fabtests/conformance/fi_cairn_rpc
fabtests_conformance_fi_cairn_rpc_SOURCES = \
	fabtests/conformance/end.c \
	fabtests/conformance/end.h \
	fabtests/conformance/end_message.c \
	fabtests/conformance/lower.c \
	fabtests/conformance/lower.h \
	fabtests/conformance/pump.c \
	fabtests/conformance/pump.h \
	fabtests/conformance/raw.c \
	fabtests/conformance/raw.h \
	fabtests/conformance/raw_buffers.h \
	fabtests/conformance/raw_memory.c \
	fabtests/conformance/row.c \
	fabtests/conformance/row.h \
	fabtests/conformance/row_chunk.c \
	fabtests/conformance/row_chunk.h \
	fabtests/conformance/row_layer.c \
	fabtests/conformance/row_raw.c \
	fabtests/conformance/rows_chunk.c \
	fabtests/conformance/rows_credit.c \
	fabtests/conformance/rows_direction.c \
	fabtests/conformance/rows_error.c \
	fabtests/conformance/rows_form.c \
	fabtests/conformance/rows_long.c \
	fabtests/conformance/rows_memory.c \
	fabtests/conformance/rows_private.c \
	fabtests/conformance/rows_read.c \
	fabtests/conformance/rows_receive.c \
	fabtests/conformance/rows_write.c \
	fabtests/conformance/say.c \
	fabtests/conformance/say.h \
	fabtests/conformance/test_raw.c
nodist_EXTRA_fabtests_conformance_fi_cairn_rpc_SOURCES = fabtests/unit/dummy.cc
fabtests_conformance_fi_cairn_rpc_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/fabtests/unit -I$(top_srcdir) \
	$(LIBFABRIC_CFLAGS)
fabtests_conformance_fi_cairn_rpc_LDFLAGS = $(AM_LDFLAGS) $(CT_WRAP_ALLOC) $(CT_WRAP_LOG)
fabtests_conformance_fi_cairn_rpc_LDADD = fabtests/unit/libct.la prov/rpcrdma/libwire.la \
	prov/common/libcairn-common.la $(LIBFABRIC_LIBS)
EXTRA_DIST += fabtests/conformance/local.mk fabtests/conformance/rows
