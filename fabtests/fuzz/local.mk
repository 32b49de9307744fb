# SPDX-License-Identifier: BSD-2-Clause
# Fuzz targets. fuzz_main.c runs each over its corpus and a bounded number of mutations;
# its first comment says how to run one under libFuzzer instead.

fuzz_main = fabtests/fuzz/fuzz_main.c fabtests/fuzz/fuzz.h
fuzz_ldadd = prov/common/libcairn-common.la $(LIBFABRIC_LIBS)

fuzz_targets = fabtests/fuzz/fuzz_addr fabtests/fuzz/fuzz_bytes fabtests/fuzz/fuzz_cm_data \
	fabtests/fuzz/fuzz_declare fabtests/fuzz/fuzz_groups fabtests/fuzz/fuzz_ibmc fabtests/fuzz/fuzz_key_attr fabtests/fuzz/fuzz_nfs fabtests/fuzz/fuzz_remotelog \
	fabtests/fuzz/fuzz_replay_format fabtests/fuzz/fuzz_route_config fabtests/fuzz/fuzz_route_control \
	fabtests/fuzz/fuzz_route_greeting fabtests/fuzz/fuzz_route_lsdb \
	fabtests/fuzz/fuzz_route_vc fabtests/fuzz/fuzz_route_wire fabtests/fuzz/fuzz_rpcrdma fabtests/fuzz/fuzz_sa fabtests/fuzz/fuzz_svb_cm \
	fabtests/fuzz/fuzz_svb_sa fabtests/fuzz/fuzz_svb_seg fabtests/fuzz/fuzz_ud_addr fabtests/fuzz/fuzz_wire
check_PROGRAMS += $(fuzz_targets)
TESTS += $(fuzz_targets)

fabtests_fuzz_fuzz_addr_SOURCES = fabtests/fuzz/fuzz_addr.c $(fuzz_main)
fabtests_fuzz_fuzz_addr_CPPFLAGS = $(AM_CPPFLAGS) $(LIBFABRIC_CFLAGS)
fabtests_fuzz_fuzz_addr_LDADD = $(fuzz_ldadd)

fabtests_fuzz_fuzz_bytes_SOURCES = fabtests/fuzz/fuzz_bytes.c $(fuzz_main)
fabtests_fuzz_fuzz_bytes_CPPFLAGS = $(fabtests_fuzz_fuzz_addr_CPPFLAGS)
fabtests_fuzz_fuzz_bytes_LDADD = $(fuzz_ldadd)

fabtests_fuzz_fuzz_cm_data_SOURCES = fabtests/fuzz/fuzz_cm_data.c $(fuzz_main)
fabtests_fuzz_fuzz_cm_data_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/prov/pverbs \
	$(LIBFABRIC_CFLAGS) $(VERBS_CFLAGS)
fabtests_fuzz_fuzz_cm_data_LDADD = prov/pverbs/libpverbs-objs.la $(LIBFABRIC_LIBS) $(VERBS_LIBS)

fabtests_fuzz_fuzz_declare_SOURCES = fabtests/fuzz/fuzz_declare.c $(fuzz_main)
fabtests_fuzz_fuzz_declare_CPPFLAGS = $(fabtests_fuzz_fuzz_cm_data_CPPFLAGS)
fabtests_fuzz_fuzz_declare_LDADD = $(fabtests_fuzz_fuzz_cm_data_LDADD)

fabtests_fuzz_fuzz_groups_SOURCES = fabtests/fuzz/fuzz_groups.c $(fuzz_main)
fabtests_fuzz_fuzz_groups_CPPFLAGS = $(prov_pverbs_sa_libpverbs_sa_la_CPPFLAGS)
fabtests_fuzz_fuzz_groups_LDADD = prov/pverbs/groups/libpverbs-groups.la prov/pverbs/link/libpverbs-link.la \
	prov/pverbs/sa/libpverbs-sa.la $(fuzz_ldadd)

fabtests_fuzz_fuzz_ibmc_SOURCES = fabtests/fuzz/fuzz_ibmc.c $(fuzz_main)
fabtests_fuzz_fuzz_ibmc_CPPFLAGS = $(util_fi_ibmc_libibmc_la_CPPFLAGS)
fabtests_fuzz_fuzz_ibmc_LDADD = util/fi_ibmc/libibmc.la util/grid/libgrid.la prov/pverbs/sa/libpverbs-sa.la \
	$(fuzz_ldadd) $(JANSSON_LIBS)

