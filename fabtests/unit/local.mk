# SPDX-License-Identifier: BSD-2-Clause
# Unit tests: one program for each source folder, one or more files for each source file;
# *_world and what else is no test_* is what several of them share.
%D%/%.o: private AM_CPPFLAGS += -I$(srcdir)/%D%
%D%/route_%.o: private AM_CPPFLAGS += -I$(srcdir)/prov/route
%D%/router%.o: private AM_CPPFLAGS += -I$(srcdir)/util/fi_router -I$(srcdir)/prov/route
unit_tests =
check_PROGRAMS += $(unit_tests)
TESTS += $(unit_tests)

# Where malloc, fi_log and the clock of the code under test go (cairn_test.h). Whatever is
# linked with libct.a needs the first two in its LDFLAGS.
CT_WRAP_ALLOC = -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc \
	-Wl,--wrap=posix_memalign,--wrap=strdup,--wrap=strndup
CT_WRAP_LOG = -Wl,--wrap=fi_log,--wrap=fi_log_enabled,--wrap=fi_log_ready
CT_WRAP_TIME = -Wl,--wrap=clock_gettime,--wrap=poll,--wrap=pthread_cond_wait \
	-Wl,--wrap=pthread_cond_timedwait,--wrap=pthread_cond_signal \
	-Wl,--wrap=pthread_cond_broadcast

# Where questions to a lower provider go (common/lower/lower_world.h).
CT_WRAP_LOWER = -Wl,--wrap=fi_getinfo,--wrap=fi_fabric,--wrap=fi_dupinfo

ct_ldflags = $(CT_WRAP_ALLOC) $(CT_WRAP_LOG)
%D%/unit_%: private AM_LDFLAGS += $(ct_ldflags)
check_LIBRARIES += %D%/libct.a
%C%_libct_a_SOURCES = %D%/cairn_test.cc %D%/cairn_test.h %D%/ct_alloc.c %D%/ct_fence.c \
	%D%/ct_fid.c %D%/ct_fid.h %D%/ct_log.c %D%/ct_time.c
# GoogleTest is C++; all that uses it is C, and linked by the C compiler.
ct_libs = %D%/libct.a $(GTEST_LIBS) -lstdc++ -lm

unit_tests += %D%/unit_common
%C%_unit_common_SOURCES = %D%/common/attr_world.c %D%/common/attr_world.h %D%/common/av/av_world.c \
	%D%/common/av/av_world.h %D%/common/av/test_av.c %D%/common/av/test_form.c \
	%D%/common/av/test_insert.c %D%/common/av/test_names.c %D%/common/av/test_threads.c \
	%D%/common/cntr_world.c %D%/common/cntr_world.h %D%/common/cq/cq_world.c \
	%D%/common/cq/cq_world.h %D%/common/cq/test_cq.c %D%/common/cq/test_read.c \
	%D%/common/cq/test_threads.c %D%/common/cq/test_wait.c %D%/common/ep/ep_world.c \
	%D%/common/ep/ep_world.h %D%/common/ep/test_bind.c %D%/common/ep/test_complete.c \
	%D%/common/ep/test_opt.c %D%/common/eq_world.c %D%/common/eq_world.h \
	%D%/common/lower/lower_world.c %D%/common/lower/lower_world.h \
	%D%/common/lower/test_choose.c %D%/common/lower/test_cq.c %D%/common/lower/test_eq.c \
	%D%/common/lower/test_look.c %D%/common/lower/test_table.c %D%/common/lower/test_threads.c \
	%D%/common/pass/test_pass.c %D%/common/pmem/test_declare.c %D%/common/pmem/test_facts.c \
	%D%/common/pmem/test_mapping.c %D%/common/pmem/test_region.c %D%/common/pmem/tree.c \
	%D%/common/pmem/tree.h %D%/common/test_addr.c %D%/common/test_attr.c \
	%D%/common/test_attr_caps.c %D%/common/test_attr_fields.c %D%/common/test_attr_mr.c \
	%D%/common/test_attr_rules.c %D%/common/test_bytes.c %D%/common/test_cntr.c \
	%D%/common/test_cntr_sleep.c %D%/common/test_cntr_threads.c %D%/common/test_cntr_wait.c \
	%D%/common/test_deadline.c %D%/common/test_eq.c %D%/common/test_eq_batch.c \
	%D%/common/test_eq_error.c %D%/common/test_eq_open.c %D%/common/test_eq_threads.c \
	%D%/common/test_eq_wait.c %D%/common/test_list.c %D%/common/test_lock.c \
	%D%/common/test_mr.c %D%/common/test_nic.c %D%/common/test_nosys.c %D%/common/test_param.c \
	%D%/common/test_ring.c %D%/common/test_rounds.c %D%/common/test_slab.c \
	%D%/common/test_thread.c %D%/common/test_wait.c %D%/common/test_wait_source.c
%C%_unit_common_LDFLAGS = $(AM_LDFLAGS) $(CT_WRAP_TIME) $(CT_WRAP_LOWER) -Wl,--wrap=timerfd_settime
%C%_unit_common_LDADD = $(ct_libs) $(pmem_libs)
