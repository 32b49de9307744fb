# SPDX-License-Identifier: BSD-2-Clause
# The groups of an IPoIB link, as a convenience library: no provider, no device.
noinst_LTLIBRARIES += prov/pverbs/groups/libpverbs-groups.la
prov_pverbs_groups_libpverbs_groups_la_CPPFLAGS = $(prov_pverbs_sa_libpverbs_sa_la_CPPFLAGS)
prov_pverbs_groups_libpverbs_groups_la_SOURCES = \
	prov/pverbs/groups/answer.c \
	prov/pverbs/groups/ask.c \
	prov/pverbs/groups/groups.c \
	prov/pverbs/groups/groups.h \
	prov/pverbs/groups/internal.h \
	prov/pverbs/groups/step.c \
	prov/pverbs/groups/table.c \
	prov/pverbs/groups/user.c
EXTRA_DIST += prov/pverbs/groups/local.mk
