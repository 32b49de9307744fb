# SPDX-License-Identifier: BSD-2-Clause
# libcairn-rpc with stubs of rpcgen, two processes.
noinst_PROGRAMS += fabtests/rpc/fi_cairn_clnt
fabtests_rpc_fi_cairn_clnt_SOURCES = \
	fabtests/rpc/auth.c \
	fabtests/rpc/back.c \
	fabtests/rpc/busy.c \
	fabtests/rpc/calls.c \
	fabtests/rpc/ends.c \
	fabtests/rpc/fi_cairn_clnt.c \
	fabtests/rpc/listen.c \
	fabtests/rpc/rpct.h \
	fabtests/rpc/services.c
nodist_fabtests_rpc_fi_cairn_clnt_SOURCES = $(TRIAL_STUBS)
fabtests_rpc_fi_cairn_clnt_CPPFLAGS = $(AM_CPPFLAGS) -I$(builddir)/fabtests/rpc $(LIBFABRIC_CFLAGS) $(TIRPC_CFLAGS)
fabtests_rpc_fi_cairn_clnt_CFLAGS = $(STUB_CFLAGS)
fabtests_rpc_fi_cairn_clnt_LDADD = $(STUB_LIBS) -lpthread
# No script of libtool around it: what a sanitizer is in cannot be preloaded into a shell.
fabtests_rpc_fi_cairn_clnt_LDFLAGS = $(AM_LDFLAGS) -no-install

TRIAL_STUBS = fabtests/rpc/trial.h fabtests/rpc/trial_xdr.c fabtests/rpc/trial_clnt.c fabtests/rpc/trial_svc.c
fabtests/rpc/trial.h: fabtests/rpc/trial.x
	$(STUB) -Mh $< $@
fabtests/rpc/trial_xdr.c: fabtests/rpc/trial.x fabtests/rpc/trial.h
	$(STUB) -Mc $< $@
fabtests/rpc/trial_clnt.c: fabtests/rpc/trial.x fabtests/rpc/trial.h
	$(STUB) -Ml $< $@
fabtests/rpc/trial_svc.c: fabtests/rpc/trial.x fabtests/rpc/trial.h
	$(STUB) -Mm $< $@
BUILT_SOURCES += fabtests/rpc/trial.h
CLEANFILES += $(TRIAL_STUBS)
EXTRA_DIST += fabtests/rpc/local.mk fabtests/rpc/trial.x
