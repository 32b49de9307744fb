# SPDX-License-Identifier: BSD-2-Clause
# Configurations of routers and clients.
unit_tests += fabtests/unit/unit_route_config
fabtests_unit_unit_route_config_SOURCES = %D%/conf.c %D%/conf.h %D%/random.c %D%/random.h \
	%D%/test_alloc.c %D%/test_bad.c %D%/test_examples.c %D%/test_keyfile.c %D%/test_man.c \
	%D%/test_query.c %D%/test_read.c %D%/test_set.c %D%/test_uri.c %D%/test_value.c \
	%D%/test_write.c
fabtests_unit_unit_route_config_LDADD = $(ct_libs) $(route_config_libs)
EXTRA_DIST += %D%/bad.txt
