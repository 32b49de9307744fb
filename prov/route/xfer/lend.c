/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The bypass, of the end whose regions are read and written: it tells the lower
 * provider's key of a region, and recalls it before the region closes. direct.c is the
 * other end, or the last router has its part (util/fi_router/transit/lasthop.c).
 */
#include <stdlib.h>
#include "ops.h"

/* Not where a counter is to tell of it; and a lower key begins at the region. */
bool rte_vc_lends(const struct rte_vc *vc)
{
	return vc->attr.lend && vc->attr.map && !vc->attr.map->virt_addr &&
	       !rte_vc_counted(vc, FI_REMOTE_READ) &&
	       !rte_vc_counted(vc, FI_REMOTE_WRITE);
}

static struct rte_vc_loan *loan_find(struct rte_vc *vc, uint64_t key, uint64_t epoch)
{
	struct rte_vc_loan *loan;
	struct crn_list *entry;

	crn_list_for_each (entry, &vc->loans) {
		loan = crn_container_of(entry, struct rte_vc_loan, of_vc);
		if (loan->info.key == key && loan->info.epoch == epoch)
			return loan;
	}
	return NULL;
}

static void loan_end(struct rte_vc_loan *loan)
{
	crn_list_del(&loan->of_vc);
	crn_list_del(&loan->of_mr);
	free(loan);
}

static int loan_make(struct rte_vc *vc, struct crn_mr *mr)
{
	struct rte_vc_loan *loan;
	int ret;

	/* What is written there is made durable, which the lower provider does not do. */
	if (vc->attr.persistent && vc->attr.persistent(vc, mr))
		return -FI_EOPNOTSUPP;
	loan = calloc(1, sizeof(*loan));
	if (!loan)
		return -FI_ENOMEM;
	loan->vc = vc;
	loan->info = (struct rte_mr_info){
		.key = mr->key,
		.length = mr->len,
		.epoch = mr->number,
		.access = (mr->access & FI_REMOTE_READ ? RTE_ACCESS_READ : 0) |
			  (mr->access & FI_REMOTE_WRITE ? RTE_ACCESS_WRITE : 0),
	};
	crn_list_init(&loan->of_mr);
	ret = vc->attr.lend(vc, mr, loan);
	if (ret) {
		free(loan);
		return ret;
	}
	crn_list_add_tail(&vc->loans, &loan->of_vc);
	rte_peer_lends(vc->peer);
	/* What a router writes there only that router knows of. */
	vc->ordinary |= !vc->path.direct;
	return 0;
}

static int region_lend(struct rte_vc *vc, uint64_t key)
{
	struct crn_mr *mr;
	void *at;
	int ret = crn_mr_find(vc->attr.map, key, 0, 0, 0, &at, &mr);

	if (ret)
		return ret;
	return loan_find(vc, key, mr->number) ? -FI_EBUSY : loan_make(vc, mr);
}

/* False: there is no credit or memory now. */
static bool info_post(struct rte_vc *vc, const struct rte_mr_info *info)
{
	struct rte_tx *tx = rte_tx_get(vc->peer, RTE_RESPONSES, RTE_SMALL_ROOM);
	struct rte_packet packet;
	ssize_t len;

	if (!tx)
		return false;
	rte_vc_head(vc, &packet, RTE_MR_INFO, 0, false);
	packet.head.flags = info->status ? RTE_ERR : 0;
	len = rte_mr_info_pack(&packet, info, tx->bytes, tx->room);
	assert(len > 0);
	tx->len = (size_t)len;
	rte_tx_post(tx);
	return true;
}

/* A refusal that cannot be told now never is: its key stays one for messages. */
const char *rte_vc_resolve(struct rte_vc *vc, uint64_t key)
{
	struct rte_mr_info refusal = {.key = key};
	int ret;

	if (!vc->path.bypassed)
		return "MR_RESOLVE where nothing is lent";
	crn_mr_begin(vc->attr.map);
	ret = region_lend(vc, key);
	crn_mr_end(vc->attr.map);
	refusal.status = (uint32_t)-ret;
	if (ret)
		info_post(vc, &refusal);
	else
		vc->untold++;
	return NULL;
}

void rte_vc_lend(struct rte_vc *vc)
{
	struct rte_vc_loan *loan;
	struct crn_list *entry;

	crn_list_for_each (entry, &vc->loans) {
		loan = crn_container_of(entry, struct rte_vc_loan, of_vc);
		if (loan->told)
			continue;
		if (!info_post(vc, &loan->info))
			return;
		loan->told = true;
		vc->untold--;
	}
}

void rte_vc_recall(struct rte_vc_loan *loan)
{
	const struct rte_mr_inval inval = {
		.key = loan->info.key,
		.epoch = loan->info.epoch,
	};

	if (loan->told && !loan->recalled)
		loan->recalled = rte_key_inval(loan->vc->peer, &inval, RTE_ACKREQ);
}

const char *rte_vc_returned(struct rte_vc *vc, const struct rte_mr_inval *inval)
{
	struct rte_vc_loan *loan = loan_find(vc, inval->key, inval->epoch);

	if (!loan || !loan->recalled)
		return "MR_INVAL of what was not recalled";
	loan_end(loan);
	return NULL;
}

void rte_vc_overdue(struct rte_vc_loan *loan)
{
	if (loan->vc->attr.broken)
		loan->vc->attr.broken(loan->vc, FI_ETIMEDOUT);
}

void rte_vc_lend_stop(struct rte_vc *vc)
{
	while (!crn_list_empty(&vc->loans))
		loan_end(crn_container_of(vc->loans.next, struct rte_vc_loan, of_vc));
}