fabtests_fuzz_fuzz_key_attr_SOURCES = fabtests/fuzz/fuzz_key_attr.c $(fuzz_main)
fabtests_fuzz_fuzz_key_attr_CPPFLAGS = $(fabtests_fuzz_fuzz_cm_data_CPPFLAGS)
fabtests_fuzz_fuzz_key_attr_LDADD = $(fabtests_fuzz_fuzz_cm_data_LDADD)

fabtests_fuzz_fuzz_nfs_SOURCES = fabtests/fuzz/fuzz_nfs.c $(fuzz_main)
fabtests_fuzz_fuzz_nfs_CPPFLAGS = $(util_nfs_libnfs_la_CPPFLAGS)
fabtests_fuzz_fuzz_nfs_LDADD = util/nfs/libnfs.la

fabtests_fuzz_fuzz_remotelog_SOURCES = fabtests/fuzz/fuzz_remotelog.c $(fuzz_main)
fabtests_fuzz_fuzz_remotelog_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/util/fi_remotelog
fabtests_fuzz_fuzz_remotelog_LDADD = util/fi_remotelog/libremotelog.la

fabtests_fuzz_fuzz_replay_format_SOURCES = fabtests/fuzz/fuzz_replay_format.c $(fuzz_main)
fabtests_fuzz_fuzz_replay_format_CPPFLAGS = $(fabtests_fuzz_fuzz_cm_data_CPPFLAGS)
fabtests_fuzz_fuzz_replay_format_LDADD = $(fabtests_fuzz_fuzz_cm_data_LDADD)

fabtests_fuzz_fuzz_route_config_SOURCES = fabtests/fuzz/fuzz_route_config.c $(fuzz_main)
fabtests_fuzz_fuzz_route_config_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/prov/route $(LIBFABRIC_CFLAGS)
fabtests_fuzz_fuzz_route_config_LDADD = prov/route/config/librouteconfig.la prov/route/topo/libtopo.la

fabtests_fuzz_fuzz_route_control_SOURCES = fabtests/fuzz/fuzz_route_control.c $(fuzz_main)
fabtests_fuzz_fuzz_route_control_CPPFLAGS = $(util_fi_router_libfirouter_la_CPPFLAGS)
fabtests_fuzz_fuzz_route_control_LDADD = util/fi_router/libfirouter.la prov/route/peer/libpeer.la

fabtests_fuzz_fuzz_route_greeting_SOURCES = fabtests/fuzz/fuzz_route_greeting.c prov/route/peer/auth.c prov/route/peer/hello.c $(fuzz_main)
fabtests_fuzz_fuzz_route_greeting_CPPFLAGS = $(fabtests_fuzz_fuzz_route_config_CPPFLAGS)
fabtests_fuzz_fuzz_route_greeting_LDADD = prov/route/auth/libauth.la prov/route/flow/libflow.la \
	prov/route/config/librouteconfig.la $(fabtests_fuzz_fuzz_route_lsdb_LDADD)

fabtests_fuzz_fuzz_route_lsdb_SOURCES = fabtests/fuzz/fuzz_route_lsdb.c $(fuzz_main)
fabtests_fuzz_fuzz_route_lsdb_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/prov/route
fabtests_fuzz_fuzz_route_lsdb_LDADD = prov/route/wire/libroutewire.la prov/route/topo/libtopo.la $(fuzz_ldadd)

fabtests_fuzz_fuzz_route_vc_SOURCES = fabtests/fuzz/fuzz_route_vc.c $(fuzz_main)
fabtests_fuzz_fuzz_route_vc_CPPFLAGS = $(fabtests_fuzz_fuzz_route_config_CPPFLAGS)
fabtests_fuzz_fuzz_route_vc_LDADD = prov/route/xfer/libroutexfer.la $(fabtests_fuzz_fuzz_route_lsdb_LDADD)

fabtests_fuzz_fuzz_route_wire_SOURCES = fabtests/fuzz/fuzz_route_wire.c fabtests/unit/route_wire/any.c \
	fabtests/unit/route_wire/any.h $(fuzz_main)
fabtests_fuzz_fuzz_route_wire_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/prov/route \
	-I$(top_srcdir)/fabtests/unit/route_wire $(LIBFABRIC_CFLAGS)
fabtests_fuzz_fuzz_route_wire_LDADD = $(fabtests_fuzz_fuzz_route_lsdb_LDADD)

