/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include "world_cm.h"

bool world_listen(struct world *w, struct fid_pep **pep)
{
	*pep = NULL;
	CT_EXPECT_EQ(fi_passive_ep(w->fabric, w->info, pep, NULL), 0);
	if (!*pep)
		return false;
	CT_EXPECT_EQ(fi_pep_bind(*pep, &w->eq->fid, 0), 0);
	CT_EXPECT_EQ(fi_listen(*pep), 0);
	return !ct_failed();
}

bool world_open_listening(struct world *w, struct fid_pep **pep)
{
	world_reset();
	return world_open_domain(w, NULL) && world_listen(w, pep);
}

void world_close_listening(struct world *w, struct fid_pep *pep)
{
	close_object(pep);
	world_close(w);
}

struct rdma_cm_id *listen_id(struct fid_pep *pep)
{
	return crn_container_of(pep, struct pvb_pep, fid)->id;
}

struct rdma_cm_id *request_arrives(struct fid_pep *pep, const void *data, size_t len)
{
	const struct fake_request request = {
		.device = &fake_devices[0],
		.src = fake_addr(WORLD_ADDR, 7471),
		.peer = fake_addr(WORLD_PEER, 5555),
		.responder_resources = 4,
		.initiator_depth = 20,
		.data = data,
		.len = len,
	};

	return fake_request(listen_id(pep), &request);
}

struct fi_info *read_request(struct world *w, struct fid_pep *pep, const void *data,
			     size_t len)
{
	struct {
		struct fi_eq_cm_entry cm;
		uint8_t data[UINT8_MAX];
	} entry;
	uint32_t event = 0;
	ssize_t ret = fi_eq_read(w->eq, &event, &entry, sizeof(entry), 0);

	CT_EXPECT_EQ(ret, (ssize_t)(sizeof(entry.cm) + len));
	if (ret < 0)
		return NULL;
	CT_EXPECT_EQ(event, FI_CONNREQ);
	CT_EXPECT_EQ(entry.cm.fid, &pep->fid);
	if (len)
		CT_EXPECT_MEMEQ(entry.cm.data, data, len);
	return entry.cm.info;
}

struct fi_info *next_request(struct world *w, struct fid_pep *pep, struct rdma_cm_id **id)
{
	*id = request_arrives(pep, NULL, 0);
	return read_request(w, pep, NULL, 0);
}

bool take_request(struct world *w, struct fi_info *info, struct fid_ep **ep)
{
	struct fi_info *own = w->info;
	bool done;

	w->info = info;
	done = world_add_ep(w, NULL, ep);
	w->info = own;
	fi_freeinfo(info);
	return done;
}

static bool responder(struct world *w, bool accept, struct state *state)
{
	struct fi_info *info;

	if (!world_listen(w, &state->pep))
		return false;
	info = next_request(w, state->pep, &state->id);
	if (!info || !take_request(w, info, &state->ep))
		return false;
	if (accept)
		CT_EXPECT_EQ(fi_accept(state->ep, NULL, 0), 0);
	return !ct_failed();
}

/* The events that lead a requester on, each from the state before. */
static const struct {
	enum pvb_conn_state from;
	enum rdma_cm_event_type event;
} path[] = {
	{PVB_CONN_ADDR, RDMA_CM_EVENT_ADDR_RESOLVED},
	{PVB_CONN_ROUTE, RDMA_CM_EVENT_ROUTE_RESOLVED},
	{PVB_CONN_REQUESTED, RDMA_CM_EVENT_CONNECT_RESPONSE},
	{PVB_CONN_CONNECTED, RDMA_CM_EVENT_DISCONNECTED},
};

static bool requester(struct world *w, enum pvb_conn_state wanted, struct state *state)
{
	uint8_t buf[512];
	uint32_t event;

	if (!world_add_ep(w, NULL, &state->ep))
		return false;
	CT_EXPECT_EQ(fi_connect(state->ep, NULL, NULL, 0), 0);
	state->id = ep_of(state->ep)->conn.id;
	fake_id_device(state->id, &fake_devices[0]);
	if (wanted == PVB_CONN_FAILED) {
		fake_event(state->id, RDMA_CM_EVENT_ADDR_ERROR, -ENODEV, NULL, 0);
		expect_eq_error(w->eq, &state->ep->fid, FI_ENODEV, -ENODEV);
		return !ct_failed();
	}
	for (size_t i = 0; i < CRN_COUNT(path); i++) {
		if (state_of(state->ep) == path[i].from && path[i].from != wanted) {
			fake_event(state->id, path[i].event, 0, NULL, 0);
			fi_eq_read(w->eq, &event, buf, sizeof(buf), 0);
		}
	}
	CT_EXPECT_EQ(state_of(state->ep), wanted);
	return !ct_failed();
}

bool state_open(struct world *w, enum pvb_conn_state wanted, struct state *state)
{
	*state = (struct state){0};
	switch (wanted) {
	case STATE_TAKEN:
		return responder(w, false, state);
	case PVB_CONN_ACCEPTED:
		return responder(w, true, state);
	default:
		return requester(w, wanted, state);
	}
}

void state_close(struct state *state)
{
	close_object(state->ep);
	close_object(state->pep);
}

const char *state_name(enum pvb_conn_state state)
{
	static const char *const names[] = {
		[STATE_TAKEN] = "TAKEN",
		[PVB_CONN_ENABLED] = "ENABLED",
		[PVB_CONN_ADDR] = "ADDR",
		[PVB_CONN_ROUTE] = "ROUTE",
		[PVB_CONN_REQUESTED] = "REQUESTED",
		[PVB_CONN_ACCEPTED] = "ACCEPTED",
		[PVB_CONN_CONNECTED] = "CONNECTED",
		[PVB_CONN_SHUTDOWN] = "SHUTDOWN",
		[PVB_CONN_FAILED] = "FAILED",
	};

	return names[state];
}
