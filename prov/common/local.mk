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
	prov/common/mr.c \
	prov/common/nic.c \
	prov/common/nosys.c \
	prov/common/param.c \
	prov/common/slab.c \
	prov/common/wait.c \
	prov/common/wait_source.c
prov_common_libcairn_common_la_CPPFLAGS = $(AM_CPPFLAGS) $(LIBFABRIC_CFLAGS)
