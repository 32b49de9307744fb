# The provider, as objects of a convenience library so that unit tests reach them.
noinst_LTLIBRARIES += prov/pverbs/libpverbs-objs.la
prov_pverbs_libpverbs_objs_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/prov/pverbs $(LIBFABRIC_CFLAGS) $(VERBS_CFLAGS) \
	$(ISAL_CFLAGS)
prov_pverbs_libpverbs_objs_la_LIBADD = \
	prov/pverbs/groups/libpverbs-groups.la prov/pverbs/link/libpverbs-link.la \
	prov/pverbs/sa/libpverbs-umad.la prov/pverbs/sa/libpverbs-sa.la prov/common/pmem/libcairn-pmem.la prov/common/libcairn-common.la \
	$(LIBFABRIC_LIBS) $(VERBS_LIBS) \
	$(ISAL_LIBS)
prov_pverbs_libpverbs_objs_la_SOURCES = \
	prov/pverbs/cm/channel.c \
	prov/pverbs/cm/cm.h \
	prov/pverbs/cm/ep_ops.c \
	prov/pverbs/cm/internal.h \
	prov/pverbs/cm/keepalive.c \
	prov/pverbs/cm/opt.c \
	prov/pverbs/cm/pep.c \
	prov/pverbs/cm/request.c \
	prov/pverbs/cm/request.h \
	prov/pverbs/cm/state.c \
	prov/pverbs/cm/transition.c \
	prov/pverbs/cq/async.c \
	prov/pverbs/cq/cntr.c \
	prov/pverbs/cq/cq.c \
	prov/pverbs/cq/cq.h \
	prov/pverbs/cq/hw.c \
	prov/pverbs/cq/internal.h \
	prov/pverbs/cq/read.c \
	prov/pverbs/cq/removal.c \
	prov/pverbs/cq/removal.h \
	prov/pverbs/cq/source.c \
	prov/pverbs/device/adapter.c \
	prov/pverbs/device/address.c \
	prov/pverbs/device/device.c \
	prov/pverbs/device/device.h \
	prov/pverbs/device/errmap.c \
	prov/pverbs/device/adapter.h \
	prov/pverbs/device/internal.h \
	prov/pverbs/device/memlock.c \
	prov/pverbs/device/native.c \
	prov/pverbs/device/native.h \
	prov/pverbs/device/nic.c \
	prov/pverbs/device/quirks.c \
	prov/pverbs/device/verbs56.h \
	prov/pverbs/dgram/ah.c \
	prov/pverbs/dgram/av.c \
	prov/pverbs/dgram/complete.c \
	prov/pverbs/dgram/dgram.h \
	prov/pverbs/dgram/domain.c \
	prov/pverbs/dgram/ep.c \
	prov/pverbs/dgram/group.c \
	prov/pverbs/dgram/info.c \
	prov/pverbs/dgram/internal.h \
	prov/pverbs/dgram/msg.c \
	prov/pverbs/dgram/path.c \
	prov/pverbs/dgram/port.c \
	prov/pverbs/dgram/post.h \
	prov/pverbs/dgram/qkey.c \
	prov/pverbs/domain.c \
	prov/pverbs/ep/bind.c \
	prov/pverbs/ep/enable.c \
	prov/pverbs/ep/ep.c \
	prov/pverbs/ep/ep.h \
	prov/pverbs/ep/internal.h \
	prov/pverbs/ep/opt.c \
	prov/pverbs/ep/stats.c \
	prov/pverbs/eq.c \
	prov/pverbs/fabric.c \
	prov/pverbs/flags.c \
	prov/pverbs/flags.h \
	prov/pverbs/info.c \
	prov/pverbs/init.c \
	prov/pverbs/mcast/address.c \
	prov/pverbs/mcast/cm.c \
	prov/pverbs/mcast/group.c \
	prov/pverbs/mcast/internal.h \
	prov/pverbs/mcast/join.c \
	prov/pverbs/mcast/linked.c \
	prov/pverbs/mcast/linked.h \
	prov/pverbs/mcast/mcast.h \
	prov/pverbs/mcast/member.c \
	prov/pverbs/mcast/port.c \
	prov/pverbs/mcast/report.c \
	prov/pverbs/mcast/route.c \
	prov/pverbs/mr.c \
	prov/pverbs/objects/completion.h \
	prov/pverbs/objects/connection.h \
	prov/pverbs/objects/datagram.h \
	prov/pverbs/objects/domain.h \
	prov/pverbs/objects/durable.h \
	prov/pverbs/objects/endpoint.h \
	prov/pverbs/objects/objects.c \
	prov/pverbs/objects/objects.h \
	prov/pverbs/objects/queue.h \
	prov/pverbs/persist/control/control.c \
	prov/pverbs/persist/control/control.h \
	prov/pverbs/persist/control/control_conn.c \
	prov/pverbs/persist/control/control_conn.h \
	prov/pverbs/persist/control/control_qp.c \
	prov/pverbs/persist/control/cookie.c \
	prov/pverbs/persist/control/cookie.h \
	prov/pverbs/persist/control/internal.h \
	prov/pverbs/persist/control/thread.c \
	prov/pverbs/persist/control/tick.c \
	prov/pverbs/persist/control/window.c \
	prov/pverbs/persist/durable.c \
	prov/pverbs/persist/facts/facts.c \
	prov/pverbs/persist/facts/facts.h \
	prov/pverbs/persist/initiator/batch.c \
	prov/pverbs/persist/initiator/batch.h \
	prov/pverbs/persist/initiator/commit.c \
	prov/pverbs/persist/initiator/commit.h \
	prov/pverbs/persist/initiator/defer.c \
	prov/pverbs/persist/initiator/defer.h \
	prov/pverbs/persist/initiator/group.c \
	prov/pverbs/persist/initiator/initiator.h \
	prov/pverbs/persist/initiator/internal.h \
	prov/pverbs/persist/initiator/outstanding.c \
	prov/pverbs/persist/initiator/plan_cache.c \
	prov/pverbs/persist/initiator/query.c \
	prov/pverbs/persist/initiator/request.c \
	prov/pverbs/persist/initiator/sends.c \
	prov/pverbs/persist/initiator/upgrade.c \
	prov/pverbs/persist/persist.h \
	prov/pverbs/persist/plan/dirty.c \
	prov/pverbs/persist/plan/dirty.h \
	prov/pverbs/persist/plan/plan.c \
	prov/pverbs/persist/plan/plan.h \
	prov/pverbs/persist/target/arrival.c \
	prov/pverbs/persist/target/internal.h \
	prov/pverbs/persist/target/message_ring.c \
	prov/pverbs/persist/target/pmem_region.c \
	prov/pverbs/persist/target/received.c \
	prov/pverbs/persist/target/replay.c \
	prov/pverbs/persist/target/replay_format.c \
	prov/pverbs/persist/target/respond.c \
	prov/pverbs/persist/target/target.h \
	prov/pverbs/pverbs.c \
	prov/pverbs/pverbs.h \
	prov/pverbs/qp/grh.c \
	prov/pverbs/qp/internal.h \
	prov/pverbs/qp/path.c \
	prov/pverbs/qp/qp.c \
	prov/pverbs/qp/qp.h \
	prov/pverbs/qp/srx.c \
	prov/pverbs/qp/srx_recv.c \
	prov/pverbs/wire/key.c \
	prov/pverbs/wire/key.h \
	prov/pverbs/wire/message.c \
	prov/pverbs/wire/message.h \
	prov/pverbs/wire/private_data.c \
	prov/pverbs/wire/private_data.h \
	prov/pverbs/wire/ud_addr.c \
	prov/pverbs/wire/ud_addr.h \
	prov/pverbs/wire/wire.h \
	prov/pverbs/xfer/atomic.c \
	prov/pverbs/xfer/atomic.h \
	prov/pverbs/xfer/atomic_query.c \
	prov/pverbs/xfer/deliver.c \
	prov/pverbs/xfer/fence.c \
	prov/pverbs/xfer/msg.c \
	prov/pverbs/xfer/op.h \
	prov/pverbs/xfer/rma.c \
	prov/pverbs/xfer/sink.c \
	prov/pverbs/xfer/tx.c \
	prov/pverbs/xfer/xfer.h

provider_LTLIBRARIES += prov/pverbs/libpverbs-fi.la
prov_pverbs_libpverbs_fi_la_SOURCES =
prov_pverbs_libpverbs_fi_la_LIBADD = prov/pverbs/libpverbs-objs.la
# libfabric unloads providers when a process ends; threads, the provider's own among them, go on until it has.
prov_pverbs_libpverbs_fi_la_LDFLAGS = \
	$(AM_LDFLAGS) -module -avoid-version -shared -export-symbols-regex '^fi_prov_ini$$' \
	-Wl,-z,nodelete
EXTRA_DIST += prov/pverbs/local.mk prov/pverbs/persist/rooms prov/pverbs/rooms
