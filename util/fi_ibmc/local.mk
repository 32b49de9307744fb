# SPDX-License-Identifier: BSD-2-Clause
# fi_ibmc: IPoIB links and their multicast groups at the subnet administrator.
%D%/%.o: private AM_CPPFLAGS += -I$(srcdir)/%D% -I$(srcdir)/prov/pverbs $(util_include)
noinst_LIBRARIES += %D%/libibmc.a
%C%_libibmc_a_SOURCES = %D%/draw/dot.c %D%/draw/draw.h %D%/draw/ports.c %D%/draw/svg.c \
	%D%/model/model.c %D%/model/model.h %D%/model/records.c %D%/options.h %D%/print/json.c \
	%D%/print/list.c %D%/print/print.h %D%/print/report.c %D%/rules/group.c %D%/rules/link.c \
	%D%/rules/mlids.c %D%/rules/ports.c %D%/rules/rules.c %D%/rules/rules.h %D%/words/name.c \
	%D%/words/words.c %D%/words/words.h
ibmc_libs = %D%/libibmc.a util/grid/libgrid.a $(pverbs_umad_libs) $(JANSSON_LIBS)

bin_PROGRAMS += %D%/fi_ibmc
%C%_fi_ibmc_SOURCES = %D%/commands/commands.h %D%/commands/create.c %D%/commands/look.c \
	%D%/commands/member.c %D%/commands/watch.c %D%/fi_ibmc.c %D%/map/map.c %D%/map/map.h \
	%D%/options.c %D%/session/events.c %D%/session/gather.c %D%/session/groups.c \
	%D%/session/session.c %D%/session/session.h
%C%_fi_ibmc_LDADD = $(ibmc_libs)
EXTRA_DIST += %D%/golden %D%/rooms %D%/test-fi_ibmc
