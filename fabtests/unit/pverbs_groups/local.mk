# SPDX-License-Identifier: BSD-2-Clause
# The groups of an IPoIB link (prov/pverbs/groups): no device, no provider.
check_PROGRAMS += fabtests/unit/unit_pverbs_groups
TESTS += fabtests/unit/unit_pverbs_groups
fabtests_unit_unit_pverbs_groups_SOURCES = \
	fabtests/unit/pverbs_groups/test_close.c \
	fabtests/unit/pverbs_groups/test_queue.c \
	fabtests/unit/pverbs_groups/test_random.c \
	fabtests/unit/pverbs_groups/test_receive_join.c \
	fabtests/unit/pverbs_groups/test_receive_lost.c \
	fabtests/unit/pverbs_groups/test_receive_member.c \
	fabtests/unit/pverbs_groups/test_receive_usable.c \
	fabtests/unit/pverbs_groups/test_restart.c \
	fabtests/unit/pverbs_groups/test_send_appear.c \
	fabtests/unit/pverbs_groups/test_send_member.c \
	fabtests/unit/pverbs_groups/test_send_route.c \
	fabtests/unit/pverbs_groups/world.c \
	fabtests/unit/pverbs_groups/world.h \
	fabtests/unit/pverbs_groups/world_receive.c \
	fabtests/unit/pverbs_groups/world_receive.h \
	fabtests/unit/pverbs_groups/world_send.c \
	fabtests/unit/pverbs_groups/world_send.h
nodist_EXTRA_fabtests_unit_unit_pverbs_groups_SOURCES = fabtests/unit/dummy.cc
fabtests_unit_unit_pverbs_groups_CPPFLAGS = $(fabtests_unit_unit_pverbs_sa_CPPFLAGS)
fabtests_unit_unit_pverbs_groups_LDFLAGS = $(AM_LDFLAGS) $(CT_WRAP_ALLOC) $(CT_WRAP_LOG)
fabtests_unit_unit_pverbs_groups_LDADD = fabtests/unit/libct.la prov/pverbs/groups/libpverbs-groups.la \
	prov/pverbs/link/libpverbs-link.la prov/pverbs/sa/libpverbs-sa.la prov/common/libcairn-common.la $(LIBFABRIC_LIBS)
EXTRA_DIST += fabtests/unit/pverbs_groups/local.mk
