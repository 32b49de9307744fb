# SPDX-License-Identifier: BSD-2-Clause
# Unit tests of prov/pverbs, on devices and an rdma_cm made of memory: fake_*.

check_PROGRAMS += fabtests/unit/unit_pverbs
TESTS += fabtests/unit/unit_pverbs
fabtests_unit_unit_pverbs_SOURCES = \
	fabtests/unit/pverbs/cm/test_accept.c \
	fabtests/unit/pverbs/cm/test_channel.c \
	fabtests/unit/pverbs/cm/test_connect.c \
	fabtests/unit/pverbs/cm/test_keepalive.c \
	fabtests/unit/pverbs/cm/test_opt.c \
	fabtests/unit/pverbs/cm/test_pep.c \
	fabtests/unit/pverbs/cm/test_request.c \
	fabtests/unit/pverbs/cm/test_request_data.c \
	fabtests/unit/pverbs/cm/test_state.c \
	fabtests/unit/pverbs/cq/test_cntr.c \
	fabtests/unit/pverbs/cq/test_cntr_wait.c \
	fabtests/unit/pverbs/cq/test_cq.c \
	fabtests/unit/pverbs/cq/test_drain.c \
	fabtests/unit/pverbs/cq/test_drain_late.c \
	fabtests/unit/pverbs/cq/test_hw.c \
	fabtests/unit/pverbs/cq/test_read.c \
	fabtests/unit/pverbs/cq/test_removal.c \
	fabtests/unit/pverbs/cq/test_wait.c \
	fabtests/unit/pverbs/cq/world_cntr.c \
	fabtests/unit/pverbs/cq/world_cntr.h \
	fabtests/unit/pverbs/device/test_adapter.c \
	fabtests/unit/pverbs/device/test_device.c \
	fabtests/unit/pverbs/device/test_errmap.c \
	fabtests/unit/pverbs/device/test_native.c \
	fabtests/unit/pverbs/device/test_nic.c \
	fabtests/unit/pverbs/device/test_quirks.c \
	fabtests/unit/pverbs/dgram/test_ah.c \
	fabtests/unit/pverbs/dgram/test_av.c \
	fabtests/unit/pverbs/dgram/test_ep.c \
	fabtests/unit/pverbs/dgram/test_info.c \
	fabtests/unit/pverbs/dgram/test_msg.c \
	fabtests/unit/pverbs/dgram/test_prefix.c \
	fabtests/unit/pverbs/dgram/test_path.c \
	fabtests/unit/pverbs/dgram/test_source.c \
	fabtests/unit/pverbs/dgram/world_dgram.c \
	fabtests/unit/pverbs/dgram/world_dgram.h \
	fabtests/unit/pverbs/ep/test_ep.c \
	fabtests/unit/pverbs/ep/test_opt.c \
	fabtests/unit/pverbs/ep/test_request.c \
	fabtests/unit/pverbs/ep/test_stats.c \
	fabtests/unit/pverbs/expect.c \
	fabtests/unit/pverbs/fake_call.c \
	fabtests/unit/pverbs/fake_call.h \
	fabtests/unit/pverbs/fake_cm.c \
	fabtests/unit/pverbs/fake_cm.h \
	fabtests/unit/pverbs/fake_ex.c \
	fabtests/unit/pverbs/fake_ex.h \
	fabtests/unit/pverbs/fake_net.c \
	fabtests/unit/pverbs/fake_net.h \
	fabtests/unit/pverbs/fake_queue.c \
	fabtests/unit/pverbs/fake_queue.h \
	fabtests/unit/pverbs/fake_verbs.c \
	fabtests/unit/pverbs/fake_verbs.h \
	fabtests/unit/pverbs/mcast/fake_sa.c \
	fabtests/unit/pverbs/mcast/fake_sa.h \
	fabtests/unit/pverbs/mcast/test_address.c \
	fabtests/unit/pverbs/mcast/test_group.c \
	fabtests/unit/pverbs/mcast/test_many.c \
	fabtests/unit/pverbs/mcast/test_rejoin.c \
	fabtests/unit/pverbs/mcast/test_link.c \
	fabtests/unit/pverbs/mcast/test_port_close.c \
	fabtests/unit/pverbs/mcast/test_port_join.c \
	fabtests/unit/pverbs/mcast/test_port_kernel.c \
	fabtests/unit/pverbs/mcast/test_port_lost.c \
	fabtests/unit/pverbs/mcast/test_port_routes.c \
	fabtests/unit/pverbs/mcast/test_route.c \
	fabtests/unit/pverbs/mcast/world_mcast.c \
	fabtests/unit/pverbs/mcast/world_mcast.h \
	fabtests/unit/pverbs/mcast/world_port.c \
	fabtests/unit/pverbs/mcast/world_port.h \
	fabtests/unit/pverbs/persist/control/control_conn.c \
	fabtests/unit/pverbs/persist/control/control_conn.h \
	fabtests/unit/pverbs/persist/control/test_control.c \
	fabtests/unit/pverbs/persist/control/test_control_conn.c \
	fabtests/unit/pverbs/persist/control/test_control_qp.c \
	fabtests/unit/pverbs/persist/control/test_cookie.c \
	fabtests/unit/pverbs/persist/control/test_thread.c \
	fabtests/unit/pverbs/persist/control/test_tick.c \
	fabtests/unit/pverbs/persist/control/test_window.c \
	fabtests/unit/pverbs/persist/durable.c \
	fabtests/unit/pverbs/persist/durable.h \
	fabtests/unit/pverbs/persist/facts/test_facts.c \
	fabtests/unit/pverbs/persist/facts/test_pmem_mr.c \
	fabtests/unit/pverbs/persist/fake_pmem.c \
	fabtests/unit/pverbs/persist/fake_pmem.h \
	fabtests/unit/pverbs/persist/initiator/test_batch.c \
	fabtests/unit/pverbs/persist/initiator/test_batch_native.c \
	fabtests/unit/pverbs/persist/initiator/test_commit.c \
	fabtests/unit/pverbs/persist/initiator/test_defer.c \
	fabtests/unit/pverbs/persist/initiator/test_group.c \
	fabtests/unit/pverbs/persist/initiator/test_outstanding.c \
	fabtests/unit/pverbs/persist/initiator/test_plan_cache.c \
	fabtests/unit/pverbs/persist/initiator/test_query.c \
	fabtests/unit/pverbs/persist/initiator/test_sends.c \
	fabtests/unit/pverbs/persist/initiator/test_upgrade.c \
	fabtests/unit/pverbs/persist/plan/plan_query.h \
	fabtests/unit/pverbs/persist/plan/plan_vectors.h \
	fabtests/unit/pverbs/persist/plan/test_dirty.c \
	fabtests/unit/pverbs/persist/plan/test_plan.c \
	fabtests/unit/pverbs/persist/plan/test_plan_choice.c \
	fabtests/unit/pverbs/persist/plan/test_plan_truths.c \
	fabtests/unit/pverbs/persist/pmem_file.c \
	fabtests/unit/pverbs/persist/pmem_file.h \
	fabtests/unit/pverbs/persist/target/receiver.c \
	fabtests/unit/pverbs/persist/target/receiver.h \
	fabtests/unit/pverbs/persist/target/test_arrival.c \
	fabtests/unit/pverbs/persist/target/test_message_ring.c \
	fabtests/unit/pverbs/persist/target/test_received.c \
	fabtests/unit/pverbs/persist/target/test_replay.c \
	fabtests/unit/pverbs/persist/target/test_replay_format.c \
	fabtests/unit/pverbs/persist/target/test_respond.c \
	fabtests/unit/pverbs/persist/target/test_respond_turns.c \
	fabtests/unit/pverbs/qp/test_path.c \
	fabtests/unit/pverbs/qp/test_qp.c \
	fabtests/unit/pverbs/qp/test_srx.c \
	fabtests/unit/pverbs/test_domain.c \
	fabtests/unit/pverbs/test_eq.c \
	fabtests/unit/pverbs/test_flags.c \
	fabtests/unit/pverbs/test_info.c \
	fabtests/unit/pverbs/test_info_addr.c \
	fabtests/unit/pverbs/test_info_mr.c \
	fabtests/unit/pverbs/test_init.c \
	fabtests/unit/pverbs/test_mr.c \
	fabtests/unit/pverbs/test_threads.c \
	fabtests/unit/common/pmem/tree.c \
	fabtests/unit/common/pmem/tree.h \
	fabtests/unit/pverbs_sa/fake_umad.c \
	fabtests/unit/pverbs_sa/fake_umad.h \
	fabtests/unit/pverbs/wire/test_key.c \
	fabtests/unit/pverbs/wire/test_message.c \
	fabtests/unit/pverbs/wire/test_private_data.c \
	fabtests/unit/pverbs/wire/test_ud_addr.c \
	fabtests/unit/pverbs/world.c \
	fabtests/unit/pverbs/world.h \
	fabtests/unit/pverbs/world_cm.c \
	fabtests/unit/pverbs/world_cm.h \
	fabtests/unit/pverbs/xfer/test_atomic.c \
	fabtests/unit/pverbs/xfer/test_deliver.c \
	fabtests/unit/pverbs/xfer/test_fence.c \
	fabtests/unit/pverbs/xfer/test_msg.c \
	fabtests/unit/pverbs/xfer/test_msg_recv.c \
	fabtests/unit/pverbs/xfer/test_rma.c \
	fabtests/unit/pverbs/xfer/test_tx.c \
	fabtests/unit/pverbs/xfer/test_tx_more.c
nodist_EXTRA_fabtests_unit_unit_pverbs_SOURCES = fabtests/unit/dummy.cc
fabtests_unit_unit_pverbs_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/fabtests/unit \
	-I$(top_srcdir)/prov/pverbs $(LIBFABRIC_CFLAGS) $(VERBS_CFLAGS)
# The program's own ibv_*, rdma_*, umad_* and getifaddrs come before those of the libraries.
fabtests_unit_unit_pverbs_LDFLAGS = $(AM_LDFLAGS) $(CT_WRAP_ALLOC) $(CT_WRAP_LOG) \
	$(CT_WRAP_TIME) -Wl,--wrap=crn_addr_source -Wl,--wrap=crn_wait_clear \
	-Wl,--wrap=eventfd_read -Wl,--wrap=fi_version \
	-Wl,--wrap=pvb_adapter_detect
fabtests_unit_unit_pverbs_LDADD = fabtests/unit/libct.la \
	prov/pverbs/libpverbs-objs.la $(LIBFABRIC_LIBS) $(VERBS_LIBS)
