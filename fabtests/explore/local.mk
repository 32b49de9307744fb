# SPDX-License-Identifier: BSD-2-Clause
# The search over all states, for models to use. What uses it is linked with XPL_WRAP: the heap that
# it takes back.
%D%/%.o: private AM_CPPFLAGS += -I$(srcdir)/%D%/search
check_LIBRARIES += %D%/libsearch.a
%C%_libsearch_a_SOURCES = %D%/search/every.c %D%/search/hash.h %D%/search/heap.c %D%/search/heap.h \
	%D%/search/search.h %D%/search/seen.c %D%/search/seen.h %D%/search/some.c \
	%D%/search/states.c %D%/search/states.h %D%/search/tell.c %D%/search/way.c \
	%D%/search/way.h %D%/search/wrap.c %D%/search/wrap.h
XPL_WRAP = -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=free,--wrap=aligned_alloc \
	-Wl,--wrap=posix_memalign,--wrap=strdup

# The crash explorer, whose model is the real provider on the software device, both linked in.
# util/check runs it by itself: sanitizers and valgrind would only make it slow.
%D%/pverbs/%.o: private AM_CPPFLAGS += -I$(srcdir)/util/simverbs -I$(srcdir)/prov/pverbs
check_PROGRAMS += %D%/explore
%C%_explore_SOURCES = %D%/pverbs/call.c %D%/pverbs/call.h %D%/pverbs/chance.c %D%/pverbs/check.c \
	%D%/pverbs/check.h %D%/pverbs/expect.c %D%/pverbs/expect.h %D%/pverbs/explore.c \
	%D%/pverbs/faults.c %D%/pverbs/image.c %D%/pverbs/image.h %D%/pverbs/machine.c \
	%D%/pverbs/machine.h %D%/pverbs/model.c %D%/pverbs/model.h %D%/pverbs/mutants.c \
	%D%/pverbs/mutants.h %D%/pverbs/mutate.c %D%/pverbs/omit.c %D%/pverbs/plans.c \
	%D%/pverbs/plans.h %D%/pverbs/program.c %D%/pverbs/program.h %D%/pverbs/refuse.c \
	%D%/pverbs/runs.c %D%/pverbs/runs.h %D%/pverbs/scenario.h %D%/pverbs/scenarios.c \
	%D%/pverbs/scenarios_counted.c %D%/pverbs/scenarios_durable.c %D%/pverbs/scenarios_fence.c \
	%D%/pverbs/scenarios_message.c %D%/pverbs/scenarios_plain.c %D%/pverbs/scenarios_plan.c \
	%D%/pverbs/scenarios_regions.c %D%/pverbs/scenarios_replay.c %D%/pverbs/state.c \
	%D%/pverbs/state.h %D%/pverbs/target.c %D%/pverbs/target.h %D%/pverbs/world.c \
	%D%/pverbs/world.h
%C%_explore_LDFLAGS = $(AM_LDFLAGS) -export-dynamic $(simverbs_whole) $(XPL_WRAP) \
	-Wl,--wrap=fi_freeinfo,--wrap=getifaddrs,--wrap=freeifaddrs,--wrap=clock_gettime \
	-Wl,--wrap=svb_medium_flush,--wrap=pvb_plan,--wrap=pvb_batch_data,--wrap=pvb_batch_seq \
	-Wl,--wrap=pvb_batch_read,--wrap=pvb_batch_entry,--wrap=pvb_control_request_send \
	-Wl,--wrap=pvb_defer,--wrap=pvb_cq_convert_sent,--wrap=pvb_facts_of \
	-Wl,--wrap=pvb_pmem_region_find,--wrap=pvb_commit_pending,--wrap=pvb_dirty_owed \
	-Wl,--wrap=pvb_plan_cache_hit,--wrap=pvb_plan_cache_fenced,--wrap=pvb_dirty_add \
	-Wl,--wrap=pvb_commit_upgrade,--wrap=pvb_upgrade_plan,--wrap=pvb_commit_overtakes
%C%_explore_LDADD = %D%/libsearch.a $(pverbs_libs) $(simverbs_libs)
EXTRA_%C%_explore_DEPENDENCIES = $(simverbs_parts)

