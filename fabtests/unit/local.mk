# SPDX-License-Identifier: BSD-2-Clause
# Unit tests: one program for each source folder, one file for each source file.

# Where malloc and fi_log of the code under test go (cairn_test.h). Whatever is linked with
# libct.la needs both in its LDFLAGS.
CT_WRAP_ALLOC = -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc \
	-Wl,--wrap=posix_memalign,--wrap=strdup,--wrap=strndup
CT_WRAP_LOG = -Wl,--wrap=fi_log,--wrap=fi_log_enabled,--wrap=fi_log_ready

check_LTLIBRARIES += fabtests/unit/libct.la
fabtests_unit_libct_la_SOURCES = \
	fabtests/unit/cairn_test.cc \
	fabtests/unit/cairn_test.h \
	fabtests/unit/ct_alloc.c \
	fabtests/unit/ct_log.c
fabtests_unit_libct_la_CPPFLAGS = $(AM_CPPFLAGS) $(LIBFABRIC_CFLAGS) $(GTEST_CFLAGS)
fabtests_unit_libct_la_LIBADD = $(GTEST_LIBS)

check_PROGRAMS += fabtests/unit/unit_common
TESTS += fabtests/unit/unit_common
fabtests_unit_unit_common_SOURCES = \
	fabtests/unit/common/test_addr.c \
	fabtests/unit/common/test_attr.c \
	fabtests/unit/common/test_attr_mr.c \
	fabtests/unit/common/test_cntr.c \
	fabtests/unit/common/test_eq.c \
	fabtests/unit/common/test_eq_threads.c \
	fabtests/unit/common/test_list.c \
	fabtests/unit/common/test_nic.c \
	fabtests/unit/common/test_nosys.c \
	fabtests/unit/common/test_pool.c \
	fabtests/unit/common/test_ring.c \
	fabtests/unit/common/test_wait.c
# GoogleTest needs the C++ linker.
nodist_EXTRA_fabtests_unit_unit_common_SOURCES = fabtests/unit/dummy.cc
fabtests_unit_unit_common_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/fabtests/unit \
	$(LIBFABRIC_CFLAGS)
fabtests_unit_unit_common_LDFLAGS = $(AM_LDFLAGS) $(CT_WRAP_ALLOC) $(CT_WRAP_LOG) \
	-Wl,--wrap=eventfd_read
fabtests_unit_unit_common_LDADD = fabtests/unit/libct.la \
	prov/common/libcairn-common.la $(LIBFABRIC_LIBS)
