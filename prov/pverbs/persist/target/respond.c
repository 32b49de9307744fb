/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a target does for durable operations: it writes the cache lines of a range back,
 * stores what a request carries, and answers. A peer names memory by the same keys as in
 * its other operations; only regions of persistent memory that it may write are taken.
 *
 * A request may ask for a gigabyte, and a peer for many of them. So it is done in pieces,
 * without the lock, and lanes take turns: EMPTY -> (WAITS ->) READY <-> WORK, and from
 * there to the next request of the inbox.
 */
#include <string.h>
#include <libpmem.h>
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
	struct pvb_target *target;
	uint64_t addr;
	uint64_t len; /* bytes */
};

struct pvb_piece {
	struct pvb_span span[PVB_WIRE_RANGES];
	uint8_t spans;
	bool last;		 /* of its request */
	struct pvb_target *copy; /* of the last: where bytes are copied; or NULL */
	uint64_t bytes;
};

static void pvb_inbox_enter(struct pvb_lane *lane, enum pvb_inbox state)
{
	struct pvb_control *control = lane->control;

	if (lane->inbox_state == PVB_INBOX_WAITS &&
	    atomic_fetch_sub(&control->waiting, 1) == 1)
		atomic_store(&control->fresh, false);
	if (lane->inbox_state == PVB_INBOX_READY)
		pvb_turn_end(control, &lane->turn);
	crn_list_del(&lane->turn.entry);
	lane->inbox_state = state;
	if (state == PVB_INBOX_WAITS) {
		lane->since = crn_now_ms();
		atomic_store(&control->newest, lane->since);
		atomic_store(&control->fresh, true);
		crn_list_add_tail(&control->waits, &lane->turn.entry);
		atomic_fetch_add(&control->waiting, 1);
		pvb_tick(control);
	} else if (state == PVB_INBOX_READY) {
		pvb_turn_begin(control, &lane->turn);
	}
}

static void pvb_inbox_oldest(const struct pvb_lane *lane,
			     struct pvb_wire_message *message)
{
	pvb_wire_parse(message, lane->inbox[lane->inbox_head]->buf,
		       lane->inbox_len[lane->inbox_head]);
}

/* Nothing of it is done any more. */
static void pvb_inbox_drop(struct pvb_lane *lane)
{
	lane->inbox_count = 0;
	lane->progress = (struct pvb_progress){0};
	pvb_inbox_enter(lane, PVB_INBOX_EMPTY);
}

/* Is all there that the request is about? */
static bool pvb_respond_due(struct pvb_lane *lane, const struct pvb_wire_message *message)
{
	const uint32_t bell =
		(uint32_t)atomic_load_explicit(&lane->area->bell, memory_order_acquire);

	return (int32_t)(bell - message->bell) >= 0 &&
	       (message->kind != PVB_WIRE_MESSAGES ||
		(int32_t)(atomic_load(&lane->messages) - message->messages) >= 0);
}

/* May the oldest request begin? */
static bool pvb_respond_may(struct pvb_lane *lane)
{
	struct pvb_wire_message message;

	pvb_inbox_oldest(lane, &message);
	if (!pvb_respond_due(lane, &message))
		return false;
	if (message.number != lane->handled + 1) {
		pvb_lane_lose(lane, "a request is out of turn");
		return true;
	}
	/* Its answer takes the place of an older one: that has been sent long ago. No
	 * other thread's message takes that place meanwhile. */
	return pvb_lane_keep(lane);
}

void pvb_respond_begin(struct pvb_lane *lane)
{
	const bool may = atomic_load(&lane->lost) || pvb_respond_may(lane);

	if (atomic_load(&lane->lost)) {
		pvb_inbox_drop(lane);
	} else if (may) {
		pvb_inbox_enter(lane, PVB_INBOX_READY);
	} else if (lane->inbox_state != PVB_INBOX_WAITS) {
		pvb_inbox_enter(lane, PVB_INBOX_WAITS);
	}
}

/* The peer has given it up as well by now, if it is one of ours. */
static void pvb_respond_give_up(struct pvb_lane *lane)
{
	char text[CRN_ADDR_STRLEN];

	pvb_lane_lose(lane, "a request waited too long");
	PVB_WARN(FI_LOG_EP_CTRL,
		 "durable operations of %s are given up: %d ms after a request came its "
		 "doorbell has not rung, or answers are not received. A peer that is "
		 "slow needs a longer FI_PVERBS_COMMIT_TIMEOUT on both sides\n",
		 atomic_load(&lane->up) ? crn_addr_str(&lane->peer.sa, text) : "a peer",
		 pvb_params.commit_timeout);
	pvb_inbox_drop(lane);
}

