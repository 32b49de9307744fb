/* SPDX-License-Identifier: BSD-2-Clause */
#include <sys/random.h>
#include "persist/persist.h"
#include "wire/wire.h"
#include "cookie.h"
#include "control.h"

/* A random number; 0: the system returned none. */
static uint64_t pvb_cookie_new(void)
{
	uint64_t cookie = 0;

	if (getrandom(&cookie, PVB_CM_COOKIE_BITS / 8, 0) != PVB_CM_COOKIE_BITS / 8)
		return 0;
	return cookie & ((1ull << PVB_CM_COOKIE_BITS) - 1);
}

void pvb_control_conn_listen(struct pvb_pep *pep)
{
	pthread_mutex_lock(&pep->fabric->control_conn_lock);
	crn_list_add_tail(&pep->fabric->listeners, &pep->entry);
	pthread_mutex_unlock(&pep->fabric->control_conn_lock);
}

/* With the lock held: wakes the thread that waits for the control queue pair's event
 * queue. */
static void pvb_cookie_move(struct pvb_control_conn *control_conn)
{
	crn_mutex_assert_held(
		&pvb_control_conn_ep(control_conn)->eq->fabric->control_conn_lock);
	crn_list_del(&control_conn->expected);
	pvb_control_conn_wake(pvb_control_conn_ep(control_conn)->eq);
}

void pvb_control_conn_unlisten(struct pvb_pep *pep)
{
	struct pvb_fabric *fabric = pep->fabric;
	struct crn_list *entry, *next;
	struct pvb_control_conn *control_conn;

	pthread_mutex_lock(&fabric->control_conn_lock);
	crn_list_del(&pep->entry);
	crn_list_for_each_safe (entry, next, &fabric->expected) {
		control_conn = crn_container_of(entry, struct pvb_control_conn, expected);
		if (control_conn->pep != pep)
			continue;
		control_conn->lost = true;
		pvb_cookie_move(control_conn);
	}
	pthread_mutex_unlock(&fabric->control_conn_lock);
}

/* With the lock held. */
static bool pvb_cookie_listens(const struct pvb_fabric *fabric, const struct pvb_pep *pep)
{
	struct crn_list *entry;

	crn_mutex_assert_held(&fabric->control_conn_lock);
	crn_list_for_each (entry, &fabric->listeners) {
		if (crn_container_of(entry, struct pvb_pep, entry) == pep)
			return true;
	}
	return false;
}

bool pvb_pep_is(struct pvb_fabric *fabric, const struct fid *handle)
{
	bool is;

	pthread_mutex_lock(&fabric->control_conn_lock);
	is = pvb_cookie_listens(fabric,
				crn_container_of(handle, struct pvb_pep, fid.fid));
	pthread_mutex_unlock(&fabric->control_conn_lock);
	return is;
}

uint64_t pvb_control_conn_expect(struct pvb_ep *ep)
{
	struct pvb_control_conn *control_conn = &ep->qp.control_qp->control_conn;
	struct pvb_fabric *fabric = ep->domain->fabric;
	const uint64_t cookie = pvb_control_conn_timer(ep->eq) ? 0 : pvb_cookie_new();
	bool listens;

	crn_mutex_assert_held(&ep->eq->cm_lock);
	if (!cookie)
		return 0;
	pthread_mutex_lock(&fabric->control_conn_lock);
	listens = pvb_cookie_listens(fabric, ep->conn.req->pep);
	if (listens) {
		control_conn->cookie = cookie;
		control_conn->pep = ep->conn.req->pep;
		control_conn->lost = false;
		crn_list_add_tail(&fabric->expected, &control_conn->expected);
	}
	pthread_mutex_unlock(&fabric->control_conn_lock);
	if (!listens)
		return 0;
	pvb_control_conn_enter(control_conn, PVB_CONTROL_CONN_EXPECTED);
	return cookie;
}

/* With the lock held. */
static struct pvb_control_conn *pvb_cookie_find(const struct pvb_fabric *fabric,
						uint64_t cookie)
{
	struct pvb_control_conn *control_conn;
	struct crn_list *entry;

	crn_mutex_assert_held(&fabric->control_conn_lock);
	crn_list_for_each (entry, &fabric->expected) {
		control_conn = crn_container_of(entry, struct pvb_control_conn, expected);
		if (control_conn->cookie == cookie)
			return control_conn;
	}
	return NULL;
}

/* With the lock held: events of the id are the control queue pair's from now on. */
static bool pvb_cookie_give(struct pvb_control_conn *control_conn,
			    const struct pvb_pep *pep, struct rdma_cm_id *id)
{
	const struct pvb_eq *eq = pvb_control_conn_ep(control_conn)->eq;
	void *context = id->context;

	crn_mutex_assert_held(
		&pvb_control_conn_ep(control_conn)->eq->fabric->control_conn_lock);
	if (!pvb_control_conn_on_device(control_conn, id))
		return false;
	id->context = &control_conn->fid;
	if (eq != pep->eq && rdma_migrate_id(id, eq->channel)) {
		id->context = context;
		return false;
	}
	control_conn->came = id;
	pvb_cookie_move(control_conn);
	return true;
}

bool pvb_control_conn_request(struct pvb_pep *pep, const struct pvb_cm_event *event)
{
	struct pvb_fabric *fabric = pep->fabric;
	struct pvb_control_conn *control_conn;
	struct pvb_cm_data data;
	bool given;

	crn_mutex_assert_held(&pep->eq->cm_lock);
	pvb_cm_app_data(pep->raw_cm, event->bytes, event->len, &data);
	if (!data.shows)
		return false;
	pthread_mutex_lock(&fabric->control_conn_lock);
	control_conn = pvb_cookie_find(fabric, data.cookie);
	given = control_conn && pvb_cookie_give(control_conn, pep, event->id);
	pthread_mutex_unlock(&fabric->control_conn_lock);
	if (!given) {
		PVB_INFO(FI_LOG_EP_CTRL,
			 "a control connection that nobody waits for is refused\n");
		rdma_reject(event->id, NULL, 0);
		rdma_destroy_id(event->id);
	}
	return true;
}

struct rdma_cm_id *pvb_cookie_withdraw(struct pvb_control_conn *control_conn)
{
	struct pvb_fabric *fabric = pvb_control_conn_ep(control_conn)->domain->fabric;
	struct rdma_cm_id *came;

	pthread_mutex_lock(&fabric->control_conn_lock);
	crn_list_del(&control_conn->expected);
	came = control_conn->came;
	control_conn->came = NULL;
	pthread_mutex_unlock(&fabric->control_conn_lock);
	return came;
}

struct rdma_cm_id *pvb_cookie_came(struct pvb_control_conn *control_conn, bool *lost)
{
	struct pvb_fabric *fabric = pvb_control_conn_ep(control_conn)->domain->fabric;
	struct rdma_cm_id *came;

	pthread_mutex_lock(&fabric->control_conn_lock);
	*lost = control_conn->lost;
	came = control_conn->came;
	control_conn->came = NULL;
	pthread_mutex_unlock(&fabric->control_conn_lock);
	return came;
}
