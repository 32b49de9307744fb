# SPDX-License-Identifier: BSD-2-Clause
# fi_router: the router daemon. All but its main function is a convenience library, for unit tests.
noinst_LTLIBRARIES += util/fi_router/libfirouter.la
util_fi_router_libfirouter_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/util/fi_router -I$(top_srcdir)/prov/route \
	$(LIBFABRIC_CFLAGS) $(JANSSON_CFLAGS) $(MICROHTTPD_CFLAGS)
util_fi_router_libfirouter_la_SOURCES = \
	util/fi_router/adjacency/adjacency.c \
	util/fi_router/adjacency/adjacency.h \
	util/fi_router/adjacency/exchange.c \
	util/fi_router/adjacency/hear.c \
	util/fi_router/adjacency/inside.h \
	util/fi_router/adjacency/queue.c \
	util/fi_router/adjacency/target.c \
	util/fi_router/control/blocked.c \
	util/fi_router/control/connections.c \
	util/fi_router/control/control.c \
	util/fi_router/control/control.h \
	util/fi_router/control/fault.c \
	util/fi_router/control/fault.h \
	util/fi_router/control/inject.c \
	util/fi_router/control/inside.h \
	util/fi_router/control/listen.c \
	util/fi_router/control/request.c \
	util/fi_router/control/request.h \
	util/fi_router/control/show.c \
	util/fi_router/control/ready.c \
	util/fi_router/control/top.c \
	util/fi_router/control/why.c \
	util/fi_router/control/words.c \
	util/fi_router/convert.c \
	util/fi_router/convert.h \
	util/fi_router/device/device.c \
	util/fi_router/device/device.h \
	util/fi_router/device/crowd.c \
	util/fi_router/device/guest.c \
	util/fi_router/device/inside.h \
	util/fi_router/device/rate.c \
	util/fi_router/drain.c \
	util/fi_router/drain.h \
	util/fi_router/log.c \
	util/fi_router/log.h \
	util/fi_router/lookup.c \
	util/fi_router/lookup.h \
	util/fi_router/metrics/http.c \
	util/fi_router/metrics/inside.h \
	util/fi_router/metrics/metrics.h \
	util/fi_router/metrics/text.c \
	util/fi_router/node.c \
	util/fi_router/node.h \
	util/fi_router/notify.c \
	util/fi_router/notify.h \
	util/fi_router/options.c \
	util/fi_router/options.h \
	util/fi_router/ready.c \
	util/fi_router/ready.h \
	util/fi_router/reload.c \
	util/fi_router/reload.h \
	util/fi_router/route/ask.c \
	util/fi_router/route/inside.h \
	util/fi_router/route/near.c \
	util/fi_router/route/own.c \
	util/fi_router/route/route.h \
	util/fi_router/route/routes.c \
	util/fi_router/route/way.c \
	util/fi_router/route/why.c \
	util/fi_router/self.c \
	util/fi_router/self.h \
	util/fi_router/serve.c \
	util/fi_router/serve.h \
	util/fi_router/sums.c \
	util/fi_router/sums.h \
	util/fi_router/transit/ack.c \
	util/fi_router/transit/end.c \
	util/fi_router/transit/forward.c \
	util/fi_router/transit/forward.h \
	util/fi_router/transit/inside.h \
	util/fi_router/transit/lasthop.c \
	util/fi_router/transit/lasthop.h \
	util/fi_router/transit/probe.c \
	util/fi_router/transit/repack.c \
	util/fi_router/transit/say.c \
	util/fi_router/transit/setup.c \
	util/fi_router/transit/transit.c \
	util/fi_router/transit/transit.h \
	util/fi_router/transit/transits.c \
	util/fi_router/worker/past.c \
	util/fi_router/worker/port.c \
	util/fi_router/worker/thread.c \
	util/fi_router/worker/turn.c \
	util/fi_router/worker/turnstile.c \
	util/fi_router/worker/turnstile.h \
	util/fi_router/worker/worker.c \
	util/fi_router/worker/worker.h
util_fi_router_libfirouter_la_LIBADD = prov/route/keys/libroutekeys.la prov/route/auth/libauth.la prov/route/sync/libsync.la \
	prov/route/config/librouteconfig.la prov/route/wire/libroutewire.la prov/route/topo/libtopo.la prov/common/libcairn-common.la $(LIBFABRIC_LIBS) $(JANSSON_LIBS) $(MICROHTTPD_LIBS)

sbin_PROGRAMS += util/fi_router/fi_router
util_fi_router_fi_router_SOURCES = util/fi_router/fi_router.c
util_fi_router_fi_router_CPPFLAGS = $(util_fi_router_libfirouter_la_CPPFLAGS)
util_fi_router_fi_router_LDADD = util/fi_router/libfirouter.la prov/route/peer/libpeer.la

systemdsystemunitdir = $(prefix)/lib/systemd/system
nodist_systemdsystemunit_DATA = util/fi_router/fi_router@.service
CLEANFILES += util/fi_router/fi_router@.service
util/fi_router/fi_router@.service: util/fi_router/fi_router@.service.in Makefile
	$(AM_V_GEN)$(MKDIR_P) util/fi_router && \
		sed 's|@sbindir[@]|$(sbindir)|' $(srcdir)/util/fi_router/fi_router@.service.in >$@
sysusersdir = $(prefix)/lib/sysusers.d
dist_sysusers_DATA = util/fi_router/cairn.conf

EXTRA_DIST += util/fi_router/fi_router@.service.in util/fi_router/local.mk util/fi_router/rooms util/fi_router/test-fi_router util/fi_router/test-metrics