fabtests_fuzz_fuzz_rpcrdma_SOURCES = fabtests/fuzz/fuzz_rpcrdma.c $(fuzz_main)
fabtests_fuzz_fuzz_rpcrdma_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/prov/rpcrdma
fabtests_fuzz_fuzz_rpcrdma_LDADD = prov/rpcrdma/libwire.la $(fuzz_ldadd)

fabtests_fuzz_fuzz_sa_SOURCES = fabtests/fuzz/fuzz_sa.c $(fuzz_main)
fabtests_fuzz_fuzz_sa_CPPFLAGS = $(prov_pverbs_sa_libpverbs_sa_la_CPPFLAGS)
fabtests_fuzz_fuzz_sa_LDADD = prov/pverbs/sa/libpverbs-sa.la $(fuzz_ldadd)

fabtests_fuzz_fuzz_svb_cm_SOURCES = fabtests/fuzz/fuzz_svb_cm.c util/simverbs/cm/wire.c \
	util/simverbs/cm/wire.h $(fuzz_main)
fabtests_fuzz_fuzz_svb_cm_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/util/simverbs

fabtests_fuzz_fuzz_svb_sa_SOURCES = fabtests/fuzz/fuzz_svb_sa.c $(fuzz_main)
fabtests_fuzz_fuzz_svb_sa_CPPFLAGS = $(fabtests_unit_unit_simverbs_CPPFLAGS)
fabtests_fuzz_fuzz_svb_sa_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--whole-archive,util/simverbs/.libs/libsimverbs-verbs.a,util/simverbs/.libs/libsimverbs-sa.a,--no-whole-archive
fabtests_fuzz_fuzz_svb_sa_LDADD = $(INIH_LIBS) -lm -lpthread
fabtests_fuzz_fuzz_svb_sa_DEPENDENCIES = util/simverbs/libsimverbs-verbs.la util/simverbs/libsimverbs-sa.la

fabtests_fuzz_fuzz_svb_seg_SOURCES = fabtests/fuzz/fuzz_svb_seg.c $(fuzz_main)
fabtests_fuzz_fuzz_svb_seg_CPPFLAGS = $(fabtests_unit_unit_simverbs_CPPFLAGS)
fabtests_fuzz_fuzz_svb_seg_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--whole-archive,util/simverbs/.libs/libsimverbs-verbs.a,--no-whole-archive
fabtests_fuzz_fuzz_svb_seg_LDADD = $(INIH_LIBS) -lm -lpthread
fabtests_fuzz_fuzz_svb_seg_DEPENDENCIES = util/simverbs/libsimverbs-verbs.la

fabtests_fuzz_fuzz_ud_addr_SOURCES = fabtests/fuzz/fuzz_ud_addr.c $(fuzz_main)
fabtests_fuzz_fuzz_ud_addr_CPPFLAGS = $(fabtests_fuzz_fuzz_cm_data_CPPFLAGS)
fabtests_fuzz_fuzz_ud_addr_LDADD = $(fabtests_fuzz_fuzz_cm_data_LDADD)

fabtests_fuzz_fuzz_wire_SOURCES = fabtests/fuzz/fuzz_wire.c $(fuzz_main)
fabtests_fuzz_fuzz_wire_CPPFLAGS = $(fabtests_fuzz_fuzz_cm_data_CPPFLAGS)
fabtests_fuzz_fuzz_wire_LDADD = $(fabtests_fuzz_fuzz_cm_data_LDADD)
EXTRA_DIST += fabtests/fuzz/corpus/addr fabtests/fuzz/corpus/bytes fabtests/fuzz/corpus/cm_data fabtests/fuzz/corpus/declare fabtests/fuzz/corpus/groups fabtests/fuzz/corpus/ibmc fabtests/fuzz/corpus/key_attr fabtests/fuzz/corpus/nfs fabtests/fuzz/corpus/remotelog fabtests/fuzz/corpus/replay_format fabtests/fuzz/corpus/route_config fabtests/fuzz/corpus/route_control fabtests/fuzz/corpus/route_greeting fabtests/fuzz/corpus/route_lsdb fabtests/fuzz/corpus/route_vc fabtests/fuzz/corpus/route_wire fabtests/fuzz/corpus/rpcrdma fabtests/fuzz/corpus/sa fabtests/fuzz/corpus/svb_cm fabtests/fuzz/corpus/svb_sa fabtests/fuzz/corpus/svb_seg fabtests/fuzz/corpus/ud_addr fabtests/fuzz/corpus/wire
