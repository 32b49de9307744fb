/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <sys/random.h>
#include <sys/timerfd.h>
#include "../cm.h"
#include "control.h"

#define PVB_SECOND_NEVER UINT64_MAX

static struct pvb_lane *pvb_second_lane(struct pvb_second *second)
{
	return crn_container_of(second, struct pvb_lane, second);
}

static struct pvb_ep *pvb_second_ep(struct pvb_second *second)
{
	return pvb_conn_ep(pvb_second_lane(second)->conn);
}

static struct pvb_fabric *pvb_second_fabric(struct pvb_second *second)
{
	return pvb_second_ep(second)->domain->fabric;
}

void pvb_second_init(struct pvb_second *second)
{
	second->fid.fclass = PVB_CLASS_LANE;
	second->due = PVB_SECOND_NEVER;
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

/* Only who needs it has one. 0 or a negative code. */
static int pvb_second_timer(struct pvb_eq *eq)
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

/* Whoever waits for the queue looks again in ms; 0: now. */
static void pvb_second_wake(const struct pvb_eq *eq, uint64_t ms)
{
	const struct itimerspec timer = {
		.it_value = {.tv_sec = (time_t)(ms / 1000),
			     .tv_nsec = ms ? (long)(ms % 1000) * 1000000L : 1},
	};

	timerfd_settime(eq->lanes_timer, 0, &timer, NULL);
}

static void pvb_second_set_due(struct pvb_second *second, uint64_t due)
{
	struct pvb_eq *eq = pvb_second_ep(second)->eq;
	const uint64_t now = crn_now_ms();

	second->due = due;
	if (due >= eq->lanes_due)
		return;
	eq->lanes_due = due;
	pvb_second_wake(eq, due > now ? due - now : 0);
}

/* States. */

static bool pvb_second_waits(const struct pvb_second *second)
{
	return second->state != PVB_SECOND_NONE && second->state != PVB_SECOND_UP;
}

static void pvb_second_enter(struct pvb_second *second, enum pvb_second_state state)
{
	const bool waited = pvb_second_waits(second);

	second->state = state;
	if (!waited && pvb_second_waits(second))
		crn_list_add_tail(&pvb_second_ep(second)->eq->lanes, &second->entry);
	else if (waited && !pvb_second_waits(second))
		crn_list_del(&second->entry);
}

/* Nobody will find it any more. Returns what came for it, which nobody accepted. */
static struct rdma_cm_id *pvb_second_unlist(struct pvb_second *second)
{
	struct pvb_fabric *fabric = pvb_second_fabric(second);
	struct rdma_cm_id *came;

	pthread_mutex_lock(&fabric->second_lock);
	if (second->listed)
		crn_list_del(&second->expected);
	second->listed = false;
	came = second->came;
	second->came = NULL;
	pthread_mutex_unlock(&fabric->second_lock);
	return came;
}

static void pvb_second_drop(struct pvb_second *second)
{
	struct rdma_cm_id *came = pvb_second_unlist(second);

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
	pvb_cm_second_over(ep);
}

static void pvb_second_up(struct pvb_second *second)
{
	pvb_second_enter(second, PVB_SECOND_UP);
	atomic_store(&pvb_second_lane(second)->up, true);
	pvb_cm_second_over(pvb_second_ep(second));
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

static bool pvb_second_on_device(struct pvb_second *second, const struct rdma_cm_id *id)
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

/* The responder. */

/* What nobody guesses; 0: the system has none. */
static uint64_t pvb_second_ticket(void)
{
	uint64_t ticket = 0;

	if (getrandom(&ticket, PVB_CM_TICKET_BITS / 8, 0) != PVB_CM_TICKET_BITS / 8)
		return 0;
	return ticket & ((1ull << PVB_CM_TICKET_BITS) - 1);
}

void pvb_second_listen(struct pvb_pep *pep)
{
	pthread_mutex_lock(&pep->fabric->second_lock);
	crn_list_add_tail(&pep->fabric->listeners, &pep->entry);
	pthread_mutex_unlock(&pep->fabric->second_lock);
}

/* With the lock held: a thread that waits for the lane's event queue has something to
 * do. */
static void pvb_second_move(struct pvb_second *second)
{
	struct pvb_eq *eq = pvb_second_ep(second)->eq;

	crn_list_del(&second->expected);
	second->listed = false;
	atomic_store(&eq->lanes_moved, true);
	pvb_second_wake(eq, 0);
}

void pvb_second_unlisten(struct pvb_pep *pep)
{
	struct pvb_fabric *fabric = pep->fabric;
	struct crn_list *entry, *next;
	struct pvb_second *second;

	pthread_mutex_lock(&fabric->second_lock);
	crn_list_del(&pep->entry);
	crn_list_for_each_safe (entry, next, &fabric->expected) {
		second = crn_container_of(entry, struct pvb_second, expected);
		if (second->pep != pep)
			continue;
		second->lost = true;
		pvb_second_move(second);
	}
	pthread_mutex_unlock(&fabric->second_lock);
}

/* With the lock held. */
static bool pvb_second_listens(const struct pvb_fabric *fabric, const struct pvb_pep *pep)
{
	struct crn_list *entry;

	crn_list_for_each (entry, &fabric->listeners) {
		if (crn_container_of(entry, struct pvb_pep, entry) == pep)
			return true;
	}
	return false;
}

uint64_t pvb_second_expect(struct pvb_ep *ep)
{
	struct pvb_second *second = &ep->conn.lane->second;
	struct pvb_fabric *fabric = ep->domain->fabric;
	const uint64_t ticket = pvb_second_timer(ep->eq) ? 0 : pvb_second_ticket();
	bool listens;

	if (!ticket)
		return 0;
	pthread_mutex_lock(&fabric->second_lock);
	listens = pvb_second_listens(fabric, ep->req->pep);
	if (listens) {
		second->ticket = ticket;
		second->pep = ep->req->pep;
		second->lost = false;
		second->listed = true;
		crn_list_add_tail(&fabric->expected, &second->expected);
	}
	pthread_mutex_unlock(&fabric->second_lock);
	if (!listens)
		return 0;
	pvb_second_enter(second, PVB_SECOND_EXPECTED);
	return ticket;
}

/* With the lock held. */
static struct pvb_second *pvb_second_find(const struct pvb_fabric *fabric,
					  uint64_t ticket)
{
	struct pvb_second *second;
	struct crn_list *entry;

	crn_list_for_each (entry, &fabric->expected) {
		second = crn_container_of(entry, struct pvb_second, expected);
		if (second->ticket == ticket)
			return second;
	}
	return NULL;
}

/* With the lock held: events of the id are the lane's from now on. */
static bool pvb_second_give(struct pvb_second *second, const struct pvb_pep *pep,
			    struct rdma_cm_id *id)
{
	const struct pvb_eq *eq = pvb_second_ep(second)->eq;
	void *context = id->context;

	if (!pvb_second_on_device(second, id))
		return false;
	id->context = &second->fid;
	if (eq != pep->eq && rdma_migrate_id(id, eq->channel)) {
		id->context = context;
		return false;
	}
	second->came = id;
	pvb_second_move(second);
	return true;
}

bool pvb_second_request(struct pvb_pep *pep, const struct pvb_cm_event *event)
{
	struct pvb_fabric *fabric = pep->fabric;
	struct pvb_second *second;
	struct pvb_cm_data data;
	bool given;

	pvb_cm_app_data(pep->raw_cm, event, &data);
	if (!data.shows)
		return false;
	pthread_mutex_lock(&fabric->second_lock);
	second = pvb_second_find(fabric, data.ticket);
	given = second && pvb_second_give(second, pep, event->id);
	pthread_mutex_unlock(&fabric->second_lock);
	if (!given) {
		PVB_INFO(FI_LOG_EP_CTRL,
			 "a second connection that nobody waits for is refused\n");
		rdma_reject(event->id, NULL, 0);
		rdma_destroy_id(event->id);
	}
	return true;
}

/* Both. */

/* Takes what another thread may have for it. */
static void pvb_second_take(struct pvb_second *second)
{
	struct pvb_fabric *fabric = pvb_second_fabric(second);
	struct rdma_conn_param param = pvb_second_param(second);
	bool lost;

	pthread_mutex_lock(&fabric->second_lock);
	lost = second->lost;
	second->id = second->came ? second->came : second->id;
	second->came = NULL;
	pthread_mutex_unlock(&fabric->second_lock);
	if (second->state != PVB_SECOND_EXPECTED)
		return;
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
	pvb_cm_disconnected(ep);
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
	if (due != PVB_SECOND_NEVER)
		pvb_second_wake(eq, due > now ? due - now : 0);
}
