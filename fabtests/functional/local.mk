# SPDX-License-Identifier: BSD-2-Clause
# Functional tests: two-process programs for any provider. One program is one fi_cairn_*.c and
# the files of its cases; the harness (fct_*) is shared.
noinst_LIBRARIES += %D%/libfct.a
%C%_libfct_a_SOURCES = %D%/fct.h %D%/fct_child.c %D%/fct_ctl.c %D%/fct_event.c %D%/fct_fabric.h \
	%D%/fct_frame.c %D%/fct_frame.h %D%/fct_info.c %D%/fct_link.c %D%/fct_main.c %D%/fct_mem.c \
	%D%/fct_op.c %D%/fct_op.h %D%/fct_opts.c %D%/fct_progress.c %D%/fct_report.c %D%/fct_used.c \
	%D%/fct_wait.c
fct_libs = %D%/libfct.a $(LIBFABRIC_LIBS) $(CRYPTO_LIBS) -lpthread

# Calls of the C library and of verbs that fail.
fct_fault = %D%/fault.h %D%/fault_arm.c %D%/fault_calls.c %D%/fault_hook.c %D%/fault_scene.c \
	%D%/fault_step.h

bin_PROGRAMS += %D%/fi_cairn_atomic %D%/fi_cairn_close %D%/fi_cairn_cm %D%/fi_cairn_cntr \
	%D%/fi_cairn_commit %D%/fi_cairn_cq %D%/fi_cairn_dgram %D%/fi_cairn_end \
	%D%/fi_cairn_fault %D%/fi_cairn_file %D%/fi_cairn_getinfo %D%/fi_cairn_lost \
	%D%/fi_cairn_many %D%/fi_cairn_mcast %D%/fi_cairn_mesh %D%/fi_cairn_mr %D%/fi_cairn_msg \
	%D%/fi_cairn_process %D%/fi_cairn_rdm %D%/fi_cairn_refused %D%/fi_cairn_removed \
	%D%/fi_cairn_rma %D%/fi_cairn_routed %D%/fi_cairn_rxm %D%/fi_cairn_srx %D%/fi_cairn_store \
	%D%/fi_cairn_stress

# They, and what they run on and through, without the other programs of the project.
.PHONY: functional
functional: $(filter %D%/%,$(bin_PROGRAMS)) $(provider_LTLIBRARIES) $(noinst_LTLIBRARIES) \
	$(pkglib_LTLIBRARIES) $(bin_SCRIPTS) util/fi_router/fi_router util/fi_routectl/fi_routectl

%C%_fi_cairn_atomic_SOURCES = %D%/atomic.c %D%/atomic.h %D%/atomic_forms.c \
	%D%/atomic_use.c
%C%_fi_cairn_atomic_LDADD = $(fct_libs)
%C%_fi_cairn_close_SOURCES = %D%/close_order.c %D%/close_order.h %D%/fi_cairn_close.c $(fct_fault)
%C%_fi_cairn_close_LDADD = $(fct_libs) -ldl
%C%_fi_cairn_cm_SOURCES = %D%/cm.h %D%/cm_data.c %D%/cm_end.c %D%/cm_many.c \
	%D%/cm_state.c %D%/cm_wait.c
%C%_fi_cairn_cm_LDADD = $(fct_libs)
%C%_fi_cairn_cntr_SOURCES = %D%/cntr.c %D%/cntr.h %D%/cntr_count.c \
	%D%/cntr_wait.c
%C%_fi_cairn_cntr_LDADD = $(fct_libs)
%C%_fi_cairn_commit_SOURCES = %D%/durable.c %D%/durable.h %D%/durable_before.c \
	%D%/durable_default.c %D%/durable_err.c %D%/durable_flow.c %D%/durable_forms.c \
	%D%/durable_other.c %D%/durable_replay.c %D%/durable_without.c
%C%_fi_cairn_commit_LDADD = $(fct_libs)
%C%_fi_cairn_cq_SOURCES = %D%/cq_read.c %D%/cq_wait.c
%C%_fi_cairn_cq_LDADD = $(fct_libs)
%C%_fi_cairn_dgram_SOURCES = %D%/dgram.c %D%/dgram.h %D%/dgram_count.c %D%/dgram_forms.c \
	%D%/dgram_lossy.c %D%/dgram_use.c
%C%_fi_cairn_dgram_LDADD = $(fct_libs)
%C%_fi_cairn_end_LDADD = $(fct_libs)
%C%_fi_cairn_fault_SOURCES = %D%/fault_dgram.c %D%/fi_cairn_fault.c $(fct_fault)
%C%_fi_cairn_fault_LDADD = $(fct_libs) -ldl
%C%_fi_cairn_file_SOURCES = %D%/fi_cairn_file.c %D%/file.c %D%/file.h %D%/file_recv.c \
	%D%/file_send.c
