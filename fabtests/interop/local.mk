# Programs and scripts that run against other people's software.

# An MPI program, where Open MPI is installed.
if OMPI
noinst_PROGRAMS += fabtests/interop/mpi_check
fabtests_interop_mpi_check_CPPFLAGS = $(AM_CPPFLAGS) $(OMPI_CFLAGS)
fabtests_interop_mpi_check_LDADD = $(OMPI_LIBS)
fabtests_interop_mpi_check_SOURCES = \
	fabtests/interop/mpi_check.c \
	fabtests/interop/mpi_check.h \
	fabtests/interop/mpi_coll.c \
	fabtests/interop/mpi_coll_more.c \
	fabtests/interop/mpi_order.c \
	fabtests/interop/mpi_p2p.c \
	fabtests/interop/mpi_rma.c
endif

# Peers of route that keep no rules.
noinst_PROGRAMS += fabtests/interop/fi_cairn_rawroute
fabtests_interop_fi_cairn_rawroute_CPPFLAGS = $(AM_CPPFLAGS) $(LIBFABRIC_CFLAGS) $(CRYPTO_CFLAGS)
fabtests_interop_fi_cairn_rawroute_LDADD = $(LIBFABRIC_LIBS) $(CRYPTO_LIBS)
fabtests_interop_fi_cairn_rawroute_SOURCES = \
	fabtests/interop/raw/attack.c \
	fabtests/interop/raw/auth.c \
	fabtests/interop/raw/border.c \
	fabtests/interop/raw/bytes.c \
	fabtests/interop/raw/data.c \
	fabtests/interop/raw/evil.c \
	fabtests/interop/raw/fi_cairn_rawroute.c \
	fabtests/interop/raw/greeting.c \
	fabtests/interop/raw/hold.c \
	fabtests/interop/raw/honest.c \
	fabtests/interop/raw/lend.c \
	fabtests/interop/raw/raw.c \
	fabtests/interop/raw/receives.c \
	fabtests/interop/raw/raw.h \
	fabtests/interop/raw/steps.c \
	fabtests/interop/raw/steps.h

# The other side of mckey(1).
noinst_PROGRAMS += fabtests/interop/fi_cairn_mckey
fabtests_interop_fi_cairn_mckey_CPPFLAGS = $(AM_CPPFLAGS) $(LIBFABRIC_CFLAGS)
fabtests_interop_fi_cairn_mckey_LDADD = $(LIBFABRIC_LIBS)
fabtests_interop_fi_cairn_mckey_SOURCES = fabtests/interop/fi_cairn_mckey.c

# Groups of an IPoIB link as a program sees them.
noinst_PROGRAMS += fabtests/interop/fi_cairn_link
fabtests_interop_fi_cairn_link_CPPFLAGS = $(AM_CPPFLAGS) $(LIBFABRIC_CFLAGS)
fabtests_interop_fi_cairn_link_LDADD = $(LIBFABRIC_LIBS)
fabtests_interop_fi_cairn_link_SOURCES = \
	fabtests/interop/link/fi_cairn_link.c \
	fabtests/interop/link/node.c \
	fabtests/interop/link/node.h

# A client and its target, whose operations are accounted for whoever is killed.
noinst_PROGRAMS += fabtests/interop/fi_cairn_failover
fabtests_interop_fi_cairn_failover_CPPFLAGS = $(AM_CPPFLAGS) $(LIBFABRIC_CFLAGS)
fabtests_interop_fi_cairn_failover_LDADD = $(LIBFABRIC_LIBS)
fabtests_interop_fi_cairn_failover_SOURCES = \
	fabtests/interop/failover/client.c \
	fabtests/interop/failover/failover.h \
	fabtests/interop/failover/fi_cairn_failover.c \
	fabtests/interop/failover/ledger.c \
	fabtests/interop/failover/link.c \
	fabtests/interop/failover/op.c \
	fabtests/interop/failover/serve.c \
	fabtests/interop/failover/tally.c

EXTRA_DIST += \
	fabtests/interop/bench-nfs \
	fabtests/interop/check-durable \
	fabtests/interop/check-fi_info \
	fabtests/interop/check-file \
	fabtests/interop/check-killed \
	fabtests/interop/check-link \
	fabtests/interop/check-many \
	fabtests/interop/check-mckey \
	fabtests/interop/check-mount \
	fabtests/interop/check-multicast \
	fabtests/interop/check-nfs \
	fabtests/interop/check-openmpi \
	fabtests/interop/check-pingpong \
	fabtests/interop/check-remotelog \
	fabtests/interop/check-route \
	fabtests/interop/knfsd.sh \
	fabtests/interop/link/rows/absent.rows \
	fabtests/interop/link/rows/copy.rows \
	fabtests/interop/link/rows/denied.rows \
	fabtests/interop/link/rows/draft.rows \
	fabtests/interop/link/rows/kernel.rows \
	fabtests/interop/link/rows/qkey.rows \
	fabtests/interop/link/rows/rfc.rows \
	fabtests/interop/local.mk \
	fabtests/interop/multicast/sa.rows \
	fabtests/interop/net \
	fabtests/interop/route-agent \
	fabtests/interop/route-agreed \
	fabtests/interop/route-net \
	fabtests/interop/route-parts/auth.sh \
	fabtests/interop/route-parts/crowd.sh \
	fabtests/interop/route-parts/drain.sh \
	fabtests/interop/route-parts/failure.sh \
	fabtests/interop/route-parts/figure.sh \
	fabtests/interop/route-parts/hostile.sh \
	fabtests/interop/route-parts/limits.sh \
	fabtests/interop/route-parts/many.sh \
	fabtests/interop/route-parts/operators.sh \
	fabtests/interop/route-parts/programs.sh \
	fabtests/interop/route-parts/soak.sh \
	fabtests/interop/route-parts/steps.sh \
	fabtests/interop/route-parts/systems.sh \
	fabtests/interop/route-parts/workers.sh \
	fabtests/interop/route-way \
	fabtests/interop/subnet \
	fabtests/interop/test-net \
	fabtests/interop/test-route-net \
	fabtests/interop/topology \
	fabtests/interop/with-build
