# SPDX-License-Identifier: BSD-2-Clause
# What every provider needs and libfabric does not export. Knows nothing of verbs.
noinst_LTLIBRARIES += prov/common/libcairn-common.la
prov_common_libcairn_common_la_SOURCES = \
	prov/common/addr.c \
	prov/common/attr.c \
	prov/common/attr_rules.c \
	prov/common/attr_rules.h \
	prov/common/av/av.c \
	prov/common/av/insert.c \
	prov/common/av/internal.h \
	prov/common/av/names.c \
	prov/common/av/sockaddr.c \
	prov/common/av/table.c \
	prov/common/bytes.c \
	prov/common/cntr.c \
	prov/common/cq/cq.c \
	prov/common/cq/internal.h \
	prov/common/cq/read.c \
	prov/common/cq/wait.c \
	prov/common/cq/write.c \
	prov/common/deadline.c \
	prov/common/ep/bind.c \
	prov/common/ep/complete.c \
	prov/common/ep/opt.c \
	prov/common/eq.c \
	prov/common/lock.c \
	prov/common/lower/ask.c \
	prov/common/lower/choose.c \
	prov/common/lower/cq.c \
	prov/common/lower/eq.c \
	prov/common/lower/event.c \
	prov/common/lower/fabric.c \
	prov/common/lower/getinfo.c \
	prov/common/lower/internal.h \
	prov/common/lower/look.c \
	prov/common/lower/name.c \
	prov/common/lower/table.c \
	prov/common/mr.c \
	prov/common/nic.c \
	prov/common/nosys.c \
	prov/common/param.c \
	prov/common/pass/atomic.c \
	prov/common/pass/cm.c \
	prov/common/pass/ep.c \
	prov/common/pass/msg.c \
	prov/common/pass/rma.c \
	prov/common/pass/tagged.c \
	prov/common/slab.c \
	prov/common/wait.c \
	prov/common/wait_source.c
prov_common_libcairn_common_la_CPPFLAGS = $(AM_CPPFLAGS) $(LIBFABRIC_CFLAGS)

# Persistent memory of this machine, for providers that make operations durable.
noinst_LTLIBRARIES += prov/common/pmem/libcairn-pmem.la
prov_common_pmem_libcairn_pmem_la_SOURCES = \
	prov/common/pmem/declare.c \
	prov/common/pmem/facts.c \
	prov/common/pmem/flush.c \
	prov/common/pmem/host.c \
	prov/common/pmem/mapping.c \
	prov/common/pmem/region.c
prov_common_pmem_libcairn_pmem_la_CPPFLAGS = $(AM_CPPFLAGS) $(LIBFABRIC_CFLAGS) $(INIH_CFLAGS) $(PMEM_CFLAGS)
prov_common_pmem_libcairn_pmem_la_LIBADD = $(LIBFABRIC_LIBS) $(INIH_LIBS) $(PMEM_LIBS)
