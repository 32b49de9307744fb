/* SPDX-License-Identifier: BSD-2-Clause */
/* What connection requests said, until they are answered. */
#include <stdlib.h>
#include "cm.h"

int rpr_request_add(struct rpr_pep *pep, fid_t handle, const struct rpr_private *priv,
		    int marker)
{
	struct rpr_request *request = malloc(sizeof(*request));

	if (!request)
		return -FI_ENOMEM;
	*request = (struct rpr_request){
		.handle = handle,
		.pep = &pep->fid.fid,
		.priv = *priv,
		.marker = marker,
		.unread = true, /* also if it comes while the passive endpoint closes */
	};
	crn_lock(&pep->fabric->requests_lock);
	crn_list_add_tail(&pep->fabric->requests, &request->entry);
	crn_unlock(&pep->fabric->requests_lock);
	return 0;
}

struct rpr_pep *rpr_request_pep(struct rpr_fabric *fabric, fid_t handle)
{
	struct rpr_pep *pep = NULL;
	struct crn_list *entry;

	crn_lock(&fabric->requests_lock);
	crn_list_for_each (entry, &fabric->peps) {
		pep = crn_container_of(entry, struct rpr_pep, entry);
		if (&pep->fid.fid == handle)
			break;
		pep = NULL;
	}
	crn_unlock(&fabric->requests_lock);
	return pep;
}

static struct rpr_request *request_of(struct rpr_fabric *fabric, fid_t handle)
{
	struct rpr_request *request;
	struct crn_list *entry;

	crn_list_for_each (entry, &fabric->requests) {
		request = crn_container_of(entry, struct rpr_request, entry);
		if (request->handle == handle)
			return request;
	}
	return NULL;
}

bool rpr_request_find(struct rpr_fabric *fabric, fid_t handle,
		      struct rpr_request *request)
{
	struct rpr_request *found;

	crn_lock(&fabric->requests_lock);
	found = request_of(fabric, handle);
	if (found)
		*request = *found;
	crn_unlock(&fabric->requests_lock);
	return found;
}

bool rpr_request_take(struct rpr_fabric *fabric, fid_t handle,
		      struct rpr_request *request)
{
	struct rpr_request *found;

	crn_lock(&fabric->requests_lock);
	found = request_of(fabric, handle);
	if (found)
		crn_list_del(&found->entry);
	crn_unlock(&fabric->requests_lock);
	if (!found)
		return false;
	*request = *found;
	free(found);
	return true;
}

void rpr_requests_mark(struct rpr_pep *pep)
{
	struct rpr_request *request;
	struct crn_list *entry;

	if (!pep->obj.eq)
		return;
	crn_lock(&pep->fabric->requests_lock);
	crn_list_for_each (entry, &pep->fabric->requests) {
		request = crn_container_of(entry, struct rpr_request, entry);
		if (request->pep == &pep->fid.fid)
			request->unread =
				crn_eq_has_request(&pep->obj.eq->eq, request->handle);
	}
	crn_unlock(&pep->fabric->requests_lock);
}

void rpr_requests_free(struct rpr_fabric *fabric)
{
	struct crn_list *entry;

	while ((entry = crn_list_pop(&fabric->requests)))
		free(crn_container_of(entry, struct rpr_request, entry));
}

void rpr_requests_drop(struct rpr_pep *pep)
{
	struct crn_list *entry, *tmp;
	struct rpr_request *request;

	crn_lock(&pep->fabric->requests_lock);
	crn_list_for_each_safe (entry, tmp, &pep->fabric->requests) {
		request = crn_container_of(entry, struct rpr_request, entry);
		if (request->pep != &pep->fid.fid || !request->unread)
			continue;
		crn_list_del(&request->entry);
		free(request);
	}
	crn_unlock(&pep->fabric->requests_lock);
}
