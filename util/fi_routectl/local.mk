# SPDX-License-Identifier: BSD-2-Clause
# fi_routectl: routes of a network before it is there, and what a running router says.
%D%/%.o: private AM_CPPFLAGS += -I$(srcdir)/%D% -I$(srcdir)/prov/route $(util_include)
bin_PROGRAMS += %D%/fi_routectl
%C%_fi_routectl_SOURCES = %D%/between.c %D%/dot.c %D%/draw.c %D%/fail.c %D%/fi_routectl.c \
	%D%/json.c %D%/live/ask.c %D%/live/blocked.c %D%/live/connections.c %D%/live/drain.c \
	%D%/live/fault.c %D%/live/live.h %D%/live/members.c %D%/live/options.c %D%/live/probe.c \
	%D%/live/ready.c %D%/live/show.c %D%/live/time.c %D%/live/top.c %D%/live/why.c %D%/names.c \
	%D%/options.c %D%/options.h %D%/pair.c %D%/progress.c %D%/progress.h %D%/sheet.c \
	%D%/sheet_between.c %D%/sheet_clients.c %D%/show.h %D%/sim.c %D%/sim.h %D%/wrong.c \
	%D%/wrong.h
%C%_fi_routectl_LDADD = util/grid/libgrid.a $(route_config_libs) $(JANSSON_LIBS)
EXTRA_DIST += %D%/golden %D%/test-fi_routectl
