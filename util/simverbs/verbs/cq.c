/* SPDX-License-Identifier: BSD-2-Clause */
/* Completion queues: the consumer's side. */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include "model/model.h"
#include "tsan.h"
#include "verbs.h"

uint32_t svb_ring_count(uint32_t entries)
{
	uint32_t count = 1;

	while (count < entries)
		count <<= 1;
	return count;
}

/* Frees the slot that the request or receive had in its queue. */
static inline void svb_cqe_release(const struct svb_cqe *cqe)
{
	__atomic_store_n((uint32_t *)svb_seg_at(svb_self.seg, cqe->release),
			 cqe->release_to, __ATOMIC_RELEASE);
}

#define SVB_IDLE_POLLS 64

/*
 * Who polls an empty queue may be what keeps the peer off the processor: there is no
 * adapter beside the two.
 */
static void svb_cq_idle(void)
{
	/* Of the thread: an explorer takes queues back, not it. */
	static __thread uint32_t idle __attribute__((tls_model("initial-exec")));

	svb_engine_timers();
	if (svb_unlikely(svb_self.model))
		svb_model_poll();
	if (++idle % SVB_IDLE_POLLS == 0)
		sched_yield();
}

static inline bool svb_cq_empty(const struct svb_cq_sh *sh)
{
	return __atomic_load_n(&sh->tail, __ATOMIC_ACQUIRE) ==
	       __atomic_load_n(&sh->head, __ATOMIC_RELAXED);
}

/* Takes up to count completions. Poll lock held; unlocks. */
static inline int svb_cq_take(struct svb_cq *cq, int count, struct ibv_wc *wc)
{
	struct svb_cq_sh *sh = cq->sh;
	uint32_t head = sh->head, tail = __atomic_load_n(&sh->tail, __ATOMIC_ACQUIRE);
	const struct svb_cqe *cqe;
	int done = 0;

	while (done < count && head != tail) {
		cqe = (struct svb_cqe *)cq->ring + (head++ & cq->mask);
		wc[done++] = cqe->wc;
		svb_tsan_completed(cqe->wc.wr_id);
		svb_cqe_release(cqe);
	}
	__atomic_store_n(&sh->head, head, __ATOMIC_RELEASE);
	svb_unlock(&cq->poll);
	return done;
}

/* The queue is empty, or somebody else polls it. */
static __attribute__((noinline)) int svb_poll_wait(struct svb_cq *cq, int count,
						   struct ibv_wc *wc)
{
	if (svb_cq_empty(cq->sh)) {
		svb_cq_idle();
		if (svb_cq_empty(cq->sh))
			return 0;
	}
	svb_lock(&cq->poll);
	return svb_cq_take(cq, count, wc);
}

int svb_poll_cq(struct ibv_cq *ibcq, int count, struct ibv_wc *wc)
{
	struct svb_cq *cq = svb_cq(ibcq);

	if (svb_cq_empty(cq->sh) || !svb_trylock(&cq->poll))
		return svb_poll_wait(cq, count, wc);
	return svb_cq_take(cq, count, wc);
}

int svb_req_notify_cq(struct ibv_cq *ibcq, int solicited_only)
{
	struct svb_cq_sh *sh = svb_cq(ibcq)->sh;

	svb_lock(&sh->lock);
	/* IBA 11.4.2.2: asking for less does not take back having asked for all. */
	if (sh->armed != SVB_ARMED_ANY)
		sh->armed = solicited_only ? SVB_ARMED_SOLICITED : SVB_ARMED_ANY;
	svb_unlock(&sh->lock);
	if (svb_unlikely(svb_self.model))
		svb_model_rest();
	return 0;
}

/* One entry at a time, held between start_poll and end_poll; ibv_create_cq_ex(3). */
static bool svb_cq_step(struct svb_cq *cq)
{
	struct svb_cq_sh *sh = cq->sh;

	if (cq->current) {
		svb_cqe_release(cq->current);
		__atomic_store_n(&sh->head, sh->head + 1, __ATOMIC_RELEASE);
		cq->current = NULL;
	}
	if (svb_cq_empty(sh))
		return false;
	cq->current = (struct svb_cqe *)cq->ring + (sh->head & cq->mask);
	cq->ex.status = cq->current->wc.status;
	cq->ex.wr_id = cq->current->wc.wr_id;
	svb_tsan_completed(cq->ex.wr_id);
	return true;
}

