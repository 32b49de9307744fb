# SPDX-License-Identifier: BSD-2-Clause
# libsimverbs.so: preloaded, it is libibverbs and librdmacm with a software device.

# The verbs side, also linked into its unit tests.
noinst_LTLIBRARIES += util/simverbs/libsimverbs-verbs.la
util_simverbs_libsimverbs_verbs_la_SOURCES = \
	util/simverbs/attr.h \
	util/simverbs/choice.c \
	util/simverbs/choice.h \
	util/simverbs/compat56.h \
	util/simverbs/compat65.h \
	util/simverbs/engine/atomic.c \
	util/simverbs/engine/cq_push.c \
	util/simverbs/engine/engine.c \
	util/simverbs/engine/engine.h \
	util/simverbs/engine/fail.c \
	util/simverbs/engine/grh.c \
	util/simverbs/engine/grh.h \
	util/simverbs/engine/iwarp.c \
	util/simverbs/engine/mcast.c \
	util/simverbs/engine/memory.c \
	util/simverbs/engine/memory.h \
	util/simverbs/engine/op.h \
	util/simverbs/engine/rc.c \
	util/simverbs/engine/recv.c \
	util/simverbs/engine/relay.c \
	util/simverbs/engine/relay.h \
	util/simverbs/engine/sane.c \
	util/simverbs/engine/service.c \
	util/simverbs/engine/service.h \
	util/simverbs/engine/ud.c \
	util/simverbs/engine/ud.h \
	util/simverbs/engine/ud_fate.c \
	util/simverbs/engine/wait.c \
	util/simverbs/engine/window.c \
	util/simverbs/engine/wqe.h \
	util/simverbs/handles.h \
	util/simverbs/machine/choice.c \
	util/simverbs/machine/machine.c \
	util/simverbs/machine/machine.h \
	util/simverbs/machine/maybe.c \
	util/simverbs/machine/memory.c \
	util/simverbs/machine/parts.h \
	util/simverbs/machine/save.c \
	util/simverbs/machine/unseen.c \
	util/simverbs/model/hand.c \
	util/simverbs/model/hand.h \
	util/simverbs/model/medium.c \
	util/simverbs/model/medium.h \
	util/simverbs/model/medium_range.c \
	util/simverbs/model/model.c \
	util/simverbs/model/model.h \
	util/simverbs/model/save.c \
	util/simverbs/model/turn.c \
	util/simverbs/next.h \
	util/simverbs/parts.c \
	util/simverbs/ports.c \
	util/simverbs/ports.h \
	util/simverbs/settings/addresses.c \
	util/simverbs/settings/addresses.h \
	util/simverbs/settings/gids.c \
	util/simverbs/settings/gids.h \
	util/simverbs/settings/groups.c \
	util/simverbs/settings/groups.h \
	util/simverbs/settings/joins.c \
	util/simverbs/settings/joins.h \
	util/simverbs/settings/pkeys.c \
	util/simverbs/settings/pkeys.h \
	util/simverbs/settings/sa_fail.c \
	util/simverbs/settings/sa_fail.h \
	util/simverbs/settings/settings.c \
	util/simverbs/settings/settings.h \
	util/simverbs/shared/bell.c \
	util/simverbs/shared/bell.h \
	util/simverbs/shared/counts.c \
	util/simverbs/shared/counts.h \
	util/simverbs/shared/heap.c \
	util/simverbs/shared/heap.h \
	util/simverbs/shared/keys.c \
	util/simverbs/shared/lock.c \
	util/simverbs/shared/lock.h \
	util/simverbs/shared/process.c \
	util/simverbs/shared/registry.c \
	util/simverbs/shared/registry.h \
	util/simverbs/shared/segment.c \
	util/simverbs/shared/segment.h \
	util/simverbs/shared/self.h \
	util/simverbs/shared/shared.h \
	util/simverbs/step.c \
	util/simverbs/step.h \
	util/simverbs/subnet/inform.c \
	util/simverbs/subnet/members.c \
	util/simverbs/subnet/subnet.h \
	util/simverbs/subnet/table.c \
	util/simverbs/subnet/tables.h \
	util/simverbs/tsan.h \
	util/simverbs/verbs/ah.c \
	util/simverbs/verbs/async.c \
	util/simverbs/verbs/buf.c \
	util/simverbs/verbs/channel.c \
	util/simverbs/verbs/cq.c \
	util/simverbs/verbs/cq_ex.c \
	util/simverbs/verbs/device.c \
	util/simverbs/verbs/device_attr.c \
	util/simverbs/verbs/mapped.c \
	util/simverbs/verbs/marshall.c \
	util/simverbs/verbs/mcast.c \
	util/simverbs/verbs/mr.c \
	util/simverbs/verbs/mw.c \
	util/simverbs/verbs/nosys.c \
	util/simverbs/verbs/pd.c \
	util/simverbs/verbs/port_event.c \
	util/simverbs/verbs/port_event.h \
	util/simverbs/verbs/qp.c \
	util/simverbs/verbs/qp_modify.c \
	util/simverbs/verbs/qp_state.c \
	util/simverbs/verbs/removal.c \
	util/simverbs/verbs/removal.h \
	util/simverbs/verbs/request.c \
	util/simverbs/verbs/request.h \
	util/simverbs/verbs/srq.c \
	util/simverbs/verbs/text.c \
	util/simverbs/verbs/verbs.h \
	util/simverbs/verbs/wr.h \
	util/simverbs/verbs/wr_ex.c \
	util/simverbs/verbs/wr_fate.c \
	util/simverbs/verbs/wr_post.c \
	util/simverbs/vg.h
