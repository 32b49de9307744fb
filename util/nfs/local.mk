# SPDX-License-Identifier: BSD-2-Clause
# A client of NFSv4.1 over rpcrdma's rpc mode; not installed.
nfs_include = -I$(srcdir)/%D% -I%D% $(util_include)
%D%/%.o: private AM_CPPFLAGS += $(nfs_include)
noinst_LIBRARIES += %D%/libnfs.a
%C%_libnfs_a_SOURCES = %D%/callback.c %D%/callback.h %D%/conn.c %D%/conn.h %D%/data.c \
	%D%/directory.c %D%/file.h %D%/message.c %D%/message.h %D%/open.c %D%/ops.h %D%/path.c \
	%D%/session.c %D%/session.h %D%/slot.c %D%/status.c %D%/status.h %D%/turn.c
nodist_%C%_libnfs_a_SOURCES = %D%/nfs41.h %D%/nfs41_xdr.c
rpc_stubs += $(nodist_%C%_libnfs_a_SOURCES)
nfs_libs = %D%/libnfs.a $(rpcmsg_libs)
EXTRA_DIST += %D%/nfs41.x
