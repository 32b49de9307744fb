# SPDX-License-Identifier: BSD-2-Clause
# Unit tests: one program for each source folder, one or more files for each source file;
# *_world and what else is no test_* is what several of them share.

# Where malloc, fi_log and the clock of the code under test go (cairn_test.h). Whatever is
# linked with libct.la needs the first two in its LDFLAGS.
CT_WRAP_ALLOC = -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc \
	-Wl,--wrap=posix_memalign,--wrap=strdup,--wrap=strndup
CT_WRAP_LOG = -Wl,--wrap=fi_log,--wrap=fi_log_enabled,--wrap=fi_log_ready
CT_WRAP_TIME = -Wl,--wrap=clock_gettime,--wrap=poll,--wrap=pthread_cond_wait \
	-Wl,--wrap=pthread_cond_timedwait,--wrap=pthread_cond_signal \
	-Wl,--wrap=pthread_cond_broadcast

# Where questions to a lower provider go (common/lower/lower_world.h).
CT_WRAP_LOWER = -Wl,--wrap=fi_getinfo,--wrap=fi_fabric,--wrap=fi_dupinfo

check_LTLIBRARIES += fabtests/unit/libct.la
fabtests_unit_libct_la_SOURCES = \
	fabtests/unit/cairn_test.cc \
	fabtests/unit/cairn_test.h \
	fabtests/unit/ct_alloc.c \
	fabtests/unit/ct_fence.c \
	fabtests/unit/ct_fid.c \
	fabtests/unit/ct_fid.h \
	fabtests/unit/ct_log.c \
	fabtests/unit/ct_time.c
fabtests_unit_libct_la_CPPFLAGS = $(AM_CPPFLAGS) $(LIBFABRIC_CFLAGS) $(GTEST_CFLAGS)
fabtests_unit_libct_la_LIBADD = $(GTEST_LIBS)

check_PROGRAMS += fabtests/unit/unit_common
TESTS += fabtests/unit/unit_common
fabtests_unit_unit_common_SOURCES = \
	fabtests/unit/common/attr_world.c \
	fabtests/unit/common/attr_world.h \
	fabtests/unit/common/av/av_world.c \
	fabtests/unit/common/av/av_world.h \
	fabtests/unit/common/av/test_av.c \
	fabtests/unit/common/av/test_form.c \
	fabtests/unit/common/av/test_insert.c \
	fabtests/unit/common/av/test_names.c \
	fabtests/unit/common/av/test_threads.c \
	fabtests/unit/common/cntr_world.c \
	fabtests/unit/common/cntr_world.h \
	fabtests/unit/common/cq/cq_world.c \
	fabtests/unit/common/cq/cq_world.h \
	fabtests/unit/common/cq/test_cq.c \
	fabtests/unit/common/cq/test_read.c \
	fabtests/unit/common/cq/test_threads.c \
	fabtests/unit/common/cq/test_wait.c \
	fabtests/unit/common/ep/ep_world.c \
	fabtests/unit/common/ep/ep_world.h \
	fabtests/unit/common/ep/test_bind.c \
	fabtests/unit/common/ep/test_complete.c \
	fabtests/unit/common/ep/test_opt.c \
	fabtests/unit/common/eq_world.c \
	fabtests/unit/common/eq_world.h \
	fabtests/unit/common/lower/lower_world.c \
	fabtests/unit/common/lower/lower_world.h \
	fabtests/unit/common/lower/test_choose.c \
	fabtests/unit/common/lower/test_cq.c \
	fabtests/unit/common/lower/test_eq.c \
	fabtests/unit/common/lower/test_look.c \
	fabtests/unit/common/lower/test_table.c \
	fabtests/unit/common/lower/test_threads.c \
	fabtests/unit/common/pass/test_pass.c \
	fabtests/unit/common/pmem/test_declare.c \
	fabtests/unit/common/pmem/test_facts.c \
	fabtests/unit/common/pmem/test_mapping.c \
	fabtests/unit/common/pmem/test_region.c \
	fabtests/unit/common/pmem/tree.c \
	fabtests/unit/common/pmem/tree.h \
	fabtests/unit/common/test_addr.c \
	fabtests/unit/common/test_attr.c \
	fabtests/unit/common/test_attr_caps.c \
	fabtests/unit/common/test_attr_fields.c \
	fabtests/unit/common/test_attr_mr.c \
	fabtests/unit/common/test_attr_rules.c \
	fabtests/unit/common/test_bytes.c \
	fabtests/unit/common/test_cntr.c \
	fabtests/unit/common/test_cntr_sleep.c \
	fabtests/unit/common/test_cntr_threads.c \
	fabtests/unit/common/test_cntr_wait.c \
	fabtests/unit/common/test_deadline.c \
	fabtests/unit/common/test_eq.c \
	fabtests/unit/common/test_eq_batch.c \
	fabtests/unit/common/test_eq_error.c \
	fabtests/unit/common/test_eq_open.c \
	fabtests/unit/common/test_eq_threads.c \
	fabtests/unit/common/test_eq_wait.c \
	fabtests/unit/common/test_list.c \
	fabtests/unit/common/test_lock.c \
	fabtests/unit/common/test_mr.c \
	fabtests/unit/common/test_nic.c \
	fabtests/unit/common/test_nosys.c \
	fabtests/unit/common/test_param.c \
	fabtests/unit/common/test_ring.c \
	fabtests/unit/common/test_rounds.c \
	fabtests/unit/common/test_slab.c \
	fabtests/unit/common/test_thread.c \
	fabtests/unit/common/test_wait.c \
	fabtests/unit/common/test_wait_source.c
# GoogleTest needs the C++ linker.
nodist_EXTRA_fabtests_unit_unit_common_SOURCES = fabtests/unit/dummy.cc
fabtests_unit_unit_common_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/fabtests/unit \
	$(LIBFABRIC_CFLAGS)
fabtests_unit_unit_common_LDFLAGS = $(AM_LDFLAGS) $(CT_WRAP_ALLOC) $(CT_WRAP_LOG) \
	$(CT_WRAP_TIME) $(CT_WRAP_LOWER) -Wl,--wrap=timerfd_settime
fabtests_unit_unit_common_LDADD = fabtests/unit/libct.la \
	prov/common/pmem/libcairn-pmem.la prov/common/libcairn-common.la $(LIBFABRIC_LIBS)
