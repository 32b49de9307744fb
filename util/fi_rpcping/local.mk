# SPDX-License-Identifier: BSD-2-Clause
# fi_rpcping: Calls per second and latency over rpcrdma. Its unit tests are linked with libping.a.
%D%/%.o: private AM_CPPFLAGS += $(util_include)
noinst_LIBRARIES += %D%/libping.a
%C%_libping_a_SOURCES = %D%/answer.c %D%/histogram.c %D%/histogram.h %D%/report.c %D%/report.h \
	%D%/turn.c
nodist_%C%_libping_a_SOURCES = %D%/ping.h %D%/ping_xdr.c
rpc_stubs += $(nodist_%C%_libping_a_SOURCES)
ping_libs = %D%/libping.a $(rpcmsg_libs) $(JANSSON_LIBS)

bin_PROGRAMS += %D%/fi_rpcping
%C%_fi_rpcping_SOURCES = %D%/call.c %D%/client.c %D%/end.c %D%/end.h %D%/fi_rpcping.c \
	%D%/options.c %D%/options.h %D%/run.h %D%/server.c
%C%_fi_rpcping_LDADD = $(ping_libs)
EXTRA_DIST += %D%/ping.x %D%/test-fi_rpcping
