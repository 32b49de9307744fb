# Functional tests: two-process programs for any provider. One program is one fi_cairn_*.c and
# the files of its cases; the harness (fct_*) is shared.
noinst_LIBRARIES += fabtests/functional/libfct.a
fabtests_functional_libfct_a_CPPFLAGS = $(AM_CPPFLAGS) $(LIBFABRIC_CFLAGS) $(CRYPTO_CFLAGS)
fabtests_functional_libfct_a_SOURCES = \
	fabtests/functional/fct.h \
	fabtests/functional/fct_fabric.h \
	fabtests/functional/fct_ctl.c \
	fabtests/functional/fct_event.c \
	fabtests/functional/fct_frame.c \
	fabtests/functional/fct_frame.h \
	fabtests/functional/fct_info.c \
	fabtests/functional/fct_link.c \
	fabtests/functional/fct_main.c \
	fabtests/functional/fct_mem.c \
	fabtests/functional/fct_opts.c \
	fabtests/functional/fct_progress.c \
	fabtests/functional/fct_report.c \
	fabtests/functional/fct_wait.c

FCT_LDADD = fabtests/functional/libfct.a $(LIBFABRIC_LIBS) $(CRYPTO_LIBS) -lpthread

bin_PROGRAMS += fabtests/functional/fi_cairn_atomic
fabtests_functional_fi_cairn_atomic_CPPFLAGS = $(AM_CPPFLAGS) $(LIBFABRIC_CFLAGS) $(CRYPTO_CFLAGS)
fabtests_functional_fi_cairn_atomic_LDADD = $(FCT_LDADD)
fabtests_functional_fi_cairn_atomic_SOURCES = \
	fabtests/functional/atomic.c \
	fabtests/functional/atomic.h \
	fabtests/functional/atomic_err.c \
	fabtests/functional/atomic_forms.c \
	fabtests/functional/atomic_use.c

bin_PROGRAMS += fabtests/functional/fi_cairn_close
fabtests_functional_fi_cairn_close_CPPFLAGS = $(AM_CPPFLAGS) $(LIBFABRIC_CFLAGS) $(CRYPTO_CFLAGS)
fabtests_functional_fi_cairn_close_LDADD = $(FCT_LDADD) -ldl
fabtests_functional_fi_cairn_close_SOURCES = \
	fabtests/functional/close_order.c \
	fabtests/functional/close_order.h \
	fabtests/functional/fault.h \
	fabtests/functional/fault_arm.c \
	fabtests/functional/fault_calls.c \
	fabtests/functional/fault_hook.c \
	fabtests/functional/fault_scene.c \
	fabtests/functional/fault_step.h \
	fabtests/functional/fi_cairn_close.c

bin_PROGRAMS += fabtests/functional/fi_cairn_cm
fabtests_functional_fi_cairn_cm_CPPFLAGS = $(AM_CPPFLAGS) $(LIBFABRIC_CFLAGS) $(CRYPTO_CFLAGS)
fabtests_functional_fi_cairn_cm_LDADD = $(FCT_LDADD)
fabtests_functional_fi_cairn_cm_SOURCES = \
	fabtests/functional/cm.c \
	fabtests/functional/cm.h \
	fabtests/functional/cm_data.c \
	fabtests/functional/cm_end.c \
	fabtests/functional/cm_many.c \
	fabtests/functional/cm_state.c \
	fabtests/functional/cm_wait.c

bin_PROGRAMS += fabtests/functional/fi_cairn_cntr
fabtests_functional_fi_cairn_cntr_CPPFLAGS = $(AM_CPPFLAGS) $(LIBFABRIC_CFLAGS) $(CRYPTO_CFLAGS)
fabtests_functional_fi_cairn_cntr_LDADD = $(FCT_LDADD)
fabtests_functional_fi_cairn_cntr_SOURCES = \
	fabtests/functional/cntr.c \
	fabtests/functional/cntr.h \
	fabtests/functional/cntr_count.c \
	fabtests/functional/cntr_value.c \
	fabtests/functional/cntr_wait.c

