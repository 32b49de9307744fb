/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a target does for durable operations: it writes the cache lines of a range back,
 * stores what a request carries, and answers. A peer names memory by the same keys as in
 * its other operations; only regions of persistent memory that it may write are taken.
 */
#include <string.h>
#include <libpmem.h>
#include "control.h"

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

static int pvb_respond_do(struct pvb_control *control,
			  const struct pvb_wire_message *message)
{
	int err = pvb_respond_check(control, message);
	uint8_t i;

	if (err)
		return err;
	for (i = 0; i < message->ranges; i++)
		pvb_target_flush(pvb_target_find(control, &message->range[i]),
				 message->range[i].addr, message->range[i].len);
	pmem_drain();
	if (!message->copy)
		return 0;
	pvb_store(&message->to, message->bytes);
	pvb_target_flush(pvb_target_find(control, &message->to), message->to.addr,
			 message->to.len);
	pmem_drain();
	return 0;
}

/* What is fenced is done only if everything before it was. */
static int pvb_respond_fenced(struct pvb_lane *lane,
			      const struct pvb_wire_message *message)
{
	int err = FI_ECANCELED;

	/* A fence reaches back to requests that may be under way; numbers go round. */
	if (message->number - lane->refused > PVB_LANE_CREDITS)
		lane->refusing = false;
	if (!lane->refusing || (int32_t)(lane->refused - message->fence) <= 0)
		err = pvb_respond_do(lane->control, message);
	if (err) {
		lane->refusing = true;
		lane->refused = message->number;
	}
	return err;
}

/* The oldest request of the inbox; false: it has to wait. */
static bool pvb_respond_one(struct pvb_lane *lane)
{
	struct pvb_lane_recv *recv = lane->inbox[lane->inbox_head];
	struct pvb_wire_message message, answer = {.kind = PVB_WIRE_ANSWER};
	bool received;
	uint32_t bell;

	pvb_wire_parse(&message, recv->buf, lane->inbox_len[lane->inbox_head]);
	bell = (uint32_t)atomic_load_explicit(&lane->area->bell, memory_order_acquire);
	if ((int32_t)(bell - message.bell) < 0)
		return false;
	if (message.number != lane->handled + 1) {
		pvb_lane_lose(lane, "a request is out of turn");
		return true;
	}
	/* Its answer takes the place of an older one: that has been sent long ago. No
	 * other thread's message takes that place meanwhile. */
	if (!pvb_lane_keep(lane))
		return false;
	answer.number = message.number;
	answer.status = (uint16_t)pvb_respond_fenced(lane, &message);
	lane->handled++;
	lane->inbox_head = (lane->inbox_head + 1) % PVB_LANE_CREDITS;
	lane->inbox_count--;
	/* First, for the answer allows another request. */
	received = !pvb_lane_receive(recv);
	if (!pvb_lane_send_kept(lane, &answer) || !received)
		pvb_lane_lose(lane, "an answer cannot be sent");
	return true;
}

bool pvb_respond(struct pvb_lane *lane)
{
	while (lane->inbox_count) {
		if (atomic_load(&lane->lost))
			lane->inbox_count = 0;
		else if (!pvb_respond_one(lane))
			return false;
	}
	return true;
}
