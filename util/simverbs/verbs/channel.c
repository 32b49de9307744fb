/* SPDX-License-Identifier: BSD-2-Clause */
/* Completion channels. */
#include <errno.h>
#include <stdlib.h>
#include "model/model.h"
#include "verbs.h"

void svb_wait_acked(pthread_mutex_t *lock, pthread_cond_t *cond, const uint32_t *acked,
		    const uint32_t *given)
{
	pthread_mutex_lock(lock);
	while (*acked != *given)
		pthread_cond_wait(cond, lock);
	pthread_mutex_unlock(lock);
}

SVB_API struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *ctx)
{
	struct svb_channel *channel;

	if (svb_removed_ctx(ctx))
		return NULL;
	channel = calloc(1, sizeof(*channel));
	if (!channel)
		return NULL;
	channel->ibv.context = ctx;
	channel->ibv.fd = svb_bell_open(0, &channel->bell);
	if (channel->ibv.fd < 0) {
		free(channel);
		return NULL;
	}
	return &channel->ibv;
}

SVB_API int ibv_destroy_comp_channel(struct ibv_comp_channel *ibchannel)
{
	struct svb_channel *channel = (struct svb_channel *)ibchannel;
	bool busy;

	pthread_mutex_lock(&svb_self.mutex);
	busy = ibchannel->refcnt > 0;
	pthread_mutex_unlock(&svb_self.mutex);
	if (busy)
		return EBUSY;
	svb_bell_close(ibchannel->fd, channel->bell);
	free(channel);
	return 0;
}

/* The next queue of the channel that has an event, in turn. Mutex held. */
static struct svb_cq *svb_channel_next(struct svb_channel *channel)
{
	uint32_t limit = svb_self.seg->limit[SVB_TAB_CQ], i, slot;
	struct svb_cq *cq;

	for (i = 0; i < limit; i++) {
		slot = (channel->next + i) % limit;
		cq = svb_self.cq[slot];
		if (!cq || cq->sh->bell != channel->bell ||
		    !__atomic_load_n(&cq->sh->events, __ATOMIC_ACQUIRE))
			continue;
		channel->next = slot + 1;
		return cq;
	}
	return NULL;
}

SVB_API int ibv_get_cq_event(struct ibv_comp_channel *ibchannel, struct ibv_cq **ibcq,
			     void **cq_context)
{
	struct svb_channel *channel = (struct svb_channel *)ibchannel;
	struct svb_cq *cq = NULL;
	bool more = false;

	if (svb_unlikely(svb_self.model))
		svb_model_rest();
	while (!cq) {
		errno = svb_bell_take(ibchannel->fd);
		if (errno)
			return -1;
		pthread_mutex_lock(&svb_self.mutex);
		cq = svb_channel_next(channel);
		if (cq) {
			__atomic_sub_fetch(&cq->sh->events, 1, __ATOMIC_ACQ_REL);
			cq->given++;
			more = svb_channel_next(channel);
		}
		pthread_mutex_unlock(&svb_self.mutex);
		if (!cq && svb_removed_ctx(ibchannel->context))
			return -1;
	}
	/* A ring may have been lost to a full queue. */
	if (more)
		svb_bell_keep(ibchannel->fd, channel->bell);
	*ibcq = &cq->ibv;
	*cq_context = cq->ibv.cq_context;
	return 0;
}

SVB_API void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int nevents)
{
	pthread_mutex_lock(&cq->mutex);
	cq->comp_events_completed += nevents;
	pthread_cond_signal(&cq->cond);
	pthread_mutex_unlock(&cq->mutex);
}
