# SPDX-License-Identifier: BSD-2-Clause
# fi_nfsget: fetches a file from an NFSv4.1 server over rpcrdma.
%D%/%.o: private AM_CPPFLAGS += $(nfs_include)
bin_PROGRAMS += %D%/fi_nfsget
%C%_fi_nfsget_SOURCES = %D%/fetch.c %D%/fetch.h %D%/fi_nfsget.c %D%/options.c %D%/options.h \
	%D%/part.c %D%/part.h %D%/progress.c %D%/progress.h %D%/url.c
%C%_fi_nfsget_LDADD = $(nfs_libs)
EXTRA_DIST += %D%/test-fi_nfsget