void pvb_respond_retry(struct pvb_control *control)
{
	uint64_t now;
	struct crn_list *entry, *next;
	struct pvb_lane *lane;

	if (crn_list_empty(&control->waits))
		return;
	now = crn_now_ms();
	crn_list_for_each_safe (entry, next, &control->waits) {
		lane = crn_container_of(entry, struct pvb_lane, turn.entry);
		pvb_respond_begin(lane);
		if (lane->inbox_state == PVB_INBOX_WAITS &&
		    now - lane->since >= (uint64_t)pvb_params.commit_timeout)
			pvb_respond_give_up(lane);
	}
}

/* 0 or FI_E*: then nothing was changed. */
static int pvb_respond_check(struct pvb_control *control,
			     const struct pvb_wire_message *message)
{
	uint64_t total = 0;
	uint8_t i;

	for (i = 0; i < message->ranges; i++) {
		if (!pvb_target_find(control, &message->range[i]))
			return FI_EKEYREJECTED;
		total += message->range[i].len;
	}
	if (message->copy && !pvb_target_find(control, &message->to))
		return FI_EKEYREJECTED;
	return total > PVB_FLUSH_LIMIT ? FI_EMSGSIZE : 0;
}

/* What is fenced is done only if everything before it was. */
static int pvb_respond_fenced(struct pvb_lane *lane,
			      const struct pvb_wire_message *message)
{
	/* A fence reaches back to requests that may be under way; numbers go round. */
	if (message->number - lane->refused > PVB_LANE_CREDITS)
		lane->refusing = false;
	if (message->kind == PVB_WIRE_MESSAGES)
		return pvb_received_begin(lane);
	if (lane->refusing && (int32_t)(lane->refused - message->fence) > 0)
		return FI_ECANCELED;
	return pvb_respond_check(lane->control, message);
}

/* The rest of a range, as far as it goes into the piece: only what is flushed takes time.
 */
static uint64_t pvb_piece_len(struct pvb_piece *piece, const struct pvb_target *target,
			      uint64_t rest, uint64_t most)
{
	uint64_t len = rest;

	if (target->flush) {
		len = CRN_MIN(rest, most - piece->bytes);
		piece->bytes += len;
	}
	return len;
}

/* The next most bytes of what messages brought. 0, or FI_E*: not all of it can be
 * durable.
 */
static int pvb_piece_received(struct pvb_lane *lane, uint64_t most,
			      struct pvb_piece *piece)
{
	const struct pvb_dirty_range *range;
	struct pvb_span *span;

	while (lane->flushing.count && piece->spans < PVB_WIRE_RANGES &&
	       piece->bytes < most) {
		range = lane->flushing.range;
		span = &piece->span[piece->spans++];
		/* pvb_received_forget sees to it that there is one. */
		span->target = pvb_target_holding(lane->control, range->from,
						  range->to - range->from);
		if (!span->target)
			return FI_EKEYREJECTED;
		span->addr = range->from;
		span->len =
			pvb_piece_len(piece, span->target, range->to - range->from, most);
		pvb_dirty_cut(&lane->flushing, 0, span->addr + span->len);
	}
	piece->last = !lane->flushing.count;
	return piece->last ? atomic_load(&lane->undurable) : 0;
}

/* The next most bytes of a request. 0, or FI_E*: a region was closed meanwhile. */
static int pvb_piece_cut(struct pvb_lane *lane, const struct pvb_wire_message *message,
			 uint64_t most, struct pvb_piece *piece)
{
	struct pvb_progress *progress = &lane->progress;
	const struct pvb_wire_range *range;
	struct pvb_span *span;

	if (message->kind == PVB_WIRE_MESSAGES)
		return pvb_piece_received(lane, most, piece);
	for (; progress->range < message->ranges && piece->bytes < most;
	     progress->range++, progress->at = 0) {
		range = &message->range[progress->range];
		span = &piece->span[piece->spans];
		span->target = pvb_target_find(lane->control, range);
		if (!span->target)
			return FI_EKEYREJECTED;
		span->addr = range->addr + progress->at;
		span->len = pvb_piece_len(piece, span->target, range->len - progress->at,
					  most);
		piece->spans++;
		progress->at += span->len;
		if (progress->at < range->len)
			return 0;
	}
	piece->last = progress->range == message->ranges;
	if (!piece->last || !message->copy)
		return 0;
	piece->copy = pvb_target_find(lane->control, &message->to);
	return piece->copy ? 0 : FI_EKEYREJECTED;
}

