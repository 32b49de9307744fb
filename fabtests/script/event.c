/* SPDX-License-Identifier: BSD-2-Clause */
/* Events of connections, which are made while the call that causes them can still fail.
 */
#include <stdlib.h>
#include <string.h>
#include "world.h"

struct cm_event {
	struct fi_eq_cm_entry entry;
	uint8_t data[SCR_CM_DATA_MAX];
};

static int prepare_err(struct scr_event *event, int err, int prov_errno, const void *data,
		       size_t len)
{
	struct fi_eq_err_entry entry = {
		.fid = event->about,
		.context = event->about->context,
		.err = err,
		.prov_errno = prov_errno,
		.err_data = (void *)(uintptr_t)data,
		.err_data_size = len,
	};

	event->event = UINT32_MAX;
	return crn_eq_prepare_err(&event->batch, &entry);
}

static int prepare(struct scr_event *event, struct fi_info *info, const void *data,
		   size_t len)
{
	struct cm_event buf = {.entry = {.fid = event->about, .info = info}};

	if (len)
		memcpy(buf.data, data, len);
	return crn_eq_prepare(&event->batch, event->event, event->about, &buf,
			      offsetof(struct cm_event, data) + len);
}

struct scr_event *scr_event_new(struct scr_eq *eq, struct fid *about, uint32_t number,
				int err, int prov_errno, struct fi_info *info,
				const void *data, size_t len)
{
	struct scr_event *event = calloc(1, sizeof(*event));
	int ret;

	if (!event)
		return NULL;
	crn_list_init(&event->held.entry);
	crn_list_init(&event->batch);
	event->eq = eq;
	event->about = about;
	event->event = number;
	event->len = len;
	if (err)
		ret = prepare_err(event, err, prov_errno, data, len);
	else
		ret = prepare(event, info, data, len);
	if (ret) {
		free(event);
		return NULL;
	}
	return event;
}

void scr_event_free(struct scr_event *event)
{
	if (!event)
		return;
	scr_held_forget(&event->held);
	crn_eq_drop_batch(&event->batch);
	free(event);
}

void scr_event_write(struct scr_event *event)
{
	crn_eq_insert_batch(&event->eq->eq, &event->batch);
	scr_event_free(event);
}

void scr_event_send(struct scr_event *event)
{
	if (!scr_held_take(&event->held, SCR_EVENTS))
		scr_event_write(event);
}

/* The event queue of an endpoint or passive endpoint; NULL: none. */
static struct scr_eq *eq_of(struct fid *about)
{
	struct crn_eq *eq;

	if (about->fclass == FI_CLASS_PEP)
		return crn_container_of(about, struct scr_pep, fid.fid)->eq;
	if (about->fclass != FI_CLASS_EP)
		return NULL;
	eq = crn_container_of(about, struct scr_ep, fid.fid)->ep.eq;
	return eq ? crn_container_of(eq, struct scr_eq, eq) : NULL;
}

static int write_new(struct fid *about, uint32_t number, int err, int prov_errno,
		     const void *data, size_t len)
{
	struct scr_event *event;
	struct scr_eq *eq;
	int ret = -FI_ENOEQ;

	scr_lock();
	eq = eq_of(about);
	if (eq) {
		event = scr_event_new(eq, about, number, err, prov_errno, NULL, data,
				      err ? len : CRN_MIN(len, (size_t)SCR_CM_DATA_MAX));
		ret = event ? 0 : -FI_ENOMEM;
		if (event)
			scr_event_send(event);
	}
	scr_unlock();
	return ret;
}

int scr_event(struct fid *about, uint32_t event, const void *data, size_t len)
{
	return write_new(about, event, 0, 0, data, len);
}

int scr_event_err(struct fid *about, int err, int prov_errno, const void *data,
		  size_t len)
{
	return write_new(about, 0, err, prov_errno, data, len);
}

int scr_completion(struct fid *fid, bool receives, const struct crn_cq_comp *comp,
		   const struct fi_cq_err_entry *err)
{
	struct crn_ep *ep = &crn_container_of(fid, struct scr_ep, fid.fid)->ep;
	const enum crn_ep_side side = receives ? CRN_EP_RX : CRN_EP_TX;

	if (!ep->queues[side].cq)
		return -FI_ENOCQ;
	if (!crn_ep_begin(ep, side))
		return -FI_EAGAIN;
	if (err)
		crn_ep_fail(ep, side, err, FI_ADDR_NOTAVAIL);
	else
		crn_ep_done(ep, side, comp, true);
	return 0;
}
