# SPDX-License-Identifier: BSD-2-Clause
# Programs and scripts that run against other people's software.

# An MPI program, where Open MPI is installed.
if OMPI
noinst_PROGRAMS += %D%/mpi_check
%D%/mpi_%.o: private AM_CPPFLAGS += $(OMPI_CFLAGS)
%C%_mpi_check_LDADD = $(OMPI_LIBS)
%C%_mpi_check_SOURCES = %D%/mpi_check.c %D%/mpi_check.h %D%/mpi_coll.c %D%/mpi_coll_more.c \
	%D%/mpi_order.c %D%/mpi_p2p.c %D%/mpi_rma.c
endif

# Peers of route that keep no rules.
noinst_PROGRAMS += %D%/fi_cairn_rawroute
%C%_fi_cairn_rawroute_LDADD = $(LIBFABRIC_LIBS) $(CRYPTO_LIBS)
%C%_fi_cairn_rawroute_SOURCES = %D%/raw/attack.c %D%/raw/auth.c %D%/raw/border.c %D%/raw/bytes.c \
	%D%/raw/data.c %D%/raw/evil.c %D%/raw/fi_cairn_rawroute.c %D%/raw/greeting.c \
	%D%/raw/hold.c %D%/raw/honest.c %D%/raw/lend.c %D%/raw/raw.c %D%/raw/raw.h \
	%D%/raw/receives.c %D%/raw/steps.c %D%/raw/steps.h

# The other side of mckey(1); groups of an IPoIB link as a program sees them.
noinst_PROGRAMS += %D%/fi_cairn_mckey %D%/fi_cairn_link
%C%_fi_cairn_link_SOURCES = %D%/link/fi_cairn_link.c %D%/link/node.c %D%/link/node.h

# A client and its target, whose operations are accounted for whoever is killed.
noinst_PROGRAMS += %D%/fi_cairn_failover
%C%_fi_cairn_failover_SOURCES = %D%/failover/client.c %D%/failover/failover.h \
	%D%/failover/fi_cairn_failover.c %D%/failover/ledger.c %D%/failover/link.c \
	%D%/failover/op.c %D%/failover/serve.c %D%/failover/tally.c

EXTRA_DIST += %D%/bench-nfs %D%/check-durable %D%/check-fi_info %D%/check-file %D%/check-killed \
	%D%/check-link %D%/check-many %D%/check-mckey %D%/check-mount %D%/check-multicast \
	%D%/check-nfs %D%/check-openmpi %D%/check-pingpong %D%/check-remotelog %D%/check-route \
	%D%/knfsd.sh %D%/link/rows %D%/multicast %D%/net %D%/route-agent %D%/route-agreed \
	%D%/route-net %D%/route-parts %D%/route-way %D%/subnet %D%/test-net %D%/test-route-net \
	%D%/topology %D%/with-build
