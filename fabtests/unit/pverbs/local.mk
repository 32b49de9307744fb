# SPDX-License-Identifier: BSD-2-Clause
# Unit tests of prov/pverbs, on devices and an rdma_cm made of memory: fake_*.
%D%/%.o: private AM_CPPFLAGS += -I$(srcdir)/prov/pverbs
unit_tests += fabtests/unit/unit_pverbs
fabtests_unit_unit_pverbs_SOURCES = %D%/cm/test_accept.c %D%/cm/test_channel.c \
	%D%/cm/test_connect.c %D%/cm/test_keepalive.c %D%/cm/test_opt.c %D%/cm/test_pep.c \
	%D%/cm/test_request.c %D%/cm/test_request_data.c %D%/cm/test_state.c %D%/cq/test_cntr.c \
	%D%/cq/test_cntr_wait.c %D%/cq/test_cq.c %D%/cq/test_drain.c %D%/cq/test_drain_late.c \
	%D%/cq/test_hw.c %D%/cq/test_read.c %D%/cq/test_removal.c %D%/cq/test_wait.c \
	%D%/cq/world_cntr.c %D%/cq/world_cntr.h %D%/device/test_adapter.c %D%/device/test_device.c \
	%D%/device/test_errmap.c %D%/device/test_native.c %D%/device/test_nic.c \
	%D%/device/test_quirks.c %D%/dgram/test_ah.c %D%/dgram/test_av.c %D%/dgram/test_ep.c \
	%D%/dgram/test_info.c %D%/dgram/test_msg.c %D%/dgram/test_path.c %D%/dgram/test_prefix.c \
	%D%/dgram/test_source.c %D%/dgram/world_dgram.c %D%/dgram/world_dgram.h %D%/ep/test_ep.c \
	%D%/ep/test_opt.c %D%/ep/test_request.c %D%/ep/test_stats.c %D%/expect.c %D%/fake_call.c \
	%D%/fake_call.h %D%/fake_cm.c %D%/fake_cm.h %D%/fake_ex.c %D%/fake_ex.h %D%/fake_net.c \
	%D%/fake_net.h %D%/fake_queue.c %D%/fake_queue.h %D%/fake_verbs.c %D%/fake_verbs.h \
	%D%/mcast/fake_sa.c %D%/mcast/fake_sa.h %D%/mcast/test_address.c %D%/mcast/test_group.c \
	%D%/mcast/test_link.c %D%/mcast/test_many.c %D%/mcast/test_port_close.c \
	%D%/mcast/test_port_join.c %D%/mcast/test_port_kernel.c %D%/mcast/test_port_lost.c \
	%D%/mcast/test_port_routes.c %D%/mcast/test_rejoin.c %D%/mcast/test_route.c \
	%D%/mcast/world_mcast.c %D%/mcast/world_mcast.h %D%/mcast/world_port.c \
	%D%/mcast/world_port.h %D%/persist/control/control_conn.c \
	%D%/persist/control/control_conn.h %D%/persist/control/test_control.c \
	%D%/persist/control/test_control_conn.c %D%/persist/control/test_control_qp.c \
	%D%/persist/control/test_cookie.c %D%/persist/control/test_thread.c \
	%D%/persist/control/test_tick.c %D%/persist/control/test_window.c %D%/persist/durable.c \
	%D%/persist/durable.h %D%/persist/facts/test_facts.c %D%/persist/facts/test_pmem_mr.c \
	%D%/persist/fake_pmem.c %D%/persist/fake_pmem.h %D%/persist/initiator/test_batch.c \
	%D%/persist/initiator/test_batch_native.c %D%/persist/initiator/test_commit.c \
	%D%/persist/initiator/test_defer.c %D%/persist/initiator/test_group.c \
	%D%/persist/initiator/test_outstanding.c %D%/persist/initiator/test_plan_cache.c \
	%D%/persist/initiator/test_query.c %D%/persist/initiator/test_sends.c \
	%D%/persist/initiator/test_upgrade.c %D%/persist/plan/plan_query.h \
	%D%/persist/plan/plan_vectors.h %D%/persist/plan/test_dirty.c %D%/persist/plan/test_plan.c \
	%D%/persist/plan/test_plan_choice.c %D%/persist/plan/test_plan_truths.c \
	%D%/persist/pmem_file.c %D%/persist/pmem_file.h %D%/persist/target/receiver.c \
	%D%/persist/target/receiver.h %D%/persist/target/test_arrival.c \
	%D%/persist/target/test_message_ring.c %D%/persist/target/test_received.c \
	%D%/persist/target/test_replay.c %D%/persist/target/test_replay_format.c \
	%D%/persist/target/test_respond.c %D%/persist/target/test_respond_turns.c \
	%D%/qp/test_path.c %D%/qp/test_qp.c %D%/qp/test_srx.c %D%/test_domain.c %D%/test_eq.c \
	%D%/test_flags.c %D%/test_info.c %D%/test_info_addr.c %D%/test_info_mr.c %D%/test_init.c \
	%D%/test_mr.c %D%/test_threads.c %D%/wire/test_key.c %D%/wire/test_message.c \
	%D%/wire/test_private_data.c %D%/wire/test_ud_addr.c %D%/world.c %D%/world.h \
	%D%/world_cm.c %D%/world_cm.h %D%/xfer/test_atomic.c %D%/xfer/test_deliver.c \
	%D%/xfer/test_fence.c %D%/xfer/test_msg.c %D%/xfer/test_msg_recv.c %D%/xfer/test_rma.c \
	%D%/xfer/test_tx.c %D%/xfer/test_tx_more.c fabtests/unit/common/pmem/tree.c \
	fabtests/unit/common/pmem/tree.h fabtests/unit/pverbs_sa/fake_umad.c \
	fabtests/unit/pverbs_sa/fake_umad.h
# The program's own ibv_*, rdma_*, umad_* and getifaddrs come before those of the libraries.
fabtests_unit_unit_pverbs_LDFLAGS = $(AM_LDFLAGS) $(CT_WRAP_TIME) -Wl,--wrap=crn_addr_source \
	-Wl,--wrap=crn_wait_clear,--wrap=eventfd_read,--wrap=fi_version,--wrap=pvb_adapter_detect
fabtests_unit_unit_pverbs_LDADD = $(ct_libs) $(pverbs_libs)
