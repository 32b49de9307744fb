/* SPDX-License-Identifier: BSD-2-Clause */
#include "../fake_pmem.h"
#include "persist/initiator/initiator.h"
#include "persist/persist.h"
#include "persist/target/target.h"
#include "receiver.h"

struct receiver receiver;

static bool receiver_expose(size_t len)
{
	struct pvb_control *control = receiver.d.control_qp->control;

	receiver.messages = receiver.entries = 0;
	fake_pmem = (struct fake_pmem){0};
	receiver.region = (struct pvb_pmem_region){
		.addr = (uintptr_t)receiver.mem,
		.len = len,
		.rkey = RECEIVER_RKEY,
		.write = true,
		.flush = true,
	};
	control->domain->info->domain_attr->data_progress = FI_PROGRESS_MANUAL;
	CT_EXPECT_EQ(pvb_pmem_region_add(control, &receiver.region), 0);
	return !ct_failed();
}

bool receiver_open_with(size_t len, const struct world_opts *opts)
{
	return durable_open(&receiver.d, opts) && receiver_expose(len);
}

bool receiver_open(size_t len)
{
	return receiver_open_with(len, NULL);
}

/* The endpoint anew, with something more bound to it. */
static bool receiver_open_bound(size_t len, struct fid *fid, uint64_t flags)
{
	struct world *w = &receiver.d.w;

	CT_EXPECT_EQ(fi_endpoint(w->domain, w->info, &w->ep, NULL), 0);
	CT_EXPECT_EQ(fi_ep_bind(w->ep, &w->eq->fid, 0), 0);
	CT_EXPECT_EQ(fi_ep_bind(w->ep, &w->cq->fid, FI_TRANSMIT | FI_RECV), 0);
	CT_EXPECT_EQ(fi_ep_bind(w->ep, fid, flags), 0);
	CT_EXPECT_EQ(fi_enable(w->ep), 0);
	w->qp = qp_of(w->ep);
	return durable_connect(&receiver.d) && receiver_expose(len);
}

bool receiver_open_shared(size_t len, struct fid_ep **srx)
{
	struct fi_rx_attr attr = {.size = 8, .iov_limit = 2};
	struct world *w = &receiver.d.w;

	if (!durable_enable(&receiver.d, NULL))
		return false;
	world_close_ep(w);
	CT_EXPECT_EQ(fi_srx_context(w->domain, &attr, srx, NULL), 0);
	w->info->ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT;
	return receiver_open_bound(len, &(*srx)->fid, 0);
}

bool receiver_open_counted(size_t len, uint64_t flags, struct fid_cntr **cntr)
{
	struct fi_cntr_attr attr = {.wait_obj = FI_WAIT_UNSPEC};

	if (!durable_enable(&receiver.d, NULL))
		return false;
	world_close_ep(&receiver.d.w);
	CT_EXPECT_EQ(fi_cntr_open(receiver.d.w.domain, &attr, cntr, NULL), 0);
	return receiver_open_bound(len, &(*cntr)->fid, flags);
}

void receiver_close(void)
{
	struct pvb_domain *domain =
		crn_container_of(receiver.d.w.domain, struct pvb_domain, fid);

	fake_pmem.hook = NULL;
	pvb_pmem_region_del(domain->control, &receiver.region);
	durable_close(&receiver.d);
}

void receiver_put(const struct pvb_wire_entry *entry)
{
	pvb_wire_pack_entry(
		receiver.d.control_qp->area->ring[entry->number % PVB_CONTROL_CREDITS],
		entry);
}

void receiver_announce(uint64_t from, uint64_t len, uint32_t rkey)
{
	const struct pvb_wire_entry entry = {
		.message = receiver.messages + 1,
		.number = ++receiver.entries,
		.range = {(uintptr_t)receiver.mem + from, len, rkey},
	};

	receiver_put(&entry);
}

ssize_t receiver_post(struct fid_ep *ep, void *buf, size_t len, uintptr_t number)
{
	return fi_recv(ep, buf, len, NULL, 0, NUMBER(number));
}

void receiver_message(uint32_t len)
{
	receiver.messages++;
	fake_receive(receiver.d.w.qp, IBV_WC_RECV, len, NULL);
}

void receiver_written(void)
{
	static const uint32_t data = 5;

	receiver.messages++;
	fake_receive(receiver.d.w.qp, IBV_WC_RECV_RDMA_WITH_IMM, 8, &data);
}

uint16_t receiver_answered(uint32_t number)
{
	struct pvb_wire_message answer;

	CT_EXPECT_NE(receiver.d.control->sq.posted, 0);
	if (!receiver.d.control->sq.posted)
		return UINT16_MAX;
	answer = durable_sent(&receiver.d, receiver.d.control->sq.posted - 1);
	CT_EXPECT_EQ(answer.kind, PVB_WIRE_RING_ANSWER);
	CT_EXPECT_EQ(answer.number, number);
	CT_EXPECT_FALSE(receiver.d.control_qp->lost);
	fake_complete_all(receiver.d.control);
	return answer.status;
}
