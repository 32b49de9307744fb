/* SPDX-License-Identifier: BSD-2-Clause */
#include "durable.h"

static char payload[8192];

uint64_t durable_key(enum crn_persistence domain, bool ddio)
{
	const struct pvb_key_attr attr = {
		.domain = domain,
		.ddio = ddio,
		.persistent = true,
		.readable = true,
	};

	return pvb_key_pack(0x4000, &attr);
}

bool durable_enable(struct durable *d, const struct world_opts *opts)
{
	static const struct world_opts defaults = {.tx_size = 64};

	durable_close(d);
	world_reset();
	pvb_params.durable = PVB_DURABLE_ON;
	pvb_params.commit_timeout = DURABLE_TIMEOUT;
	fake_devices[0].attr.atomic_cap = IBV_ATOMIC_HCA;
	return world_open(&d->w, opts ? opts : &defaults);
}

bool durable_connect_to(struct world *w, const struct pvb_cm_offer *offer)
{
	uint8_t answer[PVB_CM_REQ_SIZE];

	pvb_cm_pack(answer, NULL, 0, offer);
	CT_EXPECT_EQ(fi_connect(w->ep, NULL, NULL, 0), 0);
	w->id = ep_of(w->ep)->conn.id;
	fake_id_device(w->id, &fake_devices[0]);
	fake_event(w->id, RDMA_CM_EVENT_ADDR_RESOLVED, 0, NULL, 0);
	fake_event(w->id, RDMA_CM_EVENT_ROUTE_RESOLVED, 0, NULL, 0);
	fake_event(w->id, RDMA_CM_EVENT_CONNECT_RESPONSE, 0, answer, sizeof(answer));
	expect_event(w->eq, FI_CONNECTED, &w->ep->fid, NULL, 0);
	return !ct_failed();
}

static bool connect_with(struct durable *d, const struct pvb_cm_offer *offer)
{
	struct world *w = &d->w;

	if (!durable_connect_to(w, offer))
		return false;
	d->qp = &ep_of(w->ep)->qp;
	d->control_qp = d->qp->control_qp;
	if (d->control_qp)
		d->control = crn_container_of(d->control_qp->ibv, struct fake_qp, ibv);
	return d->control_qp;
}

bool durable_connect(struct durable *d)
{
	const struct pvb_cm_offer offer = {
		.word = {DURABLE_WORD, 0x5000},
		.control = {0x123, 0x456, true},
	};

	return connect_with(d, &offer);
}

bool durable_open(struct durable *d, const struct world_opts *opts)
{
	return durable_enable(d, opts) && durable_connect(d);
}

bool durable_open_without(struct durable *d, const struct world_opts *opts)
{
	const struct pvb_cm_offer offer = {.word = {DURABLE_WORD, 0x5000}};

	return durable_enable(d, opts) && connect_with(d, &offer);
}

void durable_start(struct durable *d)
{
	CT_ASSERT_TRUE(durable_open(d, NULL));
}

void durable_close(struct durable *d)
{
	world_close(&d->w);
	*d = (struct durable){0};
}

ssize_t plain_write(struct durable *d, uintptr_t number, uint64_t at, size_t len,
		    uint64_t key, uint64_t flags)
{
	struct iovec iov = {payload, len};
	struct fi_rma_iov range = {DURABLE_ADDR + at, len, key};
	const struct fi_msg_rma msg = {
		.msg_iov = &iov,
		.iov_count = 1,
		.rma_iov = &range,
		.rma_iov_count = 1,
		.context = NUMBER(number),
	};

	return fi_writemsg(d->w.ep, &msg, flags);
}

ssize_t durable_write(struct durable *d, uintptr_t number, uint64_t at, size_t len,
		      uint64_t key, uint64_t flags)
{
	return plain_write(d, number, at, len, key,
			   flags | FI_COMMIT_COMPLETE | FI_COMPLETION);
}

void durable_arrives(struct durable *d, const void *bytes, size_t len)
{
	const struct fake_wr *wr = fake_wr(&d->control->rq, d->control->rq.done);

	CT_EXPECT_LE(len, wr->sge[0].length);
	memcpy((void *)(uintptr_t)wr->sge[0].addr, bytes, len);
	fake_receive(d->control, IBV_WC_RECV, (uint32_t)len, NULL);
}

void durable_message(struct durable *d, const struct pvb_wire_message *message)
{
	uint8_t bytes[PVB_WIRE_SIZE];

	durable_arrives(d, bytes, pvb_wire_pack(bytes, message));
}

void durable_answer(struct durable *d, uint16_t status)
{
	const struct pvb_wire_message answer = {
		.kind = PVB_WIRE_ANSWER,
		.number = ++d->answered,
		.status = status,
	};

	durable_message(d, &answer);
}

struct pvb_wire_message durable_sent(struct durable *d, unsigned int nth)
{
	const struct fake_wr *wr = fake_wr(&d->control->sq, nth);
	struct pvb_wire_message message = {0};

	CT_EXPECT_LT(nth, d->control->sq.posted);
	if (nth < d->control->sq.posted)
		CT_EXPECT_TRUE(pvb_wire_parse(&message,
					      (const void *)(uintptr_t)wr->sge[0].addr,
					      wr->sge[0].length));
	return message;
}

unsigned int durable_answers(const struct durable *d)
{
	return d->control->sq.posted;
}

enum ibv_wr_opcode durable_opcode(const struct durable *d, unsigned int nth)
{
	return fake_wr(&d->w.qp->sq, nth)->opcode;
}

void durable_go_on(struct durable *d, uint32_t positions)
{
	CT_EXPECT_EQ(crn_ring_used(&d->qp->sq.ring), 0);
	d->qp->sq.ring.head += positions;
	atomic_fetch_add(&d->qp->sq.ring.tail, positions);
}

void durable_complete(struct durable *d)
{
	fake_complete_all(d->w.qp);
	fake_complete_all(d->control);
}
