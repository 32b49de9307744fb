/* SPDX-License-Identifier: BSD-2-Clause */
/* Cases of fi_cairn_mr. */
#ifndef FCT_MR_H
#define FCT_MR_H

#include <stdlib.h>

#include "fct_fabric.h"

/* mr_reg.c: what can be registered */
int mr_calls(struct fct *t);
int mr_access(struct fct *t);
int mr_sizes(struct fct *t);
int mr_many(struct fct *t);
int mr_key(struct fct *t);
int mr_flags(struct fct *t);
int mr_again(struct fct *t);

/* mr_bad.c: what cannot */
int mr_bad_access(struct fct *t);
int mr_iov_limit(struct fct *t);
int mr_unmapped(struct fct *t);
int mr_close_busy(struct fct *t);

/* mr_use.c: registered memory in transfers */
int mr_read_only(struct fct *t);
int mr_odd(struct fct *t);
int mr_overlap(struct fct *t);

/* mr_pmem.c: persistent memory */
int mr_pmem(struct fct *t);
int mr_pmem_volatile(struct fct *t);

#endif
