/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fi_mr(3): regions that the other end of a connection reads and writes are copied to and
 * from by this provider, by routed keys of the domain. The lower provider has a region of
 * its own where it wants one for what it sends.
 */
#include <sched.h>
#include <stdlib.h>
#include <sys/random.h>
#include <cairn/nosys.h>
#include <cairn/pmem.h>
#include <cairn/wait.h>
#include "device.h"
#include "objects.h"

static struct rte_mr *mr_of(struct fid *fid)
{
	return crn_container_of(fid, struct rte_mr, fid.fid);
}

static struct rte_mr *mr_held(struct crn_mr *mr)
{
	return crn_container_of(mr, struct rte_mr, mr);
}

bool rte_mr_hold(struct rte_vc *vc, struct crn_mr *region, void **desc)
{
	struct rte_mr *mr = mr_held(region);

	if (mr->domain->device->port->mr_local && !mr->lower)
		return false;
	*desc = mr->fid.mem_desc;
	mr->holds++;
	return true;
}

void rte_mr_release(struct rte_vc *vc, struct crn_mr *region)
{
	mr_held(region)->holds--;
}

bool rte_mr_persistent(struct rte_vc *vc, struct crn_mr *region)
{
	return mr_held(region)->persistent;
}

/* It was this processor that wrote, whatever the last hop is: what it has to do is its
 * caches' matter alone. */
void rte_mr_persist(struct rte_vc *vc, struct crn_mr *region, const void *at, size_t len)
{
	if (mr_held(region)->flush)
		crn_pmem_flush(at, len);
	crn_pmem_drain();
}

/* A key that nobody guesses, if it is this end's to choose. */
static int lent_register(struct rte_mr *mr)
{
	struct rte_port *port = mr->domain->device->port;
	uint64_t key = 0;

	if (!port->prov_key && getrandom(&key, sizeof(key), 0) != sizeof(key))
		return -FI_EIO;
	return fi_mr_reg(port->domain, mr->mr.buf, mr->mr.len,
			 mr->mr.access & (FI_REMOTE_READ | FI_REMOTE_WRITE), 0, key, 0,
			 &mr->lent, NULL);
}

int rte_mr_lend(struct rte_vc *vc, struct crn_mr *region, struct rte_vc_loan *loan)
{
	struct rte_mr *mr = mr_held(region);
	int ret = mr->lent ? 0 : lent_register(mr);

	if (ret)
		return ret;
	loan->info.lower_key = fi_mr_key(mr->lent);
	if (mr->domain->device->port->virt_addr)
		loan->info.base = (uintptr_t)mr->mr.buf;
	crn_list_add_tail(&mr->loans, &loan->of_mr);
	return 0;
}

/* ms at most until the lower provider has sent what it reads from a region. */
#define MR_CLOSE_MS 2000u
/* The same, until other ends no longer reach it. */
#define MR_RECALL_MS 2000u

/* Both ends may be this program's, on several devices; or another's, which needs the
 * processor. */
static void recall_turn(struct rte_device *device)
{
	rte_device_progress(device);
	crn_unlock(&device->lock);
	rte_fabric_progress(device->fabric, device);
	sched_yield();
	crn_lock(&device->lock);
}

static void recall_each(struct rte_mr *mr, void (*act)(struct rte_vc_loan *loan))
{
	struct crn_list *entry, *next;

	crn_list_for_each_safe (entry, next, &mr->loans)
		act(crn_container_of(entry, struct rte_vc_loan, of_mr));
}

/* Connections that do not give it back are ended; what comes by one that is closed might
 * still be placed until the lower provider has let go of it. */
static void mr_recall(struct rte_mr *mr)
{
	struct rte_device *device = mr->domain->device;
	uint64_t end = crn_now_ms() + MR_RECALL_MS;
	bool over = false;

	while (!crn_list_empty(&mr->loans) && crn_now_ms() < end) {
		recall_each(mr, rte_vc_recall);
		recall_turn(device);
	}
	while (!crn_list_empty(&mr->loans)) {
		recall_each(mr, rte_vc_overdue);
		recall_turn(device);
	}
	/* Those that reached it have gone by then; others may close all the time. */
	end = crn_now_ms() + RTE_PEER_LINGER;
	while (!over && rte_port_lent(device->port)) {
		over = crn_now_ms() > end;
		recall_turn(device);
	}
}

