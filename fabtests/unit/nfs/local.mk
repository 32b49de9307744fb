# SPDX-License-Identifier: BSD-2-Clause
# The NFS client without a connection: its back channel, and what fi_nfsget has on disk.
%D%/%.o: private AM_CPPFLAGS += $(nfs_include) -I$(srcdir)/util/fi_nfsget
unit_tests += fabtests/unit/unit_nfs
fabtests_unit_unit_nfs_SOURCES = %D%/test_callback.c %D%/test_part.c %D%/test_turn.c \
	util/fi_nfsget/part.c
fabtests_unit_unit_nfs_LDADD = $(ct_libs) $(nfs_libs)
