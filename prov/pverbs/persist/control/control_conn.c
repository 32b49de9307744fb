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

#define PVB_CONTROL_CONN_NEVER UINT64_MAX

static struct pvb_control_qp *pvb_control_conn_qp(struct pvb_control_conn *control_conn)
{
	return crn_container_of(control_conn, struct pvb_control_qp, control_conn);
}

struct pvb_ep *pvb_control_conn_ep(struct pvb_control_conn *control_conn)
{
	return pvb_qp_ep(pvb_control_conn_qp(control_conn)->qp);
}

void pvb_control_conn_init(struct pvb_control_conn *control_conn)
{
	control_conn->fid.fclass = PVB_CLASS_CONTROL_QP;
	control_conn->due = PVB_CONTROL_CONN_NEVER;
	crn_list_init(&control_conn->expected);
}

/* The timer of an event queue. */

void pvb_control_conn_open(struct pvb_eq *eq)
{
	crn_list_init(&eq->control_conns);
	eq->control_conn_timer = -1;
	eq->control_conn_due = PVB_CONTROL_CONN_NEVER;
}

void pvb_control_conn_close(struct pvb_eq *eq)
{
	if (eq->control_conn_timer >= 0)
		close(eq->control_conn_timer);
}

/* The timer is created when it is first needed. */
int pvb_control_conn_timer(struct pvb_eq *eq)
{
	int ret;

	crn_mutex_assert_held(&eq->cm_lock);
	if (eq->control_conn_timer >= 0)
		return 0;
	eq->control_conn_timer =
		timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (eq->control_conn_timer < 0)
		return pvb_errno();
	ret = crn_wait_add_fd(&eq->eq.wait, eq->control_conn_timer);
	if (ret) {
		close(eq->control_conn_timer);
		eq->control_conn_timer = -1;
	}
	return ret;
}

static void pvb_control_conn_alarm(const struct pvb_eq *eq, uint64_t ms)
{
	const struct itimerspec timer = {
		.it_value = {.tv_sec = (time_t)(ms / 1000),
			     .tv_nsec = ms ? (long)(ms % 1000) * 1000000L : 1},
	};

	timerfd_settime(eq->control_conn_timer, 0, &timer, NULL);
}

void pvb_control_conn_wake(struct pvb_eq *eq)
{
	atomic_store(&eq->control_conn_moved, true);
	pvb_control_conn_alarm(eq, 0);
}

/* Wakes a thread that waits for the queue at control_conn_due. */
static void pvb_control_conn_arm(struct pvb_eq *eq)
{
	const uint64_t now = crn_now_ms();

	if (eq->control_conn_due == PVB_CONTROL_CONN_NEVER)
		return;
	pvb_control_conn_alarm(eq, eq->control_conn_due > now ? eq->control_conn_due - now
							      : 0);
	/* Another thread may have woken it meanwhile: that would be forgotten. */
	if (atomic_load(&eq->control_conn_moved))
		pvb_control_conn_alarm(eq, 0);
}

static void pvb_control_conn_set_due(struct pvb_control_conn *control_conn, uint64_t due)
{
	struct pvb_eq *eq = pvb_control_conn_ep(control_conn)->eq;

	control_conn->due = due;
	if (due >= eq->control_conn_due)
		return;
	eq->control_conn_due = due;
	pvb_control_conn_arm(eq);
}

/* States. */

static bool pvb_control_conn_waits(const struct pvb_control_conn *control_conn)
{
	return control_conn->state != PVB_CONTROL_CONN_NONE &&
	       control_conn->state != PVB_CONTROL_CONN_UP;
}

void pvb_control_conn_enter(struct pvb_control_conn *control_conn,
			    enum pvb_control_conn_state state)
{
	const bool waited = pvb_control_conn_waits(control_conn);

	crn_mutex_assert_held(&pvb_control_conn_ep(control_conn)->eq->cm_lock);
	control_conn->state = state;
	if (!waited && pvb_control_conn_waits(control_conn))
		crn_list_add_tail(&pvb_control_conn_ep(control_conn)->eq->control_conns,
				  &control_conn->entry);
	else if (waited && !pvb_control_conn_waits(control_conn))
		crn_list_del(&control_conn->entry);
}

static void pvb_control_conn_drop(struct pvb_control_conn *control_conn)
{
	struct rdma_cm_id *came = pvb_cookie_withdraw(control_conn);

	if (came) {
		rdma_reject(came, NULL, 0);
		rdma_destroy_id(came);
	}
	if (control_conn->id)
		rdma_destroy_id(control_conn->id);
	control_conn->id = NULL;
	control_conn->due = PVB_CONTROL_CONN_NEVER;
}

void pvb_control_conn_end(struct pvb_ep *ep)
{
	struct pvb_control_qp *cqp = ep->qp.control_qp;

	if (!cqp || cqp->control_conn.state == PVB_CONTROL_CONN_NONE)
		return;
	crn_mutex_assert_held(&ep->eq->cm_lock);
	pvb_control_conn_drop(&cqp->control_conn);
	pvb_control_conn_enter(&cqp->control_conn, PVB_CONTROL_CONN_NONE);
}

