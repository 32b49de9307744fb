# SPDX-License-Identifier: BSD-2-Clause
# libsimverbs.so: preloaded, it is libibverbs and librdmacm with a software device.

# The verbs side, also linked into its unit tests.
noinst_LTLIBRARIES += util/simverbs/libsimverbs-verbs.la
util_simverbs_libsimverbs_verbs_la_SOURCES = \
	util/simverbs/ah.c \
	util/simverbs/async.c \
	util/simverbs/atomic.c \
	util/simverbs/bell.c \
	util/simverbs/bell.h \
	util/simverbs/channel.c \
	util/simverbs/compat56.h \
	util/simverbs/choice.c \
	util/simverbs/choice.h \
	util/simverbs/cq.c \
	util/simverbs/cq_ex.c \
	util/simverbs/cq_push.c \
	util/simverbs/device.c \
	util/simverbs/device_attr.c \
	util/simverbs/engine.c \
	util/simverbs/engine.h \
	util/simverbs/engine_rc.c \
	util/simverbs/engine_recv.c \
	util/simverbs/engine_ud.c \
	util/simverbs/iwarp.c \
	util/simverbs/keys.c \
	util/simverbs/lock.c \
	util/simverbs/lock.h \
	util/simverbs/machine.c \
	util/simverbs/machine.h \
	util/simverbs/machine_choice.c \
	util/simverbs/machine_maybe.c \
	util/simverbs/machine_memory.c \
	util/simverbs/machine_parts.h \
	util/simverbs/machine_save.c \
	util/simverbs/machine_unseen.c \
	util/simverbs/marshall.c \
	util/simverbs/mcast.c \
	util/simverbs/medium.c \
	util/simverbs/medium.h \
	util/simverbs/medium_range.c \
	util/simverbs/memory.c \
	util/simverbs/memory.h \
	util/simverbs/model.c \
	util/simverbs/model.h \
	util/simverbs/model_hand.c \
	util/simverbs/model_hand.h \
	util/simverbs/model_save.c \
	util/simverbs/model_turn.c \
	util/simverbs/mr.c \
	util/simverbs/mw.c \
	util/simverbs/nosys.c \
	util/simverbs/pd.c \
	util/simverbs/process.c \
	util/simverbs/qp.c \
	util/simverbs/qp_modify.c \
	util/simverbs/qp_state.c \
	util/simverbs/registry.c \
	util/simverbs/registry.h \
	util/simverbs/relay.c \
	util/simverbs/relay.h \
	util/simverbs/removal.c \
	util/simverbs/removal.h \
	util/simverbs/sane.c \
	util/simverbs/segment.c \
	util/simverbs/segment.h \
	util/simverbs/service.c \
	util/simverbs/service.h \
	util/simverbs/settings.c \
	util/simverbs/settings.h \
	util/simverbs/srq.c \
	util/simverbs/step.c \
	util/simverbs/step.h \
	util/simverbs/svb.h \
	util/simverbs/text.c \
	util/simverbs/tsan.h \
	util/simverbs/vg.h \
	util/simverbs/wr.h \
	util/simverbs/wr_ex.c \
	util/simverbs/wr_post.c
util_simverbs_libsimverbs_verbs_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/util/simverbs \
	$(VERBS_CFLAGS) $(INIH_CFLAGS)
util_simverbs_libsimverbs_verbs_la_LIBADD = $(INIH_LIBS) -lm -lpthread

# librdmacm.
noinst_LTLIBRARIES += util/simverbs/libsimverbs-cm.la
util_simverbs_libsimverbs_cm_la_SOURCES = \
	util/simverbs/cm.h \
	util/simverbs/cm_bind.c \
	util/simverbs/cm_box.c \
	util/simverbs/cm_channel.c \
	util/simverbs/cm_connect.c \
	util/simverbs/cm_device.c \
	util/simverbs/cm_dispatch.c \
	util/simverbs/cm_end.c \
	util/simverbs/cm_ep.c \
	util/simverbs/cm_id.c \
	util/simverbs/cm_info.c \
	util/simverbs/cm_listen.c \
	util/simverbs/cm_mcast.c \
	util/simverbs/cm_nosys.c \
	util/simverbs/cm_ports.c \
	util/simverbs/cm_qp.c \
	util/simverbs/cm_removal.c \
	util/simverbs/cm_sockaddr.c \
	util/simverbs/cm_ud.c \
	util/simverbs/cm_wire.c \
	util/simverbs/cm_wire.h
util_simverbs_libsimverbs_cm_la_CPPFLAGS = $(util_simverbs_libsimverbs_verbs_la_CPPFLAGS)

# Everything, with what stands in for calls of the C library: also linked into what runs providers in its own process.
noinst_LTLIBRARIES += util/simverbs/libsimverbs-all.la
util_simverbs_libsimverbs_all_la_SOURCES = \
	util/simverbs/medium_calls.c \
	util/simverbs/sysfs.c \
	util/simverbs/sysfs.h \
	util/simverbs/sysfs_files.c
util_simverbs_libsimverbs_all_la_CPPFLAGS = $(util_simverbs_libsimverbs_verbs_la_CPPFLAGS)
util_simverbs_libsimverbs_all_la_LIBADD = util/simverbs/libsimverbs-verbs.la \
	util/simverbs/libsimverbs-cm.la

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
check_PROGRAMS += util/simverbs/test/peer
util_simverbs_test_peer_SOURCES = util/simverbs/test/peer.c
util_simverbs_test_peer_LDADD = $(VERBS_LIBS)
util_simverbs_test_cm_rules_SOURCES = util/simverbs/test/cm_rules.c
util_simverbs_test_cm_rules_LDADD = $(VERBS_LIBS) -lpthread
noinst_PROGRAMS += util/simverbs/test/power
util_simverbs_test_power_SOURCES = util/simverbs/test/power.c
util_simverbs_test_power_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/util/simverbs
util_simverbs_test_power_LDADD = $(VERBS_LIBS)
EXTRA_DIST += util/simverbs/local.mk util/simverbs/simverbs.in util/simverbs/test-simverbs \
	util/simverbs/test/rpma_flush.c
