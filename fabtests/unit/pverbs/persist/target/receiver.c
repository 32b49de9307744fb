/* SPDX-License-Identifier: BSD-2-Clause */
#include "../fake_pmem.h"
#include "persist/initiator/initiator.h"
#include "persist/persist.h"
#include "persist/target/target.h"
#include "receiver.h"

void receiver_progress(struct receiver *t, enum fi_progress progress)
{
	if (t->region.addr)
		receiver_hide(t);
	t->control->domain->info->domain_attr->data_progress = progress;
	t->region.addr = (uintptr_t)t->mem;
	CT_EXPECT_EQ(pvb_pmem_region_add(t->control, &t->region), 0);
}

void receiver_hide(struct receiver *t)
{
	pvb_pmem_region_del(t->control, &t->region);
	t->region.addr = 0;
}

static bool receiver_expose(struct receiver *t, size_t len)
{
	t->control = t->d.control_qp->control;
	t->messages = t->entries = t->requests = 0;
	fake_pmem = (struct fake_pmem){0};
	t->region = (struct pvb_pmem_region){
		.len = len,
		.rkey = RECEIVER_RKEY,
		.write = true,
		.flush = true,
	};
	receiver_progress(t, FI_PROGRESS_MANUAL);
	return !ct_failed();
}

bool receiver_open_with(struct receiver *t, size_t len, const struct world_opts *opts)
{
	receiver_close(t);
	return durable_open(&t->d, opts) && receiver_expose(t, len);
}

bool receiver_open(struct receiver *t, size_t len)
{
	return receiver_open_with(t, len, NULL);
}

/* The endpoint anew, with something more bound to it. */
static bool receiver_open_bound(struct receiver *t, size_t len, struct fid *fid,
				uint64_t flags)
{
	struct world *w = &t->d.w;

	CT_EXPECT_EQ(fi_endpoint(w->domain, w->info, &w->ep, NULL), 0);
	CT_EXPECT_EQ(fi_ep_bind(w->ep, &w->eq->fid, 0), 0);
	CT_EXPECT_EQ(fi_ep_bind(w->ep, &w->cq->fid, FI_TRANSMIT | FI_RECV), 0);
	CT_EXPECT_EQ(fi_ep_bind(w->ep, fid, flags), 0);
	CT_EXPECT_EQ(fi_enable(w->ep), 0);
	w->qp = qp_of(w->ep);
	return durable_connect(&t->d) && receiver_expose(t, len);
}

bool receiver_open_shared(struct receiver *t, size_t len)
{
	struct fi_rx_attr attr = {.size = 8, .iov_limit = 2};
	struct world *w = &t->d.w;

	receiver_close(t);
	if (!durable_enable(&t->d, NULL))
		return false;
	world_close_ep(w);
	CT_EXPECT_EQ(fi_srx_context(w->domain, &attr, &t->srx, NULL), 0);
	w->info->ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT;
	return receiver_open_bound(t, len, &t->srx->fid, 0);
}

bool receiver_open_counted(struct receiver *t, size_t len, uint64_t flags)
{
	struct fi_cntr_attr attr = {.wait_obj = FI_WAIT_UNSPEC};

	receiver_close(t);
	if (!durable_enable(&t->d, NULL))
		return false;
	world_close_ep(&t->d.w);
	CT_EXPECT_EQ(fi_cntr_open(t->d.w.domain, &attr, &t->cntr, NULL), 0);
	return receiver_open_bound(t, len, &t->cntr->fid, flags);
}

void receiver_close(struct receiver *t)
{
	fake_pmem.hook = NULL;
	if (t->region.addr)
		receiver_hide(t);
	world_close_ep(&t->d.w);
	close_object(t->srx);
	close_object(t->cntr);
	durable_close(&t->d);
}

void *receiver_close_connection(void *t)
{
	world_close_ep(&((struct receiver *)t)->d.w);
	return NULL;
}

void receiver_put(struct receiver *t, const struct pvb_wire_entry *entry)
{
	pvb_wire_pack_entry(
		t->d.control_qp->area->ring[entry->number % PVB_CONTROL_CREDITS], entry);
}

void receiver_announce(struct receiver *t, uint64_t from, uint64_t len, uint32_t rkey)
{
	const struct pvb_wire_entry entry = {
		.message = t->messages + 1,
		.number = ++t->entries,
		.range = {(uintptr_t)t->mem + from, len, rkey},
	};

	receiver_put(t, &entry);
}

ssize_t receiver_post(struct fid_ep *ep, void *buf, size_t len, uintptr_t number)
{
	return fi_recv(ep, buf, len, NULL, 0, NUMBER(number));
}

void receiver_message(struct receiver *t, uint32_t len)
{
	t->messages++;
	fake_receive(t->d.w.qp, IBV_WC_RECV, len, NULL);
}

void receiver_written(struct receiver *t)
{
	static const uint32_t data = 5;

	t->messages++;
	fake_receive(t->d.w.qp, IBV_WC_RECV_RDMA_WITH_IMM, 8, &data);
}

void receiver_durable(struct receiver *t, void *buf, uint32_t len, uintptr_t number)
{
	const size_t room = buf ? len + 23 : 0;

	CT_EXPECT_EQ(receiver_post(t->srx ? t->srx : t->d.w.ep, buf, room, number), 0);
	receiver_announce(t, 0, 0, 0);
	receiver_message(t, len);
}

struct pvb_wire_message receiver_request(struct receiver *t, uint64_t from, uint64_t len,
					 uint32_t rkey)
{
	return (struct pvb_wire_message){
		.kind = PVB_WIRE_REQUEST,
		.number = ++t->requests,
		.fence = t->requests,
		.ranges = 1,
		.range = {{(uintptr_t)t->mem + from, len, rkey}},
	};
}

static uint16_t answered(struct receiver *t, enum pvb_wire_kind kind, uint32_t number)
{
	struct pvb_wire_message answer;

	CT_EXPECT_FALSE(t->d.control_qp->lost);
	CT_EXPECT_NE(t->d.control->sq.posted, 0);
	if (!t->d.control->sq.posted)
		return UINT16_MAX;
	answer = durable_sent(&t->d, t->d.control->sq.posted - 1);
	CT_EXPECT_EQ(answer.kind, kind);
	CT_EXPECT_EQ(answer.number, number);
	return answer.status;
}

uint16_t receiver_answered(struct receiver *t, uint32_t number)
{
	const uint16_t status = answered(t, PVB_WIRE_RING_ANSWER, number);

	fake_complete_all(t->d.control);
	return status;
}

uint16_t receiver_answered_request(struct receiver *t, uint32_t number)
{
	expect_no_comp(t->d.w.cq);
	return answered(t, PVB_WIRE_ANSWER, number);
}
