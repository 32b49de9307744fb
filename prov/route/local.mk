# SPDX-License-Identifier: BSD-2-Clause
# The provider, as objects of a convenience library so that unit tests reach them.
noinst_LTLIBRARIES += prov/route/libroute-objs.la
prov_route_libroute_objs_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/prov/route $(LIBFABRIC_CFLAGS)
# libpeer.la has librouteconfig.la, libroutewire.la and libcairn-common.la in it.
prov_route_libroute_objs_la_LIBADD = prov/route/xfer/libroutexfer.la prov/route/peer/libpeer.la prov/route/topo/libtopo.la \
	prov/common/pmem/libcairn-pmem.la $(LIBFABRIC_LIBS)
prov_route_libroute_objs_la_SOURCES = \
	prov/route/addr/addr.h \
	prov/route/addr/pack.c \
	prov/route/addr/place.c \
	prov/route/auto.c \
	prov/route/auto.h \
	prov/route/cm/calls.c \
	prov/route/cm/cm.h \
	prov/route/cm/conn.c \
	prov/route/cm/hop.c \
	prov/route/cm/incoming.c \
	prov/route/cm/news.c \
	prov/route/cm/say.c \
	prov/route/cm/trust.c \
	prov/route/cq.c \
	prov/route/device.c \
	prov/route/device.h \
	prov/route/domain.c \
	prov/route/ep/ep.c \
	prov/route/ep/ep.h \
	prov/route/ep/msg.c \
	prov/route/ep/opt.c \
	prov/route/ep/rma.c \
	prov/route/eq.c \
	prov/route/fabric.c \
	prov/route/info.c \
	prov/route/info.h \
	prov/route/init.c \
	prov/route/keyring.c \
	prov/route/keyring.h \
	prov/route/mr.c \
	prov/route/objects.h \
	prov/route/pep.c \
	prov/route/route.h

provider_LTLIBRARIES += prov/route/libroute-fi.la
prov_route_libroute_fi_la_SOURCES =
prov_route_libroute_fi_la_LIBADD = prov/route/libroute-objs.la
prov_route_libroute_fi_la_LDFLAGS = \
	$(AM_LDFLAGS) -module -avoid-version -shared -export-symbols-regex '^fi_prov_ini$$' \
	-Wl,-z,nodelete
EXTRA_DIST += prov/route/local.mk