%C%_fi_cairn_file_LDADD = $(fct_libs)
%C%_fi_cairn_getinfo_LDADD = $(fct_libs)
%C%_fi_cairn_lost_SOURCES = %D%/fi_cairn_lost.c %D%/lost.c %D%/lost.h %D%/lost_kept.c \
	%D%/lost_play.c %D%/lost_pmem.c %D%/lost_pmem_cq.c
%C%_fi_cairn_lost_LDADD = $(fct_libs)
%C%_fi_cairn_many_SOURCES = %D%/many.c %D%/many.h %D%/many_conns.c \
	%D%/many_storm.c
%C%_fi_cairn_many_LDADD = $(fct_libs)
%C%_fi_cairn_mcast_SOURCES = %D%/mcast.c %D%/mcast.h %D%/mcast_join.c \
	%D%/mcast_use.c
%C%_fi_cairn_mcast_LDADD = $(fct_libs)
%C%_fi_cairn_mesh_SOURCES = %D%/fi_cairn_mesh.c %D%/mesh.c %D%/mesh.h %D%/mesh_use.c
%C%_fi_cairn_mesh_LDADD = $(fct_libs)
%C%_fi_cairn_mr_SOURCES = %D%/mr_pmem.c %D%/mr_reg.c %D%/mr_use.c
%C%_fi_cairn_mr_LDADD = $(fct_libs)
%C%_fi_cairn_msg_SOURCES = %D%/forms.c %D%/forms.h %D%/msg_chain.c %D%/msg_comp.c %D%/msg_err.c \
	%D%/msg_flow.c %D%/msg_forms.c %D%/msg_level.c
%C%_fi_cairn_msg_LDADD = $(fct_libs)
%C%_fi_cairn_process_SOURCES = %D%/fi_cairn_process.c $(fct_fault)
%C%_fi_cairn_process_LDADD = $(fct_libs) -ldl
%C%_fi_cairn_rdm_SOURCES = %D%/rdm.c %D%/rdm.h %D%/rdm_atomic.c %D%/rdm_msg.c %D%/rdm_rma.c
%C%_fi_cairn_rdm_LDADD = $(fct_libs)
%C%_fi_cairn_refused_LDADD = $(fct_libs)
%C%_fi_cairn_removed_SOURCES = %D%/close_order.c %D%/close_order.h %D%/fi_cairn_removed.c \
	$(fct_fault)
%C%_fi_cairn_removed_LDADD = $(fct_libs) -ldl
%C%_fi_cairn_rma_SOURCES = %D%/forms.c %D%/forms.h %D%/rma.c %D%/rma.h %D%/rma_data.c \
	%D%/rma_end.c %D%/rma_err.c %D%/rma_flow.c %D%/rma_forms.c %D%/rma_order.c
%C%_fi_cairn_rma_LDADD = $(fct_libs)
# Cases run in the order of the files: the last one ends a router.
%C%_fi_cairn_routed_SOURCES = %D%/fi_cairn_routed.c %D%/routed.c %D%/routed.h %D%/routed_anew.c \
	%D%/routed_drain.c %D%/routed_flow.c %D%/routed_huge.c %D%/routed_keys.c \
	%D%/routed_many.c %D%/routed_mixed.c %D%/routed_quota.c %D%/routed_share.c %D%/routed_lost.c
%C%_fi_cairn_routed_LDADD = $(fct_libs)
%C%_fi_cairn_rxm_LDADD = $(fct_libs)
%C%_fi_cairn_srx_SOURCES = %D%/srx.c %D%/srx.h %D%/srx_end.c %D%/srx_use.c
%C%_fi_cairn_srx_LDADD = $(fct_libs)
%C%_fi_cairn_store_SOURCES = %D%/fi_cairn_store.c %D%/store.c %D%/store.h %D%/store_client.c \
	%D%/store_server.c
%C%_fi_cairn_store_LDADD = $(fct_libs)
%C%_fi_cairn_stress_SOURCES = %D%/fi_cairn_stress.c %D%/stress.c %D%/stress.h %D%/stress_comp.c \
	%D%/stress_fill.c %D%/stress_hub.c %D%/stress_lane.c %D%/stress_pmem.c %D%/stress_post.c \
	%D%/stress_recv.c %D%/stress_run.c %D%/stress_task.c
%C%_fi_cairn_stress_LDADD = $(fct_libs)

# Without libfabric: it loads that itself.
noinst_PROGRAMS += %D%/plugin_host
%C%_plugin_host_LDADD = -ldl

# Run by util/check where a machine's end can be arranged.
noinst_PROGRAMS += %D%/append_look %D%/fi_cairn_append
%C%_append_look_SOURCES = %D%/append.h %D%/append_log.c %D%/append_look.c
%C%_append_look_LDADD =
%C%_fi_cairn_append_SOURCES = %D%/append.h %D%/append_log.c %D%/fi_cairn_append.c
%C%_fi_cairn_append_LDADD = $(fct_libs)
EXTRA_DIST += %D%/known-peer-failures.txt %D%/run-functional %D%/test-run-functional
