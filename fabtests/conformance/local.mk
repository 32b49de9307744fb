# SPDX-License-Identifier: BSD-2-Clause
# The conformance tables of RPC-over-RDMA, one test a row. As GoogleTest, yet not of "make check":
# it needs the providers, and a device for those over verbs (fabtests/interop/with-build, simverbs).
%D%/%.o: private AM_CPPFLAGS += -I$(srcdir)/fabtests/unit
check_PROGRAMS += %D%/fi_cairn_rpc
%C%_fi_cairn_rpc_SOURCES = %D%/end.c %D%/end.h %D%/end_message.c %D%/lower.c %D%/lower.h \
	%D%/pump.c %D%/pump.h %D%/raw.c %D%/raw.h %D%/raw_buffers.h %D%/raw_memory.c %D%/row.c \
	%D%/row.h %D%/row_chunk.c %D%/row_chunk.h %D%/row_layer.c %D%/row_raw.c %D%/rows_chunk.c \
	%D%/rows_credit.c %D%/rows_direction.c %D%/rows_error.c %D%/rows_form.c %D%/rows_long.c \
	%D%/rows_memory.c %D%/rows_private.c %D%/rows_read.c %D%/rows_receive.c %D%/rows_write.c \
	%D%/say.c %D%/say.h %D%/test_raw.c
%C%_fi_cairn_rpc_LDFLAGS = $(AM_LDFLAGS) $(ct_ldflags)
%C%_fi_cairn_rpc_LDADD = $(ct_libs) $(rpcrdma_libs)
EXTRA_DIST += %D%/rows