int svb_cq_next_poll(struct ibv_cq_ex *ex)
{
	return svb_cq_step((struct svb_cq *)ex) ? 0 : ENOENT;
}

int svb_cq_start_poll(struct ibv_cq_ex *ex, struct ibv_poll_cq_attr *attr)
{
	struct svb_cq *cq = (struct svb_cq *)ex;

	if (attr->comp_mask)
		return EINVAL;
	if (svb_cq_empty(cq->sh))
		svb_cq_idle();
	svb_lock(&cq->poll);
	if (svb_cq_step(cq))
		return 0;
	svb_unlock(&cq->poll);
	return ENOENT;
}

void svb_cq_end_poll(struct ibv_cq_ex *ex)
{
	struct svb_cq *cq = (struct svb_cq *)ex;

	svb_cq_step(cq);
	cq->current = NULL;
	svb_unlock(&cq->poll);
}

void svb_cq_clean(struct svb_cq *cq, uint32_t qpn)
{
	struct svb_cqe *ring = (struct svb_cqe *)cq->ring;
	struct svb_cq_sh *sh = cq->sh;
	uint32_t at, to;

	svb_lock(&cq->poll);
	svb_lock(&sh->lock);
	/* Backwards, so that what stays moves towards the producer's end. */
	for (at = to = sh->tail; at != sh->head; at--)
		if (ring[(at - 1) & cq->mask].wc.qp_num != qpn) {
			to--;
			ring[to & cq->mask] = ring[(at - 1) & cq->mask];
		}
	__atomic_store_n(&sh->head, to, __ATOMIC_RELEASE);
	svb_unlock(&sh->lock);
	svb_unlock(&cq->poll);
}

/* A ring for that many entries, of this process' segment. */
static uint64_t svb_cq_ring(uint32_t entries, uint64_t *size)
{
	*size = (uint64_t)svb_ring_count(entries) * sizeof(struct svb_cqe);
	return svb_seg_alloc(*size);
}

static void svb_cq_use_ring(struct svb_cq *cq, uint64_t ring, uint64_t size,
			    uint32_t entries)
{
	cq->ring_size = size;
	cq->ring = svb_seg_at(svb_self.seg, ring);
	cq->mask = svb_ring_count(entries) - 1;
	cq->ibv.cqe = (int)entries;
	cq->sh->ring = ring;
	cq->sh->mask = cq->mask;
	cq->sh->limit = entries;
}

static void svb_cq_free(struct svb_cq *cq)
{
	cq->sh->used = 0;
	svb_seg_free(cq->sh->ring, cq->ring_size);
	svb_slot_free(SVB_TAB_CQ, cq->slot);
	free(cq);
}

static struct svb_cq *svb_cq_alloc(struct ibv_context *ctx, uint32_t entries)
{
	struct svb_cq *cq = calloc(1, sizeof(*cq));
	uint64_t size = 0, ring;
	int64_t slot;

	ring = cq ? svb_cq_ring(entries, &size) : 0;
	slot = ring ? svb_slot_alloc(SVB_TAB_CQ) : -1;
	if (slot < 0) {
		if (ring)
			svb_seg_free(ring, size);
		free(cq);
		errno = ENOMEM;
		return NULL;
	}
	cq->slot = (uint32_t)slot;
	cq->sh = svb_seg_cq(svb_self.seg, cq->slot);
	memset(cq->sh, 0, sizeof(*cq->sh));
	svb_cq_use_ring(cq, ring, size, entries);
	cq->sh->async = svb_context(ctx)->bell;
	return cq;
}

struct ibv_cq_ex *svb_create_cq_ex(struct ibv_context *ctx,
				   struct ibv_cq_init_attr_ex *attr)
{
	struct ibv_comp_channel *channel = attr->channel;
	struct svb_cq *cq;

