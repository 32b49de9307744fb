/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Durable sends and writes with data, at their target: fi_cq(3) allows no completion
 * here either before the data is durable. An entry of the message ring, written before
 * the message on the same queue pair, marks a durable message; its data is made durable
 * (arrival.c), then the completion is reported, then the initiator gets its answer.
 */
#include <stdlib.h>
#include <string.h>
#include "persist/control/control.h"
#include "persist/persist.h"
#include "wire/wire.h"
#include "internal.h"
#include "target.h"

int pvb_bufs_open(struct pvb_wq *wq, size_t slots, size_t limit)
{
	wq->bufs = calloc(slots * limit, sizeof(*wq->bufs));
	wq->arrivals = calloc(slots, sizeof(*wq->arrivals));
	wq->buf_limit = (uint32_t)limit;
	if (wq->bufs && wq->arrivals)
		return 0;
	pvb_bufs_close(wq);
	return -FI_ENOMEM;
}

void pvb_bufs_close(struct pvb_wq *wq)
{
	free(wq->bufs);
	free(wq->arrivals);
	wq->bufs = NULL;
	wq->arrivals = NULL;
}

int pvb_bufs_note(struct pvb_wq *wq, const struct pvb_slot *slot,
		  const struct ibv_recv_wr *wr)
{
	struct ibv_sge *bufs = &wq->bufs[(size_t)(slot - wq->slots) * wq->buf_limit];
	uint32_t i;

	for (i = 0; i < wq->buf_limit; i++)
		bufs[i] = (int)i < wr->num_sge ? wr->sg_list[i] : (struct ibv_sge){0};
	return wq->qp && pvb_qp_ep(wq->qp)->replay
		       ? pvb_replay_check(pvb_qp_ep(wq->qp), wr)
		       : 0;
}

/* A write with data has the place that its initiator names; one of nothing has none,
 * wherever that is. */
static int pvb_message_ring_written(struct pvb_control *control,
				    const struct pvb_wire_range *range,
				    struct pvb_places *places)
{
	if (!range->len)
		return 0;
	if (!pvb_pmem_region_find(control, range))
		return FI_EKEYREJECTED;
	if (range->len > PVB_FLUSH_LIMIT)
		return FI_EMSGSIZE;
	places->place[places->count++] = *range;
	return 0;
}

/* The first len bytes of a receive; those before one that is not in persistent memory
 * too. */
static int pvb_message_ring_message(struct pvb_control *control,
				    const struct pvb_slot *slot, uint32_t len,
				    struct pvb_places *places)
{
	const struct pvb_wq *wq = slot->wq;
	const struct ibv_sge *buf = &wq->bufs[(size_t)(slot - wq->slots) * wq->buf_limit];
	uint32_t i, here;

	for (i = 0; i < wq->buf_limit && len; i++, len -= here) {
		here = CRN_MIN(len, buf[i].length);
		if (here && !pvb_pmem_region_containing(control, buf[i].addr, here))
			return FI_EOPNOTSUPP;
		if (here)
			places->place[places->count++] =
				(struct pvb_wire_range){.addr = buf[i].addr, .len = here};
	}
	return 0;
}

int pvb_message_ring_places(struct pvb_control *control,
			    const struct pvb_arrival *arrival, struct pvb_places *places)
{
	crn_mutex_assert_held(&control->lock);
	places->count = 0;
	return arrival->wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM
		       ? pvb_message_ring_written(control, &arrival->range, places)
		       : pvb_message_ring_message(control, pvb_wc_slot(&arrival->wc),
						  arrival->wc.byte_len, places);
}

/* The entry that is of this message, if there is one. The peer may be writing it: what is
 * not whole is of no message, and what it says of memory is checked. */
static bool pvb_message_ring_entry(struct pvb_control_qp *cqp,
				   struct pvb_wire_entry *entry)
{
	const uint32_t number = cqp->entries + 1;
	const uint8_t *in = cqp->area->ring[number % PVB_CONTROL_CREDITS];

	if (crn_likely(pvb_wire_entry_number(in) != number))
		return false;
	pvb_wire_parse_entry(entry, in);
	return entry->number == number && entry->message == cqp->arrived;
}

void pvb_message_ring_match(struct pvb_control_qp *cqp, const struct ibv_wc *wc,
			    struct pvb_arrival *arrival)
{
	struct pvb_wire_entry entry;

	cqp->arrived++;
	arrival->durable = pvb_message_ring_entry(cqp, &entry);
	if (arrival->durable) {
		cqp->entries = entry.number;
		arrival->number = entry.number;
		arrival->range = entry.range;
	}
	/* Before anything of a replayed one is applied it has to be where recovery finds
	 * it. */
	arrival->kept = arrival->durable ||
			(pvb_qp_ep(cqp->qp)->replay && wc->opcode == IBV_WC_RECV);
}

void pvb_message_ring_ended(struct pvb_control_qp *cqp, const struct ibv_wc *wc,
			    const struct pvb_arrival *arrival, int err)
{
	if (!arrival->kept && wc->opcode == IBV_WC_RECV)
		pvb_received_note(cqp, pvb_wc_slot(wc), wc->byte_len);
	atomic_fetch_add(&cqp->messages, 1);
	if (arrival->durable &&
	    !pvb_control_qp_answer(cqp, arrival->number, (uint16_t)err))
		pvb_control_qp_lose(cqp,
				    "more entries of the message ring than agreed on");
}
