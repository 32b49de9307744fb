/* SPDX-License-Identifier: BSD-2-Clause */
/* The way of an address from the listening process to its bystander. */
#ifndef FCT_LOST_WHERE_H
#define FCT_LOST_WHERE_H

#include "fct_fabric.h"

int fct_lost_where_open(void); /* before they are started */
int fct_lost_where_tell(const struct fct_where *where);
/* < 0: there is none, and nobody is left to tell. */
int fct_lost_where_hear(struct fct_where *where);
/* In each process that does not tell; in one that neither tells nor hears. */
void fct_lost_where_only_hear(void);
void fct_lost_where_close(void);

#endif
