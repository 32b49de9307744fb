# Measurements, with the harness of the functional tests.
bin_PROGRAMS += fabtests/benchmarks/fi_cairn_bench
fabtests_benchmarks_fi_cairn_bench_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/fabtests/functional \
	$(LIBFABRIC_CFLAGS) $(CRYPTO_CFLAGS)
fabtests_benchmarks_fi_cairn_bench_LDADD = $(FCT_LDADD)
fabtests_benchmarks_fi_cairn_bench_SOURCES = \
	fabtests/benchmarks/bench.h \
	fabtests/benchmarks/bench_bw.c \
	fabtests/benchmarks/bench_conn.c \
	fabtests/benchmarks/bench_hop.c \
	fabtests/benchmarks/bench_lat.c \
	fabtests/benchmarks/fi_cairn_bench.c

bin_PROGRAMS += fabtests/benchmarks/fi_cairn_op
fabtests_benchmarks_fi_cairn_op_CPPFLAGS = $(AM_CPPFLAGS) $(LIBFABRIC_CFLAGS)
fabtests_benchmarks_fi_cairn_op_LDADD = $(LIBFABRIC_LIBS)
fabtests_benchmarks_fi_cairn_op_SOURCES = \
	fabtests/benchmarks/ends.c \
	fabtests/benchmarks/ends.h \
	fabtests/benchmarks/fi_cairn_op.c

bin_PROGRAMS += fabtests/benchmarks/fi_cairn_conns
fabtests_benchmarks_fi_cairn_conns_CPPFLAGS = $(AM_CPPFLAGS) $(LIBFABRIC_CFLAGS)
fabtests_benchmarks_fi_cairn_conns_LDADD = $(LIBFABRIC_LIBS)
fabtests_benchmarks_fi_cairn_conns_SOURCES = \
	fabtests/benchmarks/ends.c \
	fabtests/benchmarks/ends.h \
	fabtests/benchmarks/fi_cairn_conns.c

bin_PROGRAMS += fabtests/benchmarks/fi_cairn_rate
fabtests_benchmarks_fi_cairn_rate_CPPFLAGS = $(AM_CPPFLAGS) $(LIBFABRIC_CFLAGS)
fabtests_benchmarks_fi_cairn_rate_LDADD = $(LIBFABRIC_LIBS) -lpthread
fabtests_benchmarks_fi_cairn_rate_SOURCES = \
	fabtests/benchmarks/ends.c \
	fabtests/benchmarks/ends.h \
	fabtests/benchmarks/fi_cairn_rate.c

bin_PROGRAMS += fabtests/benchmarks/fi_cairn_rpcs
fabtests_benchmarks_fi_cairn_rpcs_CPPFLAGS = $(AM_CPPFLAGS) $(LIBFABRIC_CFLAGS)
fabtests_benchmarks_fi_cairn_rpcs_LDADD = $(LIBFABRIC_LIBS)
fabtests_benchmarks_fi_cairn_rpcs_SOURCES = \
	fabtests/benchmarks/ends.c \
	fabtests/benchmarks/ends.h \
	fabtests/benchmarks/fi_cairn_rpcs.c

bin_PROGRAMS += fabtests/benchmarks/fi_cairn_dgrams
fabtests_benchmarks_fi_cairn_dgrams_CPPFLAGS = $(AM_CPPFLAGS) $(LIBFABRIC_CFLAGS)
fabtests_benchmarks_fi_cairn_dgrams_LDADD = $(LIBFABRIC_LIBS)
fabtests_benchmarks_fi_cairn_dgrams_SOURCES = \
	fabtests/benchmarks/dgrams.c \
	fabtests/benchmarks/dgrams.h \
	fabtests/benchmarks/dgrams_one.c \
	fabtests/benchmarks/dgrams_two.c \
	fabtests/benchmarks/fi_cairn_dgrams.c

bin_PROGRAMS += fabtests/benchmarks/fi_cairn_groups
fabtests_benchmarks_fi_cairn_groups_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/prov/pverbs $(LIBFABRIC_CFLAGS)
fabtests_benchmarks_fi_cairn_groups_LDADD = prov/pverbs/sa/libpverbs-umad.la prov/pverbs/sa/libpverbs-sa.la \
	prov/common/libcairn-common.la $(LIBFABRIC_LIBS)
fabtests_benchmarks_fi_cairn_groups_SOURCES = \
	fabtests/benchmarks/dgrams.c \
	fabtests/benchmarks/dgrams.h \
	fabtests/benchmarks/fi_cairn_groups.c

bin_PROGRAMS += fabtests/benchmarks/fi_cairn_beside
fabtests_benchmarks_fi_cairn_beside_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/prov/pverbs \
	$(LIBFABRIC_CFLAGS) $(VERBS_CFLAGS)
fabtests_benchmarks_fi_cairn_beside_LDADD = $(LIBFABRIC_LIBS) $(VERBS_LIBS)
fabtests_benchmarks_fi_cairn_beside_SOURCES = \
	fabtests/benchmarks/ends.c \
	fabtests/benchmarks/ends.h \
	fabtests/benchmarks/fi_cairn_beside.c \
	fabtests/benchmarks/raw_peer.c \
	fabtests/benchmarks/raw_peer.h \
	prov/pverbs/wire/private_data.c \
	prov/pverbs/wire/message.c

# The graph of route beside Boost's, if that is there.
noinst_PROGRAMS += fabtests/benchmarks/fi_cairn_route
fabtests_benchmarks_fi_cairn_route_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/prov/route/topo $(LIBFABRIC_CFLAGS)
fabtests_benchmarks_fi_cairn_route_LDADD = prov/route/topo/libtopo.la $(LIBFABRIC_LIBS)
fabtests_benchmarks_fi_cairn_route_SOURCES = \
	fabtests/benchmarks/fi_cairn_route.c \
	fabtests/benchmarks/route_boost.h
if BOOST
fabtests_benchmarks_fi_cairn_route_SOURCES += fabtests/benchmarks/route_boost.cc
else
fabtests_benchmarks_fi_cairn_route_SOURCES += fabtests/benchmarks/route_boost_none.c
endif

# Run by util/bench.
noinst_PROGRAMS += fabtests/benchmarks/bench_local
fabtests_benchmarks_bench_local_SOURCES = fabtests/benchmarks/bench_local.c

# Run by route-bench.
noinst_PROGRAMS += fabtests/benchmarks/tcp_relay
fabtests_benchmarks_tcp_relay_SOURCES = fabtests/benchmarks/tcp_relay.c
fabtests_benchmarks_tcp_relay_LDADD = -lpthread

noinst_PROGRAMS += fabtests/benchmarks/fi_cairn_route_wire
fabtests_benchmarks_fi_cairn_route_wire_SOURCES = fabtests/benchmarks/fi_cairn_route_wire.c
fabtests_benchmarks_fi_cairn_route_wire_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/prov/route
fabtests_benchmarks_fi_cairn_route_wire_LDADD = prov/route/wire/libroutewire.la \
	prov/common/libcairn-common.la $(LIBFABRIC_LIBS) -lm

EXTRA_DIST += \
	fabtests/benchmarks/local.mk \
	fabtests/benchmarks/route-bench \
	fabtests/benchmarks/route-failover \
	fabtests/benchmarks/route-sample
