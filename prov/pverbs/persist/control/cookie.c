/* SPDX-License-Identifier: BSD-2-Clause */
#include <sys/random.h>
#include "persist/persist.h"
#include "wire/wire.h"
#include "cookie.h"

/* What nobody guesses; 0: the system has none. */
static uint64_t pvb_ticket_new(void)
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
static void pvb_ticket_move(struct pvb_second *second)
{
	crn_list_del(&second->expected);
	pvb_second_wake(pvb_second_ep(second)->eq);
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
		pvb_ticket_move(second);
	}
	pthread_mutex_unlock(&fabric->second_lock);
}

/* With the lock held. */
static bool pvb_ticket_listens(const struct pvb_fabric *fabric, const struct pvb_pep *pep)
{
	struct crn_list *entry;

	crn_list_for_each (entry, &fabric->listeners) {
		if (crn_container_of(entry, struct pvb_pep, entry) == pep)
			return true;
	}
	return false;
}

bool pvb_pep_is(struct pvb_fabric *fabric, const struct fid *handle)
{
	bool is;

	pthread_mutex_lock(&fabric->second_lock);
	is = pvb_ticket_listens(fabric,
				crn_container_of(handle, struct pvb_pep, fid.fid));
	pthread_mutex_unlock(&fabric->second_lock);
	return is;
}

uint64_t pvb_second_expect(struct pvb_ep *ep)
{
	struct pvb_second *second = &ep->conn.lane->second;
	struct pvb_fabric *fabric = ep->domain->fabric;
	const uint64_t ticket = pvb_second_timer(ep->eq) ? 0 : pvb_ticket_new();
	bool listens;

	if (!ticket)
		return 0;
	pthread_mutex_lock(&fabric->second_lock);
	listens = pvb_ticket_listens(fabric, ep->req->pep);
	if (listens) {
		second->ticket = ticket;
		second->pep = ep->req->pep;
		second->lost = false;
		crn_list_add_tail(&fabric->expected, &second->expected);
	}
	pthread_mutex_unlock(&fabric->second_lock);
	if (!listens)
		return 0;
	pvb_second_enter(second, PVB_SECOND_EXPECTED);
	return ticket;
}

/* With the lock held. */
static struct pvb_second *pvb_ticket_find(const struct pvb_fabric *fabric,
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
static bool pvb_ticket_give(struct pvb_second *second, const struct pvb_pep *pep,
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
	pvb_ticket_move(second);
	return true;
}

bool pvb_second_request(struct pvb_pep *pep, const struct pvb_cm_event *event)
{
	struct pvb_fabric *fabric = pep->fabric;
	struct pvb_second *second;
	struct pvb_cm_data data;
	bool given;

	pvb_cm_app_data(pep->raw_cm, event->bytes, event->len, &data);
	if (!data.shows)
		return false;
	pthread_mutex_lock(&fabric->second_lock);
	second = pvb_ticket_find(fabric, data.ticket);
	given = second && pvb_ticket_give(second, pep, event->id);
	pthread_mutex_unlock(&fabric->second_lock);
	if (!given) {
		PVB_INFO(FI_LOG_EP_CTRL,
			 "a second connection that nobody waits for is refused\n");
		rdma_reject(event->id, NULL, 0);
		rdma_destroy_id(event->id);
	}
	return true;
}

struct rdma_cm_id *pvb_ticket_withdraw(struct pvb_second *second)
{
	struct pvb_fabric *fabric = pvb_second_ep(second)->domain->fabric;
	struct rdma_cm_id *came;

	pthread_mutex_lock(&fabric->second_lock);
	crn_list_del(&second->expected);
	came = second->came;
	second->came = NULL;
	pthread_mutex_unlock(&fabric->second_lock);
	return came;
}

struct rdma_cm_id *pvb_ticket_came(struct pvb_second *second, bool *lost)
{
	struct pvb_fabric *fabric = pvb_second_ep(second)->domain->fabric;
	struct rdma_cm_id *came;

	pthread_mutex_lock(&fabric->second_lock);
	*lost = second->lost;
	came = second->came;
	second->came = NULL;
	pthread_mutex_unlock(&fabric->second_lock);
	return came;
}
