/* SPDX-License-Identifier: BSD-2-Clause */
/* Cases of fi_cairn_msg. */
#ifndef FCT_MSG_H
#define FCT_MSG_H

#include "fct_fabric.h"

#define MSG_MAX_IOV 16

/* msg_forms.c: every call form, every interesting size, contents and completions exact */
int fct_msg_send(struct fct *t);
int fct_msg_sendv(struct fct *t);
int fct_msg_sendmsg(struct fct *t);
int fct_msg_inject(struct fct *t);
int fct_msg_senddata(struct fct *t);
int fct_msg_injectdata(struct fct *t);
int fct_msg_sendmsg_data(struct fct *t);
int fct_msg_sendmsg_inject(struct fct *t);
int fct_msg_recvv(struct fct *t);
int fct_msg_recvmsg(struct fct *t);

/* msg_flow.c: many messages */
int fct_msg_flood(struct fct *t);
int fct_msg_queue_full(struct fct *t);
int fct_msg_bidirectional(struct fct *t);

/* msg_chain.c: small messages in a row */
int fct_msg_more(struct fct *t);
int fct_msg_inject_many(struct fct *t);
int fct_msg_selective_many(struct fct *t);

/* msg_comp.c: which completions, where */
int fct_msg_selective_tx(struct fct *t);
int fct_msg_selective_rx(struct fct *t);
int fct_msg_selective_default(struct fct *t);
int fct_msg_selective_override(struct fct *t);
int fct_msg_op_transmit(struct fct *t);
int fct_msg_op_inject(struct fct *t);
int fct_msg_op_delivery(struct fct *t);
int fct_msg_split_cq(struct fct *t);
int fct_msg_many_endpoints(struct fct *t);

/* msg_level.c: what a program promises about its threads and its progress */
int fct_msg_threading(struct fct *t);
int fct_msg_progress(struct fct *t);
int fct_msg_many_threads(struct fct *t);

/* msg_err.c: what goes wrong is reported where it belongs */
int fct_msg_truncation(struct fct *t);
int fct_msg_cancel(struct fct *t);
int fct_msg_close_cancels(struct fct *t);
int fct_msg_selective_error(struct fct *t);
int fct_msg_peer_closes(struct fct *t);

/* msg_limit.c: beyond what fi_info allows */
int fct_msg_inject_excess(struct fct *t);
int fct_msg_iov_excess(struct fct *t);

/* Cuts buf into at most limit uneven pieces; returns their number, at least 1. */
size_t fct_msg_pieces(struct iovec *iov, size_t limit, void *buf, size_t len);

#endif
