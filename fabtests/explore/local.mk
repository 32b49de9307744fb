# SPDX-License-Identifier: BSD-2-Clause
# The search over all states, for models to use. What uses it is linked with XPL_WRAP: the heap that it takes back.
check_LIBRARIES += fabtests/explore/libsearch.a
fabtests_explore_libsearch_a_SOURCES = \
	fabtests/explore/search/every.c \
	fabtests/explore/search/hash.h \
	fabtests/explore/search/heap.c \
	fabtests/explore/search/heap.h \
	fabtests/explore/search/search.h \
	fabtests/explore/search/seen.c \
	fabtests/explore/search/seen.h \
	fabtests/explore/search/some.c \
	fabtests/explore/search/states.c \
	fabtests/explore/search/states.h \
	fabtests/explore/search/tell.c \
	fabtests/explore/search/way.c \
	fabtests/explore/search/way.h \
	fabtests/explore/search/wrap.c
XPL_WRAP = -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=free,--wrap=aligned_alloc \
	-Wl,--wrap=posix_memalign,--wrap=strdup

# The crash explorer, whose model is the real provider on the software device, both linked in. util/check
# runs it by itself: sanitizers and valgrind would only make it slow.
check_PROGRAMS += fabtests/explore/explore
fabtests_explore_explore_SOURCES = \
	fabtests/explore/pverbs/call.c \
	fabtests/explore/pverbs/call.h \
	fabtests/explore/pverbs/chance.c \
	fabtests/explore/pverbs/check.c \
	fabtests/explore/pverbs/check.h \
	fabtests/explore/pverbs/expect.c \
	fabtests/explore/pverbs/expect.h \
	fabtests/explore/pverbs/explore.c \
	fabtests/explore/pverbs/faults.c \
	fabtests/explore/pverbs/image.c \
	fabtests/explore/pverbs/image.h \
	fabtests/explore/pverbs/machine.c \
	fabtests/explore/pverbs/machine.h \
	fabtests/explore/pverbs/model.c \
	fabtests/explore/pverbs/model.h \
	fabtests/explore/pverbs/mutants.c \
	fabtests/explore/pverbs/mutants.h \
	fabtests/explore/pverbs/mutate.c \
	fabtests/explore/pverbs/omit.c \
	fabtests/explore/pverbs/plans.c \
	fabtests/explore/pverbs/plans.h \
	fabtests/explore/pverbs/program.c \
	fabtests/explore/pverbs/program.h \
	fabtests/explore/pverbs/refuse.c \
	fabtests/explore/pverbs/runs.c \
	fabtests/explore/pverbs/runs.h \
	fabtests/explore/pverbs/scenario.h \
	fabtests/explore/pverbs/scenarios.c \
	fabtests/explore/pverbs/scenarios_counted.c \
	fabtests/explore/pverbs/scenarios_durable.c \
	fabtests/explore/pverbs/scenarios_fence.c \
	fabtests/explore/pverbs/scenarios_message.c \
	fabtests/explore/pverbs/scenarios_plain.c \
	fabtests/explore/pverbs/scenarios_plan.c \
	fabtests/explore/pverbs/scenarios_regions.c \
	fabtests/explore/pverbs/scenarios_replay.c \
	fabtests/explore/pverbs/state.c \
	fabtests/explore/pverbs/state.h \
	fabtests/explore/pverbs/target.c \
	fabtests/explore/pverbs/target.h \
	fabtests/explore/pverbs/world.c \
	fabtests/explore/pverbs/world.h
fabtests_explore_explore_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/fabtests/explore/search \
	-I$(top_srcdir)/util/simverbs -I$(top_srcdir)/prov/pverbs $(LIBFABRIC_CFLAGS) $(VERBS_CFLAGS)
# Whole: of an archive the linker would leave out the functions that no object names, and libibverbs'
# would stand for them.
fabtests_explore_explore_LDFLAGS = $(AM_LDFLAGS) -export-dynamic \
	-Wl,--whole-archive,util/simverbs/.libs/libsimverbs-all.a,--no-whole-archive \
	$(XPL_WRAP) -Wl,--wrap=fi_freeinfo,--wrap=getifaddrs,--wrap=freeifaddrs,--wrap=clock_gettime,--wrap=svb_medium_flush,--wrap=pvb_plan \
	-Wl,--wrap=pvb_batch_data,--wrap=pvb_batch_seq,--wrap=pvb_batch_read \
	-Wl,--wrap=pvb_batch_entry,--wrap=pvb_control_request_send,--wrap=pvb_defer,--wrap=pvb_cq_convert_sent \
	-Wl,--wrap=pvb_facts_of,--wrap=pvb_pmem_region_find,--wrap=pvb_commit_pending,--wrap=pvb_dirty_owed \
	-Wl,--wrap=pvb_plan_cache_hit,--wrap=pvb_plan_cache_fenced,--wrap=pvb_dirty_add,--wrap=pvb_commit_upgrade \
	-Wl,--wrap=pvb_upgrade_plan,--wrap=pvb_commit_overtakes
fabtests_explore_explore_LDADD = fabtests/explore/libsearch.a prov/pverbs/libpverbs-objs.la $(LIBFABRIC_LIBS) $(INIH_LIBS) \
	-lm -lpthread
fabtests_explore_explore_DEPENDENCIES = fabtests/explore/libsearch.a prov/pverbs/libpverbs-objs.la \
	util/simverbs/libsimverbs-all.la

