/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Durable sends and writes with data, at their target: fi_cq(3) wants no completion here
 * either before the data is durable. An entry of the message ring, which travelled ahead
 * on the same queue pair, says that a message is such a one; what it brought is made
 * durable before the program hears of it, and the initiator after that.
 */
#include <stdlib.h>
#include <string.h>
#include <libpmem.h>
#include "control.h"

int pvb_bufs_open(struct pvb_wq *wq, size_t slots, size_t limit)
{
	wq->bufs = calloc(slots * limit, sizeof(*wq->bufs));
	wq->buf_limit = (uint32_t)limit;
	return wq->bufs ? 0 : -FI_ENOMEM;
}

int pvb_bufs_note(struct pvb_wq *wq, const struct pvb_slot *slot,
		  const struct ibv_recv_wr *wr)
{
	struct ibv_sge *bufs = &wq->bufs[(size_t)(slot - wq->slots) * wq->buf_limit];
	uint32_t i;

	for (i = 0; i < wq->buf_limit; i++)
		bufs[i] = (int)i < wr->num_sge ? wr->sg_list[i] : (struct ibv_sge){0};
	return wq->conn && pvb_conn_ep(wq->conn)->replay
		       ? pvb_replay_check(pvb_conn_ep(wq->conn), wr)
		       : 0;
}

/* Where a message is in persistent memory. */
struct pvb_ring_place {
	struct pvb_target *target;
	uint64_t addr;
	uint64_t len; /* bytes */
};

struct pvb_ring_places {
	struct pvb_ring_place place[PVB_IOV_LIMIT];
	uint32_t count;
};

static void pvb_ring_add(struct pvb_ring_places *places, struct pvb_target *target,
			 uint64_t addr, uint64_t len)
{
	pvb_target_hold(target);
	places->place[places->count++] = (struct pvb_ring_place){target, addr, len};
}

/* What a write with data wrote. With the lock held, as the next. */
static int pvb_ring_written(struct pvb_control *control,
			    const struct pvb_wire_range *range,
			    struct pvb_ring_places *places)
{
	struct pvb_target *target = pvb_target_find(control, range);

	if (!target)
		return FI_EKEYREJECTED;
	if (range->len > PVB_FLUSH_LIMIT)
		return FI_EMSGSIZE;
	pvb_ring_add(places, target, range->addr, range->len);
	return 0;
}

/* The first len bytes of a receive; those before one that is not in persistent memory
 * too. */
static int pvb_ring_message(struct pvb_control *control, const struct pvb_slot *slot,
			    uint32_t len, struct pvb_ring_places *places)
{
	const struct pvb_wq *wq = slot->wq;
	const struct ibv_sge *buf = &wq->bufs[(size_t)(slot - wq->slots) * wq->buf_limit];
	struct pvb_target *target;
	uint32_t i, here;

	for (i = 0; i < wq->buf_limit && len; i++, len -= here) {
		here = CRN_MIN(len, buf[i].length);
		target = here ? pvb_target_holding(control, buf[i].addr, here) : NULL;
		if (here && !target)
			return FI_EOPNOTSUPP;
		if (here)
			pvb_ring_add(places, target, buf[i].addr, here);
	}
	return 0;
}

/*
 * What was received is made durable; range: of a write with data, or NULL. Without the
 * lock of the control queues: others need not wait for as much as a peer sends. 0 or
 * FI_E*.
 */
static int pvb_ring_keep(struct pvb_control *control, const struct pvb_wire_range *range,
			 const struct pvb_slot *slot, uint32_t len)
{
	struct pvb_ring_places places;
	uint32_t i;
	int err;

	places.count = 0;
	pthread_mutex_lock(&control->lock);
	err = range ? pvb_ring_written(control, range, &places)
		    : pvb_ring_message(control, slot, len, &places);
	pthread_mutex_unlock(&control->lock);
	for (i = 0; i < places.count; i++)
		pvb_target_flush(places.place[i].target, places.place[i].addr,
				 places.place[i].len);
	pmem_drain();
	pthread_mutex_lock(&control->lock);
	for (i = 0; i < places.count; i++)
		pvb_target_let_go(control, places.place[i].target);
	pthread_mutex_unlock(&control->lock);
	return err;
}

void pvb_ring_received(struct pvb_lane *lane, const struct ibv_wc *wc,
		       const struct pvb_slot *slot)
{
	const uint32_t message = atomic_load(&lane->messages) + 1;
	const uint32_t number = lane->entries + 1;
	const bool kept = pvb_conn_ep(lane->conn)->replay && wc->opcode == IBV_WC_RECV;
	struct pvb_wire_entry entry;
	int err;

	/* Before anything of it is applied it has to be where recovery finds it. */
	if (kept)
		pvb_ring_keep(lane->control, NULL, slot, wc->byte_len);
	pvb_wire_parse_entry(&entry, lane->area->ring[number % PVB_LANE_CREDITS]);
	if (entry.number != number || entry.message != message) {
		if (!kept && wc->opcode == IBV_WC_RECV)
			pvb_received_note(lane, slot, wc->byte_len);
		atomic_store(&lane->messages, message);
		return;
	}
	atomic_store(&lane->messages, message);
	lane->entries = number;
	err = pvb_ring_keep(lane->control,
			    wc->opcode == IBV_WC_RECV_RDMA_WITH_IMM ? &entry.range : NULL,
			    slot, wc->byte_len);
	if (!pvb_lane_answer(lane, number, (uint16_t)err))
		pvb_lane_lose(lane, "more entries of the message ring than agreed on");
}
