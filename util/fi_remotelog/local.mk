# SPDX-License-Identifier: BSD-2-Clause
# fi_remotelog: a log replicated to remote persistent memory, measured and recovered.
%D%/%.o: private AM_CPPFLAGS += $(util_include)
noinst_LIBRARIES += %D%/libremotelog.a
%C%_libremotelog_a_SOURCES = %D%/format.c %D%/format.h %D%/method.c %D%/method.h %D%/orderings.c \
	%D%/orderings.h %D%/stats.c %D%/stats.h %D%/trips.c %D%/trips.h %D%/wire.c %D%/wire.h
remotelog_libs = %D%/libremotelog.a $(ISAL_LIBS) -lm

bin_PROGRAMS += %D%/fi_remotelog
%C%_fi_remotelog_SOURCES = %D%/append.c %D%/append.h %D%/client.c %D%/client.h %D%/fi_remotelog.c \
	%D%/journal.c %D%/journal.h %D%/link.c %D%/link.h %D%/medium.c %D%/medium.h %D%/options.c \
	%D%/options.h %D%/output.c %D%/output.h %D%/plot.c %D%/plot.h %D%/recover.c %D%/recover.h \
	%D%/report.c %D%/report.h %D%/rows.c %D%/rows.h %D%/rpma.h %D%/server.c %D%/server.h
if RPMA
%C%_fi_remotelog_SOURCES += %D%/rpma.c %D%/rpma_lib.c %D%/rpma_lib.h
else
%C%_fi_remotelog_SOURCES += %D%/rpma_none.c
endif
%C%_fi_remotelog_LDADD = $(remotelog_libs) $(LIBFABRIC_LIBS) $(PMEM_LIBS) $(JANSSON_LIBS) \
	$(VERBS_LIBS)
EXTRA_DIST += %D%/sweep %D%/test-fi_remotelog