bin_PROGRAMS += fabtests/functional/fi_cairn_cq
fabtests_functional_fi_cairn_cq_CPPFLAGS = $(AM_CPPFLAGS) $(LIBFABRIC_CFLAGS) $(CRYPTO_CFLAGS)
fabtests_functional_fi_cairn_cq_LDADD = $(FCT_LDADD)
fabtests_functional_fi_cairn_cq_SOURCES = \
	fabtests/functional/cq.c \
	fabtests/functional/cq.h \
	fabtests/functional/cq_open.c \
	fabtests/functional/cq_read.c \
	fabtests/functional/cq_wait.c

bin_PROGRAMS += fabtests/functional/fi_cairn_commit
fabtests_functional_fi_cairn_commit_CPPFLAGS = $(AM_CPPFLAGS) $(LIBFABRIC_CFLAGS) $(CRYPTO_CFLAGS)
fabtests_functional_fi_cairn_commit_LDADD = $(FCT_LDADD)
fabtests_functional_fi_cairn_commit_SOURCES = \
	fabtests/functional/durable.c \
	fabtests/functional/durable.h \
	fabtests/functional/durable_before.c \
	fabtests/functional/durable_default.c \
	fabtests/functional/durable_err.c \
	fabtests/functional/durable_flow.c \
	fabtests/functional/durable_forms.c \
	fabtests/functional/durable_other.c \
	fabtests/functional/durable_replay.c \
	fabtests/functional/durable_without.c \
	fabtests/functional/fi_cairn_commit.c
bin_PROGRAMS += fabtests/functional/fi_cairn_dgram
fabtests_functional_fi_cairn_dgram_CPPFLAGS = $(AM_CPPFLAGS) $(LIBFABRIC_CFLAGS) $(CRYPTO_CFLAGS)
fabtests_functional_fi_cairn_dgram_LDADD = $(FCT_LDADD)
fabtests_functional_fi_cairn_dgram_SOURCES = \
	fabtests/functional/dgram.c \
	fabtests/functional/dgram.h \
	fabtests/functional/dgram_count.c \
	fabtests/functional/dgram_forms.c \
	fabtests/functional/dgram_lossy.c \
	fabtests/functional/dgram_use.c

bin_PROGRAMS += fabtests/functional/fi_cairn_mcast
fabtests_functional_fi_cairn_mcast_CPPFLAGS = $(AM_CPPFLAGS) $(LIBFABRIC_CFLAGS) $(CRYPTO_CFLAGS)
fabtests_functional_fi_cairn_mcast_LDADD = $(FCT_LDADD)
fabtests_functional_fi_cairn_mcast_SOURCES = \
	fabtests/functional/mcast.c \
	fabtests/functional/mcast.h \
	fabtests/functional/mcast_join.c \
	fabtests/functional/mcast_use.c

bin_PROGRAMS += fabtests/functional/fi_cairn_end
fabtests_functional_fi_cairn_end_CPPFLAGS = $(AM_CPPFLAGS) $(LIBFABRIC_CFLAGS) $(CRYPTO_CFLAGS)
fabtests_functional_fi_cairn_end_LDADD = $(FCT_LDADD)
fabtests_functional_fi_cairn_end_SOURCES = fabtests/functional/fi_cairn_end.c

bin_PROGRAMS += fabtests/functional/fi_cairn_eq
fabtests_functional_fi_cairn_eq_CPPFLAGS = $(AM_CPPFLAGS) $(LIBFABRIC_CFLAGS) $(CRYPTO_CFLAGS)
fabtests_functional_fi_cairn_eq_LDADD = $(FCT_LDADD)
fabtests_functional_fi_cairn_eq_SOURCES = fabtests/functional/fi_cairn_eq.c

bin_PROGRAMS += fabtests/functional/fi_cairn_file
fabtests_functional_fi_cairn_file_CPPFLAGS = $(AM_CPPFLAGS) $(LIBFABRIC_CFLAGS) $(CRYPTO_CFLAGS)
fabtests_functional_fi_cairn_file_LDADD = $(FCT_LDADD)
fabtests_functional_fi_cairn_file_SOURCES = \
	fabtests/functional/fi_cairn_file.c \
	fabtests/functional/file.c \
	fabtests/functional/file.h \
	fabtests/functional/file_recv.c \
	fabtests/functional/file_send.c

