# SPDX-License-Identifier: BSD-2-Clause
# What fi_remotelog writes and reads: no device, no file.
%D%/%.o: private AM_CPPFLAGS += -I$(srcdir)/util/fi_remotelog
unit_tests += fabtests/unit/unit_remotelog
fabtests_unit_unit_remotelog_SOURCES = %D%/test_format.c %D%/test_journal.c %D%/test_method.c \
	%D%/test_orderings.c %D%/test_stats.c %D%/test_trips.c %D%/test_wire.c \
	util/fi_remotelog/journal.c util/fi_remotelog/medium.c
fabtests_unit_unit_remotelog_LDADD = $(ct_libs) $(remotelog_libs) $(LIBFABRIC_LIBS) $(PMEM_LIBS)
