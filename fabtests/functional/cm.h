/* SPDX-License-Identifier: BSD-2-Clause */
/* Cases of fi_cairn_cm. */
#ifndef FCT_CM_H
#define FCT_CM_H

#include "fct_fabric.h"

/* wire/private_data.c: what travels with a connection request and its answer */
int fct_cm_data(struct fct *t);
int fct_cm_data_excess(struct fct *t);
int fct_cm_reject(struct fct *t);
int fct_cm_reject_data(struct fct *t);
int fct_cm_request(struct fct *t);
int fct_cm_names(struct fct *t);

/* cm_end.c: how connections end, or never begin */
int fct_cm_shutdown(struct fct *t);
int fct_cm_shutdown_both(struct fct *t);
int fct_cm_close(struct fct *t);
int fct_cm_nobody(struct fct *t);
int fct_cm_give_up(struct fct *t);
int fct_cm_pep_close(struct fct *t);
int fct_cm_request_outlives(struct fct *t);
int fct_cm_request_unused(struct fct *t);
int fct_cm_reconnect(struct fct *t);

/* cm_many.c: several connections */
int fct_cm_many(struct fct *t);
int fct_cm_sequence(struct fct *t);
int fct_cm_other_cq(struct fct *t);

/* cm/state.c: calls out of order */
int fct_cm_pep_address(struct fct *t);
int fct_cm_setname(struct fct *t);
int fct_cm_setname_first(struct fct *t);
int fct_cm_pep_connects(struct fct *t);
int fct_cm_early_receive(struct fct *t);
int fct_cm_not_enabled(struct fct *t);
int fct_cm_not_connected(struct fct *t);
int fct_cm_connect_twice(struct fct *t);
int fct_cm_listen_unbound(struct fct *t);

/* cm_wait.c: ways of waiting for events */
int fct_cm_sread(struct fct *t);
int fct_cm_fd(struct fct *t);
int fct_cm_sread_shutdown(struct fct *t);
int fct_cm_fd_shutdown(struct fct *t);
int fct_cm_sread_and_fd(struct fct *t);
int fct_cm_sread_polled(struct fct *t);
int fct_cm_peek(struct fct *t);

/* One message from the client to the server over this connection; both sides call it. */
int fct_cm_message(struct fct_link *l, struct fct_conn *c, uint64_t seed);
/*
 * Ends a connection so that nothing of it is left in any EQ: the client closes, the
 * server sees it and closes.
 */
int fct_cm_end(struct fct_link *l, struct fct_conn *c);
/* No event is in the queue. */
int fct_cm_quiet(struct fct *t, struct fid_eq *eq, const char *when);

#endif
