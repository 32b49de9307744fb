/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Statistics for operators: rdma/fi_ext_cairn.h. Numbers of entries come from the
 * positions of the rings; the others are counted on slow paths only.
 */
#include <string.h>
#include <rdma/fi_ext_cairn.h>
#include "dgram/dgram.h"
#include "persist/persist.h"
#include "xfer/xfer.h"
#include "internal.h"

/* The rings count in 32 bits. */
static uint64_t pvb_stats_entries(struct pvb_wq *wq)
{
	wq->entries += (uint32_t)(wq->ring.head - (uint32_t)wq->entries);
	return wq->entries;
}

static void pvb_stats_get(struct pvb_ep *ep, struct fi_cairn_stats *stats)
{
	struct pvb_qp *qp = &ep->qp;

	crn_lock(&qp->tx_lock);
	stats->tx_entries = pvb_stats_entries(&qp->sq);
	stats->tx_stalls = qp->sq.stalls;
	stats->keepalives = qp->keepalives;
	stats->mc_dropped = ep->dgram ? ep->dgram->mcs.dropped : 0;
	pvb_durable_stats(qp, stats);
	crn_unlock(&qp->tx_lock);
	crn_lock(&qp->rx_lock);
	stats->rx_entries = pvb_stats_entries(&qp->rq);
	stats->rx_stalls = qp->rq.stalls;
	crn_unlock(&qp->rx_lock);
}

static int pvb_stats_read(struct fid_ep *fid, struct fi_cairn_stats *out, size_t len)
{
	struct fi_cairn_stats stats;

	if (fid->msg != &pvb_msg_ops && fid->msg != &pvb_dgram_msg_ops)
		return -FI_EINVAL;
	pvb_stats_get(pvb_ep_of(fid), &stats);
	memset(out, 0, len);
	memcpy(out, &stats, CRN_MIN(len, sizeof(stats)));
	return 0;
}

static struct fi_cairn_ops_stats pvb_stats_ops = {
	.size = sizeof(struct fi_cairn_ops_stats),
	.read = pvb_stats_read,
};

int pvb_stats_open(struct fid *fid, const char *name, uint64_t flags, void **ops,
		   void *context)
{
	if (strcmp(name, FI_CAIRN_STATS) != 0)
		return -FI_ENOSYS;
	if (flags)
		return -FI_EINVAL;
	*ops = &pvb_stats_ops;
	return 0;
}

void pvb_stats_log(struct pvb_ep *ep)
{
	struct fi_cairn_stats stats;

	if (!ep->qp.ibv)
		return;
	pvb_stats_get(ep, &stats);
	PVB_INFO(FI_LOG_EP_DATA,
		 "queue pair 0x%x: %llu entries sent (%llu stalls), %llu received (%llu "
		 "stalls), %llu keep-alives\n",
		 ep->qp.ibv->qp_num, (unsigned long long)stats.tx_entries,
		 (unsigned long long)stats.tx_stalls,
		 (unsigned long long)stats.rx_entries,
		 (unsigned long long)stats.rx_stalls,
		 (unsigned long long)stats.keepalives);
	if (ep->qp.commit)
		PVB_INFO(FI_LOG_EP_DATA,
			 "queue pair 0x%x: durable by arrival %llu, read %llu, FLUSH "
			 "%llu, "
			 "request %llu, message %llu, a later one %llu; upgrades %llu\n",
			 ep->qp.ibv->qp_num, (unsigned long long)stats.commit_arrived,
			 (unsigned long long)stats.commit_read,
			 (unsigned long long)stats.commit_flush,
			 (unsigned long long)stats.commit_request,
			 (unsigned long long)stats.commit_message,
			 (unsigned long long)stats.commit_later,
			 (unsigned long long)stats.commit_upgrades);
}
