# SPDX-License-Identifier: BSD-2-Clause
# The groups of an IPoIB link (prov/pverbs/groups): no device, no provider.
%D%/%.o: private AM_CPPFLAGS += -I$(srcdir)/prov/pverbs
unit_tests += fabtests/unit/unit_pverbs_groups
fabtests_unit_unit_pverbs_groups_SOURCES = %D%/test_close.c %D%/test_queue.c %D%/test_random.c \
	%D%/test_receive_join.c %D%/test_receive_lost.c %D%/test_receive_member.c \
	%D%/test_receive_usable.c %D%/test_restart.c %D%/test_send_appear.c %D%/test_send_member.c \
	%D%/test_send_route.c %D%/world.c %D%/world.h %D%/world_receive.c %D%/world_receive.h \
	%D%/world_send.c %D%/world_send.h
fabtests_unit_unit_pverbs_groups_LDADD = $(ct_libs) $(pverbs_sa_libs)
