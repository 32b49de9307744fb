# SPDX-License-Identifier: BSD-2-Clause
# libsimverbs.so: preloaded, it is libibverbs and librdmacm with a software device.
%D%/%.o %D%/%.lo: private AM_CPPFLAGS += -I$(srcdir)/%D%

# Verbs, librdmacm, subnet administration, libibumad, and replacements for C library functions.
simverbs_parts = %D%/libsimverbs-verbs.a %D%/libsimverbs-cm.a %D%/libsimverbs-sa.a \
	%D%/libsimverbs-umad.a %D%/libsimverbs-calls.a
noinst_LIBRARIES += $(simverbs_parts)
%C%_libsimverbs_verbs_a_SOURCES = %D%/attr.h %D%/choice.c %D%/choice.h %D%/compat56.h \
	%D%/compat65.h %D%/engine/atomic.c %D%/engine/cq_push.c %D%/engine/engine.c \
	%D%/engine/engine.h %D%/engine/fail.c %D%/engine/grh.c %D%/engine/grh.h %D%/engine/iwarp.c \
	%D%/engine/mcast.c %D%/engine/memory.c %D%/engine/memory.h %D%/engine/op.h %D%/engine/rc.c \
	%D%/engine/recv.c %D%/engine/relay.c %D%/engine/relay.h %D%/engine/sane.c \
	%D%/engine/service.c %D%/engine/service.h %D%/engine/ud.c %D%/engine/ud.h \
	%D%/engine/ud_fate.c %D%/engine/wait.c %D%/engine/window.c %D%/engine/wqe.h %D%/handles.h \
	%D%/machine/choice.c %D%/machine/machine.c %D%/machine/machine.h %D%/machine/maybe.c \
	%D%/machine/memory.c %D%/machine/parts.h %D%/machine/save.c %D%/machine/unseen.c \
	%D%/model/hand.c %D%/model/hand.h %D%/model/medium.c %D%/model/medium.h \
	%D%/model/medium_range.c %D%/model/model.c %D%/model/model.h %D%/model/save.c \
	%D%/model/turn.c %D%/next.h %D%/parts.c %D%/ports.c %D%/ports.h %D%/settings/addresses.c \
	%D%/settings/addresses.h %D%/settings/gids.c %D%/settings/gids.h %D%/settings/groups.c \
	%D%/settings/groups.h %D%/settings/joins.c %D%/settings/joins.h %D%/settings/pkeys.c \
	%D%/settings/pkeys.h %D%/settings/sa_fail.c %D%/settings/sa_fail.h %D%/settings/settings.c \
	%D%/settings/settings.h %D%/shared/bell.c %D%/shared/bell.h %D%/shared/counts.c \
	%D%/shared/counts.h %D%/shared/heap.c %D%/shared/heap.h %D%/shared/keys.c \
	%D%/shared/lock.c %D%/shared/lock.h %D%/shared/process.c %D%/shared/registry.c \
	%D%/shared/registry.h %D%/shared/segment.c %D%/shared/segment.h %D%/shared/self.h \
	%D%/shared/shared.h %D%/step.c %D%/step.h %D%/subnet/inform.c %D%/subnet/members.c \
	%D%/subnet/subnet.h %D%/subnet/table.c %D%/subnet/tables.h %D%/tsan.h %D%/verbs/ah.c \
	%D%/verbs/async.c %D%/verbs/buf.c %D%/verbs/channel.c %D%/verbs/cq.c %D%/verbs/cq_ex.c \
	%D%/verbs/device.c %D%/verbs/device_attr.c %D%/verbs/mapped.c %D%/verbs/marshall.c \
	%D%/verbs/mcast.c %D%/verbs/mr.c %D%/verbs/mw.c %D%/verbs/nosys.c %D%/verbs/pd.c \
	%D%/verbs/port_event.c %D%/verbs/port_event.h %D%/verbs/qp.c %D%/verbs/qp_modify.c \
	%D%/verbs/qp_state.c %D%/verbs/removal.c %D%/verbs/removal.h %D%/verbs/request.c \
	%D%/verbs/request.h %D%/verbs/srq.c %D%/verbs/text.c %D%/verbs/verbs.h %D%/verbs/wr.h \
	%D%/verbs/wr_ex.c %D%/verbs/wr_fate.c %D%/verbs/wr_post.c %D%/vg.h
