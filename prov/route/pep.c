/* SPDX-License-Identifier: BSD-2-Clause */
/* fi_passive_ep(3): endpoints that listen. */
#include <stdlib.h>
#include <string.h>
#include <cairn/nosys.h>
#include "cm/cm.h"
#include "device.h"
#include "ep/ep.h"

static struct rte_pep *pep_of(struct fid *fid)
{
	return crn_container_of(fid, struct rte_pep, fid.fid);
}

/* To accept a socket and to read what it asks for are two looks of libfabric's tcp. */
#define PEP_LOOKS 4

/*
 * Whoever has asked by now is heard, to be refused. A lower listener that is closed over
 * requests lets them wait for their time to be over, and tcp's keeps their sockets.
 */
static void pep_hear(struct rte_pep *pep)
{
	int i;

	for (i = 0; pep->listener && i < PEP_LOOKS; i++) {
		pep->device->port->event = true;
		rte_device_progress(pep->device);
	}
}

static void pep_unlisten(struct rte_pep *pep)
{
	crn_lock(&pep->device->lock);
	pep_hear(pep);
	crn_list_del(&pep->entry);
	if (pep->listener)
		rte_listener_close(pep->listener);
	rte_incoming_unlisten(pep);
	/* Refusals go out: the program may do nothing more for a while. */
	rte_device_progress(pep->device);
	if (pep->eq)
		crn_eq_forget(&pep->eq->eq, &pep->fid.fid);
	crn_unlock(&pep->device->lock);
}

static int pep_close(struct fid *fid)
{
	struct rte_pep *pep = pep_of(fid);

	pep_unlisten(pep);
	if (pep->eq)
		atomic_fetch_sub(&pep->eq->eq.refs, 1);
	rte_device_put(pep->device);
	atomic_fetch_sub(&pep->fabric->refs, 1);
	fi_freeinfo(pep->info);
	free(pep);
	return 0;
}

static int pep_bind(struct fid *fid, struct fid *bfid, uint64_t flags)
{
	struct rte_pep *pep = pep_of(fid);
	struct rte_eq *eq;

	if (flags)
		return -FI_EBADFLAGS;
	if (bfid->fclass != FI_CLASS_EQ || pep->eq)
		return -FI_EINVAL;
	eq = crn_container_of(bfid, struct rte_eq, eq.fid.fid);
	if (eq->fabric != pep->fabric)
		return -FI_EINVAL;
	atomic_fetch_add(&eq->eq.refs, 1);
	pep->eq = eq;
	return 0;
}

static int pep_control(struct fid *fid, int command, void *arg)
{
	const int *backlog = arg;

	if (command != FI_BACKLOG)
		return -FI_ENOSYS;
	if (!backlog || *backlog < 0)
		return -FI_EINVAL;
	pep_of(fid)->backlog = (uint32_t)CRN_MAX(*backlog, 1);
	return 0;
}

static struct fi_ops pep_fid_ops = {
	.size = sizeof(struct fi_ops),
	.close = pep_close,
	.bind = pep_bind,
	.control = pep_control,
	.ops_open = crn_nosys_ops_open,
	.tostr = crn_nosys_tostr,
	.ops_set = crn_nosys_ops_set,
};

/* Its name is the device's, with the program's port. */
static int pep_name(struct rte_pep *pep, const struct fi_info *info)
{
	pep->name = pep->device->view.own;
	if (!info->src_addr)
		return 0;
	if (!crn_addr_valid(info->src_addr, info->src_addrlen, FI_FORMAT_UNSPEC) ||
	    !rte_addr_own(&pep->device->view, info->src_addr, &pep->name))
		return -FI_EINVAL;
	return 0;
}

static int pep_open(struct rte_pep *pep, const struct fi_info *info)
{
	int ret = rte_device_get(pep->fabric, info, &pep->device);

	if (ret)
		return ret;
	ret = pep_name(pep, info);
	if (!ret) {
		pep->info = fi_dupinfo(info);
		ret = pep->info ? 0 : -FI_ENOMEM;
	}
	if (ret)
		rte_device_put(pep->device);
	else
		pep->info->handle = NULL;
	return ret;
}

int rte_passive_ep(struct fid_fabric *fid, struct fi_info *info, struct fid_pep **pep_fid,
		   void *context)
{
	struct rte_pep *pep;
	int ret;

	if (!info || !info->domain_attr || !info->ep_attr ||
	    info->ep_attr->type != FI_EP_MSG)
		return -FI_EINVAL;
	pep = calloc(1, sizeof(*pep));
	if (!pep)
		return -FI_ENOMEM;
	pep->fabric = crn_container_of(fid, struct rte_fabric, fid);
	ret = pep_open(pep, info);
	if (ret) {
		free(pep);
		return ret;
	}
	pep->backlog = RTE_BACKLOG;
	crn_lock(&pep->device->lock);
	crn_list_add_tail(&pep->device->peps, &pep->entry);
	crn_unlock(&pep->device->lock);
	atomic_fetch_add(&pep->fabric->refs, 1);
	pep->fid.fid.fclass = FI_CLASS_PEP;
	pep->fid.fid.context = context;
	pep->fid.fid.ops = &pep_fid_ops;
	pep->fid.ops = &rte_pep_opts;
	pep->fid.cm = &rte_pep_cm;
	*pep_fid = &pep->fid;
	return 0;
}
