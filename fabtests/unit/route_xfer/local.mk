# SPDX-License-Identifier: BSD-2-Clause
# The data path of route's connections, over a peer in memory: no device, no provider.
check_PROGRAMS += fabtests/unit/unit_route_xfer
TESTS += fabtests/unit/unit_route_xfer
fabtests_unit_unit_route_xfer_SOURCES = \
	fabtests/unit/route_xfer/fake.c \
	fabtests/unit/route_xfer/fake.h \
	fabtests/unit/route_xfer/say.c \
	fabtests/unit/route_xfer/say.h \
	fabtests/unit/route_xfer/test_answer.c \
	fabtests/unit/route_xfer/test_bad.c \
	fabtests/unit/route_xfer/test_durable.c \
	fabtests/unit/route_xfer/test_direct.c \
	fabtests/unit/route_xfer/test_far.c \
	fabtests/unit/route_xfer/test_fence.c \
	fabtests/unit/route_xfer/test_keys.c \
	fabtests/unit/route_xfer/test_quick.c \
	fabtests/unit/route_xfer/test_random.c \
	fabtests/unit/route_xfer/test_read.c \
	fabtests/unit/route_xfer/test_recv.c \
	fabtests/unit/route_xfer/test_send.c \
	fabtests/unit/route_xfer/test_stop.c \
	fabtests/unit/route_xfer/test_write.c \
	fabtests/unit/route_xfer/world.c
nodist_EXTRA_fabtests_unit_unit_route_xfer_SOURCES = fabtests/unit/dummy.cc
fabtests_unit_unit_route_xfer_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/fabtests/unit -I$(top_srcdir)/prov/route \
	$(LIBFABRIC_CFLAGS)
fabtests_unit_unit_route_xfer_LDFLAGS = $(AM_LDFLAGS) $(CT_WRAP_ALLOC) $(CT_WRAP_LOG)
fabtests_unit_unit_route_xfer_LDADD = fabtests/unit/libct.la prov/route/xfer/libroutexfer.la \
	prov/route/wire/libroutewire.la prov/route/topo/libtopo.la prov/common/libcairn-common.la $(LIBFABRIC_LIBS)
EXTRA_DIST += fabtests/unit/route_xfer/local.mk
