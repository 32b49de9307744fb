/* SPDX-License-Identifier: BSD-2-Clause */
/* Between the files of this folder. */
#ifndef CRN_AV_INTERNAL_H
#define CRN_AV_INTERNAL_H

#include <cairn/av.h>

/* table.c: entries, and the way back from an address. add and del with the lock held. */

/* Makes the first chunk, for about count addresses. 0 or -FI_ENOMEM. */
int crn_av_table_init(struct crn_av *av, size_t count);
void crn_av_table_fini(struct crn_av *av);
/* 0 and the index, or a negative FI_E* code: of crn_av.added, or no memory. */
int crn_av_table_add(struct crn_av *av, const void *addr, fi_addr_t *fi_addr);
/* -FI_EINVAL: not in use. */
int crn_av_table_del(struct crn_av *av, fi_addr_t fi_addr);

/* sockaddr.c */

/* The form of a format, or NULL: it is none of socket addresses. */
const struct crn_av_form *crn_av_sockaddr(uint32_t format);

/* insert.c */

/* One address of an insertion. */
struct crn_av_item {
	union crn_av_addr addr;
	int err; /* positive FI_E* code: there is no address, or it was not inserted */
};

/* What all forms of insertion check before anything else. */
int crn_av_insert_check(struct crn_av *av, size_t count, const fi_addr_t *fi_addr,
			uint64_t flags, const void *context);
/* Inserts what has an address, and reports as fi_av(3) says. */
int crn_av_insert_items(struct crn_av *av, struct crn_av_item *items, size_t count,
			fi_addr_t *fi_addr, uint64_t flags, void *context);
int crn_av_insert(struct fid_av *fid, const void *addr, size_t count, fi_addr_t *fi_addr,
		  uint64_t flags, void *context);

/* names.c */

int crn_av_insertsvc(struct fid_av *fid, const char *node, const char *service,
		     fi_addr_t *fi_addr, uint64_t flags, void *context);
int crn_av_insertsym(struct fid_av *fid, const char *node, size_t nodecnt,
		     const char *service, size_t svccnt, fi_addr_t *fi_addr,
		     uint64_t flags, void *context);

#endif
