# SPDX-License-Identifier: BSD-2-Clause
# Unit tests of prov/rpcrdma: of its wire format, and of the rest over the scripted provider.
%D%/%.o: private AM_CPPFLAGS += -I$(srcdir)/prov/rpcrdma -I$(srcdir)/%D% -I$(srcdir)/fabtests/script
unit_tests += fabtests/unit/unit_rpcrdma
fabtests_unit_unit_rpcrdma_SOURCES = %D%/call/test_desc.c %D%/call/test_down.c %D%/call/test_gap.c \
	%D%/call/test_match.c %D%/call/test_poison.c %D%/call/test_post.c %D%/call/test_truncated.c %D%/cm/test_agree.c \
	%D%/cm/test_early.c %D%/cm/test_ready.c %D%/cm/test_request.c %D%/ends.c %D%/ends.h \
	%D%/ep/test_enable.c %D%/ep/test_memory.c %D%/ep/test_stats.c %D%/test_info.c %D%/wire/headers.c \
	%D%/wire/headers.h %D%/wire/test_examples.c %D%/wire/test_message.c %D%/wire/test_pack.c \
	%D%/wire/test_parse.c %D%/wire/test_private.c %D%/wire/test_random.c %D%/wire/test_short.c \
	%D%/wrap/test_reply.c %D%/wrap/test_rma.c
fabtests_unit_unit_rpcrdma_LDFLAGS = $(AM_LDFLAGS) $(script_export)
fabtests_unit_unit_rpcrdma_LDADD = $(script_libs) $(ct_libs) $(rpcrdma_libs)

check_PROGRAMS += %D%/who_answers
TESTS += %D%/test-choice.sh
%D%/test-choice.log: %D%/who_answers
EXTRA_DIST += %D%/test-choice.sh
