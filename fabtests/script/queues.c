/* SPDX-License-Identifier: BSD-2-Clause */
/* Event queues, completion queues and counters: those of prov/common, whose calls are
 * recorded and may be refused. */
#include <stdlib.h>
#include "world.h"

static int enter(enum scr_call call, struct fid *fid, size_t len)
{
	return scr_enter(&(struct scr_record){.call = call, .fid = fid, .len = len});
}

static int control(struct fid *fid, int command,
		   int (*base)(struct fid *fid, int command, void *arg), void *arg)
{
	struct scr_record record = {
		.call = command == FI_GETWAIT ? SCR_GETWAIT : SCR_CONTROL,
		.fid = fid,
		.data = (uint64_t)command,
	};
	int ret = scr_enter(&record);

	return ret ? ret : base(fid, command, arg);
}

/* ---- event queues ---- */

static struct scr_eq *eq_of(struct fid_eq *fid)
{
	return crn_container_of(fid, struct scr_eq, eq.fid);
}

static ssize_t eq_read(struct fid_eq *fid, uint32_t *event, void *buf, size_t len,
		       uint64_t flags)
{
	int ret = enter(SCR_EQ_READ, &fid->fid, len);

	return ret ? ret : eq_of(fid)->base->read(fid, event, buf, len, flags);
}

static ssize_t eq_readerr(struct fid_eq *fid, struct fi_eq_err_entry *buf, uint64_t flags)
{
	int ret = enter(SCR_EQ_READERR, &fid->fid, 0);

	return ret ? ret : eq_of(fid)->base->readerr(fid, buf, flags);
}

static ssize_t eq_write(struct fid_eq *fid, uint32_t event, const void *buf, size_t len,
			uint64_t flags)
{
	int ret = enter(SCR_EQ_WRITE, &fid->fid, len);

	return ret ? ret : eq_of(fid)->base->write(fid, event, buf, len, flags);
}

static ssize_t eq_sread(struct fid_eq *fid, uint32_t *event, void *buf, size_t len,
			int timeout, uint64_t flags)
{
	int ret = enter(SCR_EQ_SREAD, &fid->fid, len);

	return ret ? ret : eq_of(fid)->base->sread(fid, event, buf, len, timeout, flags);
}

static int eq_close(struct fid *fid)
{
	struct scr_eq *eq = crn_container_of(fid, struct scr_eq, eq.fid.fid);
	int ret = enter(SCR_CLOSE, fid, 0);

	if (ret)
		return ret;
	if (atomic_load(&eq->eq.refs))
		return -FI_EBUSY;
	scr_object_del(&eq->object);
	atomic_fetch_sub(&crn_container_of(eq->eq.fabric, struct scr_fabric, fid)->refs,
			 1);
	crn_eq_fini(&eq->eq);
	free(eq);
	return 0;
}

static int eq_control(struct fid *fid, int command, void *arg)
{
	return control(fid, command, crn_eq_control, arg);
}

static struct fi_ops eq_fid_ops = {
	.size = sizeof(struct fi_ops),
	.close = eq_close,
	.bind = crn_nosys_bind,
	.control = eq_control,
	.ops_open = crn_nosys_ops_open,
	.tostr = crn_nosys_tostr,
	.ops_set = crn_nosys_ops_set,
};

int scr_eq_open(struct fid_fabric *fabric_fid, struct fi_eq_attr *attr,
		struct fid_eq **fid, void *context)
{
	struct scr_fabric *fabric = crn_container_of(fabric_fid, struct scr_fabric, fid);
	int ret = enter(SCR_EQ_OPEN, &fabric_fid->fid, attr ? attr->size : 0);
	struct scr_eq *eq;