/* Without the lock. What one thread flushes it has to wait for itself: pmem_drain(3) is
 * about the processor that it runs on. */
static void pvb_piece_do(const struct pvb_piece *piece,
			 const struct pvb_wire_message *message)
{
	uint8_t i;

	for (i = 0; i < piece->spans; i++)
		pvb_target_flush(piece->span[i].target, piece->span[i].addr,
				 piece->span[i].len);
	pmem_drain();
	if (!piece->copy)
		return;
	pvb_store(&message->to, message->bytes);
	pvb_target_flush(piece->copy, message->to.addr, message->to.len);
	pmem_drain();
}

static void pvb_piece_run(struct pvb_lane *lane, const struct pvb_piece *piece,
			  const struct pvb_wire_message *message)
{
	struct pvb_control *control = lane->control;
	uint8_t i;

	for (i = 0; i < piece->spans; i++)
		pvb_target_hold(piece->span[i].target);
	if (piece->copy)
		pvb_target_hold(piece->copy);
	pvb_inbox_enter(lane, PVB_INBOX_WORK);
	pthread_mutex_unlock(&control->lock);
	pvb_piece_do(piece, message);
	pthread_mutex_lock(&control->lock);
	for (i = 0; i < piece->spans; i++)
		pvb_target_let_go(control, piece->span[i].target);
	if (piece->copy)
		pvb_target_let_go(control, piece->copy);
}

/* The oldest request has ended. */
static void pvb_respond_answer(struct pvb_lane *lane,
			       const struct pvb_wire_message *message, int err)
{
	struct pvb_lane_recv *recv = lane->inbox[lane->inbox_head];
	const struct pvb_wire_message answer = {
		.kind = PVB_WIRE_ANSWER,
		.number = message->number,
		.status = (uint16_t)err,
	};
	bool received;

	if (err) {
		lane->refusing = true;
		lane->refused = message->number;
	}
	lane->handled++;
	lane->inbox_head = (lane->inbox_head + 1) % PVB_LANE_CREDITS;
	lane->inbox_count--;
	lane->progress = (struct pvb_progress){0};
	/* First, for the answer allows another request. */
	received = !pvb_lane_receive(recv);
	if (!pvb_lane_send_kept(lane, &answer) || !received)
		pvb_lane_lose(lane, "an answer cannot be sent");
	pvb_inbox_enter(lane, PVB_INBOX_EMPTY);
	if (lane->inbox_count)
		pvb_respond_begin(lane);
}

uint64_t pvb_respond_turn(struct pvb_turn *turn, uint64_t most)
{
	struct pvb_lane *lane = crn_container_of(turn, struct pvb_lane, turn);
	struct pvb_piece piece = {0};
	struct pvb_wire_message message;
	int err = 0;

	if (atomic_load(&lane->lost)) {
		pvb_inbox_drop(lane);
		return CRN_MIN(most, PVB_PIECE_COST);
	}
	pvb_inbox_oldest(lane, &message);
	if (!lane->progress.begun)
		err = pvb_respond_fenced(lane, &message);
	lane->progress.begun = true;
	if (!err)
		err = pvb_piece_cut(lane, &message, most, &piece);
	if (!err)
		pvb_piece_run(lane, &piece, &message);
	if (atomic_load(&lane->lost))
		pvb_inbox_drop(lane);
	else if (err || piece.last)
		pvb_respond_answer(lane, &message, err);
	else
		pvb_inbox_enter(lane, PVB_INBOX_READY);
	/* The lane may be gone once the lock is given up. */
	pthread_cond_broadcast(&lane->control->ended);
	return CRN_MIN(most, piece.bytes + PVB_PIECE_COST);
}

void pvb_respond_end(struct pvb_lane *lane)
{
	while (lane->inbox_state == PVB_INBOX_WORK)
		pthread_cond_wait(&lane->control->ended, &lane->control->lock);
	pvb_inbox_drop(lane);
}
