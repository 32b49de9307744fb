# SPDX-License-Identifier: BSD-2-Clause
# fi_ibmc: IPoIB links and their multicast groups at the subnet administrator.
noinst_LTLIBRARIES += util/fi_ibmc/libibmc.la
util_fi_ibmc_libibmc_la_SOURCES = \
	util/fi_ibmc/draw/dot.c \
	util/fi_ibmc/draw/draw.h \
	util/fi_ibmc/draw/ports.c \
	util/fi_ibmc/draw/svg.c \
	util/fi_ibmc/model/model.c \
	util/fi_ibmc/model/model.h \
	util/fi_ibmc/model/records.c \
	util/fi_ibmc/options.h \
	util/fi_ibmc/print/json.c \
	util/fi_ibmc/print/list.c \
	util/fi_ibmc/print/print.h \
	util/fi_ibmc/print/report.c \
	util/fi_ibmc/rules/group.c \
	util/fi_ibmc/rules/link.c \
	util/fi_ibmc/rules/mlids.c \
	util/fi_ibmc/rules/ports.c \
	util/fi_ibmc/rules/rules.c \
	util/fi_ibmc/rules/rules.h \
	util/fi_ibmc/words/name.c \
	util/fi_ibmc/words/words.c \
	util/fi_ibmc/words/words.h
util_fi_ibmc_libibmc_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/util/fi_ibmc -I$(top_srcdir)/prov/pverbs \
	-I$(top_srcdir)/util $(LIBFABRIC_CFLAGS) $(JANSSON_CFLAGS)

bin_PROGRAMS += util/fi_ibmc/fi_ibmc
util_fi_ibmc_fi_ibmc_SOURCES = \
	util/fi_ibmc/commands/commands.h \
	util/fi_ibmc/commands/create.c \
	util/fi_ibmc/commands/look.c \
	util/fi_ibmc/commands/member.c \
	util/fi_ibmc/commands/watch.c \
	util/fi_ibmc/fi_ibmc.c \
	util/fi_ibmc/map/map.c \
	util/fi_ibmc/map/map.h \
	util/fi_ibmc/options.c \
	util/fi_ibmc/session/events.c \
	util/fi_ibmc/session/gather.c \
	util/fi_ibmc/session/groups.c \
	util/fi_ibmc/session/session.c \
	util/fi_ibmc/session/session.h
util_fi_ibmc_fi_ibmc_CPPFLAGS = $(util_fi_ibmc_libibmc_la_CPPFLAGS)
util_fi_ibmc_fi_ibmc_LDADD = util/fi_ibmc/libibmc.la util/grid/libgrid.la prov/pverbs/link/libpverbs-link.la \
	prov/pverbs/sa/libpverbs-umad.la prov/pverbs/sa/libpverbs-sa.la prov/common/libcairn-common.la \
	$(LIBFABRIC_LIBS) $(JANSSON_LIBS)
EXTRA_DIST += util/fi_ibmc/local.mk util/fi_ibmc/rooms util/fi_ibmc/test-fi_ibmc util/fi_ibmc/golden
