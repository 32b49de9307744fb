/* SPDX-License-Identifier: BSD-2-Clause */
#include "control_conn.h"

bool second_world(struct second_world *s)
{
	*s = (struct second_world){0};
	world_reset();
	ct_time_stop();
	pvb_params.durable = PVB_DURABLE_ON;
	pvb_params.resolve_timeout = PATIENCE;
	fake_devices[0].ibv.transport_type = IBV_TRANSPORT_IWARP;
	return world_open_domain(&s->w, NULL);
}

void second_end(struct second_world *s)
{
	if (s->ep)
		CT_EXPECT_EQ(fi_close(&s->ep->fid), 0);
	if (s->pep)
		CT_EXPECT_EQ(fi_close(&s->pep->fid), 0);
	world_close(&s->w);
}

void second_of_ep(struct second_world *s)
{
	s->conn = &ep_of(s->ep)->conn;
	s->second = &s->conn->lane->second;
	s->id = s->conn->id;
}

void second_answer(uint8_t out[PVB_CM_REQ_SIZE], uint64_t ticket)
{
	const struct pvb_cm_offer offer = {
		.word = {DURABLE_WORD, 0x5000},
		.second = ticket,
		.ticket = ticket,
	};

	pvb_cm_pack(out, "abc", 3, &offer);
}

bool second_requester(struct second_world *s, uint64_t ticket)
{
	uint8_t bytes[PVB_CM_REQ_SIZE];

	if (!second_world(s) || !world_add_ep(&s->w, NULL, &s->ep))
		return false;
	CT_EXPECT_EQ(fi_connect(s->ep, NULL, NULL, 0), 0);
	second_of_ep(s);
	fake_id_device(s->id, &fake_devices[0]);
	s->id->route.addr.src_storage = *(struct sockaddr_storage *)&(union crn_addr){
		.in = fake_addr(WORLD_ADDR, 3333).in};
	fake_event(s->id, RDMA_CM_EVENT_ADDR_RESOLVED, 0, NULL, 0);
	fake_event(s->id, RDMA_CM_EVENT_ROUTE_RESOLVED, 0, NULL, 0);
	expect_no_event(s->w.eq);
	second_answer(bytes, ticket);
	/* The kernel moves it. */
	qp_of(s->ep)->ibv.state = IBV_QPS_RTS;
	fake_event(s->id, RDMA_CM_EVENT_ESTABLISHED, 0, bytes, sizeof(bytes));
	return !ct_failed();
}

void second_offer(uint8_t out[PVB_CM_REQ_SIZE])
{
	const struct pvb_cm_offer offer = {
		.word = {DURABLE_WORD, 0x5000},
		.second = true,
	};

	pvb_cm_pack(out, NULL, 0, &offer);
}

struct fi_info *second_requested(struct second_world *s)
{
	uint8_t bytes[PVB_CM_REQ_SIZE];

	if (!second_world(s) || !world_listen(&s->w, &s->pep))
		return NULL;
	second_offer(bytes);
	s->id = request_arrives(s->pep, bytes, sizeof(bytes));
	return read_request(&s->w, s->pep, NULL, 0);
}

bool second_responder(struct second_world *s)
{
	struct fi_info *info = second_requested(s);

	if (!info || !take_request(&s->w, info, &s->ep))
		return false;
	CT_EXPECT_EQ(fi_accept(s->ep, NULL, 0), 0);
	second_of_ep(s);
	return !ct_failed();
}

uint64_t second_given(void)
{
	struct pvb_cm_data data;

	CT_EXPECT_EQ(fake_message.call, FAKE_ACCEPT);
	pvb_cm_parse(&data, fake_message.data, fake_message.len);
	return data.second ? data.ticket : 0;
}

struct rdma_cm_id *second_shown(struct fid_pep *pep, uint64_t ticket)
{
	uint8_t bytes[PVB_CM_REQ_SIZE];

	pvb_cm_pack_ticket(bytes, ticket);
	return request_arrives(pep, bytes, sizeof(bytes));
}

void second_progress(struct second_world *s)
{
	expect_no_event(s->w.eq);
}

bool second_open(struct second_world *s, enum pvb_second_state wanted)
{
	const bool responds =
		wanted == PVB_SECOND_EXPECTED || wanted == PVB_SECOND_ACCEPTED;
	uint64_t ticket;

	if (responds) {
		if (!second_responder(s))
			return false;
		ticket = second_given();
		fake_event(s->id, RDMA_CM_EVENT_ESTABLISHED, 0, NULL, 0);
		if (wanted == PVB_SECOND_ACCEPTED)
			second_shown(s->pep, ticket);
		second_progress(s);
	} else {
		if (!second_requester(s, TICKET))
			return false;
		second_progress(s);
		if (s->second->id)
			fake_id_device(s->second->id, &fake_devices[0]);
		if (wanted > PVB_SECOND_ADDR)
			fake_event(s->second->id, RDMA_CM_EVENT_ADDR_RESOLVED, 0, NULL,
				   0);
		if (wanted > PVB_SECOND_ROUTE)
			fake_event(s->second->id, RDMA_CM_EVENT_ROUTE_RESOLVED, 0, NULL,
				   0);
		second_progress(s);
		if (wanted > PVB_SECOND_ACCEPTED) {
			fake_event(s->second->id, RDMA_CM_EVENT_ESTABLISHED, 0, NULL, 0);
			expect_event(s->w.eq, FI_CONNECTED, &s->ep->fid, "abc", 3);
		}
	}
	CT_EXPECT_EQ(s->second->state, wanted);
	CT_EXPECT_EQ(s->conn->state,
		     wanted == PVB_SECOND_UP ? PVB_CONN_CONNECTED : PVB_CONN_SECOND);
	return !ct_failed();
}

void expect_connected(struct second_world *s)
{
	if (s->pep)
		expect_event(s->w.eq, FI_CONNECTED, &s->ep->fid, NULL, 0);
	else
		expect_event(s->w.eq, FI_CONNECTED, &s->ep->fid, "abc", 3);
}

void expect_without(struct second_world *s)
{
	expect_connected(s);
	expect_no_event(s->w.eq);
	CT_EXPECT_EQ(s->conn->state, PVB_CONN_CONNECTED);
	CT_EXPECT_EQ(s->second->state, PVB_SECOND_NONE);
	CT_EXPECT_EQ(s->second->id, NULL);
	CT_EXPECT_FALSE(s->conn->lane->up);
	CT_EXPECT_EQ(send_number(s->ep, 1), 0);
}
