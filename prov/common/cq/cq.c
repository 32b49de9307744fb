/* SPDX-License-Identifier: BSD-2-Clause */
/* Completion queues as objects: opened, sized, closed; fi_cq(3). */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rdma/fi_errno.h>
#include <cairn/nosys.h>
#include "internal.h"

#define CQ_SIZE_DEFAULT 1024
/* Positions are 32 bits, rings powers of two. */
#define CQ_SIZE_MAX (1u << 31)

static int cq_set_format(struct crn_cq *cq, enum fi_cq_format format)
{
	switch (format) {
	case FI_CQ_FORMAT_UNSPEC:
		cq->format = FI_CQ_FORMAT_CONTEXT;
		return 0;
	case FI_CQ_FORMAT_CONTEXT:
	case FI_CQ_FORMAT_MSG:
	case FI_CQ_FORMAT_DATA:
	case FI_CQ_FORMAT_TAGGED:
		cq->format = format;
		return 0;
	default:
		return -FI_ENOSYS;
	}
}

static struct crn_cq_slot *cq_ring_alloc(uint64_t places, uint32_t *slots)
{
	if (places > CQ_SIZE_MAX)
		return NULL;
	*slots = crn_roundup_pow2((uint32_t)places);
	return calloc(*slots, sizeof(struct crn_cq_slot));
}

/* Puts what waits to be read into a larger ring; returns the old one. Called with the
 * lock held. */
static struct crn_cq_slot *cq_move(struct crn_cq *cq, struct crn_cq_slot *ring,
				   uint32_t slots)
{
	struct crn_cq_slot *old = cq->ring;
	const uint32_t count = crn_cq_count(cq);
	uint32_t i;

	crn_lock_assert_held(&cq->lock);
	for (i = 0; i < count; i++)
		ring[i] = *crn_cq_slot(cq, i);
	crn_cq_release(cq, slots - 1 - cq->mask);
	cq->ring = ring;
	cq->mask = slots - 1;
	cq->head = 0;
	return old;
}

static int cq_grow(struct crn_cq *cq, uint64_t places)
{
	struct crn_cq_slot *ring;
	uint32_t slots;

	ring = cq_ring_alloc(places, &slots);
	if (!ring)
		return -FI_ENOMEM;
	crn_lock(cq->guard);
	/* Another thread may have been faster. */
	if (slots > cq->mask + 1)
		ring = cq_move(cq, ring, slots);
	crn_unlock(cq->guard);
	free(ring);
	return 0;
}

int crn_cq_attach(struct crn_cq *cq, uint32_t depth)
{
	uint64_t pledged;
	bool enough;
	int ret;

	crn_lock(cq->guard);
	pledged = cq->pledged += depth;
	enough = pledged <= (uint64_t)cq->mask + 1;
	crn_unlock(cq->guard);
	atomic_fetch_add(&cq->refs, 1);
	ret = enough ? 0 : cq_grow(cq, pledged);
	if (ret)
		crn_cq_detach(cq, depth);
	return ret;
}

/* The places stay: unread completions may be in them. */
void crn_cq_detach(struct crn_cq *cq, uint32_t depth)
{
	crn_lock(cq->guard);
	cq->pledged -= depth;
	crn_unlock(cq->guard);
	atomic_fetch_sub(&cq->refs, 1);
}

static const char *cq_strerror(struct fid_cq *fid, int prov_errno, const void *err_data,
			       char *buf, size_t len)
{
	struct crn_cq *cq = crn_cq_of(fid);
	const char *text;

	if (cq->strerror)
		text = cq->strerror(cq, prov_errno, err_data);
	else
		text = fi_strerror(prov_errno < -INT_MAX ? INT_MAX : abs(prov_errno));
	if (!buf || !len)
		return text;
	snprintf(buf, len, "%s", text);
	return buf;
}

int crn_cq_control(struct fid *fid, int command, void *arg)
{
	return crn_wait_control(&crn_container_of(fid, struct crn_cq, fid.fid)->wait,
				command, arg);
}

static int cq_close(struct fid *fid)
{
	return crn_cq_fini(crn_container_of(fid, struct crn_cq, fid.fid));
}

static struct fi_ops cq_fid_ops = {
	.size = sizeof(struct fi_ops),
	.close = cq_close,
	.bind = crn_nosys_bind,
	.control = crn_cq_control,
	.ops_open = crn_nosys_ops_open,
	.tostr = crn_nosys_tostr,
	.ops_set = crn_nosys_ops_set,
};

static struct fi_ops_cq cq_ops = {
	.size = sizeof(struct fi_ops_cq),
	.read = crn_cq_read,
	.readfrom = crn_cq_readfrom,
	.readerr = crn_cq_readerr,
	.sread = crn_cq_sread,
	.sreadfrom = crn_cq_sreadfrom,
	.signal = crn_cq_signal,
	.strerror = cq_strerror,
};

int crn_cq_init(struct crn_cq *cq, struct fid_domain *domain,
		const struct fi_cq_attr *attr, bool locked, void *context)
{
	size_t size;
	uint32_t slots;
	int ret;

	if (!attr || (attr->flags & ~FI_AFFINITY))
		return -FI_EINVAL;
	/* fi_cq(3): "This field is ignored if wait_obj is set to FI_WAIT_NONE." */
	if (attr->wait_obj != FI_WAIT_NONE && attr->wait_cond != FI_CQ_COND_NONE &&
	    attr->wait_cond != FI_CQ_COND_THRESHOLD)
		return -FI_EINVAL;
	memset(cq, 0, sizeof(*cq));
	ret = cq_set_format(cq, attr->format);
	if (ret)
		return ret;
	ret = crn_wait_init(&cq->wait, attr->wait_obj);
	if (ret)
		return ret;
	size = attr->size ? attr->size : CQ_SIZE_DEFAULT;
	cq->ring = cq_ring_alloc(size, &slots);
	if (!cq->ring) {
		crn_wait_fini(&cq->wait);
		return -FI_ENOMEM;
	}
	ret = crn_lock_init(&cq->lock, locked);
	if (ret) {
		free(cq->ring);
		crn_wait_fini(&cq->wait);
		return ret;
	}
	cq->guard = &cq->lock;
	cq->mask = slots - 1;
	atomic_store(&cq->room, slots);
	cq->wait_cond = attr->wait_cond;
	cq->domain = domain;
	cq->api_version = FI_VERSION(1, 5);
	cq->fid.fid.fclass = FI_CLASS_CQ;
	cq->fid.fid.context = context;
	cq->fid.fid.ops = &cq_fid_ops;
	cq->fid.ops = &cq_ops;
	return 0;
}

int crn_cq_fini(struct crn_cq *cq)
{
	struct crn_cq_slot *slot;
	uint32_t i;

	if (atomic_load(&cq->refs))
		return -FI_EBUSY;
	crn_lock(cq->guard);
	for (i = 0; i < crn_cq_count(cq); i++) {
		slot = crn_cq_slot(cq, i);
		/* What a success has there is of an error that was read. */
		if (slot->err)
			free(slot->err_data);
	}
	crn_unlock(cq->guard);
	free(cq->last_error);
	free(cq->ring);
	crn_lock_fini(&cq->lock);
	crn_wait_fini(&cq->wait);
	return 0;
}