/* Other threads have their turn. */
static void mr_turn(struct rte_device *device)
{
	rte_device_progress(device);
	crn_unlock(&device->lock);
	crn_lock(&device->lock);
}

/* What has been closed is not closed again, should the rest have to be. */
static int mr_close_lower(struct rte_mr *mr)
{
	int ret = mr->lower ? fi_close(&mr->lower->fid) : 0;

	if (ret)
		return ret;
	mr->lower = NULL;
	mr->fid.mem_desc = NULL;
	ret = mr->lent ? fi_close(&mr->lent->fid) : 0;
	if (!ret)
		mr->lent = NULL;
	return ret;
}

/* Placing data holds the device's lock, and looks each key up. */
static int mr_leave(struct rte_mr *mr)
{
	struct rte_domain *domain = mr->domain;
	uint64_t end;
	int ret;

	crn_mr_hide(&domain->map, &mr->mr, true);
	if (mr->lent)
		mr_recall(mr);
	end = crn_now_ms() + MR_CLOSE_MS;
	while (mr->holds && crn_now_ms() < end)
		mr_turn(domain->device);
	ret = mr->holds ? -FI_EBUSY : mr_close_lower(mr);
	if (ret)
		crn_mr_hide(&domain->map, &mr->mr, false);
	else
		crn_mr_remove(&domain->map, &mr->mr);
	return ret;
}

static int mr_close(struct fid *fid)
{
	struct rte_mr *mr = mr_of(fid);
	struct crn_lock *lock = &mr->domain->device->lock;
	int ret;

	crn_lock(lock);
	ret = mr_leave(mr);
	crn_unlock(lock);
	if (!ret)
		free(mr);
	return ret;
}

/* Regions are of use at once: there is nothing to bind or enable. */
static int mr_control(struct fid *fid, int command, void *arg)
{
	return command == FI_ENABLE ? 0 : -FI_ENOSYS;
}

static struct fi_ops mr_fid_ops = {
	.size = sizeof(struct fi_ops),
	.close = mr_close,
	.bind = crn_nosys_bind,
	.control = mr_control,
	.ops_open = crn_nosys_ops_open,
	.tostr = crn_nosys_tostr,
	.ops_set = crn_nosys_ops_set,
};

static int mr_key(struct rte_mr *mr, uint64_t requested)
{
	struct rte_domain *domain = mr->domain;
	int ret;

	if (!domain->prov_key)
		return crn_mr_add(&domain->map, &mr->mr, requested);
	do {
		if (getrandom(&requested, sizeof(requested), 0) < 0)
			return -FI_EIO;
		ret = crn_mr_add(&domain->map, &mr->mr, requested);
	} while (ret == -FI_ENOKEY || ret == -FI_EKEYREJECTED);
	return ret;
}

/* What the lower provider sends from. */
#define MR_LOCAL_ACCESS (FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ)

static int mr_lower(struct rte_mr *mr)
{
	struct rte_device *device = mr->domain->device;
	struct rte_port *port = device->port;
	int ret;

	if (!port->mr_local || !(mr->mr.access & MR_LOCAL_ACCESS) || !mr->mr.len)
		return 0;
	crn_lock(&device->lock);
	ret = fi_mr_reg(port->domain, mr->mr.buf, mr->mr.len, FI_SEND | FI_WRITE, 0,
			port->prov_key ? 0 : port->next_key++, 0, &mr->lower, NULL);
	crn_unlock(&device->lock);
	return ret;
}

static void mr_lower_close(struct rte_mr *mr)
{
	if (!mr->lower)
		return;
	crn_lock(&mr->domain->device->lock);
	fi_close(&mr->lower->fid);
	crn_unlock(&mr->domain->device->lock);
}

