# SPDX-License-Identifier: BSD-2-Clause
# The NFS client without a connection: its back channel, and what fi_nfsget has on disk.
check_PROGRAMS += fabtests/unit/unit_nfs
TESTS += fabtests/unit/unit_nfs
fabtests_unit_unit_nfs_SOURCES = \
	fabtests/unit/nfs/test_callback.c \
	fabtests/unit/nfs/test_part.c \
	fabtests/unit/nfs/test_turn.c \
	util/fi_nfsget/part.c
nodist_EXTRA_fabtests_unit_unit_nfs_SOURCES = fabtests/unit/dummy.cc
fabtests_unit_unit_nfs_CPPFLAGS = $(util_nfs_libnfs_la_CPPFLAGS) -I$(top_srcdir)/fabtests/unit -I$(top_srcdir)/util/fi_nfsget
fabtests_unit_unit_nfs_LDFLAGS = $(AM_LDFLAGS) $(CT_WRAP_ALLOC) $(CT_WRAP_LOG)
fabtests_unit_unit_nfs_LDADD = fabtests/unit/libct.la util/nfs/libnfs.la
EXTRA_DIST += fabtests/unit/nfs/local.mk
