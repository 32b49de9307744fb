/* SPDX-License-Identifier: BSD-2-Clause */
/* Event queues of a layer over the one of the lower provider, and who is bound to them.
 */
#include <stdlib.h>
#include <rdma/fi_errno.h>
#include <cairn/nosys.h>
#include "internal.h"

static struct crn_lower_eq *eq_of(struct crn_eq *eq)
{
	return crn_container_of(eq, struct crn_lower_eq, eq);
}

static int eq_progress(struct crn_eq *eq)
{
	struct crn_lower_fabric *fabric = eq_of(eq)->fabric;
	int ret;

	if (fabric->progress)
		fabric->progress(fabric);
	crn_lock(&fabric->lock);
	ret = lower_events(fabric);
	crn_unlock(&fabric->lock);
	return ret;
}

static const char *eq_strerror(struct fid_eq *fid, int prov_errno, const void *err_data,
			       char *buf, size_t len)
{
	return fi_eq_strerror(eq_of(crn_eq_of(fid))->fabric->eq, prov_errno, err_data,
			      buf, len);
}

/* What an earlier event kept up moves once there is room for it. */
static void eq_was_read(struct crn_eq *eq, ssize_t ret)
{
	if (ret >= 0 && atomic_load(&eq_of(eq)->fabric->full))
		eq_progress(eq);
}

static ssize_t eq_read(struct fid_eq *fid, uint32_t *event, void *buf, size_t len,
		       uint64_t flags)
{
	struct crn_eq *eq = crn_eq_of(fid);
	ssize_t ret = eq_of(eq)->base->read(fid, event, buf, len, flags);

	eq_was_read(eq, ret);
	return ret;
}

static ssize_t eq_sread(struct fid_eq *fid, uint32_t *event, void *buf, size_t len,
			int timeout, uint64_t flags)
{
	struct crn_eq *eq = crn_eq_of(fid);
	ssize_t ret = eq_of(eq)->base->sread(fid, event, buf, len, timeout, flags);

	eq_was_read(eq, ret);
	return ret;
}

static ssize_t eq_readerr(struct fid_eq *fid, struct fi_eq_err_entry *buf, uint64_t flags)
{
	struct crn_eq *eq = crn_eq_of(fid);
	ssize_t ret = eq_of(eq)->base->readerr(fid, buf, flags);

	eq_was_read(eq, ret);
	return ret;
}

/* The first queue opens the lower one. */
static int eq_lower_open(struct crn_lower_fabric *fabric)
{
	struct fi_eq_attr attr = {.wait_obj = FI_WAIT_FD};
	int ret;

	if (!crn_list_empty(&fabric->queues))
		return 0;
	fabric->next = malloc(sizeof(*fabric->next));
	if (!fabric->next)
		return -FI_ENOMEM;
	ret = fi_eq_open(fabric->lower, &attr, &fabric->eq, NULL);
	if (ret)
		goto err_free;
	ret = fabric->wait ? lower_look_add(fabric) : 0;
	if (ret)
		goto err_close;
	return 0;
err_close:
	fi_close(&fabric->eq->fid);
err_free:
	free(fabric->next);
	return ret;
}

/* The last one closes it: nothing is bound to it then. */
static int eq_lower_close(struct crn_lower_fabric *fabric)
{
	int ret;

	if (!crn_list_empty(&fabric->queues))
		return 0;
	crn_wait_remove(&fabric->look.source);
	ret = fi_close(&fabric->eq->fid);
	if (!ret)
		free(fabric->next);
	else if (fabric->wait)
		crn_wait_add(fabric->wait, &fabric->look.source);
	return ret;
}

static void eq_join(struct crn_lower_fabric *fabric, struct crn_lower_eq *eq)
{
	crn_list_add_tail(&fabric->queues, &eq->entry);
	if (fabric->full)
		crn_wait_pause(&eq->source.source);
}

/* What it sleeps for. */
static int eq_source(struct crn_lower_fabric *fabric, struct crn_lower_eq *eq)
{
	/* A queue without a descriptor has no source. */
	if (eq->eq.wait.obj == FI_WAIT_NONE)
		return 0;
	return fabric->wait ? crn_wait_add_inner(&eq->eq.wait, &eq->inner, fabric->wait)
			    : crn_wait_add_lower(&eq->eq.wait, &eq->source, fabric->lower,
						 &fabric->eq->fid);
}

static int eq_lower_get(struct crn_lower_fabric *fabric, struct crn_lower_eq *eq)
{
	int ret;

	crn_lock(&fabric->lock);
	ret = crn_lower_opened(fabric, "event queue", eq_lower_open(fabric));
	if (ret)
		goto out;
	ret = eq_source(fabric, eq);
	if (ret)
		eq_lower_close(fabric);
	else
		eq_join(fabric, eq);
out:
	crn_unlock(&fabric->lock);
	return ret;
}

