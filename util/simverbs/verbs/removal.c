/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include "model/model.h"
#include "request.h"
#include "verbs.h"

static struct {
	bool gone[SVB_MAX_DEVICES];
	void (*tell)(uint32_t device);
} svb_removal;

bool svb_removed(uint32_t device)
{
	return __atomic_load_n(&svb_removal.gone[device], __ATOMIC_ACQUIRE);
}

bool svb_removed_ctx(struct ibv_context *ctx)
{
	if (!svb_removed(svb_context(ctx)->device->index))
		return false;
	errno = EIO;
	return true;
}

void svb_removal_tell(void (*fn)(uint32_t device))
{
	__atomic_store_n(&svb_removal.tell, fn, __ATOMIC_RELEASE);
}

static bool svb_removal_of(struct ibv_context *ctx, uint32_t device)
{
	return svb_context(ctx)->device->index == device;
}

/* Stops completions, as of an adapter that was pulled out. Mutex held. */
static void svb_removal_mute(uint32_t device)
{
	struct svb_cq *cq;
	uint32_t i;

	for (i = 0; i < svb_self.seg->limit[SVB_TAB_CQ]; i++) {
		cq = svb_self.cq[i];
		if (!cq || !svb_removal_of(cq->ibv.context, device))
			continue;
		svb_lock(&cq->sh->lock);
		cq->sh->flags |= SVB_CQ_MUTE;
		cq->sh->limit = 0;
		svb_unlock(&cq->sh->lock);
	}
}

/* Mutex held. */
static void svb_removal_end_qps(uint32_t device)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
	struct svb_qp *qp;
	uint32_t i;

	for (i = 0; i < svb_self.seg->limit[SVB_TAB_QP]; i++) {
		qp = svb_self.qp[i];
		if (qp && svb_removal_of(qp->ibv.context, device))
			svb_modify_qp(&qp->ibv, &attr, IBV_QP_STATE);
	}
}

/* Wakes threads that wait for an event, now and in every later wait. Mutex held. */
static void svb_removal_wake(uint32_t device)
{
	struct svb_context *ctx;
	struct crn_list *at;
	struct svb_cq *cq;
	uint32_t i;

	for (i = 0; i < svb_self.seg->limit[SVB_TAB_CQ]; i++) {
		cq = svb_self.cq[i];
		if (cq && cq->ibv.channel && svb_removal_of(cq->ibv.context, device))
			shutdown(cq->ibv.channel->fd, SHUT_RD);
	}
	crn_list_for_each (at, &svb_self.contexts) {
		ctx = crn_container_of(at, struct svb_context, entry);
		if (ctx->device->index != device)
			continue;
		/* It belongs to no port; where it is kept does not show. */
		svb_async_port(ctx, 1, IBV_EVENT_DEVICE_FATAL);
		shutdown(ctx->vctx.context.async_fd, SHUT_RD);
	}
}

void svb_removal_do(uint32_t device)
{
	void (*tell)(uint32_t device) =
		__atomic_load_n(&svb_removal.tell, __ATOMIC_ACQUIRE);

	if (__atomic_exchange_n(&svb_removal.gone[device], true, __ATOMIC_ACQ_REL))
		return;
	if (svb_self.settings.removal == SVB_REMOVAL_SILENT) {
		pthread_mutex_lock(&svb_self.mutex);
		svb_removal_mute(device);
		pthread_mutex_unlock(&svb_self.mutex);
	}
	if (tell)
		tell(device);
	if (svb_unlikely(svb_self.model))
		svb_model_settle(0);
	pthread_mutex_lock(&svb_self.mutex);
	svb_removal_end_qps(device);
	svb_removal_wake(device);
	pthread_mutex_unlock(&svb_self.mutex);
}

static void svb_removal_asked(const char *name)
{
	uint32_t i;

	for (i = 0; i < svb_self.settings.devices; i++)
		if (!strcmp(svb_self.settings.device[i].name, name))
			svb_removal_do(i);
}

int svb_removal_watch(void)
{
	return svb_self.settings.removal == SVB_REMOVAL_OFF
		       ? 0
		       : svb_request_watch("remove", svb_removal_asked);
}

void svb_removal_forget(void)
{
	memset(svb_removal.gone, 0, sizeof(svb_removal.gone));
}
