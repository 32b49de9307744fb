/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include "device/device.h"
#include "cm.h"

int pvb_requests_init(struct pvb_requests *requests)
{
	crn_list_init(&requests->list);
	return -pthread_mutex_init(&requests->lock, NULL);
}

static struct pvb_connreq *pvb_request_of(struct crn_list *entry)
{
	return crn_container_of(entry, struct pvb_connreq, entry);
}

void pvb_requests_fini(struct pvb_requests *requests)
{
	struct crn_list *entry;

	while ((entry = crn_list_pop(&requests->list)))
		pvb_connreq_destroy(pvb_request_of(entry));
	if (requests->channel)
		rdma_destroy_event_channel(requests->channel);
	pthread_mutex_destroy(&requests->lock);
}

void pvb_request_add(struct pvb_connreq *req)
{
	struct pvb_requests *requests = &req->pep->fabric->requests;

	pthread_mutex_lock(&requests->lock);
	crn_list_add_tail(&requests->list, &req->entry);
	pthread_mutex_unlock(&requests->lock);
}

struct pvb_connreq *pvb_request_take(struct pvb_fabric *fabric, const struct fid *handle,
				     const struct pvb_pep *by)
{
	struct pvb_requests *requests = &fabric->requests;
	struct pvb_connreq *req, *found = NULL;
	struct crn_list *entry;

	pthread_mutex_lock(&requests->lock);
	crn_list_for_each (entry, &requests->list) {
		req = pvb_request_of(entry);
		if (&req->fid == handle && (!by || !req->pep || req->pep == by)) {
			found = req;
			break;
		}
	}
	if (found) {
		crn_list_del(&found->entry);
		if (found->eq)
			atomic_fetch_add(&found->eq->refs, 1);
	}
	pthread_mutex_unlock(&requests->lock);
	return found;
}

void pvb_request_drop(struct pvb_connreq *req)
{
	struct pvb_requests *requests = &req->pep->fabric->requests;

	pthread_mutex_lock(&requests->lock);
	crn_list_del(&req->entry);
	pthread_mutex_unlock(&requests->lock);
}

void pvb_request_give_back(struct pvb_fabric *fabric, struct pvb_connreq *req)
{
	struct pvb_requests *requests = &fabric->requests;

	pthread_mutex_lock(&requests->lock);
	crn_list_add_tail(&requests->list, &req->entry);
	if (req->eq)
		atomic_fetch_sub(&req->eq->refs, 1);
	pthread_mutex_unlock(&requests->lock);
}

void pvb_request_end(struct pvb_connreq *req)
{
	struct pvb_eq *eq = req->eq;

	if (eq)
		pthread_mutex_lock(&eq->cm_lock);
	pvb_connreq_destroy(req);
	if (!eq)
		return;
	pthread_mutex_unlock(&eq->cm_lock);
	atomic_fetch_sub(&eq->refs, 1);
}

void pvb_requests_unlisten(struct pvb_pep *pep)
{
	struct pvb_requests *requests = &pep->fabric->requests;
	struct crn_list *entry, *next;
	struct pvb_connreq *req;

	pthread_mutex_lock(&requests->lock);
	crn_list_for_each_safe (entry, next, &requests->list) {
		req = pvb_request_of(entry);
		if (req->pep != pep)
			continue;
		req->pep = NULL;
		/*
		 * Requests that the program has not read end with the passive endpoint.
		 */
		if (crn_eq_has_request(&pep->eq->eq, &req->fid)) {
			crn_list_del(&req->entry);
			pvb_connreq_destroy(req);
		}
	}
	pthread_mutex_unlock(&requests->lock);
}

/*
 * An event channel cannot be closed while ids are on it (rdma_destroy_event_channel(3)).
 * Nobody reads the one they move to: whether the requester is still there is seen on the
 * channel of the endpoint that takes the request.
 */
static int pvb_request_adopt(struct pvb_requests *requests, struct pvb_connreq *req)
{
	if (!requests->channel)
		requests->channel = rdma_create_event_channel();
	if (!requests->channel || rdma_migrate_id(req->id, requests->channel))
		return pvb_errno();
	req->eq = NULL;
	return 0;
}

int pvb_requests_leave(struct pvb_eq *eq)
{
	struct pvb_requests *requests = &eq->fabric->requests;
	struct crn_list *entry, *next;
	struct pvb_connreq *req;
	int ret;

	pthread_mutex_lock(&requests->lock);
	ret = atomic_load(&eq->refs) ? -FI_EBUSY : 0;
	crn_list_for_each_safe (entry, next, &requests->list) {
		req = pvb_request_of(entry);
		if (ret || req->eq != eq || !pvb_request_adopt(requests, req))
			continue;
		PVB_WARN(FI_LOG_EP_CTRL, "a connection request that was read ends with "
					 "its event queue, for it cannot be moved\n");
		crn_list_del(&req->entry);
		req->eq = NULL; /* nobody uses that any more */
		pvb_connreq_destroy(req);
	}
	pthread_mutex_unlock(&requests->lock);
	return ret;
}
