/* SPDX-License-Identifier: BSD-2-Clause */
/* Cases of fi_cairn_cm. */
#ifndef FCT_CM_H
#define FCT_CM_H

#include "fct_fabric.h"

/* cm_wait.c: ways of waiting for events */

/* One message from the client to the server over this connection; both sides call it. */
int fct_cm_message(struct fct_link *l, struct fct_conn *c, uint64_t seed);
/*
 * Ends a connection so that nothing of it is left in any EQ: the client closes, the
 * server sees it and closes.
 */
int fct_cm_end(struct fct_link *l, struct fct_conn *c);
/* No event is in the queue. */
int fct_cm_quiet(struct fid_eq *eq, const char *when);

#endif
