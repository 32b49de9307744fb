# SPDX-License-Identifier: BSD-2-Clause
# The scripted provider (fabtests/script).
%D%/%.o: private AM_CPPFLAGS += -I$(srcdir)/fabtests/script
unit_tests += fabtests/unit/unit_script
fabtests_unit_unit_script_SOURCES = %D%/scene.h %D%/test_atomic.c %D%/test_calls.c %D%/test_cm.c \
	%D%/test_hold.c %D%/test_info.c %D%/test_layer.c %D%/test_msg.c %D%/test_rma.c \
	%D%/test_srx.c %D%/test_tagged.c %D%/test_threads.c
fabtests_unit_unit_script_LDFLAGS = $(AM_LDFLAGS) $(CT_WRAP_TIME) $(script_export)
fabtests_unit_unit_script_LDADD = $(script_libs) $(ct_libs) $(common_libs)
