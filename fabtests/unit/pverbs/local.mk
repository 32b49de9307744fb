# SPDX-License-Identifier: BSD-2-Clause
# Unit tests of prov/pverbs, on devices and an rdma_cm made of memory: fake_*.

check_PROGRAMS += fabtests/unit/unit_pverbs
TESTS += fabtests/unit/unit_pverbs
fabtests_unit_unit_pverbs_SOURCES = \
	fabtests/unit/pverbs/expect.c \
	fabtests/unit/pverbs/fake_call.c \
	fabtests/unit/pverbs/fake_call.h \
	fabtests/unit/pverbs/fake_cm.c \
	fabtests/unit/pverbs/fake_cm.h \
	fabtests/unit/pverbs/fake_net.c \
	fabtests/unit/pverbs/fake_net.h \
	fabtests/unit/pverbs/fake_queue.c \
	fabtests/unit/pverbs/fake_queue.h \
	fabtests/unit/pverbs/fake_verbs.c \
	fabtests/unit/pverbs/fake_verbs.h \
	fabtests/unit/pverbs/persist/durable.c \
	fabtests/unit/pverbs/persist/durable.h \
	fabtests/unit/pverbs/persist/fake_ex.c \
	fabtests/unit/pverbs/persist/fake_ex.h \
	fabtests/unit/pverbs/persist/fake_pmem.c \
	fabtests/unit/pverbs/persist/fake_pmem.h \
	fabtests/unit/pverbs/persist/plan_query.h \
	fabtests/unit/pverbs/persist/plan_vectors.h \
	fabtests/unit/pverbs/persist/pmem_file.c \
	fabtests/unit/pverbs/persist/pmem_file.h \
	fabtests/unit/pverbs/persist/receiver.c \
	fabtests/unit/pverbs/persist/receiver.h \
	fabtests/unit/pverbs/persist/second.c \
	fabtests/unit/pverbs/persist/second.h \
	fabtests/unit/pverbs/persist/test_adapter.c \
	fabtests/unit/pverbs/persist/test_arrival.c \
	fabtests/unit/pverbs/persist/test_batch.c \
	fabtests/unit/pverbs/persist/test_batch_native.c \
	fabtests/unit/pverbs/persist/test_commit.c \
	fabtests/unit/pverbs/persist/test_control.c \
	fabtests/unit/pverbs/persist/test_declare.c \
	fabtests/unit/pverbs/persist/test_desc.c \
	fabtests/unit/pverbs/persist/test_dirty.c \
	fabtests/unit/pverbs/persist/test_facts.c \
	fabtests/unit/pverbs/persist/test_group.c \
	fabtests/unit/pverbs/persist/test_hold.c \
	fabtests/unit/pverbs/persist/test_lane.c \
	fabtests/unit/pverbs/persist/test_lift.c \
	fabtests/unit/pverbs/persist/test_mapping.c \
	fabtests/unit/pverbs/persist/test_native.c \
	fabtests/unit/pverbs/persist/test_plan.c \
	fabtests/unit/pverbs/persist/test_plan_choice.c \
	fabtests/unit/pverbs/persist/test_plan_truths.c \
	fabtests/unit/pverbs/persist/test_pmem_mr.c \
	fabtests/unit/pverbs/persist/test_query.c \
	fabtests/unit/pverbs/persist/test_received.c \
	fabtests/unit/pverbs/persist/test_region.c \
	fabtests/unit/pverbs/persist/test_replay.c \
	fabtests/unit/pverbs/persist/test_respond.c \
	fabtests/unit/pverbs/persist/test_respond_turns.c \
	fabtests/unit/pverbs/persist/test_ring.c \
	fabtests/unit/pverbs/persist/test_sealed.c \
	fabtests/unit/pverbs/persist/test_second.c \
	fabtests/unit/pverbs/persist/test_sends.c \
	fabtests/unit/pverbs/persist/test_ticket.c \
	fabtests/unit/pverbs/persist/test_under_way.c \
	fabtests/unit/pverbs/persist/test_tick.c \
	fabtests/unit/pverbs/persist/test_usual.c \
	fabtests/unit/pverbs/persist/test_window.c \
	fabtests/unit/pverbs/persist/test_wire.c \
	fabtests/unit/pverbs/persist/tree.c \
	fabtests/unit/pverbs/persist/tree.h \
	fabtests/unit/pverbs/test_atomic.c \
	fabtests/unit/pverbs/test_cm_accept.c \
	fabtests/unit/pverbs/test_cm_channel.c \
	fabtests/unit/pverbs/test_cm_connect.c \
	fabtests/unit/pverbs/test_cm_data.c \
	fabtests/unit/pverbs/test_cm_opt.c \
	fabtests/unit/pverbs/test_cm_request.c \
	fabtests/unit/pverbs/test_cm_state.c \
	fabtests/unit/pverbs/test_cntr.c \
	fabtests/unit/pverbs/test_cntr_wait.c \
	fabtests/unit/pverbs/test_conn_qp.c \
	fabtests/unit/pverbs/test_cq.c \
	fabtests/unit/pverbs/test_cq_drain.c \
	fabtests/unit/pverbs/test_cq_drain_late.c \
	fabtests/unit/pverbs/test_cq_hw.c \
	fabtests/unit/pverbs/test_cq_read.c \
	fabtests/unit/pverbs/test_cq_wait.c \
	fabtests/unit/pverbs/test_deliver.c \
	fabtests/unit/pverbs/test_device.c \
	fabtests/unit/pverbs/test_domain.c \
	fabtests/unit/pverbs/test_ep.c \
	fabtests/unit/pverbs/test_ep_opt.c \
	fabtests/unit/pverbs/test_ep_request.c \
	fabtests/unit/pverbs/test_eq.c \
	fabtests/unit/pverbs/test_errmap.c \
	fabtests/unit/pverbs/test_fence.c \
	fabtests/unit/pverbs/test_flags.c \
	fabtests/unit/pverbs/test_info.c \
	fabtests/unit/pverbs/test_info_addr.c \
	fabtests/unit/pverbs/test_info_mr.c \
	fabtests/unit/pverbs/test_init.c \
	fabtests/unit/pverbs/test_keepalive.c \
	fabtests/unit/pverbs/test_mr.c \
	fabtests/unit/pverbs/test_msg.c \
	fabtests/unit/pverbs/test_msg_recv.c \
	fabtests/unit/pverbs/test_nic.c \
	fabtests/unit/pverbs/test_path.c \
	fabtests/unit/pverbs/test_pep.c \
	fabtests/unit/pverbs/test_removal.c \
	fabtests/unit/pverbs/test_request.c \
	fabtests/unit/pverbs/test_rma.c \
	fabtests/unit/pverbs/test_srx.c \
	fabtests/unit/pverbs/test_stats.c \
	fabtests/unit/pverbs/test_threads.c \
	fabtests/unit/pverbs/test_tx.c \
	fabtests/unit/pverbs/test_tx_more.c \
	fabtests/unit/pverbs/world.c \
	fabtests/unit/pverbs/world.h \
	fabtests/unit/pverbs/world_cm.c \
	fabtests/unit/pverbs/world_cm.h \
	fabtests/unit/pverbs/world_cntr.c \
	fabtests/unit/pverbs/world_cntr.h
nodist_EXTRA_fabtests_unit_unit_pverbs_SOURCES = fabtests/unit/dummy.cc
fabtests_unit_unit_pverbs_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/fabtests/unit \
	-I$(top_srcdir)/prov/pverbs $(LIBFABRIC_CFLAGS) $(VERBS_CFLAGS)
# The program's own ibv_*, rdma_* and getifaddrs come before those of the libraries.
fabtests_unit_unit_pverbs_LDFLAGS = $(AM_LDFLAGS) $(CT_WRAP_ALLOC) $(CT_WRAP_LOG) \
	$(CT_WRAP_TIME) -Wl,--wrap=crn_addr_source -Wl,--wrap=crn_wait_clear \
	-Wl,--wrap=fi_version -Wl,--wrap=pvb_adapter_detect
fabtests_unit_unit_pverbs_LDADD = fabtests/unit/libct.la \
	prov/pverbs/libpverbs-objs.la $(LIBFABRIC_LIBS) $(VERBS_LIBS)
