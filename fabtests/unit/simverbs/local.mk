# SPDX-License-Identifier: BSD-2-Clause
# The library is linked in, so the verbs that the tests call are simverbs'.
%D%/%.o: private AM_CPPFLAGS += -I$(srcdir)/util/simverbs \
	-DMANUAL='"$(abs_srcdir)/man/simverbs.1.md"'
unit_tests += fabtests/unit/unit_simverbs
fabtests_unit_unit_simverbs_SOURCES = %D%/cm/test_af_ib.c %D%/cm/test_channel.c \
	%D%/cm/test_connect.c %D%/cm/test_mcast.c %D%/cm/test_memory.c %D%/cm/test_mgid.c \
	%D%/engine/test_atomic.c %D%/engine/test_grh.c %D%/engine/test_iwarp.c \
	%D%/engine/test_link.c %D%/engine/test_pkeys.c %D%/engine/test_rc.c \
	%D%/engine/test_service.c %D%/engine/test_ud.c %D%/engine/test_ud_fate.c \
	%D%/machine/methods.c %D%/machine/methods.h %D%/machine/methods_run.h \
	%D%/machine/methods_words.c %D%/machine/test_machine.c %D%/machine/test_maybe.c \
	%D%/machine/test_methods.c %D%/model/test_model.c %D%/rules/connections.c \
	%D%/rules/objects.c %D%/rules/requests.c %D%/rules/rules.h %D%/rules/test_rules.c \
	%D%/shared/test_processes.c %D%/subnet/test_inform.c %D%/test_choice.c %D%/test_settings.c \
	%D%/test_threads.c %D%/test_valgrind.c %D%/verbs/test_channel.c %D%/verbs/test_cq.c \
	%D%/verbs/test_errors.c %D%/verbs/test_mr.c %D%/verbs/test_mw.c \
	%D%/verbs/test_port_event.c %D%/verbs/test_qp_state.c %D%/verbs/test_removal.c \
	%D%/verbs/test_since65.c %D%/verbs/test_srq.c %D%/verbs/test_symbols.c \
	%D%/verbs/test_wr_ex.c %D%/world.c %D%/world.h
fabtests_unit_unit_simverbs_LDFLAGS = $(AM_LDFLAGS) -export-dynamic $(simverbs_verbs_cm)
fabtests_unit_unit_simverbs_LDADD = $(ct_libs) $(LIBFABRIC_LIBS) $(simverbs_libs)
EXTRA_fabtests_unit_unit_simverbs_DEPENDENCIES = $(simverbs_parts)
