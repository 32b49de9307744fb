/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where datagrams came from: fi_cq_readfrom, and senders that are in no address vector
 * (FI_SOURCE_ERR). Such a completion is an error entry in the stash; the sender's address
 * waits in a ring of its own, in the same order, so that the others need no room for it.
 */
#include <stdlib.h>
#include "cq.h"
#include "internal.h"

/* Room for one more; without memory the program gets an error without an address. */
static void unknown_grow(struct pvb_unknown *unknown)
{
	const uint32_t size = unknown->size ? 2 * unknown->size : PVB_POLL_BATCH;
	struct pvb_ud_addr *addrs;
	uint32_t i;

	if (unknown->count < unknown->size)
		return;
	addrs = malloc(size * sizeof(*addrs));
	if (!addrs)
		return;
	for (i = 0; i < unknown->count; i++)
		addrs[i] = unknown->addrs[(unknown->head + i) & (unknown->size - 1)];
	free(unknown->addrs);
	unknown->addrs = addrs;
	unknown->size = size;
	unknown->head = 0;
}

void pvb_cq_stash_unknown(struct pvb_cq *cq, struct pvb_comp *comp,
			  const struct pvb_ud_addr *from)
{
	struct pvb_unknown *unknown = &cq->unknown;

	crn_lock_assert_held(&cq->lock);
	unknown_grow(unknown);
	comp->err = FI_EADDRNOTAVAIL;
	comp->prov_errno = 0;
	comp->source = PVB_SOURCE_NONE;
	if (unknown->count < unknown->size) {
		unknown->addrs[(unknown->head + unknown->count++) & (unknown->size - 1)] =
			*from;
		comp->source = PVB_SOURCE_UNKNOWN;
	}
	pvb_cq_stash(cq, comp);
}

const struct pvb_ud_addr *pvb_cq_take_unknown(struct pvb_cq *cq)
{
	struct pvb_unknown *unknown = &cq->unknown;

	crn_lock_assert_held(&cq->lock);
	unknown->last = unknown->addrs[unknown->head];
	unknown->head = (unknown->head + 1) & (unknown->size - 1);
	unknown->count--;
	return &unknown->last;
}

/* What the stash has, and then what the device has, by way of the stash. With the lock
 * held. */
static ssize_t source_read(struct pvb_cq *cq, void *buf, size_t count,
			   fi_addr_t *src_addr)
{
	const struct pvb_comp *comp;
	size_t done = 0;

	while (done < count && (cq->stash_count || pvb_cq_fetch(cq))) {
		comp = &cq->stash[cq->stash_head];
		if (comp->err)
			return done ? (ssize_t)done : -FI_EAVAIL;
		buf = pvb_cq_put(cq, buf, comp);
		src_addr[done++] = comp->source - 1;
		cq->stash_head = (cq->stash_head + 1) & (cq->stash_size - 1);
		cq->stash_count--;
	}
	return done ? (ssize_t)done : -FI_EAGAIN;
}

/* Of a queue that has endpoints with FI_SOURCE, for at least one entry. */
static ssize_t source_readfrom(struct pvb_cq *cq, void *buf, size_t count,
			       fi_addr_t *src_addr)
{
	ssize_t ret;

	crn_lock(&cq->lock);
	ret = source_read(cq, buf, count, src_addr);
	crn_unlock(&cq->lock);
	if (crn_likely(ret != -FI_EAGAIN))
		return ret;
	/* Looks after the device; what ends meanwhile is read the next time. */
	ret = pvb_cq_idle(cq, NULL, 0);
	return ret ? ret : -FI_EAGAIN;
}

ssize_t pvb_cq_readfrom(struct fid_cq *fid, void *buf, size_t count, fi_addr_t *src_addr)
{
	struct pvb_cq *cq = crn_container_of(fid, struct pvb_cq, fid);
	ssize_t i, ret;

	if (src_addr && count && atomic_load_explicit(&cq->sources, memory_order_relaxed))
		return source_readfrom(cq, buf, count, src_addr);
	ret = pvb_cq_read(fid, buf, count);
	for (i = 0; src_addr && i < ret; i++)
		src_addr[i] =
			FI_ADDR_NOTAVAIL; /* fi_cq(3): connected endpoints have none */
	return ret;
}
