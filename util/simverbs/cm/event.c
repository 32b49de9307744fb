/* SPDX-License-Identifier: BSD-2-Clause */
/* Events: reporting them, and dropping those that were not read. */
#include <stdlib.h>
#include <string.h>
#include "cm.h"

/*
 * Spare events for when malloc fails: an event belongs to no call that could return an
 * error, and the thread that waits for it has no deadline.
 */
#define SVB_CM_SPARE 64
static struct {
	struct svb_cm_event event;
	bool used;
} svb_cm_spare[SVB_CM_SPARE];

static struct svb_cm_event *svb_cm_event_new(void)
{
	struct svb_cm_event *event = calloc(1, sizeof(*event));
	int i;

	for (i = 0; i < SVB_CM_SPARE && !event; i++)
		if (!__atomic_exchange_n(&svb_cm_spare[i].used, true, __ATOMIC_ACQUIRE))
			event = &svb_cm_spare[i].event;
	return event;
}

void svb_cm_event_free(struct svb_cm_event *event)
{
	int i;

	for (i = 0; i < SVB_CM_SPARE && event != &svb_cm_spare[i].event; i++)
		;
	if (i == SVB_CM_SPARE) {
		free(event);
		return;
	}
	memset(event, 0, sizeof(*event));
	__atomic_store_n(&svb_cm_spare[i].used, false, __ATOMIC_RELEASE);
}

struct svb_cm_event *svb_cm_report(struct svb_cm_id *id, enum rdma_cm_event_type type,
				   int status)
{
	struct svb_cm_channel *channel = svb_cm_channel(id->id.channel);
	struct svb_cm_event *event = svb_cm_event_new();

	if (!event)
		return NULL;
	event->event.id = &id->id;
	event->event.event = type;
	event->event.status = status;
	event->owner = id;
	crn_list_add_tail(&channel->events, &event->entry);
	svb_cm_channel_count(channel);
	return event;
}

const void *svb_cm_event_data(struct svb_cm_event *event, const struct svb_cm_msg *msg)
{
	memcpy(event->data, msg->data, msg->data_len);
	return svb_cm_iwarp() && !msg->data_len ? NULL : event->data;
}

static uint8_t svb_cm_padded(const struct svb_cm_msg *msg)
{
	return svb_cm_iwarp() ? msg->data_len : svb_cm_data_max(msg->type, false);
}

void svb_cm_event_conn(struct svb_cm_event *event, const struct svb_cm_msg *msg)
{
	bool ud = msg->type == SVB_CM_SIDR_REQ || msg->type == SVB_CM_SIDR_REP;
	struct rdma_conn_param *conn = &event->event.param.conn;

	if (ud) {
		event->event.param.ud.private_data = svb_cm_event_data(event, msg);
		event->event.param.ud.private_data_len = svb_cm_padded(msg);
		return;
	}
	conn->private_data = svb_cm_event_data(event, msg);
	conn->private_data_len = svb_cm_padded(msg);
	/* The peer's initiator depth is this side's responder resources. */
	conn->responder_resources = msg->initiator_depth;
	conn->initiator_depth = msg->responder_resources;
	conn->flow_control = msg->flow_control;
	conn->retry_count = msg->retry_count;
	conn->rnr_retry_count = msg->rnr_retry_count;
	conn->srq = msg->srq;
	conn->qp_num = msg->qpn;
}

/*
 * Events leave a channel unread: each also leaves the count, unless a reader has counted
 * it already and will find nothing. Never waits for that reader, who comes for the lock.
 */
static void svb_cm_unlist(struct svb_cm_channel *channel, struct crn_list *entry)
{
	crn_list_del(entry);
	svb_cm_channel_try(channel->count_fd);
}

static bool svb_cm_event_of(const struct svb_cm_event *event, const struct svb_cm_id *id)
{
	return event->owner == id || event->event.id == &id->id;
}

static bool svb_cm_unread(const struct svb_cm_id *id)
{
	struct crn_list *pos;

	crn_list_for_each (pos, &svb_cm_channel(id->id.channel)->events)
		if (svb_cm_event_of(crn_container_of(pos, struct svb_cm_event, entry),
				    id))
			return true;
	return false;
}

/*
 * One thread of a program learns from poll(2) of an event and comes to read it; another
 * destroys the id (rping of rdma-core 65). If the event went with the id, the first one
 * would wait for ever. With the kernel it is so only for who has not called yet.
 */
void svb_cm_let_read(struct svb_cm_id *id)
{
	while (svb_cm_reader_comes() && svb_cm_unread(id))
		svb_cm_wait();
}

void svb_cm_forget_events(struct svb_cm_id *id)
{
	struct svb_cm_channel *channel = svb_cm_channel(id->id.channel);
	struct crn_list *pos, *next, mine;
	struct svb_cm_event *event;

	crn_list_init(&mine);
	crn_list_for_each_safe (pos, next, &channel->events) {
		event = crn_container_of(pos, struct svb_cm_event, entry);
		if (!svb_cm_event_of(event, id))
			continue;
		svb_cm_unlist(channel, pos);
		crn_list_add_tail(&mine, pos);
	}
	while ((pos = crn_list_pop(&mine))) {
		event = crn_container_of(pos, struct svb_cm_event, entry);
		/* A request that nobody will read: its id is known to nobody. */
		if (event->event.event == RDMA_CM_EVENT_CONNECT_REQUEST &&
		    event->event.id != &id->id) {
			svb_cm_drop(svb_cm_id(event->event.id));
			free(event->event.id);
		}
		svb_cm_event_free(event);
	}
}

void svb_cm_forget_join(struct svb_cm_id *id, struct svb_cm_mcast *mcast)
{
	struct svb_cm_channel *channel = svb_cm_channel(id->id.channel);
	struct crn_list *pos, *next;
	struct svb_cm_event *event;

	crn_list_for_each_safe (pos, next, &channel->events) {
		event = crn_container_of(pos, struct svb_cm_event, entry);
		if (event->mcast != mcast)
			continue;
		svb_cm_unlist(channel, pos);
		svb_cm_event_free(event);
	}
}

void svb_cm_move_events(struct svb_cm_id *id, struct svb_cm_channel *to)
{
	struct svb_cm_channel *from = svb_cm_channel(id->id.channel);
	struct crn_list *pos, *next;

	crn_list_for_each_safe (pos, next, &from->events) {
		if (!svb_cm_event_of(crn_container_of(pos, struct svb_cm_event, entry),
				     id))
			continue;
		svb_cm_unlist(from, pos);
		crn_list_add_tail(&to->events, pos);
		svb_cm_channel_count(to);
	}
}
