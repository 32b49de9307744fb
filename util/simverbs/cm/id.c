/* SPDX-License-Identifier: BSD-2-Clause */
/* Ids: making, finding, moving and destroying them, and their options. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cm.h"

/* A handle is slot + 1 and a tag that changes with each use of the slot. */
#define SVB_CM_SLOT_BITS 20

static struct {
	struct svb_cm_id **slot;
	uint32_t count; /* allocated */
	uint32_t cursor;
	uint32_t tag;
} svb_cm_ids;

uint32_t svb_cm_slot(uint32_t handle)
{
	return (handle & ((1u << SVB_CM_SLOT_BITS) - 1)) - 1;
}

struct svb_cm_id *svb_cm_find(uint32_t handle)
{
	uint32_t slot = svb_cm_slot(handle);
	struct svb_cm_id *id;

	if (slot >= svb_cm_ids.count)
		return NULL;
	id = svb_cm_ids.slot[slot];
	return id && id->handle == handle ? id : NULL;
}

void svb_cm_each(void (*fn)(struct svb_cm_id *id, void *arg), void *arg)
{
	uint32_t i;

	for (i = 0; i < svb_cm_ids.count; i++)
		if (svb_cm_ids.slot[i])
			fn(svb_cm_ids.slot[i], arg);
}

void svb_cm_forget_ids(void)
{
	if (svb_cm_ids.count)
		memset(svb_cm_ids.slot, 0, svb_cm_ids.count * sizeof(*svb_cm_ids.slot));
}

static bool svb_cm_ids_grow(void)
{
	uint32_t count = svb_cm_ids.count ? 2 * svb_cm_ids.count : 64;
	struct svb_cm_id **slot;

	if (count >= 1u << SVB_CM_SLOT_BITS)
		return false;
	slot = realloc(svb_cm_ids.slot, count * sizeof(*slot));
	if (!slot)
		return false;
	memset(slot + svb_cm_ids.count, 0, (count - svb_cm_ids.count) * sizeof(*slot));
	svb_cm_ids.cursor = svb_cm_ids.count;
	svb_cm_ids.slot = slot;
	svb_cm_ids.count = count;
	return true;
}

static bool svb_cm_ids_add(struct svb_cm_id *id)
{
	uint32_t i, at = 0;

	for (i = 0; i < svb_cm_ids.count; i++) {
		at = (svb_cm_ids.cursor + i) % svb_cm_ids.count;
		if (!svb_cm_ids.slot[at])
			break;
	}
	if (i == svb_cm_ids.count) {
		if (!svb_cm_ids_grow())
			return false;
		at = svb_cm_ids.cursor;
	}
	svb_cm_ids.cursor = at + 1;
	svb_cm_ids.slot[at] = id;
	id->handle = ++svb_cm_ids.tag << SVB_CM_SLOT_BITS | (at + 1);
	svb_cm_publish(id, true);
	return true;
}

static enum ibv_qp_type svb_cm_qp_type(enum rdma_port_space ps)
{
	return ps == RDMA_PS_UDP || ps == RDMA_PS_IPOIB ? IBV_QPT_UD : IBV_QPT_RC;
}

/* cma_set_default_qkey of the kernel's cma.c; IPoIB's is that of its broadcast group. */
static uint32_t svb_cm_qkey(enum rdma_port_space ps)
{
	switch (ps) {
	case RDMA_PS_UDP:
	case RDMA_PS_IB:
		return RDMA_UDP_QKEY;
	case RDMA_PS_IPOIB:
		return svb_self.settings.link == SVB_LINK_IB ? SVB_CM_IPOIB_QKEY : 0;
	default:
		return 0;
	}
}

struct svb_cm_id *svb_cm_alloc(struct rdma_event_channel *channel, void *context,
			       enum rdma_port_space ps)
{
	struct svb_cm_id *id = calloc(1, sizeof(*id));

	if (!id)
		return NULL;
	id->id.channel = channel;
	id->id.context = context;
	id->id.ps = id->ps = ps;
	id->id.qp_type = svb_cm_qp_type(ps);
	id->qkey = svb_cm_qkey(ps);
	id->binding = -1;
	crn_list_init(&id->mcasts);
	if (!svb_cm_ids_add(id)) {
		free(id);
		return NULL;
	}
	/* Any number does; one that differs from the next id's shows mistakes. */
	id->psn = id->handle * 2654435761u & 0xffffff;
	return id;
}

int svb_cm_make_sync(struct svb_cm_id *id)
{
	struct rdma_event_channel *channel = svb_cm_new_channel();

	if (!channel)
		return errno;
	if (id->id.channel)
		svb_cm_move_events(id, (struct svb_cm_channel *)channel);
	id->id.channel = channel;
	id->sync = true;
	return 0;
}

SVB_API int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **out,
			   void *context, enum rdma_port_space ps)
{
	struct svb_cm_id *id;
	int ret = svb_join();

	if (ret)
		return svb_cm_result(ret);
	if (ps != RDMA_PS_TCP && ps != RDMA_PS_UDP && ps != RDMA_PS_IB &&
	    ps != RDMA_PS_IPOIB)
		return svb_cm_result(EINVAL);
	svb_cm_lock();
	id = svb_cm_alloc(channel, context, ps);
	ret = id ? 0 : ENOMEM;
	if (id && !channel)
		ret = svb_cm_make_sync(id);
	if (id && ret) {
		svb_cm_ids.slot[svb_cm_slot(id->handle)] = NULL;
		free(id);
	}
	svb_cm_unlock();
	if (!ret)
		*out = &id->id;
	return svb_cm_result(ret);
}

