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

/* What a write with data wrote. */
static int pvb_ring_written(struct pvb_control *control,
			    const struct pvb_wire_range *range)
{
	const struct pvb_target *target = pvb_target_find(control, range);

	if (!target)
		return FI_EKEYREJECTED;
	if (range->len > PVB_FLUSH_LIMIT)
		return FI_EMSGSIZE;
	pvb_target_flush(target, range->addr, range->len);
	return 0;
}

/* The first len bytes of a receive. */
static int pvb_ring_message(struct pvb_control *control, const struct pvb_slot *slot,
			    uint32_t len)
{
	const struct pvb_wq *wq = slot->wq;
	const struct ibv_sge *buf = &wq->bufs[(size_t)(slot - wq->slots) * wq->buf_limit];
	const struct pvb_target *target;
	uint32_t i, here;

	for (i = 0; i < wq->buf_limit && len; i++, len -= here) {
		here = CRN_MIN(len, buf[i].length);
		target = here ? pvb_target_holding(control, buf[i].addr, here) : NULL;
		if (here && !target)
			return FI_EOPNOTSUPP;
		if (here)
			pvb_target_flush(target, buf[i].addr, here);
	}
	return 0;
}

static void pvb_ring_answer(struct pvb_lane *lane, uint32_t number, int err)
{
	const struct pvb_wire_message answer = {
		.kind = PVB_WIRE_RING_ANSWER,
		.number = number,
		.status = (uint16_t)err,
	};

	if (pvb_lane_send(lane, &answer))
		return;
	/* Places of older ones may be free since. */
	pvb_control_progress(lane->control);
	if (!pvb_lane_send(lane, &answer))
		pvb_lane_lose(lane, "an answer cannot be sent");
}

static void pvb_ring_keep(struct pvb_lane *lane, const struct pvb_slot *slot,
			  uint32_t len)
{
	pthread_mutex_lock(&lane->control->lock);
	pvb_ring_message(lane->control, slot, len);
	pthread_mutex_unlock(&lane->control->lock);
	pmem_drain();
}

void pvb_ring_received(struct pvb_lane *lane, const struct ibv_wc *wc,
		       const struct pvb_slot *slot)
{
	const uint32_t number = lane->entries + 1;
	struct pvb_wire_entry entry;
	int err;

	lane->messages++;
	/* Before anything of it is applied it has to be where recovery finds it. */
	if (pvb_conn_ep(lane->conn)->replay && wc->opcode == IBV_WC_RECV)
		pvb_ring_keep(lane, slot, wc->byte_len);
	pvb_wire_parse_entry(&entry, lane->area->ring[number % PVB_LANE_CREDITS]);
	if (entry.number != number || entry.message != lane->messages)
		return;
	lane->entries = number;
	pthread_mutex_lock(&lane->control->lock);
	if (wc->opcode == IBV_WC_RECV_RDMA_WITH_IMM)
		err = pvb_ring_written(lane->control, &entry.range);
	else
		err = pvb_ring_message(lane->control, slot, wc->byte_len);
	pthread_mutex_unlock(&lane->control->lock);
	pmem_drain();
	pvb_ring_answer(lane, number, err);
}
