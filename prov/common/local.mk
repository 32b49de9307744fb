# SPDX-License-Identifier: BSD-2-Clause
# What every provider needs and libfabric does not export. Knows nothing of verbs.
noinst_LIBRARIES += %D%/libcairn-common.a
%C%_libcairn_common_a_SOURCES = %D%/addr.c %D%/attr.c %D%/attr_rules.c %D%/attr_rules.h \
	%D%/av/av.c %D%/av/insert.c %D%/av/internal.h %D%/av/names.c %D%/av/sockaddr.c \
	%D%/av/table.c %D%/bytes.c %D%/cntr.c %D%/cq/cq.c %D%/cq/internal.h %D%/cq/read.c \
	%D%/cq/wait.c %D%/cq/write.c %D%/deadline.c %D%/ep/bind.c %D%/ep/complete.c %D%/ep/opt.c \
	%D%/eq.c %D%/lock.c %D%/lower/ask.c %D%/lower/choose.c %D%/lower/cq.c %D%/lower/eq.c \
	%D%/lower/event.c %D%/lower/fabric.c %D%/lower/getinfo.c %D%/lower/internal.h \
	%D%/lower/look.c %D%/lower/name.c %D%/lower/table.c %D%/mr.c %D%/nic.c %D%/nosys.c \
	%D%/param.c %D%/pass/atomic.c %D%/pass/cm.c %D%/pass/ep.c %D%/pass/msg.c %D%/pass/rma.c \
	%D%/pass/tagged.c %D%/slab.c %D%/wait.c %D%/wait_source.c
noinst_HEADERS = include/cairn/addr.h include/cairn/attr.h include/cairn/av.h \
	include/cairn/bytes.h include/cairn/cntr.h include/cairn/compat.h include/cairn/cq.h \
	include/cairn/deadline.h include/cairn/ep.h include/cairn/eq.h include/cairn/list.h \
	include/cairn/lock.h include/cairn/lower.h include/cairn/mr.h include/cairn/nic.h \
	include/cairn/nosys.h include/cairn/opt.h include/cairn/param.h include/cairn/pass.h \
	include/cairn/pmem.h include/cairn/ring.h include/cairn/slab.h include/cairn/thread.h \
	include/cairn/tsan.h include/cairn/wait.h
common_libs = %D%/libcairn-common.a $(LIBFABRIC_LIBS)

# Persistent memory of this machine, for providers that make operations durable.
noinst_LIBRARIES += %D%/pmem/libcairn-pmem.a
%C%_pmem_libcairn_pmem_a_SOURCES = %D%/pmem/declare.c %D%/pmem/facts.c %D%/pmem/flush.c \
	%D%/pmem/host.c %D%/pmem/mapping.c %D%/pmem/region.c
pmem_libs = %D%/pmem/libcairn-pmem.a $(common_libs) $(INIH_LIBS) $(PMEM_LIBS)
