/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a target does for durable operations: it writes the cache lines of a range back,
 * stores what a request carries, and answers. A peer names memory by the same keys as in
 * its other operations; only regions of persistent memory that it may write are taken.
 *
 * A request may ask for a gigabyte, and a peer for many of them. So it is done in pieces,
 * without the lock, and control queue pairs take turns: EMPTY -> (WAITS ->) READY <->
 * WORK, and from there to the next request of the inbox.
 */
#include <string.h>
#include <cairn/pmem.h>
#include "persist/control/control.h"
#include "persist/persist.h"
#include "persist/plan/plan.h"
#include "wire/wire.h"
#include "internal.h"
#include "target.h"

/*
 * Eight bytes that belong together are never stored in parts. On behalf of the peer, as
 * an adapter stores what it writes: when the program may look is between the two of them,
 * and ThreadSanitizer knows nothing of it.
 */
__attribute__((no_sanitize("thread"))) static void pvb_store(
	const struct pvb_wire_range *to, const uint8_t *bytes)
{
	uint64_t word, at = to->addr, left = to->len;

	for (; left >= sizeof(word) && at % sizeof(word) == 0;
	     at += sizeof(word), bytes += sizeof(word), left -= sizeof(word)) {
		memcpy(&word, bytes, sizeof(word));
		__atomic_store_n((uint64_t *)(uintptr_t)at, word, __ATOMIC_RELAXED);
	}
	for (; left; at++, bytes++, left--)
		__atomic_store_n((uint8_t *)(uintptr_t)at, *bytes, __ATOMIC_RELAXED);
}

/* What a piece has to do, found with the lock held. */
struct pvb_span {
	struct pvb_pmem_region *region;
	uint64_t addr;
	uint64_t len; /* bytes */
};

struct pvb_piece {
	struct pvb_span span[PVB_WIRE_RANGES];
	uint8_t spans;
	bool last;		      /* of its request */
	struct pvb_pmem_region *copy; /* of the last: where bytes are copied; or NULL */
	uint64_t bytes;
};

static void pvb_inbox_enter(struct pvb_control_qp *cqp, enum pvb_inbox state)
{
	struct pvb_control *control = cqp->control;

	if (cqp->inbox_state == PVB_INBOX_WAITS &&
	    atomic_fetch_sub(&control->waiting, 1) == 1)
		atomic_store(&control->fresh, false);
	if (cqp->inbox_state == PVB_INBOX_READY)
		pvb_turn_end(control, &cqp->turn);
	crn_list_del(&cqp->turn.entry);
	cqp->inbox_state = state;
	if (state == PVB_INBOX_WAITS) {
		cqp->since = crn_now_ms();
		atomic_store(&control->newest, cqp->since);
		atomic_store(&control->fresh, true);
		crn_list_add_tail(&control->waits, &cqp->turn.entry);
		atomic_fetch_add(&control->waiting, 1);
		pvb_tick(control);
	} else if (state == PVB_INBOX_READY) {
		pvb_turn_begin(control, &cqp->turn);
	}
}

static void pvb_inbox_oldest(const struct pvb_control_qp *cqp,
			     struct pvb_wire_message *message)
{
	pvb_wire_parse(message, cqp->inbox[cqp->inbox_head]->buf,
		       cqp->inbox_len[cqp->inbox_head]);
}

/* Nothing of it is done any more. */
static void pvb_inbox_drop(struct pvb_control_qp *cqp)
{
	cqp->inbox_count = 0;
	cqp->progress = (struct pvb_progress){0};
	pvb_inbox_enter(cqp, PVB_INBOX_EMPTY);
}

/* Is all there that the request is about? */
static bool pvb_respond_due(struct pvb_control_qp *cqp,
			    const struct pvb_wire_message *message)
{
	const uint32_t seq_word = (uint32_t)atomic_load_explicit(&cqp->area->seq_word,
								 memory_order_acquire);

	return (int32_t)(seq_word - message->seq_word) >= 0 &&
	       (message->kind != PVB_WIRE_MESSAGES ||
		(int32_t)(atomic_load(&cqp->messages) - message->messages) >= 0);
}

/* May the oldest request begin? */
static bool pvb_respond_may(struct pvb_control_qp *cqp)
{
	struct pvb_wire_message message;

	pvb_inbox_oldest(cqp, &message);
	if (!pvb_respond_due(cqp, &message))
		return false;
	if (message.number != cqp->handled + 1) {
		pvb_control_qp_lose(cqp, "a request is out of turn");
		return true;
	}
	/* Its answer takes the place of an older one: that has been sent long ago. No
	 * other thread's message takes that place meanwhile. */
	return pvb_control_qp_keep(cqp);
}