	if (ret)
		return ret;
	eq = calloc(1, sizeof(*eq));
	if (!eq)
		return -FI_ENOMEM;
	ret = crn_eq_init(&eq->eq, &scr_prov, attr, context, NULL);
	if (ret) {
		free(eq);
		return ret;
	}
	eq->eq.fabric = fabric_fid;
	eq->eq.api_version = fabric_fid->api_version;
	eq->base = eq->eq.fid.ops;
	eq->ops = *eq->base;
	eq->ops.read = eq_read;
	eq->ops.readerr = eq_readerr;
	eq->ops.write = eq_write;
	eq->ops.sread = eq_sread;
	eq->eq.fid.ops = &eq->ops;
	eq->eq.fid.fid.ops = &eq_fid_ops;
	atomic_fetch_add(&fabric->refs, 1);
	scr_object_add(&eq->object, &eq->eq.fid.fid);
	*fid = &eq->eq.fid;
	return 0;
}

/* ---- completion queues ---- */

static struct scr_cq *cq_of(struct fid_cq *fid)
{
	return crn_container_of(fid, struct scr_cq, cq.fid);
}

static ssize_t cq_read(struct fid_cq *fid, void *buf, size_t count)
{
	int ret = enter(SCR_CQ_READ, &fid->fid, count);

	return ret ? ret : cq_of(fid)->base->read(fid, buf, count);
}

static ssize_t cq_readfrom(struct fid_cq *fid, void *buf, size_t count,
			   fi_addr_t *src_addr)
{
	int ret = enter(SCR_CQ_READ, &fid->fid, count);

	return ret ? ret : cq_of(fid)->base->readfrom(fid, buf, count, src_addr);
}

static ssize_t cq_readerr(struct fid_cq *fid, struct fi_cq_err_entry *buf, uint64_t flags)
{
	int ret = enter(SCR_CQ_READERR, &fid->fid, 0);

	return ret ? ret : cq_of(fid)->base->readerr(fid, buf, flags);
}

static ssize_t cq_sread(struct fid_cq *fid, void *buf, size_t count, const void *cond,
			int timeout)
{
	int ret = enter(SCR_CQ_SREAD, &fid->fid, count);

	return ret ? ret : cq_of(fid)->base->sread(fid, buf, count, cond, timeout);
}

static ssize_t cq_sreadfrom(struct fid_cq *fid, void *buf, size_t count,
			    fi_addr_t *src_addr, const void *cond, int timeout)
{
	int ret = enter(SCR_CQ_SREAD, &fid->fid, count);

	return ret ? ret
		   : cq_of(fid)->base->sreadfrom(fid, buf, count, src_addr, cond,
						 timeout);
}

static int cq_signal(struct fid_cq *fid)
{
	int ret = enter(SCR_CQ_SIGNAL, &fid->fid, 0);

	return ret ? ret : cq_of(fid)->base->signal(fid);
}

static int cq_close(struct fid *fid)
{
	struct scr_cq *cq = crn_container_of(fid, struct scr_cq, cq.fid.fid);
	struct fid_domain *domain = cq->cq.domain;
	int ret = enter(SCR_CLOSE, fid, 0);

	if (ret)
		return ret;
	/* Not listed by the time it is freed, listed again if it is busy. */
	scr_object_del(&cq->object);
	ret = crn_cq_fini(&cq->cq);
	if (ret) {
		scr_object_add(&cq->object, fid);
		return ret;
	}
	atomic_fetch_sub(&crn_container_of(domain, struct scr_domain, fid)->refs, 1);
	free(cq);
	return 0;
}

static int cq_control(struct fid *fid, int command, void *arg)
{
	return control(fid, command, crn_cq_control, arg);
}

static struct fi_ops cq_fid_ops = {
	.size = sizeof(struct fi_ops),
	.close = cq_close,
	.bind = crn_nosys_bind,
	.control = cq_control,
	.ops_open = crn_nosys_ops_open,
	.tostr = crn_nosys_tostr,
	.ops_set = crn_nosys_ops_set,
};

