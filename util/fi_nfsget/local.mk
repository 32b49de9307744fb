# SPDX-License-Identifier: BSD-2-Clause
# fi_nfsget: fetches a file from an NFSv4.1 server over rpcrdma.
bin_PROGRAMS += util/fi_nfsget/fi_nfsget
util_fi_nfsget_fi_nfsget_SOURCES = \
	util/fi_nfsget/fetch.c \
	util/fi_nfsget/fetch.h \
	util/fi_nfsget/fi_nfsget.c \
	util/fi_nfsget/options.c \
	util/fi_nfsget/options.h \
	util/fi_nfsget/part.c \
	util/fi_nfsget/part.h \
	util/fi_nfsget/progress.c \
	util/fi_nfsget/progress.h \
	util/fi_nfsget/url.c
util_fi_nfsget_fi_nfsget_CPPFLAGS = $(util_nfs_libnfs_la_CPPFLAGS)
util_fi_nfsget_fi_nfsget_LDADD = util/nfs/libnfs.la

EXTRA_DIST += util/fi_nfsget/local.mk util/fi_nfsget/test-fi_nfsget