util_simverbs_libsimverbs_verbs_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/util/simverbs \
	$(VERBS_CFLAGS) $(INIH_CFLAGS)
util_simverbs_libsimverbs_verbs_la_LIBADD = $(INIH_LIBS) -lm -lpthread

# librdmacm.
noinst_LTLIBRARIES += util/simverbs/libsimverbs-cm.la
util_simverbs_libsimverbs_cm_la_SOURCES = \
	util/simverbs/cm/addrinfo.c \
	util/simverbs/cm/bind.c \
	util/simverbs/cm/box.c \
	util/simverbs/cm/channel.c \
	util/simverbs/cm/cm.h \
	util/simverbs/cm/connect.c \
	util/simverbs/cm/device.c \
	util/simverbs/cm/dispatch.c \
	util/simverbs/cm/end.c \
	util/simverbs/cm/ep.c \
	util/simverbs/cm/event.c \
	util/simverbs/cm/id.c \
	util/simverbs/cm/info.c \
	util/simverbs/cm/listen.c \
	util/simverbs/cm/mcast.c \
	util/simverbs/cm/mgid.c \
	util/simverbs/cm/nosys.c \
	util/simverbs/cm/port_event.c \
	util/simverbs/cm/ports.c \
	util/simverbs/cm/qp.c \
	util/simverbs/cm/removal.c \
	util/simverbs/cm/sockaddr.c \
	util/simverbs/cm/ud.c \
	util/simverbs/cm/wire.c \
	util/simverbs/cm/wire.h
util_simverbs_libsimverbs_cm_la_CPPFLAGS = $(util_simverbs_libsimverbs_verbs_la_CPPFLAGS)

# Subnet administration, and libibumad.
noinst_LTLIBRARIES += util/simverbs/libsimverbs-sa.la
util_simverbs_libsimverbs_sa_la_SOURCES = \
	util/simverbs/sa/inform.c \
	util/simverbs/sa/mad.h \
	util/simverbs/sa/mcmember.c \
	util/simverbs/sa/parts.h \
	util/simverbs/sa/records.c \
	util/simverbs/sa/sa.c \
	util/simverbs/sa/sa.h \
	util/simverbs/sa/smp.c
util_simverbs_libsimverbs_sa_la_CPPFLAGS = $(util_simverbs_libsimverbs_verbs_la_CPPFLAGS)
noinst_LTLIBRARIES += util/simverbs/libsimverbs-umad.la
util_simverbs_libsimverbs_umad_la_SOURCES = \
	util/simverbs/umad/buffer.c \
	util/simverbs/umad/ca.c \
	util/simverbs/umad/port.c \
	util/simverbs/umad/queue.c \
	util/simverbs/umad/transfer.c \
	util/simverbs/umad/umad.h
util_simverbs_libsimverbs_umad_la_CPPFLAGS = $(util_simverbs_libsimverbs_verbs_la_CPPFLAGS) $(UMAD_CFLAGS)

