/* SPDX-License-Identifier: BSD-2-Clause */
/* Datagrams whose fate settings decide: ud_loss, ud_duplicate, ud_reorder. */
#ifndef SVB_ENGINE_UD_H
#define SVB_ENGINE_UD_H

#include "op.h"

/* Sends a datagram to whoever it is for. Send queue's lock held. Returns a status. */
int svb_ud_leave(struct svb_seg *seg, struct svb_qp_sh *qp, struct svb_wqe *wqe);

/* Is a datagram to that queue pair lost, or does it come twice? Counts it. */
bool svb_ud_lost(const struct svb_qp_sh *qp);
bool svb_ud_twice(const struct svb_qp_sh *qp);

/*
 * Keeps a datagram back, one for each queue pair, if it is to be late. Send queue's lock
 * held, as for release, after which it has been sent.
 */
bool svb_ud_hold(struct svb_qp *owner, const struct svb_wqe *wqe,
		 const struct svb_span *from);
void svb_ud_release(struct svb_qp *owner);
/* The same where nothing follows it for long. */
void svb_ud_release_due(struct svb_qp *owner);
/* The queue pair is reset or destroyed: lost. */
void svb_ud_forget(struct svb_qp *owner);

#endif
