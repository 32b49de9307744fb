# SPDX-License-Identifier: BSD-2-Clause
# Fuzz targets. fuzz_main.c runs each over its corpus and a bounded number of mutations;
# its first comment says how to run one under libFuzzer instead. Each is its NAME.c.
check_LIBRARIES += %D%/libfuzz.a
%C%_libfuzz_a_SOURCES = %D%/fuzz.h %D%/fuzz_main.c
fuzz_libs = %D%/libfuzz.a

fuzz_targets = %D%/fuzz_addr %D%/fuzz_bytes %D%/fuzz_cm_data %D%/fuzz_declare %D%/fuzz_groups \
	%D%/fuzz_ibmc %D%/fuzz_key_attr %D%/fuzz_nfs %D%/fuzz_remotelog %D%/fuzz_replay_format \
	%D%/fuzz_route_config %D%/fuzz_route_control %D%/fuzz_route_greeting %D%/fuzz_route_lsdb \
	%D%/fuzz_route_vc %D%/fuzz_route_wire %D%/fuzz_rpcrdma %D%/fuzz_sa %D%/fuzz_svb_cm \
	%D%/fuzz_svb_sa %D%/fuzz_svb_seg %D%/fuzz_ud_addr %D%/fuzz_wire
check_PROGRAMS += $(fuzz_targets)
TESTS += $(fuzz_targets)
EXTRA_DIST += %D%/corpus

%C%_fuzz_addr_LDADD = $(fuzz_libs) $(common_libs)
%C%_fuzz_bytes_LDADD = $(fuzz_libs) $(common_libs)

fuzz_pverbs = -I$(srcdir)/prov/pverbs
%D%/fuzz_cm_data.o %D%/fuzz_declare.o %D%/fuzz_key_attr.o: private AM_CPPFLAGS += $(fuzz_pverbs)
%D%/fuzz_replay_format.o %D%/fuzz_ud_addr.o %D%/fuzz_wire.o: private AM_CPPFLAGS += $(fuzz_pverbs)
%C%_fuzz_cm_data_LDADD = $(fuzz_libs) $(pverbs_libs)
%C%_fuzz_declare_LDADD = $(fuzz_libs) $(pverbs_libs)
%C%_fuzz_key_attr_LDADD = $(fuzz_libs) $(pverbs_libs)
%C%_fuzz_replay_format_LDADD = $(fuzz_libs) $(pverbs_libs)
%C%_fuzz_ud_addr_LDADD = $(fuzz_libs) $(pverbs_libs)
%C%_fuzz_wire_LDADD = $(fuzz_libs) $(pverbs_libs)

%D%/fuzz_groups.o %D%/fuzz_sa.o: private AM_CPPFLAGS += $(fuzz_pverbs)
%C%_fuzz_groups_LDADD = $(fuzz_libs) $(pverbs_sa_libs)
%C%_fuzz_sa_LDADD = $(fuzz_libs) $(pverbs_sa_libs)

%D%/fuzz_ibmc.o: private AM_CPPFLAGS += -I$(srcdir)/util/fi_ibmc $(fuzz_pverbs)
%C%_fuzz_ibmc_LDADD = $(fuzz_libs) $(ibmc_libs)
%D%/fuzz_nfs.o: private AM_CPPFLAGS += $(nfs_include)
%C%_fuzz_nfs_LDADD = $(fuzz_libs) $(nfs_libs)
%D%/fuzz_remotelog.o: private AM_CPPFLAGS += -I$(srcdir)/util/fi_remotelog
%C%_fuzz_remotelog_LDADD = $(fuzz_libs) $(remotelog_libs)
%D%/fuzz_rpcrdma.o: private AM_CPPFLAGS += -I$(srcdir)/prov/rpcrdma
%C%_fuzz_rpcrdma_LDADD = $(fuzz_libs) $(rpcrdma_libs)

%D%/fuzz_route_%.o: private AM_CPPFLAGS += -I$(srcdir)/util/fi_router -I$(srcdir)/prov/route \
	-I$(srcdir)/fabtests/unit/route_wire
%C%_fuzz_route_config_LDADD = $(fuzz_libs) $(route_config_libs)
%C%_fuzz_route_control_LDADD = $(fuzz_libs) $(router_libs)
%C%_fuzz_route_greeting_LDADD = $(fuzz_libs) $(route_peer_libs)
%C%_fuzz_route_lsdb_LDADD = $(fuzz_libs) $(route_config_libs)
%C%_fuzz_route_vc_LDADD = $(fuzz_libs) $(route_config_libs)
%C%_fuzz_route_wire_SOURCES = %D%/fuzz_route_wire.c fabtests/unit/route_wire/any.c
%C%_fuzz_route_wire_LDADD = $(fuzz_libs) $(route_config_libs)

%D%/fuzz_svb_%.o: private AM_CPPFLAGS += -I$(srcdir)/util/simverbs
%C%_fuzz_svb_cm_LDADD = $(fuzz_libs) util/simverbs/libsimverbs-cm.a
%C%_fuzz_svb_sa_LDFLAGS = $(AM_LDFLAGS) $(simverbs_verbs_sa)
%C%_fuzz_svb_sa_LDADD = $(fuzz_libs) $(simverbs_libs)
EXTRA_%C%_fuzz_svb_sa_DEPENDENCIES = $(simverbs_parts)
%C%_fuzz_svb_seg_LDFLAGS = $(AM_LDFLAGS) $(simverbs_verbs)
%C%_fuzz_svb_seg_LDADD = $(fuzz_libs) $(simverbs_libs)
EXTRA_%C%_fuzz_svb_seg_DEPENDENCIES = $(simverbs_parts)
