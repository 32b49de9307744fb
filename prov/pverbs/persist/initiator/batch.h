/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The work requests of one durable operation, and what goes ahead of them. Every entry of
 * the send queue but the last belongs to what the last one ends: an error on any of them
 * ends the operation, once. Used by commit.c, with tx_lock held.
 */
#ifndef PVB_PERSIST_INITIATOR_BATCH_H
#define PVB_PERSIST_INITIATOR_BATCH_H

#include "objects/objects.h"

struct pvb_op;

/* Work requests that are posted with one call, at most. */
#define PVB_BATCH_SIZE 8u

struct pvb_batch {
	struct pvb_ep *ep;
	void *context; /* of the operation */
	uint64_t comp_flags;
	uint16_t state;	    /* PVB_SLOT_* of every entry */
	uint32_t started;   /* entries of the send queue used, of all calls */
	uint32_t count;	    /* not posted yet */
	uint32_t data_at;   /* entries before the operation itself */
	bool last;	    /* the next entry ends the operation */
	uint16_t end_state; /* its PVB_SLOT_*, then */
	bool silent;	    /* it completes with what is posted later */
	bool native;	    /* of those not posted yet one is FLUSH or ATOMIC WRITE */
	bool registered; /* the operation's data is one piece that the device may read */
	struct ibv_send_wr wr[PVB_BATCH_SIZE];
	struct ibv_sge sge[PVB_BATCH_SIZE];
};

void pvb_batch_init(struct pvb_batch *batch, struct pvb_ep *ep, const struct pvb_op *op);
/* The operation itself; fenced: IBV_SEND_FENCE. */
int pvb_batch_data(struct pvb_batch *batch, struct pvb_op *op, bool fenced);
/* A read of the last byte before to: what was written before is visible then. */
int pvb_batch_read(struct pvb_batch *batch, uint32_t rkey, uint64_t from, uint64_t to);
/* Native FLUSH and ATOMIC WRITE; value: eight bytes. */
int pvb_batch_flush(struct pvb_batch *batch, uint32_t rkey, uint64_t from, uint64_t to);
int pvb_batch_atomic_write(struct pvb_batch *batch, uint32_t rkey, uint64_t addr,
			   const void *value);
/* Adds one to the peer's sequence word. */
int pvb_batch_seq(struct pvb_batch *batch);
/* Entry number of the peer's message ring. */
int pvb_batch_entry(struct pvb_batch *batch, const struct pvb_wire_entry *entry);
/* From here on there is one entry more, which ends the operation; state: PVB_SLOT_*. */
static inline void pvb_batch_last(struct pvb_batch *batch, unsigned int state)
{
	batch->last = true;
	batch->end_state = (uint16_t)state;
}

/*
 * Between the two, what pvb_native_add and the functions beside it add to pvb_qp.ibv_ex
 * goes to the device in one call, all or none, behind what FI_MORE holds back. 0 or an
 * errno; after one of begin there is no end.
 */
int pvb_native_begin(struct pvb_ep *ep);
int pvb_native_end(struct pvb_ep *ep);

/*
 * Posts what is not posted yet, if ret, what adding the last entry returned, is 0.
 * Returns 0; 1: the operation began, cannot be ended, and its error is in the completion
 * queue; or a negative code: it never began.
 */
int pvb_batch_finish(struct pvb_batch *batch, int ret);

#endif