/* A read that found nothing may have made room before for what waits at an endpoint. */
static void cq_progress(struct crn_cq *cq)
{
	struct scr_object *object;
	struct crn_list *pos;
	struct scr_ep *ep;

	scr_lock();
	crn_list_for_each (pos, &scr_objects) {
		object = crn_container_of(pos, struct scr_object, entry);
		if (object->fid->fclass != FI_CLASS_EP)
			continue;
		ep = crn_container_of(object->fid, struct scr_ep, fid.fid);
		if (ep->ep.queues[CRN_EP_RX].cq == cq)
			scr_work_retry(ep);
	}
	scr_unlock();
}

int scr_cq_open(struct fid_domain *domain_fid, struct fi_cq_attr *attr,
		struct fid_cq **fid, void *context)
{
	struct scr_domain *domain = crn_container_of(domain_fid, struct scr_domain, fid);
	int ret = enter(SCR_CQ_OPEN, &domain_fid->fid, attr ? attr->size : 0);
	struct scr_cq *cq;

	if (ret)
		return ret;
	cq = calloc(1, sizeof(*cq));
	if (!cq)
		return -FI_ENOMEM;
	/* The peer's thread writes to it, whatever the threads of this domain promise. */
	ret = crn_cq_init(&cq->cq, domain_fid, attr, true, context);
	if (ret) {
		free(cq);
		return ret;
	}
	cq->cq.api_version = domain->fabric->fid.api_version;
	cq->cq.progress = cq_progress;
	cq->base = cq->cq.fid.ops;
	cq->ops = *cq->base;
	cq->ops.read = cq_read;
	cq->ops.readfrom = cq_readfrom;
	cq->ops.readerr = cq_readerr;
	cq->ops.sread = cq_sread;
	cq->ops.sreadfrom = cq_sreadfrom;
	cq->ops.signal = cq_signal;
	cq->cq.fid.ops = &cq->ops;
	cq->cq.fid.fid.ops = &cq_fid_ops;
	atomic_fetch_add(&domain->refs, 1);
	scr_object_add(&cq->object, &cq->cq.fid.fid);
	*fid = &cq->cq.fid;
	return 0;
}

/* ---- counters ---- */

static int cntr_close(struct fid *fid)
{
	struct scr_cntr *cntr = crn_container_of(fid, struct scr_cntr, cntr.fid.fid);
	int ret = enter(SCR_CLOSE, fid, 0);

	if (ret)
		return ret;
	if (atomic_load(&cntr->cntr.refs))
		return -FI_EBUSY;
	scr_object_del(&cntr->object);
	atomic_fetch_sub(
		&crn_container_of(cntr->cntr.domain, struct scr_domain, fid)->refs, 1);
	crn_cntr_fini(&cntr->cntr);
	free(cntr);
	return 0;
}

static int cntr_control(struct fid *fid, int command, void *arg)
{
	return control(fid, command, crn_cntr_control, arg);
}

static struct fi_ops cntr_fid_ops = {
	.size = sizeof(struct fi_ops),
	.close = cntr_close,
	.bind = crn_nosys_bind,
	.control = cntr_control,
	.ops_open = crn_nosys_ops_open,
	.tostr = crn_nosys_tostr,
	.ops_set = crn_nosys_ops_set,
};

int scr_cntr_open(struct fid_domain *domain_fid, struct fi_cntr_attr *attr,
		  struct fid_cntr **fid, void *context)
{
	struct scr_domain *domain = crn_container_of(domain_fid, struct scr_domain, fid);
	int ret = enter(SCR_CNTR_OPEN, &domain_fid->fid, 0);
	struct scr_cntr *cntr;

	if (ret)
		return ret;
	cntr = calloc(1, sizeof(*cntr));
	if (!cntr)
		return -FI_ENOMEM;
	ret = crn_cntr_init(&cntr->cntr, attr, context, NULL);
	if (ret) {
		free(cntr);
		return ret;
	}
	cntr->cntr.domain = domain_fid;
	cntr->cntr.fid.fid.ops = &cntr_fid_ops;
	atomic_fetch_add(&domain->refs, 1);
	scr_object_add(&cntr->object, &cntr->cntr.fid.fid);
	*fid = &cntr->cntr.fid;
	return 0;
}
