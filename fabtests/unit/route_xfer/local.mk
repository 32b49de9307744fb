# SPDX-License-Identifier: BSD-2-Clause
# The data path of route's connections, over a peer in memory: no device, no provider.
unit_tests += fabtests/unit/unit_route_xfer
fabtests_unit_unit_route_xfer_SOURCES = %D%/fake.c %D%/fake.h %D%/say.c %D%/say.h \
	%D%/test_answer.c %D%/test_bad.c %D%/test_direct.c %D%/test_durable.c %D%/test_far.c \
	%D%/test_fence.c %D%/test_keys.c %D%/test_quick.c %D%/test_random.c %D%/test_read.c \
	%D%/test_recv.c %D%/test_send.c %D%/test_stop.c %D%/test_write.c %D%/world.c
fabtests_unit_unit_route_xfer_LDADD = $(ct_libs) $(route_config_libs)