static void pvb_control_conn_fail(struct pvb_control_conn *control_conn, const char *why)
{
	struct pvb_ep *ep = pvb_control_conn_ep(control_conn);
	char text[CRN_ADDR_STRLEN];

	PVB_WARN(FI_LOG_EP_CTRL,
		 "no control connection with %s: %s; what its processor has to make "
		 "durable gives FI_EOPNOTSUPP\n",
		 crn_addr_str(rdma_get_peer_addr(ep->conn.id), text), why);
	pvb_control_conn_end(ep);
	ep->eq->cm->second_over(ep);
}

static void pvb_control_conn_up(struct pvb_control_conn *control_conn)
{
	pvb_control_conn_enter(control_conn, PVB_CONTROL_CONN_UP);
	pvb_control_qp_up(pvb_control_conn_qp(control_conn));
	pvb_control_conn_ep(control_conn)
		->eq->cm->second_over(pvb_control_conn_ep(control_conn));
}

/* iWARP's messages need no reads, but a requester may have to begin with one (RFC 6581
 * section 9.2). */
static struct rdma_conn_param pvb_control_conn_param(
	struct pvb_control_conn *control_conn)
{
	return (struct rdma_conn_param){
		.responder_resources = 1,
		.initiator_depth = 1,
		.qp_num = pvb_control_conn_qp(control_conn)->ibv->qp_num,
	};
}

bool pvb_control_conn_on_device(struct pvb_control_conn *control_conn,
				const struct rdma_cm_id *id)
{
	return id->verbs &&
	       !strcmp(ibv_get_device_name(id->verbs->device),
		       pvb_domain_device(pvb_control_conn_ep(control_conn)->domain));
}

/* The requester. */

static int pvb_control_conn_resolve(struct pvb_control_conn *control_conn)
{
	struct pvb_ep *ep = pvb_control_conn_ep(control_conn);
	const struct sockaddr *local = rdma_get_local_addr(ep->conn.id);
	struct sockaddr *peer = rdma_get_peer_addr(ep->conn.id);
	union crn_addr src = {0};
	int ret;

	ret = pvb_control_conn_timer(ep->eq);
	if (ret)
		return ret;
	if (rdma_create_id(ep->eq->channel, &control_conn->id, &control_conn->fid,
			   RDMA_PS_TCP)) {
		control_conn->id = NULL;
		return pvb_errno();
	}
	pvb_path_option(ep, control_conn->id);
	memcpy(&src, local, crn_addr_len(local));
	if (crn_addr_len(local))
		crn_addr_set_port(&src.sa, 0);
	return rdma_resolve_addr(control_conn->id, crn_addr_len(local) ? &src.sa : NULL,
				 peer, pvb_params.resolve_timeout)
		       ? pvb_errno()
		       : 0;
}

static void pvb_control_conn_on_addr_resolved(struct pvb_control_conn *control_conn)
{
	if (control_conn->state != PVB_CONTROL_CONN_ADDR)
		return;
	pvb_control_conn_enter(control_conn, PVB_CONTROL_CONN_ROUTE);
	if (!pvb_control_conn_on_device(control_conn, control_conn->id))
		pvb_control_conn_fail(control_conn, "its way leads over another device");
	else if (rdma_resolve_route(control_conn->id, pvb_params.resolve_timeout))
		pvb_control_conn_fail(control_conn, strerror(errno));
}

static void pvb_control_conn_on_route_resolved(struct pvb_control_conn *control_conn)
{
	struct rdma_conn_param param = pvb_control_conn_param(control_conn);
	uint8_t message[PVB_CM_REQ_SIZE];

	if (control_conn->state != PVB_CONTROL_CONN_ROUTE)
		return;
	pvb_cm_pack_cookie(message, pvb_control_conn_ep(control_conn)->conn.peer.cookie);
	param.private_data = message;
	param.private_data_len = sizeof(message);
	pvb_control_conn_enter(control_conn, PVB_CONTROL_CONN_REQUESTED);
	if (rdma_connect(control_conn->id, &param))
		pvb_control_conn_fail(control_conn, strerror(errno));
}

/* Takes what another thread may have for it. */
static void pvb_control_conn_take(struct pvb_control_conn *control_conn)
{
	struct rdma_conn_param param = pvb_control_conn_param(control_conn);
	bool lost = false;

	if (control_conn->state != PVB_CONTROL_CONN_EXPECTED)
		return;
	control_conn->id = pvb_cookie_came(control_conn, &lost);
	if (control_conn->id) {
		pvb_control_conn_enter(control_conn, PVB_CONTROL_CONN_ACCEPTED);
		if (rdma_accept(control_conn->id, &param))
			pvb_control_conn_fail(control_conn, strerror(errno));
	} else if (lost) {
		pvb_control_conn_fail(control_conn, "the listener was closed");
	}
}

