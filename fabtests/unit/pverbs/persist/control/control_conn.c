/* SPDX-License-Identifier: BSD-2-Clause */
#include "control_conn.h"

bool control_conn_world(struct control_conn_world *s)
{
	*s = (struct control_conn_world){0};
	world_reset();
	ct_time_stop();
	pvb_params.durable = PVB_DURABLE_ON;
	pvb_params.resolve_timeout = PATIENCE;
	fake_devices[0].ibv.transport_type = IBV_TRANSPORT_IWARP;
	return world_open_domain(&s->w, NULL);
}

void control_conn_end(struct control_conn_world *s)
{
	if (s->ep)
		CT_EXPECT_EQ(fi_close(&s->ep->fid), 0);
	if (s->pep)
		CT_EXPECT_EQ(fi_close(&s->pep->fid), 0);
	world_close(&s->w);
}

void control_conn_of_ep(struct control_conn_world *s)
{
	s->qp = &ep_of(s->ep)->qp;
	s->control_conn = &s->qp->control_qp->control_conn;
	s->id = ep_of(s->ep)->conn.id;
}

void control_conn_answer(uint8_t out[PVB_CM_REQ_SIZE], uint64_t cookie)
{
	const struct pvb_cm_offer offer = {
		.word = {DURABLE_WORD, 0x5000},
		.control_conn = cookie,
		.cookie = cookie,
	};

	pvb_cm_pack(out, "abc", 3, &offer);
}

bool control_conn_requester(struct control_conn_world *s, uint64_t cookie)
{
	uint8_t bytes[PVB_CM_REQ_SIZE];

	if (!control_conn_world(s) || !world_add_ep(&s->w, NULL, &s->ep))
		return false;
	CT_EXPECT_EQ(fi_connect(s->ep, NULL, NULL, 0), 0);
	control_conn_of_ep(s);
	fake_id_device(s->id, &fake_devices[0]);
	s->id->route.addr.src_storage = *(struct sockaddr_storage *)&(union crn_addr){
		.in = fake_addr(WORLD_ADDR, 3333).in};
	fake_event(s->id, RDMA_CM_EVENT_ADDR_RESOLVED, 0, NULL, 0);
	fake_event(s->id, RDMA_CM_EVENT_ROUTE_RESOLVED, 0, NULL, 0);
	expect_no_event(s->w.eq);
	control_conn_answer(bytes, cookie);
	/* The kernel moves it. */
	qp_of(s->ep)->ibv.state = IBV_QPS_RTS;
	fake_event(s->id, RDMA_CM_EVENT_ESTABLISHED, 0, bytes, sizeof(bytes));
	return !ct_failed();
}

void control_conn_offer(uint8_t out[PVB_CM_REQ_SIZE])
{
	const struct pvb_cm_offer offer = {
		.word = {DURABLE_WORD, 0x5000},
		.control_conn = true,
	};

	pvb_cm_pack(out, NULL, 0, &offer);
}

struct fi_info *control_conn_requested(struct control_conn_world *s)
{
	uint8_t bytes[PVB_CM_REQ_SIZE];

	if (!control_conn_world(s) || !world_listen(&s->w, &s->pep))
		return NULL;
	control_conn_offer(bytes);
	s->id = request_arrives(s->pep, bytes, sizeof(bytes));
	return read_request(&s->w, s->pep, NULL, 0);
}

bool control_conn_responder(struct control_conn_world *s)
{
	struct fi_info *info = control_conn_requested(s);

	if (!info || !take_request(&s->w, info, &s->ep))
		return false;
	CT_EXPECT_EQ(fi_accept(s->ep, NULL, 0), 0);
	control_conn_of_ep(s);
	return !ct_failed();
}

uint64_t cookie_given(void)
{
	struct pvb_cm_data data;

	CT_EXPECT_EQ(fake_message.call, FAKE_ACCEPT);
	pvb_cm_parse(&data, fake_message.data, fake_message.len);
	return data.control_conn ? data.cookie : 0;
}

struct rdma_cm_id *cookie_shown(struct fid_pep *pep, uint64_t cookie)
{
	uint8_t bytes[PVB_CM_REQ_SIZE];

	pvb_cm_pack_cookie(bytes, cookie);
	return request_arrives(pep, bytes, sizeof(bytes));
}

void control_conn_progress(struct control_conn_world *s)
{
	expect_no_event(s->w.eq);
}

bool control_conn_open(struct control_conn_world *s, enum pvb_control_conn_state wanted)
{
	const bool responds = wanted == PVB_CONTROL_CONN_EXPECTED ||
			      wanted == PVB_CONTROL_CONN_ACCEPTED;
	uint64_t cookie;

	if (responds) {
		if (!control_conn_responder(s))
			return false;
		cookie = cookie_given();
		fake_event(s->id, RDMA_CM_EVENT_ESTABLISHED, 0, NULL, 0);
		if (wanted == PVB_CONTROL_CONN_ACCEPTED)
			cookie_shown(s->pep, cookie);
		control_conn_progress(s);
	} else {
		if (!control_conn_requester(s, COOKIE))
			return false;
		control_conn_progress(s);
		if (s->control_conn->id)
			fake_id_device(s->control_conn->id, &fake_devices[0]);
		if (wanted > PVB_CONTROL_CONN_ADDR)
			fake_event(s->control_conn->id, RDMA_CM_EVENT_ADDR_RESOLVED, 0,
				   NULL, 0);
		if (wanted > PVB_CONTROL_CONN_ROUTE)
			fake_event(s->control_conn->id, RDMA_CM_EVENT_ROUTE_RESOLVED, 0,
				   NULL, 0);
		control_conn_progress(s);
		if (wanted > PVB_CONTROL_CONN_ACCEPTED) {
			fake_event(s->control_conn->id, RDMA_CM_EVENT_ESTABLISHED, 0,
				   NULL, 0);
			expect_event(s->w.eq, FI_CONNECTED, &s->ep->fid, "abc", 3);
		}
	}
	CT_EXPECT_EQ(s->control_conn->state, wanted);
	CT_EXPECT_EQ(ep_of(s->ep)->conn.state, wanted == PVB_CONTROL_CONN_UP
						       ? PVB_CONN_CONNECTED
						       : PVB_CONN_CONTROL);
	return !ct_failed();
}

void expect_connected(struct control_conn_world *s)
{
	if (s->pep)
		expect_event(s->w.eq, FI_CONNECTED, &s->ep->fid, NULL, 0);
	else
		expect_event(s->w.eq, FI_CONNECTED, &s->ep->fid, "abc", 3);
}

void expect_without(struct control_conn_world *s)
{
	expect_connected(s);
	expect_no_event(s->w.eq);
	CT_EXPECT_EQ(ep_of(s->ep)->conn.state, PVB_CONN_CONNECTED);
	CT_EXPECT_EQ(s->control_conn->state, PVB_CONTROL_CONN_NONE);
	CT_EXPECT_EQ(s->control_conn->id, NULL);
	CT_EXPECT_FALSE(s->qp->control_qp->up);
	CT_EXPECT_EQ(send_number(s->ep, 1), 0);
}