void pvb_respond_begin(struct pvb_control_qp *cqp)
{
	const bool may = atomic_load(&cqp->lost) || pvb_respond_may(cqp);

	crn_mutex_assert_held(&cqp->control->lock);
	if (atomic_load(&cqp->lost)) {
		pvb_inbox_drop(cqp);
	} else if (may) {
		pvb_inbox_enter(cqp, PVB_INBOX_READY);
	} else if (cqp->inbox_state != PVB_INBOX_WAITS) {
		pvb_inbox_enter(cqp, PVB_INBOX_WAITS);
	}
}

/* The peer has given it up as well by now, if it is one of ours. */
static void pvb_respond_give_up(struct pvb_control_qp *cqp)
{
	char text[CRN_ADDR_STRLEN];

	pvb_control_qp_lose(cqp, "a request waited too long");
	PVB_WARN(FI_LOG_EP_CTRL,
		 "durable operations of %s are given up: %d ms after a request came its "
		 "sequence word lags, or answers are not received. A peer that is "
		 "slow needs a longer FI_PVERBS_COMMIT_TIMEOUT on both sides\n",
		 atomic_load(&cqp->up) ? crn_addr_str(&cqp->peer.sa, text) : "a peer",
		 pvb_params.commit_timeout);
	pvb_inbox_drop(cqp);
}

void pvb_respond_retry(struct pvb_control *control)
{
	uint64_t now;
	struct crn_list *entry, *next;
	struct pvb_control_qp *cqp;

	crn_mutex_assert_held(&control->lock);
	if (crn_list_empty(&control->waits))
		return;
	now = crn_now_ms();
	crn_list_for_each_safe (entry, next, &control->waits) {
		cqp = crn_container_of(entry, struct pvb_control_qp, turn.entry);
		pvb_respond_begin(cqp);
		if (cqp->inbox_state == PVB_INBOX_WAITS &&
		    now - cqp->since >= (uint64_t)pvb_params.commit_timeout)
			pvb_respond_give_up(cqp);
	}
}

/* 0 or FI_E*: then nothing was changed. */
static int pvb_respond_check(struct pvb_control *control,
			     const struct pvb_wire_message *message)
{
	uint64_t total = 0;
	uint8_t i;

	for (i = 0; i < message->ranges; i++) {
		if (!pvb_pmem_region_find(control, &message->range[i]))
			return FI_EKEYREJECTED;
		total += message->range[i].len;
	}
	if (message->copy && !pvb_pmem_region_find(control, &message->to))
		return FI_EKEYREJECTED;
	return total > PVB_FLUSH_LIMIT ? FI_EMSGSIZE : 0;
}

/* What is fenced is done only if everything before it was. */
static int pvb_respond_fenced(struct pvb_control_qp *cqp,
			      const struct pvb_wire_message *message)
{
	/* A fence reaches back to requests that may be outstanding; numbers go round. */
	if (message->number - cqp->refused > PVB_CONTROL_CREDITS)
		cqp->refusing = false;
	if (message->kind == PVB_WIRE_MESSAGES)
		return pvb_received_begin(cqp);
	if (cqp->refusing && (int32_t)(cqp->refused - message->fence) > 0)
		return FI_ECANCELED;
	return pvb_respond_check(cqp->control, message);
}

/* The rest of a range, as far as it goes into the piece: only what is flushed takes time.
 */
static uint64_t pvb_piece_len(struct pvb_piece *piece,
			      const struct pvb_pmem_region *region, uint64_t rest,
			      uint64_t most)
{
	uint64_t len = rest;

	if (region->flush) {
		len = CRN_MIN(rest, most - piece->bytes);
		piece->bytes += len;
	}
	return len;
}

/* The next most bytes of what messages brought. 0, or FI_E*: not all of it can be
 * durable.
 */
static int pvb_piece_received(struct pvb_control_qp *cqp, uint64_t most,
			      struct pvb_piece *piece)
{
	const struct pvb_dirty_range *range;
	struct pvb_span *span;

	while (cqp->flushing.count && piece->spans < PVB_WIRE_RANGES &&
	       piece->bytes < most) {
		range = cqp->flushing.range;
		span = &piece->span[piece->spans++];
		/* pvb_received_forget guarantees that there is one. */
		span->region = pvb_pmem_region_containing(cqp->control, range->from,
							  range->to - range->from);
		if (!span->region)
			return FI_EKEYREJECTED;
		span->addr = range->from;
		span->len =
			pvb_piece_len(piece, span->region, range->to - range->from, most);
		pvb_dirty_cut(&cqp->flushing, 0, span->addr + span->len);
	}
	piece->last = !cqp->flushing.count;
	return piece->last ? atomic_load(&cqp->undurable) : 0;
}

/* The next most bytes of a request. 0, or FI_E*: a region was closed meanwhile. */
static int pvb_piece_cut(struct pvb_control_qp *cqp,
			 const struct pvb_wire_message *message, uint64_t most,
			 struct pvb_piece *piece)
{
	struct pvb_progress *progress = &cqp->progress;
	const struct pvb_wire_range *range;
	struct pvb_span *span;

