# SPDX-License-Identifier: BSD-2-Clause
# The crash explorer: the real provider on the software device, both linked in. util/check runs it by
# itself: sanitizers and valgrind would only make it slow.
check_PROGRAMS += fabtests/explore/explore
fabtests_explore_explore_SOURCES = \
	fabtests/explore/call.c \
	fabtests/explore/chance.c \
	fabtests/explore/check.c \
	fabtests/explore/explore.c \
	fabtests/explore/explore.h \
	fabtests/explore/faults.c \
	fabtests/explore/heap.c \
	fabtests/explore/heap.h \
	fabtests/explore/mutants.c \
	fabtests/explore/mutants.h \
	fabtests/explore/mutate.c \
	fabtests/explore/omit.c \
	fabtests/explore/plans.c \
	fabtests/explore/plans.h \
	fabtests/explore/program.c \
	fabtests/explore/refuse.c \
	fabtests/explore/runs.c \
	fabtests/explore/runs.h \
	fabtests/explore/expect.c \
	fabtests/explore/expect.h \
	fabtests/explore/scenarios.c \
	fabtests/explore/scenarios_counted.c \
	fabtests/explore/scenarios_durable.c \
	fabtests/explore/scenarios_fence.c \
	fabtests/explore/scenarios_message.c \
	fabtests/explore/scenarios_regions.c \
	fabtests/explore/scenarios_plan.c \
	fabtests/explore/scenarios_plain.c \
	fabtests/explore/scenarios_replay.c \
	fabtests/explore/search.c \
	fabtests/explore/search.h \
	fabtests/explore/states.c \
	fabtests/explore/states.h \
	fabtests/explore/target.c \
	fabtests/explore/tell.c \
	fabtests/explore/wander.c \
	fabtests/explore/world.c \
	fabtests/explore/world.h
fabtests_explore_explore_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/util/simverbs \
	-I$(top_srcdir)/prov/pverbs $(LIBFABRIC_CFLAGS) $(VERBS_CFLAGS)
# Whole: of an archive the linker would leave out the functions that no object names, and libibverbs'
# would stand for them.
fabtests_explore_explore_LDFLAGS = $(AM_LDFLAGS) -export-dynamic \
	-Wl,--whole-archive,util/simverbs/.libs/libsimverbs-all.a,--no-whole-archive \
	-Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=free,--wrap=aligned_alloc \
	-Wl,--wrap=posix_memalign,--wrap=strdup,--wrap=fi_freeinfo \
	-Wl,--wrap=getifaddrs,--wrap=freeifaddrs,--wrap=clock_gettime,--wrap=svb_medium_flush,--wrap=pvb_plan \
	-Wl,--wrap=pvb_batch_data,--wrap=pvb_batch_ring,--wrap=pvb_batch_read \
	-Wl,--wrap=pvb_batch_entry,--wrap=pvb_ask_send,--wrap=pvb_hold,--wrap=pvb_cq_convert_sent \
	-Wl,--wrap=pvb_facts_of,--wrap=pvb_target_find,--wrap=pvb_commit_before,--wrap=pvb_dirty_owed \
	-Wl,--wrap=pvb_usual_way,--wrap=pvb_usual_fenced,--wrap=pvb_dirty_add,--wrap=pvb_commit_lift \
	-Wl,--wrap=pvb_lift_plan,--wrap=pvb_commit_overtakes
fabtests_explore_explore_LDADD = prov/pverbs/libpverbs-objs.la $(LIBFABRIC_LIBS) $(INIH_LIBS) \
	-lm -lpthread
fabtests_explore_explore_DEPENDENCIES = prov/pverbs/libpverbs-objs.la \
	util/simverbs/libsimverbs-all.la
EXTRA_DIST += fabtests/explore/local.mk
