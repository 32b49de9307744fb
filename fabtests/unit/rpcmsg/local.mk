# SPDX-License-Identifier: BSD-2-Clause
# Heads of RPC messages: no device.
check_PROGRAMS += fabtests/unit/unit_rpcmsg
TESTS += fabtests/unit/unit_rpcmsg
fabtests_unit_unit_rpcmsg_SOURCES = fabtests/unit/rpcmsg/test_head.c
nodist_EXTRA_fabtests_unit_unit_rpcmsg_SOURCES = fabtests/unit/dummy.cc
fabtests_unit_unit_rpcmsg_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/fabtests/unit -I$(top_srcdir)/util -Iutil \
	$(LIBFABRIC_CFLAGS) $(TIRPC_CFLAGS)
fabtests_unit_unit_rpcmsg_LDFLAGS = $(AM_LDFLAGS) $(CT_WRAP_ALLOC) $(CT_WRAP_LOG)
fabtests_unit_unit_rpcmsg_LDADD = fabtests/unit/libct.la util/rpcmsg/librpcmsg.la $(LIBFABRIC_LIBS)
EXTRA_DIST += fabtests/unit/rpcmsg/local.mk
