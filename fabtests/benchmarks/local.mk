# SPDX-License-Identifier: BSD-2-Clause
# Measurements, with the harness of the functional tests.
%D%/bench%.o %D%/fi_cairn_bench.o: private AM_CPPFLAGS += -I$(srcdir)/fabtests/functional
bin_PROGRAMS += %D%/fi_cairn_bench
%C%_fi_cairn_bench_SOURCES = %D%/bench.h %D%/bench_bw.c %D%/bench_conn.c %D%/bench_hop.c \
	%D%/bench_lat.c %D%/fi_cairn_bench.c
%C%_fi_cairn_bench_LDADD = $(fct_libs)

bench_ends = %D%/ends.c %D%/ends.h
bin_PROGRAMS += %D%/fi_cairn_conns %D%/fi_cairn_op %D%/fi_cairn_rate %D%/fi_cairn_rpcs
%C%_fi_cairn_conns_SOURCES = %D%/fi_cairn_conns.c $(bench_ends)
%C%_fi_cairn_op_SOURCES = %D%/fi_cairn_op.c $(bench_ends)
%C%_fi_cairn_rate_SOURCES = %D%/fi_cairn_rate.c $(bench_ends)
%C%_fi_cairn_rate_LDADD = $(LIBFABRIC_LIBS) -lpthread
%C%_fi_cairn_rpcs_SOURCES = %D%/fi_cairn_rpcs.c $(bench_ends)

bin_PROGRAMS += %D%/fi_cairn_beside %D%/fi_cairn_dgrams %D%/fi_cairn_groups
%D%/fi_cairn_beside.o %D%/fi_cairn_groups.o %D%/raw_%.o: private AM_CPPFLAGS += \
	-I$(srcdir)/prov/pverbs
%C%_fi_cairn_beside_SOURCES = %D%/fi_cairn_beside.c %D%/raw_peer.c %D%/raw_peer.h $(bench_ends)
%C%_fi_cairn_beside_LDADD = $(pverbs_sa_libs) $(VERBS_LIBS)
%C%_fi_cairn_dgrams_SOURCES = %D%/dgrams.c %D%/dgrams.h %D%/dgrams_one.c %D%/dgrams_two.c \
	%D%/fi_cairn_dgrams.c
%C%_fi_cairn_groups_SOURCES = %D%/dgrams.c %D%/dgrams.h %D%/fi_cairn_groups.c
%C%_fi_cairn_groups_LDADD = $(pverbs_umad_libs)

# The graph of route beside Boost's, if that is there; and its messages.
noinst_PROGRAMS += %D%/fi_cairn_route %D%/fi_cairn_route_wire
%D%/fi_cairn_route.o %D%/route_%.o: private AM_CPPFLAGS += -I$(srcdir)/prov/route/topo
%D%/fi_cairn_route_wire.o: private AM_CPPFLAGS += -I$(srcdir)/prov/route
%C%_fi_cairn_route_LDADD = $(route_config_libs)
%C%_fi_cairn_route_SOURCES = %D%/fi_cairn_route.c %D%/route_boost.h
if BOOST
%C%_fi_cairn_route_SOURCES += %D%/route_boost.cc
else
%C%_fi_cairn_route_SOURCES += %D%/route_boost_none.c
endif
%C%_fi_cairn_route_wire_LDADD = $(route_config_libs) -lm

# Run by util/bench, and by route-bench.
noinst_PROGRAMS += %D%/bench_local %D%/tcp_relay
%C%_bench_local_LDADD =
%C%_tcp_relay_LDADD = -lpthread
EXTRA_DIST += %D%/route-bench %D%/route-failover %D%/route-sample