# Everything, with what stands in for calls of the C library: also linked into what runs providers in its own process.
noinst_LTLIBRARIES += util/simverbs/libsimverbs-all.la
util_simverbs_libsimverbs_all_la_SOURCES = \
	util/simverbs/model/medium_calls.c \
	util/simverbs/sysfs/files.c \
	util/simverbs/sysfs/sysfs.c \
	util/simverbs/sysfs/sysfs.h
util_simverbs_libsimverbs_all_la_CPPFLAGS = $(util_simverbs_libsimverbs_verbs_la_CPPFLAGS)
util_simverbs_libsimverbs_all_la_LIBADD = util/simverbs/libsimverbs-verbs.la \
	util/simverbs/libsimverbs-cm.la util/simverbs/libsimverbs-umad.la util/simverbs/libsimverbs-sa.la

pkglib_LTLIBRARIES = util/simverbs/libsimverbs.la
util_simverbs_libsimverbs_la_SOURCES =
util_simverbs_libsimverbs_la_LIBADD = util/simverbs/libsimverbs-all.la
util_simverbs_libsimverbs_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -no-undefined \
	-Wl,-z,defs

# Run by util/bench.
noinst_PROGRAMS += util/simverbs/bench/bench_verbs
util_simverbs_bench_bench_verbs_SOURCES = util/simverbs/bench/bench_verbs.c
util_simverbs_bench_bench_verbs_LDADD = $(VERBS_LIBS)

# The command knows where the library is installed; beside itself it finds the built one.
bin_SCRIPTS = util/simverbs/simverbs
CLEANFILES += util/simverbs/simverbs
util/simverbs/simverbs: $(srcdir)/util/simverbs/simverbs.in Makefile
	$(AM_V_GEN)$(MKDIR_P) util/simverbs && sed -e 's|@pkglibdir@|$(pkglibdir)|' -e 's|@VERSION@|$(PACKAGE_VERSION)|' \
		$(srcdir)/util/simverbs/simverbs.in >$@.tmp && chmod +x $@.tmp && mv $@.tmp $@

# Run by test-simverbs, under simverbs.
check_PROGRAMS += util/simverbs/test/cm_rules util/simverbs/test/deny
util_simverbs_test_deny_SOURCES = util/simverbs/test/deny.c
sa_ldadd = prov/pverbs/sa/libpverbs-umad.la prov/pverbs/sa/libpverbs-sa.la prov/common/libcairn-common.la $(LIBFABRIC_LIBS)
noinst_PROGRAMS += util/simverbs/test/sa_client
util_simverbs_test_sa_client_SOURCES = \
	util/simverbs/test/sa_ask.c \
	util/simverbs/test/sa_ask.h \
	util/simverbs/test/sa_client.c \
	util/simverbs/test/sa_ibsim.c \
	util/simverbs/test/sa_words.c
util_simverbs_test_sa_client_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/prov $(LIBFABRIC_CFLAGS) $(UMAD_CFLAGS)
util_simverbs_test_sa_client_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=umad_recv
util_simverbs_test_sa_client_LDADD = $(sa_ldadd)
noinst_PROGRAMS += util/simverbs/test/group_data
util_simverbs_test_group_data_SOURCES = util/simverbs/test/group_data.c util/simverbs/test/sa_ask.c util/simverbs/test/sa_ask.h
util_simverbs_test_group_data_CPPFLAGS = $(util_simverbs_test_sa_client_CPPFLAGS) $(VERBS_CFLAGS)
util_simverbs_test_group_data_LDADD = $(sa_ldadd) $(VERBS_LIBS)
check_PROGRAMS += util/simverbs/test/peer
util_simverbs_test_peer_SOURCES = util/simverbs/test/peer.c
util_simverbs_test_peer_LDADD = $(VERBS_LIBS)
util_simverbs_test_cm_rules_SOURCES = util/simverbs/test/cm_rules.c
util_simverbs_test_cm_rules_LDADD = $(VERBS_LIBS) -lpthread
noinst_PROGRAMS += util/simverbs/test/power
util_simverbs_test_power_SOURCES = util/simverbs/test/power.c
util_simverbs_test_power_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/util/simverbs
util_simverbs_test_power_LDADD = $(VERBS_LIBS)
EXTRA_DIST += util/simverbs/local.mk util/simverbs/rooms util/simverbs/simverbs.in util/simverbs/test-simverbs \
	util/simverbs/test/rpma_flush.c util/simverbs/test/sa_statuses
