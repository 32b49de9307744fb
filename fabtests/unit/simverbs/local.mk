# SPDX-License-Identifier: BSD-2-Clause
# The library is linked in, so the verbs that the tests call are simverbs'.
check_PROGRAMS += fabtests/unit/unit_simverbs
TESTS += fabtests/unit/unit_simverbs
fabtests_unit_unit_simverbs_SOURCES = \
	fabtests/unit/simverbs/cm/test_af_ib.c \
	fabtests/unit/simverbs/cm/test_channel.c \
	fabtests/unit/simverbs/cm/test_connect.c \
	fabtests/unit/simverbs/cm/test_memory.c \
	fabtests/unit/simverbs/cm/test_mcast.c \
	fabtests/unit/simverbs/cm/test_mgid.c \
	fabtests/unit/simverbs/engine/test_atomic.c \
	fabtests/unit/simverbs/engine/test_grh.c \
	fabtests/unit/simverbs/engine/test_iwarp.c \
	fabtests/unit/simverbs/engine/test_link.c \
	fabtests/unit/simverbs/engine/test_pkeys.c \
	fabtests/unit/simverbs/engine/test_rc.c \
	fabtests/unit/simverbs/engine/test_service.c \
	fabtests/unit/simverbs/engine/test_ud.c \
	fabtests/unit/simverbs/engine/test_ud_fate.c \
	fabtests/unit/simverbs/machine/methods.c \
	fabtests/unit/simverbs/machine/methods.h \
	fabtests/unit/simverbs/machine/methods_run.h \
	fabtests/unit/simverbs/machine/methods_words.c \
	fabtests/unit/simverbs/machine/test_machine.c \
	fabtests/unit/simverbs/machine/test_maybe.c \
	fabtests/unit/simverbs/machine/test_methods.c \
	fabtests/unit/simverbs/model/test_model.c \
	fabtests/unit/simverbs/rules/connections.c \
	fabtests/unit/simverbs/rules/objects.c \
	fabtests/unit/simverbs/rules/requests.c \
	fabtests/unit/simverbs/rules/rules.h \
	fabtests/unit/simverbs/rules/test_rules.c \
	fabtests/unit/simverbs/shared/test_processes.c \
	fabtests/unit/simverbs/subnet/test_inform.c \
	fabtests/unit/simverbs/test_choice.c \
	fabtests/unit/simverbs/test_settings.c \
	fabtests/unit/simverbs/test_threads.c \
	fabtests/unit/simverbs/test_valgrind.c \
	fabtests/unit/simverbs/verbs/test_channel.c \
	fabtests/unit/simverbs/verbs/test_cq.c \
	fabtests/unit/simverbs/verbs/test_errors.c \
	fabtests/unit/simverbs/verbs/test_mr.c \
	fabtests/unit/simverbs/verbs/test_mw.c \
	fabtests/unit/simverbs/verbs/test_port_event.c \
	fabtests/unit/simverbs/verbs/test_qp_state.c \
	fabtests/unit/simverbs/verbs/test_removal.c \
	fabtests/unit/simverbs/verbs/test_since65.c \
	fabtests/unit/simverbs/verbs/test_srq.c \
	fabtests/unit/simverbs/verbs/test_symbols.c \
	fabtests/unit/simverbs/verbs/test_wr_ex.c \
	fabtests/unit/simverbs/world.c \
	fabtests/unit/simverbs/world.h
nodist_EXTRA_fabtests_unit_unit_simverbs_SOURCES = fabtests/unit/dummy.cc
fabtests_unit_unit_simverbs_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/fabtests/unit \
	-I$(top_srcdir)/util/simverbs $(VERBS_CFLAGS) -DMANUAL='"$(abs_top_srcdir)/man/simverbs.1.md"'
# Whole: of an archive the linker would leave out the functions that no test names, and libibverbs'
# would stand for them.
fabtests_unit_unit_simverbs_LDFLAGS = $(AM_LDFLAGS) -export-dynamic $(CT_WRAP_ALLOC) $(CT_WRAP_LOG) \
	-Wl,--whole-archive,util/simverbs/.libs/libsimverbs-verbs.a,util/simverbs/.libs/libsimverbs-cm.a,--no-whole-archive
fabtests_unit_unit_simverbs_LDADD = fabtests/unit/libct.la $(LIBFABRIC_LIBS) $(INIH_LIBS) \
	-lm -lpthread
fabtests_unit_unit_simverbs_DEPENDENCIES = fabtests/unit/libct.la \
	util/simverbs/libsimverbs-verbs.la util/simverbs/libsimverbs-cm.la
