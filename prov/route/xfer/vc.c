/* SPDX-License-Identifier: BSD-2-Clause */
/* The beginning and the end of a connection's data path. */
#include <stdlib.h>
#include "ops.h"

static int attr_check(const struct rte_vc_attr *attr)
{
	return !attr->ep || !attr->tx_size || attr->tx_size > RTE_VC_SIZE_MAX ||
			       !attr->rx_size || attr->rx_size > RTE_VC_SIZE_MAX ||
			       attr->max_msg_size > RTE_VC_MSG_MAX
		       ? -FI_EINVAL
		       : 0;
}

int rte_vc_init(struct rte_vc *vc, const struct rte_vc_attr *attr)
{
	const uint32_t places = crn_roundup_pow2(attr->tx_size);
	uint32_t i;

	memset(vc, 0, sizeof(*vc));
	vc->attr = *attr;
	crn_list_init(&vc->posted);
	crn_list_init(&vc->free);
	crn_list_init(&vc->waiting);
	crn_list_init(&vc->loans);
	if (attr_check(attr))
		return -FI_EINVAL;
	vc->mask = places - 1;
	vc->head = vc->next = vc->tail = 1;
	vc->ops = calloc(places, sizeof(*vc->ops));
	vc->recvs = calloc(attr->rx_size, sizeof(*vc->recvs));
	if (attr->inject_size)
		vc->inject = calloc(places, attr->inject_size);
	if (!vc->ops || !vc->recvs || (attr->inject_size && !vc->inject)) {
		rte_vc_fini(vc);
		return -FI_ENOMEM;
	}
	for (i = 0; i < attr->rx_size; i++)
		crn_list_add_tail(&vc->free, &vc->recvs[i].entry);
	return 0;
}

static void requests_drop(struct rte_vc *vc)
{
	struct crn_list *entry;

	while ((entry = crn_list_pop(&vc->waiting)))
		rte_rx_put(crn_container_of(entry, struct rte_rx, entry));
}

void rte_vc_fini(struct rte_vc *vc)
{
	assert(rte_vc_idle(vc));
	requests_drop(vc);
	free(vc->ops);
	free(vc->recvs);
	free(vc->inject);
	vc->ops = NULL;
	vc->recvs = NULL;
	vc->inject = NULL;
}

/* A Send has room for RTE_EAGER bytes at most, whatever the path could do. */
void rte_vc_start(struct rte_vc *vc, struct rte_peer *peer,
		  const struct rte_vc_path *path)
{
	assert(vc->state == RTE_VC_NEW && path->eager);
	vc->peer = peer;
	vc->path = *path;
	vc->path.eager = CRN_MIN(vc->path.eager, RTE_EAGER);
	vc->state = RTE_VC_UP;
}

void rte_vc_receives_end(struct rte_vc *vc)
{
	struct rte_vc_recv *recv = vc->recv;

	vc->recv = NULL;
	for (; recv || (recv = rte_vc_recv_take(vc)); recv = NULL)
		rte_vc_recv_failed(vc, recv, FI_ECANCELED, 0, 0);
}

void rte_vc_stop(struct rte_vc *vc, int err, uint64_t router)
{
	if (vc->state == RTE_VC_STOPPED)
		return;
	/* What was to be told a little later. */
	if (vc->state == RTE_VC_UP && vc->ack_due)
		rte_vc_tell(vc);
	vc->state = RTE_VC_STOPPED;
	vc->err = err && !vc->failed ? err : FI_ECANCELED;
	vc->router = vc->failed ? 0 : router;

	rte_vc_lend_stop(vc);
	rte_vc_keep(vc);
	rte_vc_receives_end(vc);
	rte_vc_retire(vc);
}

bool rte_vc_unsent(struct rte_vc *vc)
{
	vc->watched = vc->state == RTE_VC_UP && ((vc->next < vc->tail && !vc->refused) ||
						 vc->ack_due || vc->nack_due);
	return vc->watched;
}

/* Callbacks come last: they may stop the connection. */
static void tell_owner(struct rte_vc *vc)
{
	const int err = vc->broken;

	if (crn_unlikely(err)) {
		vc->broken = 0;
		if (vc->attr.broken)
			vc->attr.broken(vc, err);
	}
	if (crn_unlikely(vc->watched) && vc->state == RTE_VC_UP && !rte_vc_unsent(vc) &&
	    vc->attr.drained)
		vc->attr.drained(vc);
}

/* Most calls have one of these things to do. */
void rte_vc_settle(struct rte_vc *vc)
{
	do {
		if (vc->head < vc->next)
			rte_vc_retire(vc);
		if (vc->state != RTE_VC_UP)
			break;
		if (vc->next < vc->tail)
			rte_vc_pump(vc);
		if (vc->serve_count)
			rte_vc_serve(vc);
		if (vc->nack_due || (vc->ack_due && !rte_peer_later(vc->peer)))
			rte_vc_tell(vc);
		if (crn_unlikely(vc->keys.recalled))
			rte_vc_return(vc);
		if (crn_unlikely(vc->untold))
			rte_vc_lend(vc);
	} while (!crn_list_empty(&vc->waiting) && rte_vc_drain(vc));
	if (vc->head < vc->tail)
		rte_vc_retire(vc);
	if (crn_unlikely(vc->broken || vc->watched))
		tell_owner(vc);
}

void rte_vc_ready(struct rte_vc *vc)
{
	if (vc->state == RTE_VC_UP)
		rte_vc_settle(vc);
}