static int eq_lower_put(struct crn_lower_fabric *fabric, struct crn_lower_eq *eq)
{
	int ret;

	crn_lock(&fabric->lock);
	crn_wait_remove(&eq->source.source);
	crn_wait_remove(&eq->inner.source);
	crn_list_del(&eq->entry);
	ret = eq_lower_close(fabric);
	if (ret) { /* the queue is whole */
		crn_wait_add(&eq->eq.wait,
			     fabric->wait ? &eq->inner.source : &eq->source.source);
		eq_join(fabric, eq);
	}
	crn_unlock(&fabric->lock);
	return ret;
}

static int eq_close(struct fid *fid)
{
	struct crn_lower_eq *eq = crn_container_of(fid, struct crn_lower_eq, eq.fid.fid);
	int ret;

	if (atomic_load(&eq->eq.refs))
		return -FI_EBUSY;
	ret = eq_lower_put(eq->fabric, eq);
	if (ret)
		return ret;
	crn_eq_fini(&eq->eq);
	free(eq);
	return 0;
}

static struct fi_ops eq_fid_ops = {
	.size = sizeof(struct fi_ops),
	.close = eq_close,
	.bind = crn_nosys_bind,
	.control = crn_eq_control,
	.ops_open = crn_nosys_ops_open,
	.tostr = crn_nosys_tostr,
	.ops_set = crn_nosys_ops_set,
};

int crn_lower_eq_open(struct fid_fabric *fid, struct fi_eq_attr *attr,
		      struct fid_eq **eq_fid, void *context)
{
	struct crn_lower_fabric *fabric =
		crn_container_of(fid, struct crn_lower_fabric, fid);
	struct crn_lower_eq *eq = calloc(1, sizeof(*eq));
	int ret;

	if (!eq)
		return -FI_ENOMEM;
	ret = crn_eq_init(&eq->eq, fabric->layer->prov, attr, context, eq_progress);
	if (ret)
		goto err_free;
	eq->fabric = fabric;
	eq->eq.fabric = fid;
	eq->eq.api_version = fabric->fid.api_version;
	ret = eq_lower_get(fabric, eq);
	if (ret)
		goto err_fini;
	eq->base = eq->eq.fid.ops;
	eq->ops = *eq->base;
	eq->ops.read = eq_read;
	eq->ops.sread = eq_sread;
	eq->ops.readerr = eq_readerr;
	eq->ops.strerror = eq_strerror;
	eq->eq.fid.ops = &eq->ops;
	eq->eq.fid.fid.ops = &eq_fid_ops;
	*eq_fid = &eq->eq.fid;
	return 0;
err_fini:
	crn_eq_fini(&eq->eq);
err_free:
	free(eq);
	return ret;
}

int crn_lower_bind_eq(struct crn_lower_fabric *fabric, struct crn_lower_obj *obj,
		      fid_t lower, struct fid *eq_fid, uint64_t flags)
{
	struct crn_lower_eq *eq =
		crn_container_of(eq_fid, struct crn_lower_eq, eq.fid.fid);
	int ret;

	if (flags || obj->eq || eq->fabric != fabric)
		return -FI_EINVAL;
	crn_lock(&fabric->lock);
	ret = lower->ops->bind(lower, &fabric->eq->fid, flags);
	if (!ret)
		obj->eq = eq;
	crn_unlock(&fabric->lock);
	if (!ret)
		atomic_fetch_add(&eq->eq.refs, 1);
	return ret;
}

/* The program cannot answer a request that it has not read, once nobody listens. */
static void eq_refuse(fid_t listener, struct fi_info *info)
{
	fi_reject(crn_container_of(listener, struct fid_pep, fid), info->handle, NULL, 0);
	fi_freeinfo(info);
}

/* In the order of their arrival; those that the lower provider still has are handed on
 * before. */
static void eq_refuse_all(struct crn_lower_fabric *fabric, struct crn_lower_obj *obj,
			  fid_t listener)
{
	struct fi_info *info;

	do {
		lower_events(fabric);
		while ((info = crn_eq_take_request(&obj->eq->eq, obj->fid)))
			eq_refuse(listener, info);
		info = lower_events_forget(fabric, obj);
		if (info)
			eq_refuse(listener, info);
	} while (info);
}

int crn_lower_close(struct crn_lower_fabric *fabric, struct crn_lower_obj *obj,
		    fid_t lower)
{
	struct crn_lower_eq *eq = obj->eq;
	int ret;

	/* Nobody hands on an event about it while it goes. */
	crn_lock(&fabric->lock);
	if (eq && lower->fclass == FI_CLASS_PEP)
		eq_refuse_all(fabric, obj, lower);
	ret = fi_close(lower);
	if (!ret && eq) {
		lower_events_forget(fabric, obj);
		crn_eq_forget(&eq->eq, obj->fid);
		obj->eq = NULL;
		if (fabric->full) /* which makes room, too */
			lower_events(fabric);
	}
	crn_unlock(&fabric->lock);
	if (!ret && eq)
		atomic_fetch_sub(&eq->eq.refs, 1);
	return ret;
}
