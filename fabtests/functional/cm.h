/* SPDX-License-Identifier: BSD-2-Clause */
/* Cases of fi_cairn_cm. */
#ifndef FCT_CM_H
#define FCT_CM_H

#include "fct_fabric.h"

/*
 * Ends a connection so that nothing of it is left in any EQ: the client closes, the
 * server sees it and closes.
 */
int fct_cm_end(struct fct_link *l, struct fct_conn *c);

#endif
