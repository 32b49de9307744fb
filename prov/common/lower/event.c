/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events of the lower event queue, handed on to the layer's objects one after the other.
 * One that cannot be handed on yet, for want of memory or because the queue it is for is
 * full, is kept: those behind it wait in the lower provider. While a queue is full, no
 * queue waits for the lower one, of which nothing is taken: reading the full one moves it
 * on. After anything else, who waits for the event's queue tries again.
 */
#include <stdlib.h>
#include <string.h>
#include <rdma/fi_errno.h>
#include "internal.h"

/* The layer's object behind a fid of the lower provider: its context. */
static struct crn_lower_obj *event_obj(fid_t lower)
{
	return lower ? lower->context : NULL;
}

static ssize_t event_take_error(struct crn_lower_fabric *fabric,
				struct crn_lower_event *event)
{
	ssize_t ret;

	memset(&event->err, 0, sizeof(event->err));
	ret = fi_eq_readerr(fabric->eq, &event->err, 0);
	event->is_error = true;
	event->fid = event->err.fid;
	return ret;
}

/* The next one: 1, 0 when there is none, or the lower provider's error. */
static ssize_t event_take(struct crn_lower_fabric *fabric, struct crn_lower_event *event)
{
	ssize_t ret = fi_eq_read(fabric->eq, &event->event, event->bytes,
				 sizeof(event->bytes), 0);

	event->is_error = false;
	event->translated = false;
	event->fid = NULL;
	if (ret == -FI_EAVAIL)
		ret = event_take_error(fabric, event);
	else if (ret >= (ssize_t)sizeof(event->entry.fid))
		event->fid = event->entry.fid;
	if (ret <= 0)
		return ret == -FI_EAGAIN ? 0 : ret;
	if (!event->is_error)
		event->len = (size_t)ret;
	event->obj = event_obj(event->fid);
	return 1;
}

static bool event_has_info(const struct crn_lower_event *event)
{
	return !event->is_error && event->event == FI_CONNREQ &&
	       event->len >= sizeof(event->cm);
}

static void event_drop(struct crn_lower_event *event)
{
	if (event_has_info(event))
		fi_freeinfo(event->cm.info);
}

/* A connection request is answered as fi_getinfo answered who listens. */
static int event_translate_info(const struct crn_lower_fabric *fabric,
				const struct crn_lower_obj *obj, struct fi_info *info)
{
	char *prov_name = strdup(fabric->layer->prov->name);
	char *name = strdup(fabric->name);
	int ret;

	if (!prov_name || !name) {
		free(prov_name);
		free(name);
		return -FI_ENOMEM;
	}
	ret = lower_info_up(fabric->layer, info, obj->info ? obj->info : info);
	info->fabric_attr->prov_name = prov_name;
	free(info->fabric_attr->name);
	info->fabric_attr->name = name;
	return ret;
}

/*
 * The context of an event without connections is that of the operation, which for an
 * object that is made ready is the object's own.
 */
static void event_translate_fids(struct crn_lower_event *event)
{
	struct crn_lower_obj *obj = event->obj;
	void **context = event->is_error ? &event->err.context : NULL;

	if (event->is_error) {
		event->err.fid = obj->fid;
	} else {
		event->entry.fid = obj->fid;
		if (event->event != FI_CONNREQ && event->event != FI_CONNECTED &&
		    event->event != FI_SHUTDOWN && event->len >= sizeof(event->entry))
			context = &event->entry.context;
	}
	if (context && *context == obj)
		*context = obj->fid->context;
}

static int event_translate(struct crn_lower_fabric *fabric, struct crn_lower_event *event)
{
	int ret = 0;

	if (event->translated)
		return 0;
	if (event_has_info(event))
		ret = event_translate_info(fabric, event->obj, event->cm.info);
	/* An info that does not do for the layer is handed on as it is. */
	if (ret == -FI_ENOMEM)
		return ret;
	event_translate_fids(event);
	event->translated = true;
	return 0;
}

static int event_insert(struct crn_lower_obj *obj, struct crn_lower_event *event)
{
	struct crn_eq *eq = &obj->eq->eq;

	if (crn_eq_full(eq))
		return -FI_EAGAIN;
	return event->is_error ? crn_eq_insert_err(eq, &event->err)
			       : crn_eq_insert(eq, event->event, obj->fid, event->bytes,
					       event->len);
}

static int event_hand_on(struct crn_lower_fabric *fabric, struct crn_lower_event *event)
{
	struct crn_lower_obj *obj = event->obj;
	int ret;

	if (!obj || !obj->eq) {
		event_drop(event);
		return 0;
	}
	ret = event_translate(fabric, event);
	if (ret)
		return ret;
	return obj->event ? obj->event(obj, event) : event_insert(obj, event);
}

static void event_set_full(struct crn_lower_fabric *fabric, bool full)
{
	struct crn_list *entry;
	struct crn_lower_eq *eq;

	if (fabric->full == full)
		return;
	fabric->full = full;
	if (full)
		crn_wait_pause(&fabric->look.source);
	else
		crn_wait_resume(&fabric->look.source);
	crn_list_for_each (entry, &fabric->queues) {
		eq = crn_container_of(entry, struct crn_lower_eq, entry);
		if (full) {
			crn_wait_pause(&eq->source.source);
			continue;
		}
		crn_wait_resume(&eq->source.source);
		crn_eq_wake(&eq->eq);
	}
}

/* Who slept while a queue was full is not armed for what comes next; true: something
 * came. */
static bool event_rearm(struct crn_lower_fabric *fabric, bool *was_full)
{
	if (!*was_full || !fabric->wait)
		return false;
	*was_full = false;
	return lower_look_arm(fabric) == -FI_EAGAIN;
}

int lower_events(struct crn_lower_fabric *fabric)
{
	struct crn_lower_event *event = fabric->next;
	bool was_full = fabric->full;
	ssize_t ret;

	for (;;) {
		ret = fabric->kept ? 1 : event_take(fabric, event);
		if (!ret && event_rearm(fabric, &was_full))
			continue;
		if (ret <= 0)
			return (int)ret;
		fabric->kept = true;
		ret = event_hand_on(fabric, event);
		event_set_full(fabric, ret == -FI_EAGAIN);
		if (ret) {
			if (ret != -FI_EAGAIN)
				crn_eq_wake(&event->obj->eq->eq);
			return (int)ret;
		}
		fabric->kept = false;
	}
}

struct fi_info *lower_events_forget(struct crn_lower_fabric *fabric,
				    const struct crn_lower_obj *obj)
{
	struct crn_lower_event *event = fabric->next;

	if (!fabric->kept || event->obj != obj)
		return NULL;
	fabric->kept = false;
	event_set_full(fabric, false);
	return event_has_info(event) ? event->cm.info : NULL;
}