bin_PROGRAMS += fabtests/functional/fi_cairn_getinfo
fabtests_functional_fi_cairn_getinfo_CPPFLAGS = $(AM_CPPFLAGS) $(LIBFABRIC_CFLAGS) $(CRYPTO_CFLAGS)
fabtests_functional_fi_cairn_getinfo_LDADD = $(FCT_LDADD)
fabtests_functional_fi_cairn_getinfo_SOURCES = \
	fabtests/functional/gi.c \
	fabtests/functional/gi.h \
	fabtests/functional/gi_addr.c \
	fabtests/functional/gi_caps.c \
	fabtests/functional/gi_open.c

bin_PROGRAMS += fabtests/functional/fi_cairn_lost
fabtests_functional_fi_cairn_lost_CPPFLAGS = $(AM_CPPFLAGS) $(LIBFABRIC_CFLAGS) $(CRYPTO_CFLAGS)
fabtests_functional_fi_cairn_lost_LDADD = $(FCT_LDADD)
fabtests_functional_fi_cairn_lost_SOURCES = \
	fabtests/functional/fi_cairn_lost.c \
	fabtests/functional/lost.c \
	fabtests/functional/lost.h \
	fabtests/functional/lost_play.c \
	fabtests/functional/lost_kept.c \
	fabtests/functional/lost_pmem.c \
	fabtests/functional/lost_pmem_cq.c \
	fabtests/functional/lost_where.c \
	fabtests/functional/lost_where.h

bin_PROGRAMS += fabtests/functional/fi_cairn_mesh
fabtests_functional_fi_cairn_mesh_CPPFLAGS = $(AM_CPPFLAGS) $(LIBFABRIC_CFLAGS) $(CRYPTO_CFLAGS)
fabtests_functional_fi_cairn_mesh_LDADD = $(FCT_LDADD)
fabtests_functional_fi_cairn_mesh_SOURCES = \
	fabtests/functional/fi_cairn_mesh.c \
	fabtests/functional/mesh.c \
	fabtests/functional/mesh.h \
	fabtests/functional/mesh_use.c

bin_PROGRAMS += fabtests/functional/fi_cairn_many
fabtests_functional_fi_cairn_many_CPPFLAGS = $(AM_CPPFLAGS) $(LIBFABRIC_CFLAGS) $(CRYPTO_CFLAGS)
fabtests_functional_fi_cairn_many_LDADD = $(FCT_LDADD)
fabtests_functional_fi_cairn_many_SOURCES = \
	fabtests/functional/fi_cairn_many.c \
	fabtests/functional/many.c \
	fabtests/functional/many.h \
	fabtests/functional/many_conns.c \
	fabtests/functional/many_storm.c

bin_PROGRAMS += fabtests/functional/fi_cairn_mr
fabtests_functional_fi_cairn_mr_CPPFLAGS = $(AM_CPPFLAGS) $(LIBFABRIC_CFLAGS) $(CRYPTO_CFLAGS)
fabtests_functional_fi_cairn_mr_LDADD = $(FCT_LDADD)
fabtests_functional_fi_cairn_mr_SOURCES = \
	fabtests/functional/mr_bad.c \
	fabtests/functional/mr_pmem.c \
	fabtests/functional/mr_reg.c \
	fabtests/functional/mr_use.c

bin_PROGRAMS += fabtests/functional/fi_cairn_msg
fabtests_functional_fi_cairn_msg_CPPFLAGS = $(AM_CPPFLAGS) $(LIBFABRIC_CFLAGS) $(CRYPTO_CFLAGS)
fabtests_functional_fi_cairn_msg_LDADD = $(FCT_LDADD)
fabtests_functional_fi_cairn_msg_SOURCES = \
	fabtests/functional/msg.h \
	fabtests/functional/msg_chain.c \
	fabtests/functional/msg_comp.c \
	fabtests/functional/msg_err.c \
	fabtests/functional/msg_flow.c \
	fabtests/functional/msg_forms.c \
	fabtests/functional/msg_level.c \
	fabtests/functional/msg_limit.c

bin_PROGRAMS += fabtests/functional/fi_cairn_fault
fabtests_functional_fi_cairn_fault_CPPFLAGS = $(AM_CPPFLAGS) $(LIBFABRIC_CFLAGS) $(CRYPTO_CFLAGS)
fabtests_functional_fi_cairn_fault_LDADD = $(FCT_LDADD) -ldl
fabtests_functional_fi_cairn_fault_SOURCES = \
	fabtests/functional/fault.h \
	fabtests/functional/fault_arm.c \
	fabtests/functional/fault_calls.c \
	fabtests/functional/fault_dgram.c \
	fabtests/functional/fault_hook.c \
	fabtests/functional/fault_scene.c \
	fabtests/functional/fault_step.h \
	fabtests/functional/fi_cairn_fault.c