# The same search over rpcrdma, two ends of it over the scripted provider.
check_PROGRAMS += fabtests/explore/explore_rpcrdma
fabtests_explore_explore_rpcrdma_SOURCES = \
	fabtests/explore/rpcrdma/ct.c \
	fabtests/explore/rpcrdma/end.c \
	fabtests/explore/rpcrdma/explore.c \
	fabtests/explore/rpcrdma/message.c \
	fabtests/explore/rpcrdma/message.h \
	fabtests/explore/rpcrdma/model.c \
	fabtests/explore/rpcrdma/model.h \
	fabtests/explore/rpcrdma/mutants.c \
	fabtests/explore/rpcrdma/mutants.h \
	fabtests/explore/rpcrdma/program.c \
	fabtests/explore/rpcrdma/program.h \
	fabtests/explore/rpcrdma/read.c \
	fabtests/explore/rpcrdma/scenario.h \
	fabtests/explore/rpcrdma/scenarios.c \
	fabtests/explore/rpcrdma/tidy.c \
	fabtests/explore/rpcrdma/wire.c \
	fabtests/explore/rpcrdma/wire.h \
	fabtests/explore/rpcrdma/world.c \
	fabtests/explore/rpcrdma/world.h
fabtests_explore_explore_rpcrdma_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/fabtests \
	-I$(top_srcdir)/fabtests/explore/search -I$(top_srcdir)/fabtests/unit \
	-I$(top_srcdir)/fabtests/unit/script -I$(top_srcdir)/prov/rpcrdma $(LIBFABRIC_CFLAGS)
fabtests_explore_explore_rpcrdma_LDFLAGS = $(AM_LDFLAGS) $(XPL_WRAP) $(SCRIPT_EXPORT) \
	-Wl,--wrap=fi_freeinfo,--wrap=fi_getinfo,--wrap=fi_log_enabled,--wrap=clock_gettime \
	-Wl,--wrap=scr_work_start,--wrap=scr_work_report \
	-Wl,--wrap=crn_cq_write,--wrap=crn_cq_write_err,--wrap=rpr_conn_make \
	-Wl,--wrap=rpr_call_reply,--wrap=rpr_call_cancel,--wrap=rpr_call_late,--wrap=rpr_inbound \
	-Wl,--wrap=rpr_message_parse,--wrap=rpr_mem_fence,--wrap=rpr_rx_put,--wrap=rpr_progress_locked \
	-Wl,--wrap=rpr_flush,--wrap=rpr_serve_write,--wrap=rpr_serve_reply,--wrap=rpr_call_start \
	-Wl,--wrap=rpr_call_over,--wrap=rpr_arrive
fabtests_explore_explore_rpcrdma_LDADD = fabtests/explore/libsearch.a \
	prov/rpcrdma/librpcrdma-objs.la fabtests/unit/script/libscript.la \
	prov/common/libcairn-common.la $(LIBFABRIC_LIBS) -lpthread

# Flow control of routed connections, round a ring of routers.
check_PROGRAMS += fabtests/explore/explore_route_credit
fabtests_explore_explore_route_credit_SOURCES = \
	fabtests/explore/route/credit.c \
	fabtests/explore/route/credit.h \
	fabtests/explore/route/credit_model.c \
	fabtests/explore/route/credit_mutants.c \
	fabtests/explore/route/run.c \
	fabtests/explore/route/run.h
fabtests_explore_explore_route_credit_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/fabtests/explore/search \
	-I$(top_srcdir)/prov/route $(LIBFABRIC_CFLAGS)
fabtests_explore_explore_route_credit_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=rte_message_lane,--wrap=rte_inlet_empty \
	-Wl,--wrap=rte_inlet_tell,--wrap=rte_inlet_overdue,--wrap=rte_outlet_take \
	-Wl,--wrap=rte_inlet_ask,--wrap=rte_inlet_given,--wrap=rte_outlet_asked
fabtests_explore_explore_route_credit_LDADD = fabtests/explore/libsearch.a prov/route/flow/libflow.la \
	prov/route/wire/libroutewire.la prov/common/libcairn-common.la $(LIBFABRIC_LIBS)

# The link-state exchange of three or four routers.
check_PROGRAMS += fabtests/explore/explore_route_flood
fabtests_explore_explore_route_flood_SOURCES = \
	fabtests/explore/route/flood.c \
	fabtests/explore/route/flood.h \
	fabtests/explore/route/flood_check.c \
	fabtests/explore/route/flood_model.c \
	fabtests/explore/route/flood_mutants.c \
	fabtests/explore/route/flood_world.c \
	fabtests/explore/route/run.c \
	fabtests/explore/route/run.h
fabtests_explore_explore_route_flood_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/fabtests/explore/search \
	-I$(top_srcdir)/prov/route $(LIBFABRIC_CFLAGS)
fabtests_explore_explore_route_flood_LDFLAGS = $(AM_LDFLAGS) $(XPL_WRAP) \
	-Wl,--wrap=rte_lsa_compare,--wrap=rte_lsdb_put,--wrap=rte_flood,--wrap=rte_flood_receive,--wrap=rte_link_names \
	-Wl,--wrap=rte_reach_receive,--wrap=rte_own_ahead,--wrap=rte_digest_send,--wrap=rte_lsreq_receive \
	-Wl,--wrap=rte_heartbeat_receive,--wrap=rte_lsdb_hash,--wrap=rte_own_changed,--wrap=rte_own_withdraw
fabtests_explore_explore_route_flood_LDADD = fabtests/explore/libsearch.a prov/route/sync/libsync.la
EXTRA_DIST += fabtests/explore/local.mk
