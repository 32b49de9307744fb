/* SPDX-License-Identifier: BSD-2-Clause */
/* Progress: completions of the lower provider, and what they make possible. */
#include "call.h"

static void progress_busy(struct rpr_domain *domain)
{
	struct crn_list now, *entry;
	struct rpr_ep *ep;

	crn_list_init(&now);
	while ((entry = crn_list_pop(&domain->busy)))
		crn_list_add_tail(&now, entry);
	while ((entry = crn_list_pop(&now))) {
		ep = crn_container_of(entry, struct rpr_ep, busy);
		rpr_kick(ep);
		rpr_match(ep);
	}
}

void rpr_progressed(struct crn_lower_cq *cq, ssize_t count)
{
	struct rpr_domain *domain = crn_container_of(cq, struct rpr_domain, cq);
	struct crn_list *entry;
	struct rpr_ep *ep;

	if (crn_unlikely(!crn_list_empty(&domain->busy)))
		progress_busy(domain);
	while (!count && (entry = crn_list_pop(&domain->deferred))) {
		ep = crn_container_of(entry, struct rpr_ep, deferred);
		ep->ops->idle(ep);
	}
}

int rpr_lower_queue(struct rpr_domain *domain, bool waited, struct fid_cq **fid)
{
	struct rpr_fabric *fabric = domain->fabric;
	bool first;
	int ret;

	crn_lock(&fabric->lock);
	first = !waited && !domain->cq.polled;
	ret = crn_lower_cq_get(&domain->cq, waited, fid);
	if (!ret && first)
		atomic_fetch_add(&fabric->tick.polled, 1);
	if (!ret && waited && !domain->source.source.wait)
		ret = crn_wait_add_lower(&fabric->wait, &domain->source,
					 fabric->lower.lower, &(*fid)->fid);
	crn_unlock(&fabric->lock);
	return crn_lower_opened(&fabric->lower, "completion queue", ret);
}

void rpr_progress_locked(struct rpr_domain *domain)
{
	crn_lower_cq_progress_locked(&domain->cq);
}

void rpr_progress(struct rpr_domain *domain)
{
	crn_lock(&domain->cq.lock);
	rpr_progress_locked(domain);
	crn_unlock(&domain->cq.lock);
}

void rpr_fabric_progress(struct rpr_fabric *fabric)
{
	struct crn_list *entry;

	crn_lock(&fabric->lock);
	crn_list_for_each (entry, &fabric->domains)
		rpr_progress(crn_container_of(entry, struct rpr_domain, entry));
	crn_unlock(&fabric->lock);
}