bin_PROGRAMS += fabtests/functional/fi_cairn_rdm
fabtests_functional_fi_cairn_rdm_CPPFLAGS = $(AM_CPPFLAGS) $(LIBFABRIC_CFLAGS) $(CRYPTO_CFLAGS)
fabtests_functional_fi_cairn_rdm_LDADD = $(FCT_LDADD)
fabtests_functional_fi_cairn_rdm_SOURCES = \
	fabtests/functional/fi_cairn_rdm.c \
	fabtests/functional/rdm.c \
	fabtests/functional/rdm.h \
	fabtests/functional/rdm_msg.c \
	fabtests/functional/rdm_rma.c

bin_PROGRAMS += fabtests/functional/fi_cairn_refused
fabtests_functional_fi_cairn_refused_CPPFLAGS = $(AM_CPPFLAGS) $(LIBFABRIC_CFLAGS) $(CRYPTO_CFLAGS)
fabtests_functional_fi_cairn_refused_LDADD = $(FCT_LDADD)
fabtests_functional_fi_cairn_refused_SOURCES = fabtests/functional/fi_cairn_refused.c

# Without libfabric: it loads that itself.
noinst_PROGRAMS += fabtests/functional/plugin_host
fabtests_functional_plugin_host_CPPFLAGS = $(AM_CPPFLAGS) $(LIBFABRIC_CFLAGS)
fabtests_functional_plugin_host_LDADD = -ldl
fabtests_functional_plugin_host_SOURCES = fabtests/functional/plugin_host.c

bin_PROGRAMS += fabtests/functional/fi_cairn_process
fabtests_functional_fi_cairn_process_CPPFLAGS = $(AM_CPPFLAGS) $(LIBFABRIC_CFLAGS) $(CRYPTO_CFLAGS)
fabtests_functional_fi_cairn_process_LDADD = $(FCT_LDADD) -ldl
fabtests_functional_fi_cairn_process_SOURCES = \
	fabtests/functional/fault.h \
	fabtests/functional/fault_arm.c \
	fabtests/functional/fault_calls.c \
	fabtests/functional/fault_hook.c \
	fabtests/functional/fault_scene.c \
	fabtests/functional/fault_step.h \
	fabtests/functional/fi_cairn_process.c

bin_PROGRAMS += fabtests/functional/fi_cairn_removed
fabtests_functional_fi_cairn_removed_CPPFLAGS = $(AM_CPPFLAGS) $(LIBFABRIC_CFLAGS) $(CRYPTO_CFLAGS)
fabtests_functional_fi_cairn_removed_LDADD = $(FCT_LDADD) -ldl
fabtests_functional_fi_cairn_removed_SOURCES = \
	fabtests/functional/close_order.c \
	fabtests/functional/close_order.h \
	fabtests/functional/fault.h \
	fabtests/functional/fault_arm.c \
	fabtests/functional/fault_calls.c \
	fabtests/functional/fault_hook.c \
	fabtests/functional/fault_scene.c \
	fabtests/functional/fault_step.h \
	fabtests/functional/fi_cairn_removed.c

bin_PROGRAMS += fabtests/functional/fi_cairn_rma
fabtests_functional_fi_cairn_rma_CPPFLAGS = $(AM_CPPFLAGS) $(LIBFABRIC_CFLAGS) $(CRYPTO_CFLAGS)
fabtests_functional_fi_cairn_rma_LDADD = $(FCT_LDADD)
fabtests_functional_fi_cairn_rma_SOURCES = \
	fabtests/functional/rma.c \
	fabtests/functional/rma.h \
	fabtests/functional/rma_data.c \
	fabtests/functional/rma_end.c \
	fabtests/functional/rma_err.c \
	fabtests/functional/rma_flow.c \
	fabtests/functional/rma_forms.c \
	fabtests/functional/rma_order.c

