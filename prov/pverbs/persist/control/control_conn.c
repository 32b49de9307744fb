/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <sys/timerfd.h>
#include "device/device.h"
#include "persist/persist.h"
#include "qp/qp.h"
#include "wire/wire.h"
#include "control.h"
#include "cookie.h"
#include "internal.h"

#define PVB_SECOND_NEVER UINT64_MAX

static struct pvb_lane *pvb_second_lane(struct pvb_second *second)
{
	return crn_container_of(second, struct pvb_lane, second);
}

struct pvb_ep *pvb_second_ep(struct pvb_second *second)
{
	return pvb_conn_ep(pvb_second_lane(second)->conn);
}

void pvb_second_init(struct pvb_second *second)
{
	second->fid.fclass = PVB_CLASS_LANE;
	second->due = PVB_SECOND_NEVER;
	crn_list_init(&second->expected);
}

/* The timer of an event queue. */

void pvb_second_open(struct pvb_eq *eq)
{
	crn_list_init(&eq->lanes);
	eq->lanes_timer = -1;
	eq->lanes_due = PVB_SECOND_NEVER;
}

void pvb_second_close(struct pvb_eq *eq)
{
	if (eq->lanes_timer >= 0)
		close(eq->lanes_timer);
}

/* Only who needs it has one. */
int pvb_second_timer(struct pvb_eq *eq)
{
	int ret;

	if (eq->lanes_timer >= 0)
		return 0;
	eq->lanes_timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (eq->lanes_timer < 0)
		return pvb_errno();
	ret = crn_wait_add_fd(&eq->eq.wait, eq->lanes_timer);
	if (ret) {
		close(eq->lanes_timer);
		eq->lanes_timer = -1;
	}
	return ret;
}

static void pvb_second_alarm(const struct pvb_eq *eq, uint64_t ms)
{
	const struct itimerspec timer = {
		.it_value = {.tv_sec = (time_t)(ms / 1000),
			     .tv_nsec = ms ? (long)(ms % 1000) * 1000000L : 1},
	};

	timerfd_settime(eq->lanes_timer, 0, &timer, NULL);
}

void pvb_second_wake(struct pvb_eq *eq)
{
	atomic_store(&eq->lanes_moved, true);
	pvb_second_alarm(eq, 0);
}

/* Whoever waits for the queue looks again at lanes_due. */
static void pvb_second_arm(struct pvb_eq *eq)
{
	const uint64_t now = crn_now_ms();

	if (eq->lanes_due == PVB_SECOND_NEVER)
		return;
	pvb_second_alarm(eq, eq->lanes_due > now ? eq->lanes_due - now : 0);
	/* Another thread may have woken it meanwhile: that would be forgotten. */
	if (atomic_load(&eq->lanes_moved))
		pvb_second_alarm(eq, 0);
}

static void pvb_second_set_due(struct pvb_second *second, uint64_t due)
{
	struct pvb_eq *eq = pvb_second_ep(second)->eq;

	second->due = due;
	if (due >= eq->lanes_due)
		return;
	eq->lanes_due = due;
	pvb_second_arm(eq);
}

/* States. */

static bool pvb_second_waits(const struct pvb_second *second)
{
	return second->state != PVB_SECOND_NONE && second->state != PVB_SECOND_UP;
}

void pvb_second_enter(struct pvb_second *second, enum pvb_second_state state)
{
	const bool waited = pvb_second_waits(second);

	second->state = state;
	if (!waited && pvb_second_waits(second))
		crn_list_add_tail(&pvb_second_ep(second)->eq->lanes, &second->entry);
	else if (waited && !pvb_second_waits(second))
		crn_list_del(&second->entry);
}

static void pvb_second_drop(struct pvb_second *second)
{
	struct rdma_cm_id *came = pvb_ticket_withdraw(second);

	if (came) {
		rdma_reject(came, NULL, 0);
		rdma_destroy_id(came);
	}
	if (second->id)
		rdma_destroy_id(second->id);
	second->id = NULL;
	second->due = PVB_SECOND_NEVER;
}

