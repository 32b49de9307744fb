# SPDX-License-Identifier: BSD-2-Clause
# A small NFSv4.1 server of ours, which errs on demand, for tests of util/nfs and fi_nfsget.
noinst_PROGRAMS += fabtests/nfs/fi_cairn_nfs fabtests/nfs/fi_cairn_nfsd
fabtests_nfs_fi_cairn_nfsd_SOURCES = \
	fabtests/nfs/attrs.c \
	fabtests/nfs/count.c \
	fabtests/nfs/fault.c \
	fabtests/nfs/fi_cairn_nfsd.c \
	fabtests/nfs/nfd.h \
	fabtests/nfs/ops_file.c \
	fabtests/nfs/ops_session.c \
	fabtests/nfs/ops_state.c \
	fabtests/nfs/peer.c \
	fabtests/nfs/recall.c \
	fabtests/nfs/serve.c \
	fabtests/nfs/tree.c
fabtests_nfs_fi_cairn_nfsd_CPPFLAGS = $(util_nfs_libnfs_la_CPPFLAGS)
fabtests_nfs_fi_cairn_nfsd_LDADD = util/nfs/libnfs.la

# And a client with the rest of what the library does.
fabtests_nfs_fi_cairn_nfs_SOURCES = \
	fabtests/nfs/case.c \
	fabtests/nfs/case.h \
	fabtests/nfs/case_again.c \
	fabtests/nfs/case_bind.c \
	fabtests/nfs/case_blocked.c \
	fabtests/nfs/case_calls.c \
	fabtests/nfs/case_data.c \
	fabtests/nfs/case_list.c \
	fabtests/nfs/case_long.c \
	fabtests/nfs/case_recall.c \
	fabtests/nfs/contest.c \
	fabtests/nfs/contest.h \
	fabtests/nfs/fi_cairn_nfs.c \
	fabtests/nfs/tcp.c \
	fabtests/nfs/tcp.h
fabtests_nfs_fi_cairn_nfs_CPPFLAGS = $(util_nfs_libnfs_la_CPPFLAGS)
fabtests_nfs_fi_cairn_nfs_LDADD = util/nfs/libnfs.la

# The same operations through the kernel's mount, for fabtests/interop/bench-nfs.
noinst_PROGRAMS += fabtests/nfs/fi_cairn_nfs_speed
fabtests_nfs_fi_cairn_nfs_speed_SOURCES = fabtests/nfs/fi_cairn_nfs_speed.c
fabtests_nfs_fi_cairn_nfs_speed_CPPFLAGS = $(util_nfs_libnfs_la_CPPFLAGS)
fabtests_nfs_fi_cairn_nfs_speed_LDADD = util/nfs/libnfs.la

EXTRA_DIST += fabtests/nfs/local.mk
