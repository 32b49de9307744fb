# The provider, as objects of a convenience library so that unit tests reach them.
noinst_LTLIBRARIES += prov/pverbs/libpverbs-objs.la
prov_pverbs_libpverbs_objs_la_CPPFLAGS = $(AM_CPPFLAGS) $(LIBFABRIC_CFLAGS) $(VERBS_CFLAGS) \
	$(INIH_CFLAGS) $(PMEM_CFLAGS) $(ISAL_CFLAGS)
prov_pverbs_libpverbs_objs_la_LIBADD = \
	prov/common/libcairn-common.la $(LIBFABRIC_LIBS) $(VERBS_LIBS) $(INIH_LIBS) $(PMEM_LIBS) $(ISAL_LIBS)
prov_pverbs_libpverbs_objs_la_SOURCES = \
	prov/pverbs/async.c \
	prov/pverbs/atomic.c \
	prov/pverbs/atomic.h \
	prov/pverbs/atomic_query.c \
	prov/pverbs/cm.h \
	prov/pverbs/cm_channel.c \
	prov/pverbs/cm_data.c \
	prov/pverbs/cm_data.h \
	prov/pverbs/cm_opt.c \
	prov/pverbs/cm_state.c \
	prov/pverbs/cntr.c \
	prov/pverbs/conn_qp.c \
	prov/pverbs/cq.c \
	prov/pverbs/cq.h \
	prov/pverbs/cq_hw.c \
	prov/pverbs/cq_read.c \
	prov/pverbs/deliver.c \
	prov/pverbs/device.c \
	prov/pverbs/domain.c \
	prov/pverbs/ep.c \
	prov/pverbs/ep_bind.c \
	prov/pverbs/ep_cm.c \
	prov/pverbs/ep_opt.c \
	prov/pverbs/eq.c \
	prov/pverbs/errmap.c \
	prov/pverbs/fabric.c \
	prov/pverbs/fence.c \
	prov/pverbs/flags.c \
	prov/pverbs/flags.h \
	prov/pverbs/info.c \
	prov/pverbs/init.c \
	prov/pverbs/keepalive.c \
	prov/pverbs/mr.c \
	prov/pverbs/msg.c \
	prov/pverbs/nic.c \
	prov/pverbs/objects.h \
	prov/pverbs/path.c \
	prov/pverbs/pep.c \
	prov/pverbs/request.c \
	prov/pverbs/request.h \
	prov/pverbs/persist/adapter.c \
	prov/pverbs/persist/arrival.c \
	prov/pverbs/persist/ask.c \
	prov/pverbs/persist/batch.c \
	prov/pverbs/persist/batch.h \
	prov/pverbs/persist/commit.c \
	prov/pverbs/persist/commit.h \
	prov/pverbs/persist/control.c \
	prov/pverbs/persist/control.h \
	prov/pverbs/persist/control_thread.c \
	prov/pverbs/persist/declare.c \
	prov/pverbs/persist/declare.h \
	prov/pverbs/persist/desc.c \
	prov/pverbs/persist/desc.h \
	prov/pverbs/persist/detect.h \
	prov/pverbs/persist/dirty.c \
	prov/pverbs/persist/dirty.h \
	prov/pverbs/persist/execute.h \
	prov/pverbs/persist/facts.c \
	prov/pverbs/persist/facts.h \
	prov/pverbs/persist/group.c \
	prov/pverbs/persist/hold.c \
	prov/pverbs/persist/hold.h \
	prov/pverbs/persist/host.c \
	prov/pverbs/persist/lane.c \
	prov/pverbs/persist/lift.c \
	prov/pverbs/persist/mapping.c \
	prov/pverbs/persist/native.c \
	prov/pverbs/persist/native.h \
	prov/pverbs/persist/plan.c \
	prov/pverbs/persist/plan.h \
	prov/pverbs/persist/query.c \
	prov/pverbs/persist/received.c \
	prov/pverbs/persist/region.c \
	prov/pverbs/persist/replay.c \
	prov/pverbs/persist/respond.c \
	prov/pverbs/persist/ring.c \
	prov/pverbs/persist/second.c \
	prov/pverbs/persist/second.h \
	prov/pverbs/persist/sealed.c \
	prov/pverbs/persist/sealed.h \
	prov/pverbs/persist/sends.c \
	prov/pverbs/persist/target.c \
	prov/pverbs/persist/tick.c \
	prov/pverbs/persist/ticket.c \
	prov/pverbs/persist/ticket.h \
	prov/pverbs/persist/under_way.c \
	prov/pverbs/persist/usual.c \
	prov/pverbs/persist/verbs56.h \
	prov/pverbs/persist/window.c \
	prov/pverbs/persist/wire.c \
	prov/pverbs/persist/wire.h \
	prov/pverbs/pverbs.h \
	prov/pverbs/removal.c \
	prov/pverbs/removal.h \
	prov/pverbs/rma.c \
	prov/pverbs/sink.c \
	prov/pverbs/srx.c \
	prov/pverbs/srx_recv.c \
	prov/pverbs/stats.c \
	prov/pverbs/tx.c \
	prov/pverbs/tx.h

provider_LTLIBRARIES += prov/pverbs/libpverbs-fi.la
prov_pverbs_libpverbs_fi_la_SOURCES =
prov_pverbs_libpverbs_fi_la_LIBADD = prov/pverbs/libpverbs-objs.la
# libfabric unloads providers when a process ends; threads, the provider's own among them, go on until it has.
prov_pverbs_libpverbs_fi_la_LDFLAGS = \
	$(AM_LDFLAGS) -module -avoid-version -shared -export-symbols-regex '^fi_prov_ini$$' \
	-Wl,-z,nodelete
EXTRA_DIST += prov/pverbs/local.mk
