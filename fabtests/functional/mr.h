/* SPDX-License-Identifier: BSD-2-Clause */
/* Cases of fi_cairn_mr. */
#ifndef FCT_MR_H
#define FCT_MR_H

#include <stdlib.h>

#include "fct_fabric.h"

/* mr_reg.c: what can be registered */
int fct_mr_calls(struct fct *t);
int fct_mr_key(struct fct *t);

/* mr_bad.c: what cannot */
int fct_mr_bad_access(struct fct *t);
int fct_mr_iov_limit(struct fct *t);
int fct_mr_unmapped(struct fct *t);
int fct_mr_close_busy(struct fct *t);

/* mr_use.c: registered memory in transfers */
int fct_mr_read_only(struct fct *t);
int fct_mr_odd(struct fct *t);
int fct_mr_overlap(struct fct *t);

/* mr_pmem.c: persistent memory */
int fct_mr_pmem(struct fct *t);
int fct_mr_pmem_volatile(struct fct *t);

#endif
