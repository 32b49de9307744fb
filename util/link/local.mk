# SPDX-License-Identifier: BSD-2-Clause
# Connections of the programs of util; not installed.
noinst_LTLIBRARIES += util/link/liblink.la
util_link_liblink_la_SOURCES = \
	util/link/link.c \
	util/link/link.h \
	util/link/rpc.c \
	util/link/rpc.h \
	util/link/state.c
util_link_liblink_la_CPPFLAGS = $(AM_CPPFLAGS) $(LIBFABRIC_CFLAGS)
util_link_liblink_la_LIBADD = $(LIBFABRIC_LIBS)

EXTRA_DIST += util/link/local.mk