bin_PROGRAMS += fabtests/functional/fi_cairn_routed
fabtests_functional_fi_cairn_routed_CPPFLAGS = $(AM_CPPFLAGS) $(LIBFABRIC_CFLAGS) $(CRYPTO_CFLAGS)
fabtests_functional_fi_cairn_routed_LDADD = $(FCT_LDADD)
fabtests_functional_fi_cairn_routed_SOURCES = \
	fabtests/functional/fi_cairn_routed.c \
	fabtests/functional/routed.c \
	fabtests/functional/routed.h \
	fabtests/functional/routed_anew.c \
	fabtests/functional/routed_drain.c \
	fabtests/functional/routed_flow.c \
	fabtests/functional/routed_huge.c \
	fabtests/functional/routed_keys.c \
	fabtests/functional/routed_lost.c \
	fabtests/functional/routed_many.c \
	fabtests/functional/routed_mixed.c \
	fabtests/functional/routed_quota.c \
	fabtests/functional/routed_share.c

bin_PROGRAMS += fabtests/functional/fi_cairn_rxm
fabtests_functional_fi_cairn_rxm_CPPFLAGS = $(AM_CPPFLAGS) $(LIBFABRIC_CFLAGS) $(CRYPTO_CFLAGS)
fabtests_functional_fi_cairn_rxm_LDADD = $(FCT_LDADD)
fabtests_functional_fi_cairn_rxm_SOURCES = \
	fabtests/functional/fi_cairn_rxm.c

bin_PROGRAMS += fabtests/functional/fi_cairn_srx
fabtests_functional_fi_cairn_srx_CPPFLAGS = $(AM_CPPFLAGS) $(LIBFABRIC_CFLAGS) $(CRYPTO_CFLAGS)
fabtests_functional_fi_cairn_srx_LDADD = $(FCT_LDADD)
fabtests_functional_fi_cairn_srx_SOURCES = \
	fabtests/functional/srx.c \
	fabtests/functional/srx.h \
	fabtests/functional/srx_end.c \
	fabtests/functional/srx_use.c

bin_PROGRAMS += fabtests/functional/fi_cairn_store
fabtests_functional_fi_cairn_store_CPPFLAGS = $(AM_CPPFLAGS) $(LIBFABRIC_CFLAGS) $(CRYPTO_CFLAGS)
fabtests_functional_fi_cairn_store_LDADD = $(FCT_LDADD)
fabtests_functional_fi_cairn_store_SOURCES = \
	fabtests/functional/fi_cairn_store.c \
	fabtests/functional/store.c \
	fabtests/functional/store.h \
	fabtests/functional/store_client.c \
	fabtests/functional/store_server.c

bin_PROGRAMS += fabtests/functional/fi_cairn_stress
fabtests_functional_fi_cairn_stress_CPPFLAGS = $(AM_CPPFLAGS) $(LIBFABRIC_CFLAGS) $(CRYPTO_CFLAGS)
fabtests_functional_fi_cairn_stress_LDADD = $(FCT_LDADD)
fabtests_functional_fi_cairn_stress_SOURCES = \
	fabtests/functional/fi_cairn_stress.c \
	fabtests/functional/stress.c \
	fabtests/functional/stress.h \
	fabtests/functional/stress_comp.c \
	fabtests/functional/stress_fill.c \
	fabtests/functional/stress_hub.c \
	fabtests/functional/stress_lane.c \
	fabtests/functional/stress_pmem.c \
	fabtests/functional/stress_post.c \
	fabtests/functional/stress_recv.c \
	fabtests/functional/stress_run.c \
	fabtests/functional/stress_task.c

# Run by util/check where a machine's end can be arranged.
noinst_PROGRAMS += fabtests/functional/fi_cairn_append
fabtests_functional_fi_cairn_append_CPPFLAGS = $(AM_CPPFLAGS) $(LIBFABRIC_CFLAGS) $(CRYPTO_CFLAGS)
fabtests_functional_fi_cairn_append_LDADD = $(FCT_LDADD)
fabtests_functional_fi_cairn_append_SOURCES = \
	fabtests/functional/append.h \
	fabtests/functional/append_log.c \
	fabtests/functional/fi_cairn_append.c

noinst_PROGRAMS += fabtests/functional/append_look
fabtests_functional_append_look_SOURCES = \
	fabtests/functional/append.h \
	fabtests/functional/append_log.c \
	fabtests/functional/append_look.c

EXTRA_DIST += \
	fabtests/functional/known-peer-failures.txt \
	fabtests/functional/local.mk \
	fabtests/functional/run-functional \
	fabtests/functional/test-run-functional
