# SPDX-License-Identifier: BSD-2-Clause
# The provider, as objects of a convenience library so that unit tests reach them.
%D%/%.o %D%/%.lo: private AM_CPPFLAGS += -I$(srcdir)/%D%
noinst_LIBRARIES += %D%/librpcrdma-objs.a
%C%_librpcrdma_objs_a_SOURCES = %D%/call/call.h %D%/call/calls.c %D%/call/deliver.c \
	%D%/call/down.c %D%/call/inbound.c %D%/call/layout.c %D%/call/mem.c %D%/call/poison.c \
	%D%/call/post.c %D%/call/progress.c %D%/call/rx.c %D%/call/serve.c %D%/cm/cm.h \
	%D%/cm/connect.c %D%/cm/event.c %D%/cm/private.c %D%/cm/request.c %D%/cq.c %D%/domain.c \
	%D%/ep/conn.c %D%/ep/dump.c %D%/ep/ep.c %D%/ep/ep.h %D%/ep/opt.c %D%/ep/stats.c \
	%D%/fabric.c %D%/info.c %D%/init.c %D%/objects.h %D%/pep.c %D%/recv.c %D%/recv.h \
	%D%/rpc/call.c %D%/rpc/msg.c %D%/rpc/prepare.c %D%/rpc/reply.c %D%/rpc/rpc.h %D%/rpcrdma.h \
	%D%/tick.c %D%/wire/message.c %D%/wire/pack.c %D%/wire/parse.c %D%/wire/private.c \
	%D%/wire/short.c %D%/wire/wire.h %D%/wrap/format.c %D%/wrap/reply.c %D%/wrap/rma.c \
	%D%/wrap/send.c %D%/wrap/wrap.h
rpcrdma_libs = %D%/librpcrdma-objs.a $(common_libs)

provider_LTLIBRARIES += %D%/librpcrdma-fi.la
%C%_librpcrdma_fi_la_SOURCES =
%C%_librpcrdma_fi_la_DEPENDENCIES = $(filter %.a,$(rpcrdma_libs))
%C%_librpcrdma_fi_la_LDFLAGS = $(provider_ldflags) $(call all_of,%D%/librpcrdma-objs.a,$(rpcrdma_libs))
EXTRA_DIST += %D%/rooms
