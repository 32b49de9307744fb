# SPDX-License-Identifier: BSD-2-Clause
# fi_router: the router daemon. All but its main function is a convenience library, for unit tests.
%D%/%.o: private AM_CPPFLAGS += -I$(srcdir)/%D% -I$(srcdir)/prov/route
noinst_LIBRARIES += %D%/libfirouter.a
%C%_libfirouter_a_SOURCES = %D%/adjacency/adjacency.c %D%/adjacency/adjacency.h \
	%D%/adjacency/duplicate.c %D%/adjacency/exchange.c %D%/adjacency/hear.c %D%/adjacency/inside.h %D%/adjacency/queue.c \
	%D%/adjacency/target.c %D%/control/blocked.c %D%/control/connections.c \
	%D%/control/control.c %D%/control/control.h %D%/control/fault.c %D%/control/fault.h \
	%D%/control/inject.c %D%/control/inside.h %D%/control/listen.c %D%/control/ready.c \
	%D%/control/request.c %D%/control/request.h %D%/control/show.c %D%/control/top.c \
	%D%/control/why.c %D%/control/words.c %D%/convert.c %D%/convert.h %D%/device/crowd.c \
	%D%/device/device.c %D%/device/device.h %D%/device/guest.c %D%/device/inside.h %D%/device/mute.c \
	%D%/device/rate.c %D%/drain.c %D%/drain.h %D%/log.c %D%/log.h %D%/lookup.c %D%/lookup.h \
	%D%/metrics/http.c %D%/metrics/inside.h %D%/metrics/metrics.h %D%/metrics/text.c \
	%D%/node.c %D%/node.h %D%/notify.c %D%/notify.h %D%/options.c %D%/options.h %D%/ready.c \
	%D%/ready.h %D%/reload.c %D%/reload.h %D%/route/ask.c %D%/route/inside.h %D%/route/near.c \
	%D%/route/own.c %D%/route/route.h %D%/route/routes.c %D%/route/way.c %D%/route/why.c \
	%D%/self.c %D%/self.h %D%/serve.c %D%/serve.h %D%/sums.c %D%/sums.h %D%/transit/ack.c \
	%D%/transit/end.c %D%/transit/forward.c %D%/transit/forward.h %D%/transit/inside.h \
	%D%/transit/lasthop.c %D%/transit/lasthop.h %D%/transit/probe.c %D%/transit/repack.c \
	%D%/transit/say.c %D%/transit/setup.c %D%/transit/transit.c %D%/transit/transit.h \
	%D%/transit/transits.c %D%/worker/past.c %D%/worker/port.c %D%/worker/thread.c \
	%D%/worker/turn.c %D%/worker/turnstile.c %D%/worker/turnstile.h %D%/worker/worker.c \
	%D%/worker/worker.h
router_libs = %D%/libfirouter.a prov/route/sync/libsync.a $(route_peer_libs) $(JANSSON_LIBS) \
	$(MICROHTTPD_LIBS)

sbin_PROGRAMS += %D%/fi_router
%C%_fi_router_LDADD = $(router_libs)

systemdsystemunitdir = $(prefix)/lib/systemd/system
nodist_systemdsystemunit_DATA = %D%/fi_router@.service
CLEANFILES += %D%/fi_router@.service
%D%/fi_router@.service: %D%/fi_router@.service.in Makefile
	$(AM_V_GEN)$(MKDIR_P) %D% && sed 's|@sbindir[@]|$(sbindir)|' $< >$@
sysusersdir = $(prefix)/lib/sysusers.d
dist_sysusers_DATA = %D%/cairn.conf
EXTRA_DIST += %D%/fi_router@.service.in %D%/rooms %D%/test-fi_router %D%/test-metrics