/* FI_RMA_PMEM: only what is persistent memory. */
static int mr_pmem(struct rte_mr *mr)
{
	const struct crn_pmem_params params = {
		.prov = &rte_prov,
		.prefix = "FI_ROUTE",
		.config = rte_params.pmem_config,
	};
	struct crn_pmem_facts facts;
	int ret = crn_pmem_facts_of(&params, mr->mr.buf, mr->mr.len, &facts);

	if (ret)
		return ret;
	if (!facts.persistent) {
		RTE_WARN(FI_LOG_MR,
			 "FI_RMA_PMEM refused for %zu bytes at %p: %s%sis %s. Map a "
			 "devdax, or a file of a DAX file system with MAP_SYNC; or "
			 "declare what is mapped, if you know better: \"persistent = "
			 "yes\" in FI_ROUTE_PMEM_CONFIG, fi_route(7)\n",
			 mr->mr.len, mr->mr.buf, *facts.where ? facts.where : "it", " ",
			 facts.kind);
		return -FI_EOPNOTSUPP;
	}
	RTE_INFO(FI_LOG_MR, "%zu bytes of %s (%s, %s): %s (%s)\n", mr->mr.len,
		 facts.where, facts.kind, crn_pmem_source_name(facts.persistent_source),
		 crn_persistence_name(facts.domain),
		 crn_pmem_source_name(facts.domain_source));
	mr->persistent = true;
	mr->flush = crn_pmem_needs_flush(facts.domain);
	return 0;
}

static int mr_open(struct rte_domain *domain, const struct fi_mr_attr *attr,
		   uint64_t flags, struct fid_mr **fid)
{
	struct rte_mr *mr = calloc(1, sizeof(*mr));
	int ret = 0;

	if (!mr)
		return -FI_ENOMEM;
	mr->domain = domain;
	crn_list_init(&mr->loans);
	mr->mr.buf = attr->mr_iov->iov_base;
	mr->mr.len = attr->mr_iov->iov_len;
	mr->mr.access = attr->access;
	mr->fid.fid.fclass = FI_CLASS_MR;
	mr->fid.fid.context = attr->context;
	mr->fid.fid.ops = &mr_fid_ops;
	if (flags & FI_RMA_PMEM)
		ret = mr_pmem(mr);
	if (!ret)
		ret = mr_lower(mr);
	if (!ret) {
		/* Once it has a key, peers may read it. */
		mr->fid.mem_desc = mr->lower ? fi_mr_desc(mr->lower) : NULL;
		ret = mr_key(mr, attr->requested_key);
	}
	if (ret) {
		mr_lower_close(mr);
		free(mr);
		return ret;
	}
	mr->fid.key = mr->mr.key;
	*fid = &mr->fid;
	return 0;
}

/* Layers pass flags of their own down (ofi_rxm: bit 60). */
#define MR_ACCESS (MR_LOCAL_ACCESS | FI_REMOTE_READ | FI_REMOTE_WRITE)
#define MR_REFUSED_FLAGS FI_RMA_EVENT

static int mr_regattr(struct fid *fid, const struct fi_mr_attr *attr, uint64_t flags,
		      struct fid_mr **mr)
{
	struct rte_domain *domain = crn_container_of(fid, struct rte_domain, fid.fid);

	if (fid->fclass != FI_CLASS_DOMAIN || !attr || !attr->mr_iov ||
	    attr->iov_count != 1 || attr->offset || (attr->access & ~MR_ACCESS))
		return -FI_EINVAL;
	return flags & MR_REFUSED_FLAGS ? -FI_EBADFLAGS
					: mr_open(domain, attr, flags, mr);
}

static int mr_regv(struct fid *fid, const struct iovec *iov, size_t count,
		   uint64_t access, uint64_t offset, uint64_t requested_key,
		   uint64_t flags, struct fid_mr **mr, void *context)
{
	const struct fi_mr_attr attr = {
		.mr_iov = iov,
		.iov_count = count,
		.access = access,
		.offset = offset,
		.requested_key = requested_key,
		.context = context,
	};

	return mr_regattr(fid, &attr, flags, mr);
}

static int mr_reg(struct fid *fid, const void *buf, size_t len, uint64_t access,
		  uint64_t offset, uint64_t requested_key, uint64_t flags,
		  struct fid_mr **mr, void *context)
{
	const struct iovec iov = {.iov_base = (void *)buf, .iov_len = len};

	return mr_regv(fid, &iov, 1, access, offset, requested_key, flags, mr, context);
}

struct fi_ops_mr rte_mr_ops = {
	.size = sizeof(struct fi_ops_mr),
	.reg = mr_reg,
	.regv = mr_regv,
	.regattr = mr_regattr,
};