void pvb_second_end(struct pvb_ep *ep)
{
	struct pvb_lane *lane = ep->conn.lane;

	if (!lane || lane->second.state == PVB_SECOND_NONE)
		return;
	pvb_second_drop(&lane->second);
	pvb_second_enter(&lane->second, PVB_SECOND_NONE);
}

static void pvb_second_fail(struct pvb_second *second, const char *why)
{
	struct pvb_ep *ep = pvb_second_ep(second);
	char text[CRN_ADDR_STRLEN];

	PVB_WARN(FI_LOG_EP_CTRL,
		 "no second connection with %s: %s; what its processor has to make "
		 "durable gives FI_EOPNOTSUPP\n",
		 crn_addr_str(rdma_get_peer_addr(ep->conn.id), text), why);
	pvb_second_end(ep);
	ep->eq->cm->second_over(ep);
}

static void pvb_second_up(struct pvb_second *second)
{
	pvb_second_enter(second, PVB_SECOND_UP);
	pvb_lane_up(pvb_second_lane(second));
	pvb_second_ep(second)->eq->cm->second_over(pvb_second_ep(second));
}

/* iWARP's messages need no reads, but a requester may have to begin with one (RFC 6581
 * section 9.2). */
static struct rdma_conn_param pvb_second_param(struct pvb_second *second)
{
	return (struct rdma_conn_param){
		.responder_resources = 1,
		.initiator_depth = 1,
		.qp_num = pvb_second_lane(second)->qp->qp_num,
	};
}

bool pvb_second_on_device(struct pvb_second *second, const struct rdma_cm_id *id)
{
	return id->verbs && !strcmp(ibv_get_device_name(id->verbs->device),
				    pvb_domain_device(pvb_second_ep(second)->domain));
}

/* The requester. */

static int pvb_second_resolve(struct pvb_second *second)
{
	struct pvb_ep *ep = pvb_second_ep(second);
	const struct sockaddr *local = rdma_get_local_addr(ep->conn.id);
	struct sockaddr *peer = rdma_get_peer_addr(ep->conn.id);
	union crn_addr src = {0};
	int ret;

	ret = pvb_second_timer(ep->eq);
	if (ret)
		return ret;
	if (rdma_create_id(ep->eq->channel, &second->id, &second->fid, RDMA_PS_TCP)) {
		second->id = NULL;
		return pvb_errno();
	}
	pvb_path_option(ep, second->id);
	memcpy(&src, local, crn_addr_len(local));
	if (crn_addr_len(local))
		crn_addr_set_port(&src.sa, 0);
	return rdma_resolve_addr(second->id, crn_addr_len(local) ? &src.sa : NULL, peer,
				 pvb_params.resolve_timeout)
		       ? pvb_errno()
		       : 0;
}

static void pvb_second_on_addr_resolved(struct pvb_second *second)
{
	if (second->state != PVB_SECOND_ADDR)
		return;
	pvb_second_enter(second, PVB_SECOND_ROUTE);
	if (!pvb_second_on_device(second, second->id))
		pvb_second_fail(second, "its way leads over another device");
	else if (rdma_resolve_route(second->id, pvb_params.resolve_timeout))
		pvb_second_fail(second, strerror(errno));
}

static void pvb_second_on_route_resolved(struct pvb_second *second)
{
	struct rdma_conn_param param = pvb_second_param(second);
	uint8_t message[PVB_CM_REQ_SIZE];

	if (second->state != PVB_SECOND_ROUTE)
		return;
	pvb_cm_pack_ticket(message, pvb_second_ep(second)->conn.peer.ticket);
	param.private_data = message;
	param.private_data_len = sizeof(message);
	pvb_second_enter(second, PVB_SECOND_REQUESTED);
	if (rdma_connect(second->id, &param))
		pvb_second_fail(second, strerror(errno));
}

/* Takes what another thread may have for it. */
static void pvb_second_take(struct pvb_second *second)
{
	struct rdma_conn_param param = pvb_second_param(second);
	bool lost = false;

	if (second->state != PVB_SECOND_EXPECTED)
		return;
	second->id = pvb_ticket_came(second, &lost);
	if (second->id) {
		pvb_second_enter(second, PVB_SECOND_ACCEPTED);
		if (rdma_accept(second->id, &param))
			pvb_second_fail(second, strerror(errno));
	} else if (lost) {
		pvb_second_fail(second, "the listener was closed");
	}
}

