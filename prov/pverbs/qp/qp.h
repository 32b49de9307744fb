/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A queue pair, its path, and shared receive contexts. A queue pair belongs to an
 * endpoint, which binds the completion queues and counters of its work queues.
 */
#ifndef PVB_QP_QP_H
#define PVB_QP_QP_H

#include "objects/objects.h"

/* Attributes of a queue pair. */
struct pvb_qp_attr {
	enum ibv_qp_type type;		   /* IBV_QPT_RC or IBV_QPT_UD */
	uint32_t tx_depth, rx_depth;	   /* entries */
	size_t tx_iov_limit, rx_iov_limit; /* pieces of an entry, without the GRH's */
	size_t inject_size;		   /* bytes that can be reused at once */
};

/* srx.c */

int pvb_srx_open(struct fid_domain *domain, struct fi_rx_attr *attr, struct fid_ep **ep,
		 void *context);
/* The queue pair is in ERR: takes its receives out of the device, until no more can
 * come or the deadline (crn_now_ms) has passed. */
void pvb_srx_drain(struct pvb_qp *qp, uint64_t deadline_ms);

/* grh.c */

/* For so many receives, if there are none yet: 0 or a negative code. */
int pvb_grhs_make(struct pvb_domain *domain, struct pvb_grhs *grhs, size_t slots);
void pvb_grhs_free(struct pvb_grhs *grhs);

/* With FI_MSG_PREFIX the first buffer of a call, of len bytes, begins with room for the
 * GRH. */
static inline bool pvb_prefix_fits(const struct pvb_ud_domain *ud, size_t len)
{
	return !ud->prefix || len >= PVB_GRH_SIZE;
}

/*
 * What is behind the program's buffers, of len bytes together: sge[count], if the link
 * has longer datagrams. Returns how many entries there are then.
 */
CRN_INLINE int pvb_excess_fill(const struct pvb_wq *wq, struct pvb_slot *slot,
			       struct ibv_sge *sge, int count, size_t len)
{
	const struct ibv_sge *excess = &wq->grhs.excess;

	if (len >= excess->length) {
		slot->room = (uint16_t)excess->length;
		return count;
	}
	slot->room = (uint16_t)len;
	sge[count] = *excess;
	sge[count].length -= (uint32_t)len;
	return count + 1;
}

/* The same as pvb_grh_fill, of a program that has room for the GRH in its first buffer.
 */
int pvb_grh_fill_prefix(const struct pvb_wq *wq, struct pvb_slot *slot,
			struct ibv_sge *sge, int count, size_t len);

/*
 * The scatter entries of a datagram's receive with that slot of wq: sge[0] is the GRH's,
 * len bytes of the program's in count entries are behind it, and there is room for one
 * more. plain: of PVB_SLOT_PLAIN_GRH. Returns how many they are together.
 */
CRN_INLINE int pvb_grh_fill(const struct pvb_wq *wq, struct pvb_slot *slot,
			    struct ibv_sge *sge, int count, size_t len, bool plain)
{
	struct pvb_grh *grh;

	sge[0] = wq->grhs.first;
	if (!plain) {
		if (crn_unlikely(wq->grhs.prefix))
			return pvb_grh_fill_prefix(wq, slot, sge, count, len);
		grh = pvb_grh_of(wq, slot);
		grh->at = grh->bytes;
		sge[0].addr = (uintptr_t)grh->bytes;
	}
	return pvb_excess_fill(wq, slot, sge, count + 1, len);
}

/* path.c */

/* Sets the options of an id that must be set before a requester resolves. */
void pvb_path_option(const struct pvb_ep *ep, struct rdma_cm_id *id);
/* Applies the user's settings to the attributes that rdma_cm chose for a transition. */
void pvb_path_attr(struct ibv_qp_attr *attr, int mask);
/* 0, or -FI_EHOSTUNREACH if the path does not have what the user requires. */
int pvb_path_check(const struct pvb_domain *domain, const struct ibv_qp_attr *attr,
		   int mask);

/* qp.c */

/* The device's queue pair, in RESET, and all that the two work queues need; nothing can
 * be posted. domain, srx and the queues' cq are set. 0 or a negative code. */
int pvb_qp_open(struct pvb_qp *qp, const struct pvb_qp_attr *attr);
void pvb_qp_close(struct pvb_qp *qp);
/* In INIT: receives can be posted, and completions are the program's. watch_shared: more
 * is to be known of receives of its shared context than that they completed. 0 or
 * -FI_ENOMEM. */
int pvb_qp_start(struct pvb_qp *qp, bool watch_shared);
void pvb_qp_stop(struct pvb_qp *qp);
/* To INIT: path has the port and the P_Key, as mask says. atomics: the peer may use them.
 * 0 or a negative code. */
int pvb_qp_init(struct pvb_qp *qp, struct ibv_qp_attr *path, int mask, bool atomics);
/* Operations may be posted to one of its queues, until pvb_wq_shut. */
void pvb_wq_open(struct pvb_wq *wq);
/* Allocates the slots of a queue, and sets its size if it is open: 0, or -FI_ENOMEM.
 * With the lock of posting to it held, or before it is open. */
int pvb_wq_make(struct pvb_wq *wq);
/*
 * qp->bounce: where the device takes less inline data than may be injected, buffers of
 * inject_size bytes, one a slot. 0, or a negative code. With tx_lock held.
 */
int pvb_bounce_make(struct pvb_qp *qp, size_t inject_size);
/* To ERR: everything posted flushes. */
void pvb_qp_error(struct pvb_qp *qp);

#endif
