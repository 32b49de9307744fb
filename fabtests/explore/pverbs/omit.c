/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is left out of a plan is really left out. The provider fences, counts sequence
 * words and expects answers by more than the plan's acts; the linker puts these functions
 * where it carries the acts out, and they keep its books as if that part had never been
 * meant.
 */
#include <stdlib.h>
#include <string.h>
#include "persist/initiator/batch.h"
#include "persist/initiator/internal.h"
#include "plans.h"
#include "wrap.h"
#include "xfer/op.h"

static bool omits(unsigned int what)
{
	return xpv_plans_omitted()->what == what;
}

static bool upgrade_omits(unsigned int what)
{
	return omits(what) && xpv_plans_omitted()->upgrade;
}

/*
 * Entries of send queues that an answer will come for, and nobody waits for it; by entry,
 * each once. They are the search's alone, and taken back with the provider's memory.
 */
#define UNAWAITED_MAX 64u
static struct unawaited {
	const struct pvb_slot *slot; /* NULL: none */
	enum pvb_request_kind kind;
} * unawaited;

void xpv_omit_open(void)
{
	unawaited = calloc(UNAWAITED_MAX, sizeof(*unawaited));
	if (!unawaited)
		abort();
}

/* Where it is, or where it would be: the same entries are always in the same order. */
static struct unawaited *unawaited_find(const struct pvb_slot *slot)
{
	struct unawaited *at = unawaited;

	while (at->slot && at->slot < slot)
		at++;
	return at;
}

static void unawaited_remove(struct unawaited *at)
{
	struct unawaited *end = unawaited + UNAWAITED_MAX - 1;

	memmove(at, at + 1, (size_t)(end - at) * sizeof(*at));
	*end = (struct unawaited){0};
}

static void unawaited_add(const struct pvb_slot *slot, enum pvb_request_kind kind)
{
	struct unawaited *at = unawaited_find(slot), *end = unawaited + UNAWAITED_MAX - 1;

	if (end[-1].slot)
		abort();
	if (at->slot != slot)
		memmove(at + 1, at, (size_t)(end - at) * sizeof(*at));
	*at = (struct unawaited){slot, kind};
}

/* Is it one for whose answer nobody waits? */
static bool is_unawaited(const struct pvb_slot *slot, enum pvb_request_kind kind)
{
	const struct unawaited *at = unawaited_find(slot);

	return at->slot == slot && at->kind == kind;
}

/* Does the entry that is added next end the operation, and is it not to wait? */
static bool wait_for_nothing(struct pvb_batch *batch)
{
	if (!omits(PLAN_ANSWER) || !batch->last)
		return false;
	batch->end_state &= (uint16_t)~PVB_SLOT_REQUEST;
	return true;
}

/* The newest entry is. */
static void waits_for_nothing(const struct pvb_batch *batch, enum pvb_request_kind kind)
{
	unawaited_add((const void *)(uintptr_t)batch->wr[batch->count - 1].wr_id, kind);
}

/* It ends in its turn all the same: those before it wait for their own answers. */
static void end_unawaited(struct pvb_slot *slot)
{
	struct unawaited *at = unawaited_find(slot);

	if (at->slot != slot)
		return;
	atomic_fetch_add(&slot->wq->qp->commit->defer.ended[at->kind], 1);
	unawaited_remove(at);
}

WRAP(bool, pvb_defer, struct pvb_cq *cq, const struct ibv_wc *wc, struct pvb_slot *slot)
{
	struct pvb_qp *qp = slot->wq->qp;
	bool deferred;

	/* Asked all the same, where that has to wait for what has just completed. */
	if (is_unawaited(slot, PVB_REQUEST_CONTROL) && wc->status == IBV_WC_SUCCESS)
		pvb_control_qp_now(qp->control_qp, ++qp->commit->defer.seen);
	deferred = __real_pvb_defer(cq, wc, slot);
	if (!deferred)
		end_unawaited(slot);
	return deferred;
}

/* Of what was held. */
WRAP(bool, pvb_cq_convert_sent, const struct ibv_wc *wc, struct pvb_slot *slot,
     struct pvb_comp *comp)
{
	end_unawaited(slot);
	return __real_pvb_cq_convert_sent(wc, slot, comp);
}

WRAP(int, pvb_batch_data, struct pvb_batch *batch, struct pvb_op *op, bool fenced)
{
	const bool waits = !wait_for_nothing(batch);
	int ret = __real_pvb_batch_data(batch, op, fenced);

	if (!ret && !waits)
		waits_for_nothing(batch, PVB_REQUEST_ENTRY);
	if (!ret && omits(PVB_ACT_DATA_FENCED))
		batch->wr[batch->count - 1].send_flags &= ~(unsigned int)IBV_SEND_FENCE;
	return ret;
}

WRAP(int, pvb_batch_seq, struct pvb_batch *batch)
{
	const bool waits = !wait_for_nothing(batch);
	struct pvb_control_qp *cqp = batch->ep->qp.control_qp;
	int ret;

	/* Without a message nobody else counts it. */
	cqp->seq_posted += omits(PVB_ACT_MESSAGE);
	ret = __real_pvb_batch_seq(batch);
	if (!ret && !waits)
		waits_for_nothing(batch, PVB_REQUEST_CONTROL);
	return ret;
}

/* What makes earlier writes durable is one entry of the send queue, whatever its plan. */
WRAP(int, pvb_batch_read, struct pvb_batch *batch, uint32_t rkey, uint64_t from,
     uint64_t to)
{
	struct pvb_op nothing = {.opcode = IBV_WR_RDMA_WRITE, .addr = from, .key = rkey};
	bool waits;
	int ret;

	if (upgrade_omits(PVB_ACT_MESSAGE))
		return __wrap_pvb_batch_seq(batch);
	if (upgrade_omits(PVB_ACT_READ) || upgrade_omits(PVB_ACT_FLUSH))
		return __real_pvb_batch_data(batch, &nothing, false);
	waits = !(upgrade_omits(PLAN_ANSWER) && wait_for_nothing(batch));
	ret = __real_pvb_batch_read(batch, rkey, from, to);
	if (!ret && !waits)
		waits_for_nothing(batch, PVB_REQUEST_CONTROL);
	return ret;
}

WRAP(int, pvb_batch_entry, struct pvb_batch *batch, const struct pvb_wire_entry *entry)
{
	struct pvb_qp *qp = &batch->ep->qp;
	struct pvb_wire_entry own = *entry;

	if (omits(PLAN_ANSWER))
		own.number = pvb_control_request_next(qp->control_qp, PVB_REQUEST_ENTRY);
	return __real_pvb_batch_entry(batch, &own);
}

WRAP(void, pvb_control_request_send, struct pvb_control_qp *cqp,
     struct pvb_wire_message *message)
{
	/* It waits for the sequence words before its own. */
	cqp->seq_posted -= omits(PVB_ACT_SEQ);
	__real_pvb_control_request_send(cqp, message);
	/* Which was advanced if there was nothing else to post. */
	cqp->seq_posted += upgrade_omits(PVB_ACT_SEQ);
}