# The same search over rpcrdma, two ends of it over the scripted provider.
%D%/rpcrdma/%.o: private AM_CPPFLAGS += -I$(srcdir)/fabtests -I$(srcdir)/fabtests/unit \
	-I$(srcdir)/fabtests/script -I$(srcdir)/prov/rpcrdma
check_PROGRAMS += %D%/explore_rpcrdma
%C%_explore_rpcrdma_SOURCES = %D%/rpcrdma/ct.c %D%/rpcrdma/end.c %D%/rpcrdma/explore.c \
	%D%/rpcrdma/message.c %D%/rpcrdma/message.h %D%/rpcrdma/model.c %D%/rpcrdma/model.h \
	%D%/rpcrdma/mutants.c %D%/rpcrdma/mutants.h %D%/rpcrdma/program.c %D%/rpcrdma/program.h \
	%D%/rpcrdma/read.c %D%/rpcrdma/scenario.h %D%/rpcrdma/scenarios.c %D%/rpcrdma/tidy.c \
	%D%/rpcrdma/wire.c %D%/rpcrdma/wire.h %D%/rpcrdma/world.c %D%/rpcrdma/world.h
%C%_explore_rpcrdma_LDFLAGS = $(AM_LDFLAGS) $(XPL_WRAP) $(script_export) \
	-Wl,--wrap=fi_freeinfo,--wrap=fi_getinfo,--wrap=fi_log_enabled,--wrap=clock_gettime \
	-Wl,--wrap=scr_work_start,--wrap=scr_work_report \
	-Wl,--wrap=crn_cq_write,--wrap=crn_cq_write_err,--wrap=rpr_conn_make \
	-Wl,--wrap=rpr_call_reply,--wrap=rpr_call_cancel,--wrap=rpr_call_late,--wrap=rpr_inbound \
	-Wl,--wrap=rpr_message_parse,--wrap=rpr_mem_fence,--wrap=rpr_rx_put \
	-Wl,--wrap=rpr_progress_locked \
	-Wl,--wrap=rpr_flush,--wrap=rpr_serve_write,--wrap=rpr_serve_reply,--wrap=rpr_call_start \
	-Wl,--wrap=rpr_call_over,--wrap=rpr_arrive
%C%_explore_rpcrdma_LDADD = %D%/libsearch.a $(script_libs) $(rpcrdma_libs) -lpthread

# Flow control of routed connections, round a ring of routers.
%D%/route/%.o: private AM_CPPFLAGS += -I$(srcdir)/prov/route
check_PROGRAMS += %D%/explore_route_credit
%C%_explore_route_credit_SOURCES = %D%/route/credit.c %D%/route/credit.h %D%/route/credit_model.c \
	%D%/route/credit_mutants.c %D%/route/run.c %D%/route/run.h
%C%_explore_route_credit_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=rte_message_lane,--wrap=rte_inlet_empty,--wrap=rte_inlet_tell \
	-Wl,--wrap=rte_inlet_overdue,--wrap=rte_outlet_take,--wrap=rte_inlet_ask \
	-Wl,--wrap=rte_inlet_given,--wrap=rte_outlet_asked
%C%_explore_route_credit_LDADD = %D%/libsearch.a $(route_config_libs)

# The link-state exchange of three or four routers.
check_PROGRAMS += %D%/explore_route_flood
%C%_explore_route_flood_SOURCES = %D%/route/flood.c %D%/route/flood.h %D%/route/flood_check.c \
	%D%/route/flood_model.c %D%/route/flood_mutants.c %D%/route/flood_world.c %D%/route/run.c \
	%D%/route/run.h
%C%_explore_route_flood_LDFLAGS = $(AM_LDFLAGS) $(XPL_WRAP) \
	-Wl,--wrap=rte_lsa_compare,--wrap=rte_lsdb_put,--wrap=rte_flood,--wrap=rte_flood_receive \
	-Wl,--wrap=rte_link_names,--wrap=rte_reach_receive,--wrap=rte_own_ahead \
	-Wl,--wrap=rte_digest_send,--wrap=rte_lsreq_receive,--wrap=rte_heartbeat_receive \
	-Wl,--wrap=rte_lsdb_hash,--wrap=rte_own_changed,--wrap=rte_own_withdraw
%C%_explore_route_flood_LDADD = %D%/libsearch.a prov/route/sync/libsync.a $(route_config_libs)