%C%_libsimverbs_cm_a_SOURCES = %D%/cm/addrinfo.c %D%/cm/bind.c %D%/cm/box.c %D%/cm/channel.c \
	%D%/cm/cm.h %D%/cm/connect.c %D%/cm/device.c %D%/cm/dispatch.c %D%/cm/end.c %D%/cm/ep.c \
	%D%/cm/event.c %D%/cm/id.c %D%/cm/info.c %D%/cm/listen.c %D%/cm/mcast.c %D%/cm/mgid.c \
	%D%/cm/nosys.c %D%/cm/port_event.c %D%/cm/ports.c %D%/cm/qp.c %D%/cm/removal.c \
	%D%/cm/sockaddr.c %D%/cm/ud.c %D%/cm/wire.c %D%/cm/wire.h
%C%_libsimverbs_sa_a_SOURCES = %D%/sa/inform.c %D%/sa/mad.h %D%/sa/mcmember.c %D%/sa/parts.h \
	%D%/sa/records.c %D%/sa/sa.c %D%/sa/sa.h %D%/sa/smp.c
%C%_libsimverbs_umad_a_SOURCES = %D%/umad/buffer.c %D%/umad/ca.c %D%/umad/port.c %D%/umad/queue.c \
	%D%/umad/transfer.c %D%/umad/umad.h
%C%_libsimverbs_calls_a_SOURCES = %D%/model/medium_calls.c %D%/sysfs/files.c %D%/sysfs/sysfs.c \
	%D%/sysfs/sysfs.h
simverbs_libs = $(INIH_LIBS) -lm -lpthread

pkglib_LTLIBRARIES = %D%/libsimverbs.la
%C%_libsimverbs_la_SOURCES =
%C%_libsimverbs_la_DEPENDENCIES = $(simverbs_parts)
%C%_libsimverbs_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -no-undefined -Wl,-z,defs \
	$(simverbs_whole) $(addprefix -Wl$(comma),$(simverbs_libs))

# Programs are linked with whole archives: the linker leaves out functions that no object names, and
# takes those of libibverbs instead. Such programs depend on $(simverbs_parts).
simverbs_verbs = $(call all_of,%D%/libsimverbs-verbs.a)
simverbs_verbs_sa = $(simverbs_verbs) $(subst -verbs.a,-sa.a,$(simverbs_verbs))
simverbs_verbs_cm = $(simverbs_verbs) $(subst -verbs.a,-cm.a,$(simverbs_verbs))
simverbs_whole = $(foreach part,verbs cm sa umad calls,$(subst -verbs.a,-$(part).a,$(simverbs_verbs)))

# Run by util/bench.
noinst_PROGRAMS += %D%/bench/bench_verbs
%C%_bench_bench_verbs_LDADD = $(VERBS_LIBS)

# The command knows where the library is installed; beside itself it finds the built one.
bin_SCRIPTS = %D%/simverbs
CLEANFILES += %D%/simverbs
%D%/simverbs: %D%/simverbs.in Makefile
	$(AM_V_GEN)$(MKDIR_P) %D% && sed -e 's|@pkglibdir@|$(pkglibdir)|' \
		-e 's|@VERSION@|$(PACKAGE_VERSION)|' $< >$@.tmp && chmod +x $@.tmp && mv $@.tmp $@

# Run by test-simverbs, under simverbs.
%D%/test/%.o: private AM_CPPFLAGS += -I$(srcdir)/prov
check_PROGRAMS += %D%/test/cm_rules %D%/test/deny %D%/test/peer
%C%_test_cm_rules_LDADD = $(VERBS_LIBS) -lpthread
%C%_test_deny_LDADD =
%C%_test_peer_LDADD = $(VERBS_LIBS)
noinst_PROGRAMS += %D%/test/group_data %D%/test/power %D%/test/sa_client
%C%_test_group_data_SOURCES = %D%/test/group_data.c %D%/test/sa_ask.c %D%/test/sa_ask.h
%C%_test_group_data_LDADD = $(pverbs_umad_libs) $(VERBS_LIBS)
%C%_test_power_LDADD = $(VERBS_LIBS)
%C%_test_sa_client_SOURCES = %D%/test/sa_ask.c %D%/test/sa_ask.h %D%/test/sa_client.c \
	%D%/test/sa_ibsim.c %D%/test/sa_words.c
%C%_test_sa_client_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=umad_recv
%C%_test_sa_client_LDADD = $(pverbs_umad_libs)
EXTRA_DIST += %D%/rooms %D%/simverbs.in %D%/test-simverbs %D%/test/rpma_flush.c %D%/test/sa_statuses