	if (message->kind == PVB_WIRE_MESSAGES)
		return pvb_piece_received(cqp, most, piece);
	for (; progress->range < message->ranges && piece->bytes < most;
	     progress->range++, progress->at = 0) {
		range = &message->range[progress->range];
		span = &piece->span[piece->spans];
		span->region = pvb_pmem_region_find(cqp->control, range);
		if (!span->region)
			return FI_EKEYREJECTED;
		span->addr = range->addr + progress->at;
		span->len = pvb_piece_len(piece, span->region, range->len - progress->at,
					  most);
		piece->spans++;
		progress->at += span->len;
		if (progress->at < range->len)
			return 0;
	}
	piece->last = progress->range == message->ranges;
	if (!piece->last || !message->copy)
		return 0;
	piece->copy = pvb_pmem_region_find(cqp->control, &message->to);
	return piece->copy ? 0 : FI_EKEYREJECTED;
}

/* Without the lock. What one thread flushes it has to wait for itself: crn_pmem_drain is
 * about the processor that it runs on. */
static void pvb_piece_do(const struct pvb_piece *piece,
			 const struct pvb_wire_message *message)
{
	uint8_t i;

	for (i = 0; i < piece->spans; i++)
		pvb_pmem_region_flush(piece->span[i].region, piece->span[i].addr,
				      piece->span[i].len);
	crn_pmem_drain();
	if (!piece->copy)
		return;
	pvb_store(&message->to, message->bytes);
	pvb_pmem_region_flush(piece->copy, message->to.addr, message->to.len);
	crn_pmem_drain();
}

static void pvb_piece_run(struct pvb_control_qp *cqp, const struct pvb_piece *piece,
			  const struct pvb_wire_message *message)
{
	struct pvb_control *control = cqp->control;
	uint8_t i;

	for (i = 0; i < piece->spans; i++)
		pvb_pmem_region_get(piece->span[i].region);
	if (piece->copy)
		pvb_pmem_region_get(piece->copy);
	pvb_inbox_enter(cqp, PVB_INBOX_WORK);
	pthread_mutex_unlock(&control->lock);
	pvb_piece_do(piece, message);
	pthread_mutex_lock(&control->lock);
	for (i = 0; i < piece->spans; i++)
		pvb_pmem_region_put(control, piece->span[i].region);
	if (piece->copy)
		pvb_pmem_region_put(control, piece->copy);
}

/* The oldest request has ended. */
static void pvb_respond_answer(struct pvb_control_qp *cqp,
			       const struct pvb_wire_message *message, int err)
{
	struct pvb_control_recv *recv = cqp->inbox[cqp->inbox_head];
	const struct pvb_wire_message answer = {
		.kind = PVB_WIRE_ANSWER,
		.number = message->number,
		.status = (uint16_t)err,
	};
	bool received;

	if (err) {
		cqp->refusing = true;
		cqp->refused = message->number;
	}
	cqp->handled++;
	cqp->inbox_head = (cqp->inbox_head + 1) % PVB_CONTROL_CREDITS;
	cqp->inbox_count--;
	cqp->progress = (struct pvb_progress){0};
	/* First, for the answer allows another request. */
	received = !pvb_control_qp_receive(recv);
	if (!pvb_control_qp_send_kept(cqp, &answer) || !received)
		pvb_control_qp_lose(cqp, "an answer cannot be sent");
	pvb_inbox_enter(cqp, PVB_INBOX_EMPTY);
	if (cqp->inbox_count)
		pvb_respond_begin(cqp);
}

uint64_t pvb_respond_turn(struct pvb_turn *turn, uint64_t most)
{
	struct pvb_control_qp *cqp = crn_container_of(turn, struct pvb_control_qp, turn);
	struct pvb_piece piece = {0};
	struct pvb_wire_message message;
	int err = 0;

	if (atomic_load(&cqp->lost)) {
		pvb_inbox_drop(cqp);
		return CRN_MIN(most, PVB_PIECE_COST);
	}
	pvb_inbox_oldest(cqp, &message);
	if (!cqp->progress.begun)
		err = pvb_respond_fenced(cqp, &message);
	cqp->progress.begun = true;
	if (!err)
		err = pvb_piece_cut(cqp, &message, most, &piece);
	if (!err)
		pvb_piece_run(cqp, &piece, &message);
	if (atomic_load(&cqp->lost))
		pvb_inbox_drop(cqp);
	else if (err || piece.last)
		pvb_respond_answer(cqp, &message, err);
	else
		pvb_inbox_enter(cqp, PVB_INBOX_READY);
	/* The control queue pair may be gone once the lock is given up. */
	pthread_cond_broadcast(&cqp->control->ended);
	return CRN_MIN(most, piece.bytes + PVB_PIECE_COST);
}

void pvb_respond_end(struct pvb_control_qp *cqp)
{
	crn_mutex_assert_held(&cqp->control->lock);
	while (cqp->inbox_state == PVB_INBOX_WORK)
		pthread_cond_wait(&cqp->control->ended, &cqp->control->lock);
	pvb_inbox_drop(cqp);
}
