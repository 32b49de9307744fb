# SPDX-License-Identifier: BSD-2-Clause
# libcairn-rpc with stubs of rpcgen, two processes.
%D%/%.o: private AM_CPPFLAGS += -I%D% $(TIRPC_CFLAGS)
%D%/%.o: private AM_CFLAGS += $(stub_warnings)
%D%/trial%: private stub_flags = M
noinst_PROGRAMS += %D%/fi_cairn_clnt
%C%_fi_cairn_clnt_SOURCES = %D%/auth.c %D%/back.c %D%/busy.c %D%/calls.c %D%/ends.c \
	%D%/fi_cairn_clnt.c %D%/listen.c %D%/rpct.h %D%/services.c
nodist_%C%_fi_cairn_clnt_SOURCES = %D%/trial.h %D%/trial_xdr.c %D%/trial_clnt.c %D%/trial_svc.c
rpc_stubs += $(nodist_%C%_fi_cairn_clnt_SOURCES)
%C%_fi_cairn_clnt_LDADD = $(stub_libs) -lpthread
# No script of libtool around it: what a sanitizer is in cannot be preloaded into a shell.
%C%_fi_cairn_clnt_LDFLAGS = $(AM_LDFLAGS) -no-install
EXTRA_DIST += %D%/trial.x