	if (svb_removed_ctx(ctx))
		return NULL;
	if (!attr->cqe || attr->cqe > svb_self.settings.max_cqe ||
	    attr->comp_vector >= (uint32_t)ctx->num_comp_vectors) {
		errno = EINVAL;
		return NULL;
	}
	if (attr->comp_mask &
		    ~(uint32_t)(IBV_CQ_INIT_ATTR_MASK_FLAGS | IBV_CQ_INIT_ATTR_MASK_PD) ||
	    attr->wc_flags & ~(uint64_t)(IBV_WC_STANDARD_FLAGS |
					 IBV_WC_EX_WITH_COMPLETION_TIMESTAMP |
					 IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK)) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	cq = svb_cq_alloc(ctx, attr->cqe);
	if (!cq)
		return NULL;
	cq->ibv.context = ctx;
	cq->ibv.channel = channel;
	cq->ibv.cq_context = attr->cq_context;
	cq->ibv.handle = cq->slot;
	pthread_mutex_init(&cq->ibv.mutex, NULL);
	pthread_cond_init(&cq->ibv.cond, NULL);
	svb_cq_ex_init(cq, attr->wc_flags);
	if (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS &&
	    attr->flags & IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN)
		cq->sh->flags |= SVB_CQ_IGNORE_OVERRUN;
	cq->sh->bell = channel ? ((struct svb_channel *)channel)->bell : 0;
	pthread_mutex_lock(&svb_self.mutex);
	if (channel)
		channel->refcnt++;
	svb_self.cq[cq->slot] = cq;
	cq->sh->used = 1;
	pthread_mutex_unlock(&svb_self.mutex);
	return &cq->ex;
}

SVB_API struct ibv_cq *ibv_create_cq(struct ibv_context *ctx, int cqe, void *cq_context,
				     struct ibv_comp_channel *channel, int comp_vector)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = cqe > 0 ? (uint32_t)cqe : 0,
		.cq_context = cq_context,
		.channel = channel,
		.comp_vector = comp_vector < 0 ? UINT32_MAX : (uint32_t)comp_vector,
		.wc_flags = IBV_WC_STANDARD_FLAGS,
	};

	return (struct ibv_cq *)svb_create_cq_ex(ctx, &attr);
}

/* Both sides stand still while the entries move. */
SVB_API int ibv_resize_cq(struct ibv_cq *ibcq, int cqe)
{
	struct svb_cq *cq = svb_cq(ibcq);
	struct svb_cq_sh *sh = cq->sh;
	uint64_t ring, size, old = sh->ring, old_size = cq->ring_size;
	struct svb_cqe *from, *to;
	uint32_t mask, at;
	int ret = 0;

	if (cqe < 1 || (uint32_t)cqe > svb_self.settings.max_cqe)
		return EINVAL;
	if (svb_removed_ctx(ibcq->context))
		return EIO;
	ring = svb_cq_ring((uint32_t)cqe, &size);
	if (!ring)
		return ENOMEM;
	to = svb_seg_at(svb_self.seg, ring);
	mask = svb_ring_count((uint32_t)cqe) - 1;
	svb_lock(&cq->poll);
	svb_lock(&sh->lock);
	from = (struct svb_cqe *)cq->ring;
	if (sh->tail - sh->head > (uint32_t)cqe || sh->flags & SVB_CQ_ERROR) {
		ret = EINVAL;
	} else {
		for (at = sh->head; at != sh->tail; at++)
			to[at & mask] = from[at & cq->mask];
		svb_cq_use_ring(cq, ring, size, (uint32_t)cqe);
	}
	svb_unlock(&sh->lock);
	svb_unlock(&cq->poll);
	svb_seg_free(ret ? ring : old, ret ? size : old_size);
	return ret;
}

SVB_API int ibv_destroy_cq(struct ibv_cq *ibcq)
{
	struct svb_cq *cq = svb_cq(ibcq);

	pthread_mutex_lock(&svb_self.mutex);
	if (cq->users) {
		pthread_mutex_unlock(&svb_self.mutex);
		return EBUSY;
	}
	svb_self.cq[cq->slot] = NULL;
	if (ibcq->channel)
		ibcq->channel->refcnt--;
	pthread_mutex_unlock(&svb_self.mutex);
	svb_wait_acked(&ibcq->mutex, &ibcq->cond, &ibcq->comp_events_completed,
		       &cq->given);
	svb_wait_acked(&ibcq->mutex, &ibcq->cond, &ibcq->async_events_completed,
		       &cq->async_given);
	pthread_mutex_destroy(&ibcq->mutex);
	pthread_cond_destroy(&ibcq->cond);
	svb_cq_free(cq);
	return 0;
}
