/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <rdma/fi_ext_cairn.h>
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

bool world_new_pep(struct world *w)
{
	w->pep = NULL;
	CT_EXPECT_EQ(fi_passive_ep(w->fabric, w->info, &w->pep, NULL), 0);
	if (!w->pep)
		return false;
	CT_EXPECT_EQ(fi_pep_bind(w->pep, &w->eq->fid, 0), 0);
	return !ct_failed();
}

void world_start_listening(struct world *w)
{
	world_start_domain(w);
	CT_ASSERT_FALSE(ct_failed());
	CT_ASSERT_TRUE(world_listen(w, &w->pep));
}

void world_start_requested(struct world *w)
{
	world_start_listening(w);
	CT_ASSERT_FALSE(ct_failed());
	w->request = next_request(w, w->pep, &w->id);
	CT_ASSERT_NE(w->request, NULL);
}

void set_raw(struct fid *fid)
{
	int on = 1;

	CT_EXPECT_EQ(fi_setopt(fid, FI_OPT_ENDPOINT, FI_OPT_CAIRN_RAW_CM_DATA, &on,
			       sizeof(on)),
		     0);
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

bool world_take_request(struct world *w)
{
	struct fi_info *info = w->request;

	w->request = NULL;
	return take_request(w, info, &w->ep);
}

static bool responder(struct world *w, bool accept)
{
	if (!world_listen(w, &w->pep))
		return false;
	w->request = next_request(w, w->pep, &w->id);
	if (!w->request || !world_take_request(w))
		return false;
	if (accept)
		CT_EXPECT_EQ(fi_accept(w->ep, NULL, 0), 0);
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

static bool requester(struct world *w, enum pvb_conn_state wanted)
{
	uint8_t buf[512];
	uint32_t event;

	if (!world_add_ep(w, NULL, &w->ep))
		return false;
	CT_EXPECT_EQ(fi_connect(w->ep, NULL, NULL, 0), 0);
	w->id = ep_of(w->ep)->conn.id;
	fake_id_device(w->id, &fake_devices[0]);
	if (wanted == PVB_CONN_FAILED) {
		fake_event(w->id, RDMA_CM_EVENT_ADDR_ERROR, -ENODEV, NULL, 0);
		expect_eq_error(w->eq, &w->ep->fid, FI_ENODEV, -ENODEV);
		return !ct_failed();
	}
	for (size_t i = 0; i < CRN_COUNT(path); i++) {
		if (state_of(w->ep) == path[i].from && path[i].from != wanted) {
			fake_event(w->id, path[i].event, 0, NULL, 0);
			fi_eq_read(w->eq, &event, buf, sizeof(buf), 0);
		}
	}
	CT_EXPECT_EQ(state_of(w->ep), wanted);
	return !ct_failed();
}

bool state_reach(struct world *w, enum pvb_conn_state wanted)
{
	switch (wanted) {
	case STATE_TAKEN:
		return responder(w, false);
	case PVB_CONN_ACCEPTED:
		return responder(w, true);
	default:
		return requester(w, wanted);
	}
}

bool state_open(struct world *w, enum pvb_conn_state wanted)
{
	world_renew(w);
	return world_open_domain(w, NULL) && state_reach(w, wanted);
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
