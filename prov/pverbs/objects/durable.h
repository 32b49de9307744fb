/* SPDX-License-Identifier: BSD-2-Clause */
/* The hooks of durable operations. */
#ifndef PVB_OBJECTS_DURABLE_H
#define PVB_OBJECTS_DURABLE_H

#include "pverbs.h"

struct ibv_recv_wr;
struct pvb_control;
struct pvb_control_qp;
struct pvb_cq;
struct pvb_ep;
struct pvb_op;
struct pvb_qp;
struct pvb_slot;
struct pvb_wq;

/*
 * What durable operations do for the rooms below persist/, which do not know it: the
 * table is in persist/durable.c. Who has no pvb_commit, pvb_control_qp or pvb_control
 * calls none of the functions that take one.
 */
struct pvb_durable {
	/* pvb_tx for an operation with FI_COMMIT_COMPLETE. -FI_EOPNOTSUPP: the memory is
	 * not persistent, or there is no way to make sure; -FI_EKEYREJECTED: its key is
	 * damaged. Takes tx_lock. */
	ssize_t (*commit)(struct pvb_ep *ep, struct pvb_op *op);
	/* The same for an operation without the flag on a connection with persistent
	 * memory: records what it writes, and refuses it with -FI_EAGAIN while it would
	 * overtake a hazard. Takes tx_lock. */
	ssize_t (*track)(struct pvb_ep *ep, struct pvb_op *op);
	/* With tx_lock held, as the next: a call failed that was to follow operations
	 * with FI_MORE. They are over without it. */
	void (*end_more)(struct pvb_ep *ep);
	/* So many messages were not posted in the end. */
	void (*unposted)(struct pvb_qp *qp, uint32_t messages);
	/* wq remembers where its receives go, slots of at most limit pieces each: 0 or
	 * -FI_ENOMEM. */
	int (*recv_open)(struct pvb_wq *wq, size_t slots, size_t limit);
	/* What a wq has for that; it may have nothing. */
	void (*recv_close)(struct pvb_wq *wq);
	/* Where the receive in slot goes, of a wq with bufs. 0, or -FI_EINVAL: that is
	 * not where the endpoint's receives have to be. */
	int (*recv_note)(struct pvb_wq *wq, const struct pvb_slot *slot,
			 const struct ibv_recv_wr *wr);
	/* The device is gone: nothing is sent to the peer any more. */
	void (*lose)(struct pvb_control_qp *cqp);
	/* With the lock of the queue held, as the next two: of a group nothing more
	 * becomes durable. */
	void (*break_off)(struct pvb_qp *qp);
	/* Completions of sends, and of receives, that wait are given up. */
	void (*give_up_sends)(struct pvb_qp *qp);
	void (*give_up_receives)(struct pvb_cq *cq, struct pvb_qp *qp);
	/* Without the lock: a program that reads no event queue learns of the end of a
	 * connection by the operations that wait for its target. */
	void (*look)(struct pvb_cq *cq);
	/* Control messages, and a piece of the work that peers requested. False: another
	 * thread is at it. */
	bool (*progress)(struct pvb_control *control);
	/* The same, and what comes later raises an event on the channel, as what is left
	 * to do does. 0 or a negative code. */
	int (*arm)(struct pvb_control *control);
	/* Adds its descriptors to those that wait watches. 0 or a negative code. */
	int (*watch)(struct pvb_control *control, struct crn_wait *wait);
};

#endif
