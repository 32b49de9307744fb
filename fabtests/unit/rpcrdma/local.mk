# SPDX-License-Identifier: BSD-2-Clause
# Unit tests of prov/rpcrdma: of its wire format, and of the rest over the scripted provider.
check_PROGRAMS += fabtests/unit/unit_rpcrdma
TESTS += fabtests/unit/unit_rpcrdma
fabtests_unit_unit_rpcrdma_SOURCES = \
	fabtests/unit/rpcrdma/call/test_desc.c \
	fabtests/unit/rpcrdma/call/test_down.c \
	fabtests/unit/rpcrdma/call/test_gap.c \
	fabtests/unit/rpcrdma/call/test_match.c \
	fabtests/unit/rpcrdma/call/test_poison.c \
	fabtests/unit/rpcrdma/call/test_post.c \
	fabtests/unit/rpcrdma/cm/test_agree.c \
	fabtests/unit/rpcrdma/cm/test_early.c \
	fabtests/unit/rpcrdma/cm/test_ready.c \
	fabtests/unit/rpcrdma/cm/test_request.c \
	fabtests/unit/rpcrdma/ends.c \
	fabtests/unit/rpcrdma/ends.h \
	fabtests/unit/rpcrdma/ep/test_enable.c \
	fabtests/unit/rpcrdma/ep/test_memory.c \
	fabtests/unit/rpcrdma/ep/test_stats.c \
	fabtests/unit/rpcrdma/wire/headers.c \
	fabtests/unit/rpcrdma/wire/headers.h \
	fabtests/unit/rpcrdma/wire/test_examples.c \
	fabtests/unit/rpcrdma/wire/test_message.c \
	fabtests/unit/rpcrdma/wire/test_pack.c \
	fabtests/unit/rpcrdma/wire/test_parse.c \
	fabtests/unit/rpcrdma/wire/test_private.c \
	fabtests/unit/rpcrdma/wire/test_random.c \
	fabtests/unit/rpcrdma/wire/test_short.c \
	fabtests/unit/rpcrdma/wrap/test_reply.c \
	fabtests/unit/script/pair.c \
	fabtests/unit/script/pair.h
nodist_EXTRA_fabtests_unit_unit_rpcrdma_SOURCES = fabtests/unit/dummy.cc
fabtests_unit_unit_rpcrdma_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/fabtests/unit -I$(top_srcdir)/prov/rpcrdma \
	-I$(top_srcdir)/fabtests/unit/rpcrdma -I$(top_srcdir)/fabtests/unit/script $(LIBFABRIC_CFLAGS)
fabtests_unit_unit_rpcrdma_LDFLAGS = $(AM_LDFLAGS) $(CT_WRAP_ALLOC) $(CT_WRAP_LOG) $(SCRIPT_EXPORT)
fabtests_unit_unit_rpcrdma_LDADD = fabtests/unit/script/libscript.la fabtests/unit/libct.la \
	prov/rpcrdma/librpcrdma-objs.la prov/common/libcairn-common.la $(LIBFABRIC_LIBS)

check_PROGRAMS += fabtests/unit/rpcrdma/who_answers
fabtests_unit_rpcrdma_who_answers_SOURCES = fabtests/unit/rpcrdma/who_answers.c
fabtests_unit_rpcrdma_who_answers_CPPFLAGS = $(AM_CPPFLAGS) $(LIBFABRIC_CFLAGS)
fabtests_unit_rpcrdma_who_answers_LDADD = $(LIBFABRIC_LIBS)
TESTS += fabtests/unit/rpcrdma/test-choice.sh
EXTRA_DIST += fabtests/unit/rpcrdma/local.mk fabtests/unit/rpcrdma/test-choice.sh