/* What the kernel sends when an id goes away (cm_destroy_id). */
void svb_cm_tell_peer(struct svb_cm_id *id)
{
	struct svb_cm_msg msg = {0};

	if (!id->peer)
		return;
	switch (id->state) {
	case SVB_CM_REQ_SENT:
	case SVB_CM_REP_SENT:
		msg.type = SVB_CM_REJ;
		msg.reason = SVB_CM_REJ_TIMEOUT;
		break;
	case SVB_CM_REQ_RCVD:
	case SVB_CM_REP_RCVD:
		msg.type = SVB_CM_REJ;
		msg.reason = SVB_CM_REJ_CONSUMER;
		break;
	case SVB_CM_STANDS:
		msg.type = SVB_CM_DREQ;
		break;
	case SVB_CM_DREQ_RCVD:
		msg.type = SVB_CM_DREP;
		break;
	default:
		return;
	}
	if (id->id.qp_type == IBV_QPT_RC)
		svb_cm_send(id, &msg);
	else if (id->state == SVB_CM_REQ_RCVD)
		svb_cm_sidr_reject(id, NULL, 0);
}

void svb_cm_drop(struct svb_cm_id *id)
{
	if (svb_cm_find(id->handle) != id)
		return;
	svb_cm_tell_peer(id);
	svb_cm_port_release(id);
	svb_cm_forget_events(id);
	svb_cm_publish(id, false);
	svb_cm_ids.slot[svb_cm_slot(id->handle)] = NULL;
	id->state = SVB_CM_OVER;
}

static void svb_cm_free(struct svb_cm_id *id)
{
	svb_cm_mcast_drop(id);
	if (id->sync)
		rdma_destroy_event_channel(id->id.channel);
	free(id->held);
	free(id->qp_attr);
	free(id->connect);
	rdma_freeaddrinfo(id->found);
	free(id);
}

SVB_API int rdma_destroy_id(struct rdma_cm_id *cm_id)
{
	struct svb_cm_id *id = svb_cm_id(cm_id);

	if (cm_id->event)
		rdma_ack_cm_event(cm_id->event);
	svb_cm_lock();
	svb_cm_let_read(id);
	svb_cm_drop(id);
	while (id->unacked)
		svb_cm_wait();
	svb_cm_unlock();
	svb_cm_free(id);
	return 0;
}

SVB_API int rdma_migrate_id(struct rdma_cm_id *cm_id, struct rdma_event_channel *channel)
{
	struct svb_cm_id *id = svb_cm_id(cm_id);
	struct rdma_event_channel *old = id->sync ? cm_id->channel : NULL;
	int ret = 0;

	if (id->sync && !channel)
		return svb_cm_result(EINVAL);
	/* The event that a call left behind would never be acknowledged otherwise. */
	if (cm_id->event) {
		rdma_ack_cm_event(cm_id->event);
		cm_id->event = NULL;
	}
	svb_cm_lock();
	if (!channel) {
		ret = svb_cm_make_sync(id);
	} else {
		svb_cm_move_events(id, (struct svb_cm_channel *)channel);
		cm_id->channel = channel;
		id->sync = false;
	}
	while (!ret && id->unacked)
		svb_cm_wait();
	svb_cm_unlock();
	if (!ret && old)
		rdma_destroy_event_channel(old);
	return svb_cm_result(ret);
}

/* An option of one int or byte, by the size that the kernel wants. */
static int svb_cm_option(void *to, size_t size, const void *value, size_t len)
{
	if (len != size)
		return EINVAL;
	memcpy(to, value, size);
	return 0;
}

static int svb_cm_option_id(struct svb_cm_id *id, int name, const void *value, size_t len)
{
	int number = 0, ret;

	switch (name) {
	case RDMA_OPTION_ID_TOS:
		return svb_cm_option(&id->tos, sizeof(id->tos), value, len);
	case RDMA_OPTION_ID_ACK_TIMEOUT:
		return svb_cm_option(&id->ack_timeout, sizeof(id->ack_timeout), value,
				     len);
	case RDMA_OPTION_ID_REUSEADDR:
	case RDMA_OPTION_ID_AFONLY:
		ret = svb_cm_option(&number, sizeof(number), value, len);
		if (ret)
			return ret;
		if (id->state != SVB_CM_IDLE)
			return EINVAL;
		if (name == RDMA_OPTION_ID_AFONLY)
			id->afonly = number;
		else
			id->reuseaddr = number;
		return 0;
	default:
		return ENOSYS;
	}
}

/* A path of the program's replaces rdma_resolve_route. Only the fact counts here. */
static int svb_cm_option_path(struct svb_cm_id *id, size_t len)
{
	if (!len || len % sizeof(struct ibv_path_data) || id->state != SVB_CM_ADDR)
		return EINVAL;
	svb_cm_fill_path(id);
	if (!svb_cm_report(id, RDMA_CM_EVENT_ROUTE_RESOLVED, 0))
		return ENOMEM;
	id->state = SVB_CM_ROUTE;
	return 0;
}

SVB_API int rdma_set_option(struct rdma_cm_id *cm_id, int level, int optname,
			    void *optval, size_t optlen)
{
	int ret = ENOSYS;

	svb_cm_lock();
	if (level == RDMA_OPTION_ID)
		ret = svb_cm_option_id(svb_cm_id(cm_id), optname, optval, optlen);
	else if (level == RDMA_OPTION_IB && optname == RDMA_OPTION_IB_PATH)
		ret = svb_cm_option_path(svb_cm_id(cm_id), optlen);
	svb_cm_unlock();
	return svb_cm_result(ret);
}
