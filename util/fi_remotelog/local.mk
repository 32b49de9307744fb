# SPDX-License-Identifier: BSD-2-Clause
# fi_remotelog: a log replicated to remote persistent memory, measured and recovered.
noinst_LTLIBRARIES += util/fi_remotelog/libremotelog.la
util_fi_remotelog_libremotelog_la_SOURCES = \
	util/fi_remotelog/format.c \
	util/fi_remotelog/format.h \
	util/fi_remotelog/method.c \
	util/fi_remotelog/method.h \
	util/fi_remotelog/orderings.c \
	util/fi_remotelog/orderings.h \
	util/fi_remotelog/stats.c \
	util/fi_remotelog/stats.h \
	util/fi_remotelog/trips.c \
	util/fi_remotelog/trips.h \
	util/fi_remotelog/wire.c \
	util/fi_remotelog/wire.h
util_fi_remotelog_libremotelog_la_CPPFLAGS = $(AM_CPPFLAGS) $(ISAL_CFLAGS)
util_fi_remotelog_libremotelog_la_LIBADD = $(ISAL_LIBS) -lm

bin_PROGRAMS += util/fi_remotelog/fi_remotelog
util_fi_remotelog_fi_remotelog_SOURCES = \
	util/fi_remotelog/append.c \
	util/fi_remotelog/append.h \
	util/fi_remotelog/client.c \
	util/fi_remotelog/client.h \
	util/fi_remotelog/fi_remotelog.c \
	util/fi_remotelog/journal.c \
	util/fi_remotelog/journal.h \
	util/fi_remotelog/link.c \
	util/fi_remotelog/link.h \
	util/fi_remotelog/medium.c \
	util/fi_remotelog/medium.h \
	util/fi_remotelog/options.c \
	util/fi_remotelog/options.h \
	util/fi_remotelog/output.c \
	util/fi_remotelog/output.h \
	util/fi_remotelog/plot.c \
	util/fi_remotelog/plot.h \
	util/fi_remotelog/recover.c \
	util/fi_remotelog/recover.h \
	util/fi_remotelog/report.c \
	util/fi_remotelog/report.h \
	util/fi_remotelog/rows.c \
	util/fi_remotelog/rows.h \
	util/fi_remotelog/rpma.h \
	util/fi_remotelog/server.c \
	util/fi_remotelog/server.h
if RPMA
util_fi_remotelog_fi_remotelog_SOURCES += \
	util/fi_remotelog/rpma.c \
	util/fi_remotelog/rpma_lib.c \
	util/fi_remotelog/rpma_lib.h
else
util_fi_remotelog_fi_remotelog_SOURCES += util/fi_remotelog/rpma_none.c
endif
util_fi_remotelog_fi_remotelog_CPPFLAGS = $(AM_CPPFLAGS) $(LIBFABRIC_CFLAGS) $(PMEM_CFLAGS) \
	$(JANSSON_CFLAGS) $(RPMA_CFLAGS)
util_fi_remotelog_fi_remotelog_LDADD = util/fi_remotelog/libremotelog.la $(LIBFABRIC_LIBS) \
	$(PMEM_LIBS) $(JANSSON_LIBS) $(VERBS_LIBS)

EXTRA_DIST += util/fi_remotelog/local.mk util/fi_remotelog/sweep \
	util/fi_remotelog/test-fi_remotelog
