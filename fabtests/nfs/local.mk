# SPDX-License-Identifier: BSD-2-Clause
# A small NFSv4.1 server of ours, which errs on demand, for tests of util/nfs and fi_nfsget.
%D%/%.o: private AM_CPPFLAGS += $(nfs_include)
noinst_PROGRAMS += %D%/fi_cairn_nfs %D%/fi_cairn_nfs_speed %D%/fi_cairn_nfsd
%C%_fi_cairn_nfsd_SOURCES = %D%/attrs.c %D%/count.c %D%/fault.c %D%/fi_cairn_nfsd.c %D%/nfd.h \
	%D%/ops_file.c %D%/ops_session.c %D%/ops_state.c %D%/peer.c %D%/recall.c %D%/serve.c \
	%D%/tree.c
%C%_fi_cairn_nfsd_LDADD = $(nfs_libs)

# And a client with the rest of what the library does.
%C%_fi_cairn_nfs_SOURCES = %D%/case.c %D%/case.h %D%/case_again.c %D%/case_bind.c \
	%D%/case_blocked.c %D%/case_calls.c %D%/case_data.c %D%/case_list.c %D%/case_long.c \
	%D%/case_recall.c %D%/contest.c %D%/contest.h %D%/fi_cairn_nfs.c %D%/tcp.c %D%/tcp.h
%C%_fi_cairn_nfs_LDADD = $(nfs_libs)

# The same operations through the kernel's mount, for fabtests/interop/bench-nfs.
%C%_fi_cairn_nfs_speed_LDADD = $(nfs_libs)
