# SPDX-License-Identifier: BSD-2-Clause
# The provider, as objects of a convenience library so that programs and unit tests reach them.
%D%/%.o %D%/%.lo: private AM_CPPFLAGS += -I$(srcdir)/%D%
noinst_LIBRARIES += %D%/libpverbs-objs.a
%C%_libpverbs_objs_a_SOURCES = %D%/cm/channel.c %D%/cm/cm.h %D%/cm/ep_ops.c %D%/cm/internal.h \
	%D%/cm/keepalive.c %D%/cm/opt.c %D%/cm/pep.c %D%/cm/request.c %D%/cm/request.h \
	%D%/cm/state.c %D%/cm/transition.c %D%/cq/async.c %D%/cq/cntr.c %D%/cq/cq.c %D%/cq/cq.h \
	%D%/cq/hw.c %D%/cq/internal.h %D%/cq/read.c %D%/cq/removal.c %D%/cq/removal.h \
	%D%/cq/source.c %D%/device/adapter.c %D%/device/adapter.h %D%/device/address.c \
	%D%/device/device.c %D%/device/device.h %D%/device/errmap.c %D%/device/internal.h \
	%D%/device/memlock.c %D%/device/native.c %D%/device/native.h %D%/device/nic.c \
	%D%/device/quirks.c %D%/device/verbs56.h %D%/dgram/ah.c %D%/dgram/av.c \
	%D%/dgram/complete.c %D%/dgram/dgram.h %D%/dgram/domain.c %D%/dgram/ep.c %D%/dgram/group.c \
	%D%/dgram/info.c %D%/dgram/internal.h %D%/dgram/msg.c %D%/dgram/path.c %D%/dgram/port.c \
	%D%/dgram/post.h %D%/dgram/qkey.c %D%/domain.c %D%/ep/bind.c %D%/ep/enable.c %D%/ep/ep.c \
	%D%/ep/ep.h %D%/ep/internal.h %D%/ep/opt.c %D%/ep/stats.c %D%/eq.c %D%/fabric.c \
	%D%/flags.c %D%/flags.h %D%/groups/answer.c %D%/groups/ask.c %D%/groups/groups.c \
	%D%/groups/groups.h %D%/groups/internal.h %D%/groups/step.c %D%/groups/table.c \
	%D%/groups/user.c %D%/info.c %D%/init.c %D%/link/link.c %D%/link/link.h \
	%D%/mcast/address.c %D%/mcast/cm.c %D%/mcast/group.c %D%/mcast/internal.h %D%/mcast/join.c \
	%D%/mcast/linked.c %D%/mcast/linked.h %D%/mcast/mcast.h %D%/mcast/member.c \
	%D%/mcast/port.c %D%/mcast/report.c %D%/mcast/route.c %D%/mr.c %D%/objects/completion.h \
	%D%/objects/connection.h %D%/objects/datagram.h %D%/objects/domain.h %D%/objects/durable.h \
	%D%/objects/endpoint.h %D%/objects/objects.c %D%/objects/objects.h %D%/objects/queue.h \
	%D%/persist/control/control.c %D%/persist/control/control.h \
	%D%/persist/control/control_conn.c %D%/persist/control/control_conn.h \
	%D%/persist/control/control_qp.c %D%/persist/control/cookie.c %D%/persist/control/cookie.h \
	%D%/persist/control/internal.h %D%/persist/control/thread.c %D%/persist/control/tick.c \
	%D%/persist/control/window.c %D%/persist/durable.c %D%/persist/facts/facts.c \
	%D%/persist/facts/facts.h %D%/persist/initiator/batch.c %D%/persist/initiator/batch.h \
	%D%/persist/initiator/commit.c %D%/persist/initiator/commit.h \
	%D%/persist/initiator/defer.c %D%/persist/initiator/defer.h %D%/persist/initiator/group.c \
	%D%/persist/initiator/initiator.h %D%/persist/initiator/internal.h \
	%D%/persist/initiator/outstanding.c %D%/persist/initiator/plan_cache.c \
	%D%/persist/initiator/query.c %D%/persist/initiator/request.c \
	%D%/persist/initiator/sends.c %D%/persist/initiator/upgrade.c %D%/persist/persist.h \
	%D%/persist/plan/dirty.c %D%/persist/plan/dirty.h %D%/persist/plan/plan.c \
	%D%/persist/plan/plan.h %D%/persist/target/arrival.c %D%/persist/target/internal.h \
	%D%/persist/target/message_ring.c %D%/persist/target/pmem_region.c \
	%D%/persist/target/received.c %D%/persist/target/replay.c \
	%D%/persist/target/replay_format.c %D%/persist/target/respond.c \
	%D%/persist/target/target.h %D%/pverbs.c %D%/pverbs.h %D%/qp/grh.c %D%/qp/internal.h \
	%D%/qp/path.c %D%/qp/qp.c %D%/qp/qp.h %D%/qp/srx.c %D%/qp/srx_recv.c %D%/sa/mc_map.c \
	%D%/sa/mc_map.h %D%/sa/sa.h %D%/sa/sa_client.c %D%/sa/sa_client.h %D%/sa/sa_mad.c \
	%D%/sa/sa_mad.h %D%/sa/sa_rmpp.c %D%/sa/sa_rmpp.h %D%/sa/sa_umad.c %D%/sa/sa_umad.h \
	%D%/sa/sa_wait.c %D%/sa/sa_watch.c %D%/sa/sa_watch.h %D%/wire/key.c %D%/wire/key.h \
	%D%/wire/message.c %D%/wire/message.h %D%/wire/private_data.c %D%/wire/private_data.h \
	%D%/wire/ud_addr.c %D%/wire/ud_addr.h %D%/wire/wire.h %D%/xfer/atomic.c %D%/xfer/atomic.h \
	%D%/xfer/atomic_query.c %D%/xfer/deliver.c %D%/xfer/fence.c %D%/xfer/msg.c %D%/xfer/op.h \
	%D%/xfer/rma.c %D%/xfer/sink.c %D%/xfer/tx.c %D%/xfer/xfer.h
pverbs_libs = %D%/libpverbs-objs.a $(pmem_libs) $(VERBS_LIBS) $(UMAD_LIBS) $(ISAL_LIBS)
# For what loads no provider: sa, link and groups, without and with a port to send from.
pverbs_sa_libs = %D%/libpverbs-objs.a $(common_libs)
pverbs_umad_libs = $(pverbs_sa_libs) $(UMAD_LIBS)

provider_LTLIBRARIES += %D%/libpverbs-fi.la
%C%_libpverbs_fi_la_SOURCES =
%C%_libpverbs_fi_la_DEPENDENCIES = $(filter %.a,$(pverbs_libs))
%C%_libpverbs_fi_la_LDFLAGS = $(provider_ldflags) $(call all_of,%D%/libpverbs-objs.a,$(pverbs_libs))
EXTRA_DIST += %D%/persist/rooms %D%/rooms