bool pvb_control_conn_wanted(const struct pvb_ep *ep)
{
	const struct pvb_control_qp *cqp = ep->qp.control_qp;

	crn_mutex_assert_held(&ep->eq->cm_lock);
	if (!cqp || !pvb_quirk(ep->domain, PVB_QUIRK_KERNEL_CONNECTS))
		return false;
	return ep->conn.responder ? pvb_control_conn_waits(&cqp->control_conn)
				  : ep->conn.peer.cookie;
}

void pvb_control_conn_begin(struct pvb_ep *ep)
{
	struct pvb_control_conn *control_conn = &ep->qp.control_qp->control_conn;
	int ret = 0;

	crn_mutex_assert_held(&ep->eq->cm_lock);
	if (!ep->conn.responder) {
		pvb_control_conn_enter(control_conn, PVB_CONTROL_CONN_ADDR);
		ret = pvb_control_conn_resolve(control_conn);
	}
	if (ret)
		pvb_control_conn_fail(control_conn, fi_strerror(-ret));
	else
		pvb_control_conn_set_due(control_conn,
					 crn_now_ms() +
						 (uint64_t)pvb_params.resolve_timeout);
}

/* The control connection has ended, in whatever state. */
static void pvb_control_conn_on_end(struct pvb_control_conn *control_conn,
				    const struct pvb_cm_event *event)
{
	if (control_conn->state == PVB_CONTROL_CONN_UP)
		pvb_control_qp_lose(pvb_control_conn_qp(control_conn),
				    rdma_event_str(event->type));
	else if (control_conn->state >= PVB_CONTROL_CONN_ADDR &&
		 control_conn->state < PVB_CONTROL_CONN_UP)
		pvb_control_conn_fail(control_conn, rdma_event_str(event->type));
}

void pvb_control_conn_event(struct fid *fid, const struct pvb_cm_event *event)
{
	struct pvb_control_conn *control_conn =
		crn_container_of(fid, struct pvb_control_conn, fid);

	crn_mutex_assert_held(&pvb_control_conn_ep(control_conn)->eq->cm_lock);
	pvb_control_conn_take(control_conn);
	switch (event->type) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		pvb_control_conn_on_addr_resolved(control_conn);
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		pvb_control_conn_on_route_resolved(control_conn);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		if (control_conn->state == PVB_CONTROL_CONN_REQUESTED ||
		    control_conn->state == PVB_CONTROL_CONN_ACCEPTED)
			pvb_control_conn_up(control_conn);
		break;
	case RDMA_CM_EVENT_ADDR_ERROR:
	case RDMA_CM_EVENT_ROUTE_ERROR:
	case RDMA_CM_EVENT_CONNECT_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
	case RDMA_CM_EVENT_REJECTED:
	case RDMA_CM_EVENT_DISCONNECTED:
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		pvb_control_conn_on_end(control_conn, event);
		break;
	default:
		break;
	}
}

void pvb_control_conn_gone(struct pvb_ep *ep)
{
	struct pvb_control_conn *control_conn = &ep->qp.control_qp->control_conn;

	crn_mutex_assert_held(&ep->eq->cm_lock);
	pvb_control_conn_drop(control_conn);
	pvb_control_conn_enter(control_conn, PVB_CONTROL_CONN_GONE);
	pvb_control_conn_set_due(control_conn, 0);
}

/* A control queue pair that waits: has anything happened to it? At most one event is
 * reported. */
static void pvb_control_conn_look(struct pvb_control_conn *control_conn)
{
	struct pvb_ep *ep = pvb_control_conn_ep(control_conn);

	pvb_control_conn_take(control_conn);
	if (!pvb_control_conn_waits(control_conn) || control_conn->due > crn_now_ms())
		return;
	if (control_conn->state != PVB_CONTROL_CONN_GONE) {
		pvb_control_conn_fail(control_conn, "it took too long");
		return;
	}
	pvb_control_conn_enter(control_conn, PVB_CONTROL_CONN_NONE);
	ep->eq->cm->disconnected(ep);
}

void pvb_control_conn_progress(struct pvb_eq *eq)
{
	uint64_t times, now, due = PVB_CONTROL_CONN_NEVER;
	struct crn_list *entry, *next;
	struct pvb_control_conn *control_conn;

	crn_mutex_assert_held(&eq->cm_lock);
	if (crn_list_empty(&eq->control_conns))
		return;
	now = crn_now_ms();
	if (!atomic_exchange(&eq->control_conn_moved, false) &&
	    now < eq->control_conn_due)
		return;
	if (read(eq->control_conn_timer, &times, sizeof(times)) < 0)
		times = 0; /* a look before it fired */
	crn_list_for_each_safe (entry, next, &eq->control_conns) {
		/* As in pvb_cm_progress: what there is no room for waits. */
		if (crn_eq_full(&eq->eq) || crn_eq_reserve(&eq->eq, PVB_CM_EVENT_MAX)) {
			due = now;
			break;
		}
		control_conn = crn_container_of(entry, struct pvb_control_conn, entry);
		pvb_control_conn_look(control_conn);
		if (pvb_control_conn_waits(control_conn))
			due = CRN_MIN(due, control_conn->due);
	}
	eq->control_conn_due = due;
	pvb_control_conn_arm(eq);
}