bool pvb_second_wanted(const struct pvb_ep *ep)
{
	const struct pvb_lane *lane = ep->conn.lane;

	if (!lane || !ep->domain->iwarp)
		return false;
	return ep->req ? pvb_second_waits(&lane->second) : ep->conn.peer.ticket;
}

void pvb_second_begin(struct pvb_ep *ep)
{
	struct pvb_second *second = &ep->conn.lane->second;
	int ret = 0;

	if (!ep->req) {
		pvb_second_enter(second, PVB_SECOND_ADDR);
		ret = pvb_second_resolve(second);
	}
	if (ret)
		pvb_second_fail(second, fi_strerror(-ret));
	else
		pvb_second_set_due(second,
				   crn_now_ms() + (uint64_t)pvb_params.resolve_timeout);
}

/* The second one has ended, in whatever state. */
static void pvb_second_on_end(struct pvb_second *second, const struct pvb_cm_event *event)
{
	if (second->state == PVB_SECOND_UP)
		pvb_lane_lose(pvb_second_lane(second), rdma_event_str(event->type));
	else if (second->state >= PVB_SECOND_ADDR && second->state < PVB_SECOND_UP)
		pvb_second_fail(second, rdma_event_str(event->type));
}

void pvb_second_event(struct pvb_lane *lane, const struct pvb_cm_event *event)
{
	struct pvb_second *second = &lane->second;

	pvb_second_take(second);
	switch (event->type) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		pvb_second_on_addr_resolved(second);
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		pvb_second_on_route_resolved(second);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		if (second->state == PVB_SECOND_REQUESTED ||
		    second->state == PVB_SECOND_ACCEPTED)
			pvb_second_up(second);
		break;
	case RDMA_CM_EVENT_ADDR_ERROR:
	case RDMA_CM_EVENT_ROUTE_ERROR:
	case RDMA_CM_EVENT_CONNECT_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
	case RDMA_CM_EVENT_REJECTED:
	case RDMA_CM_EVENT_DISCONNECTED:
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		pvb_second_on_end(second, event);
		break;
	default:
		break;
	}
}

void pvb_second_gone(struct pvb_ep *ep)
{
	struct pvb_second *second = &ep->conn.lane->second;

	pvb_second_drop(second);
	pvb_second_enter(second, PVB_SECOND_GONE);
	pvb_second_set_due(second, 0);
}

/* A lane that waits: has anything happened to it? At most one event is reported. */
static void pvb_second_look(struct pvb_second *second)
{
	struct pvb_ep *ep = pvb_second_ep(second);

	pvb_second_take(second);
	if (!pvb_second_waits(second) || second->due > crn_now_ms())
		return;
	if (second->state != PVB_SECOND_GONE) {
		pvb_second_fail(second, "it took too long");
		return;
	}
	pvb_second_enter(second, PVB_SECOND_NONE);
	ep->eq->cm->disconnected(ep);
}

void pvb_second_progress(struct pvb_eq *eq)
{
	uint64_t times, now, due = PVB_SECOND_NEVER;
	struct crn_list *entry, *next;
	struct pvb_second *second;

	if (crn_list_empty(&eq->lanes))
		return;
	now = crn_now_ms();
	if (!atomic_exchange(&eq->lanes_moved, false) && now < eq->lanes_due)
		return;
	if (read(eq->lanes_timer, &times, sizeof(times)) < 0)
		times = 0; /* a look before it fired */
	crn_list_for_each_safe (entry, next, &eq->lanes) {
		/* As in pvb_cm_progress: what there is no room for waits. */
		if (crn_eq_full(&eq->eq) || crn_eq_reserve(&eq->eq, PVB_CM_EVENT_MAX)) {
			due = now;
			break;
		}
		second = crn_container_of(entry, struct pvb_second, entry);
		pvb_second_look(second);
		if (pvb_second_waits(second))
			due = CRN_MIN(due, second->due);
	}
	eq->lanes_due = due;
	pvb_second_arm(eq);
}
