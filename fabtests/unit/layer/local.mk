# SPDX-License-Identifier: BSD-2-Clause
# The example layer over libfabric's own tcp provider, where it is called as libfabric would call
# it, and over the scripted provider.
%D%/%.o: private AM_CPPFLAGS += -I$(srcdir)/examples/layer -I$(srcdir)/fabtests/script
unit_tests += fabtests/unit/unit_layer
fabtests_unit_unit_layer_SOURCES = %D%/layer_world.c %D%/layer_world.h %D%/test_close.c \
	%D%/test_events.c %D%/test_info.c %D%/test_open.c %D%/test_pass.c %D%/test_refused.c \
	%D%/test_threads.c
fabtests_unit_unit_layer_LDFLAGS = $(AM_LDFLAGS) $(script_export)
fabtests_unit_unit_layer_LDADD = $(script_libs) $(ct_libs) examples/layer/libexample.a \
	$(common_libs)
