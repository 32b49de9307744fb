# SPDX-License-Identifier: BSD-2-Clause
# fi_routectl: routes of a network before it is there, and what a running router says.
bin_PROGRAMS += util/fi_routectl/fi_routectl
util_fi_routectl_fi_routectl_SOURCES = \
	util/fi_routectl/between.c \
	util/fi_routectl/dot.c \
	util/fi_routectl/draw.c \
	util/fi_routectl/fail.c \
	util/fi_routectl/fi_routectl.c \
	util/fi_routectl/json.c \
	util/fi_routectl/live/ask.c \
	util/fi_routectl/live/blocked.c \
	util/fi_routectl/live/connections.c \
	util/fi_routectl/live/drain.c \
	util/fi_routectl/live/fault.c \
	util/fi_routectl/live/live.h \
	util/fi_routectl/live/members.c \
	util/fi_routectl/live/options.c \
	util/fi_routectl/live/probe.c \
	util/fi_routectl/live/ready.c \
	util/fi_routectl/live/show.c \
	util/fi_routectl/live/time.c \
	util/fi_routectl/live/top.c \
	util/fi_routectl/live/why.c \
	util/fi_routectl/names.c \
	util/fi_routectl/options.c \
	util/fi_routectl/options.h \
	util/fi_routectl/pair.c \
	util/fi_routectl/progress.c \
	util/fi_routectl/progress.h \
	util/fi_routectl/sheet.c \
	util/fi_routectl/sheet_between.c \
	util/fi_routectl/sheet_clients.c \
	util/fi_routectl/show.h \
	util/fi_routectl/sim.c \
	util/fi_routectl/sim.h \
	util/fi_routectl/wrong.c \
	util/fi_routectl/wrong.h
util_fi_routectl_fi_routectl_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/prov/route \
	-I$(top_srcdir)/util/fi_routectl -I$(top_srcdir)/util $(LIBFABRIC_CFLAGS) \
	$(JANSSON_CFLAGS)
util_fi_routectl_fi_routectl_LDADD = util/grid/libgrid.la prov/route/config/librouteconfig.la prov/route/topo/libtopo.la \
	$(LIBFABRIC_LIBS) $(INIH_LIBS) $(JANSSON_LIBS)
EXTRA_DIST += util/fi_routectl/local.mk util/fi_routectl/test-fi_routectl util/fi_routectl/golden
