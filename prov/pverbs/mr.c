/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory regions: fi_mr(3). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <cairn/nosys.h>
#include "cq/cq.h"
#include "device/device.h"
#include "persist/persist.h"
#include "wire/wire.h"
#include "flags.h"

#define PVB_MR_ACCESS \
	(FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE)

/* Registers the region with the control: peers may then request flushes by its key. */
static int pvb_mr_announce(struct pvb_mr *mr)
{
	if (!mr->key_attr.persistent || !mr->domain->control)
		return 0;
	return pvb_pmem_region_add(mr->domain->control, &mr->pmem_region);
}

/* Peers can no longer request flushes of it, and none is running. */
static void pvb_mr_forget(struct pvb_mr *mr)
{
	if (mr->key_attr.persistent && mr->domain->control)
		pvb_pmem_region_del(mr->domain->control, &mr->pmem_region);
}

static int pvb_mr_close(struct fid *fid)
{
	struct pvb_mr *mr = crn_container_of(fid, struct pvb_mr, fid.fid);
	int ret;

	if (pvb_inherited(mr->domain->fabric))
		return 0;
	if (atomic_load(&mr->users))
		return -FI_EBUSY;
	/* First: after deregistration the region must not be flushed any more. */
	pvb_mr_forget(mr);
	ret = pvb_removal_destroyed(mr->domain, ibv_dereg_mr(mr->mr));
	if (ret) {
		pvb_mr_announce(mr);
		return -ret;
	}
	atomic_fetch_sub(&mr->domain->refs, 1);
	free(mr);
	return 0;
}

static struct fi_ops pvb_mr_fid_ops = {
	.size = sizeof(struct fi_ops),
	.close = pvb_mr_close,
	.bind = crn_nosys_bind,
	.control = crn_nosys_control,
	.ops_open = crn_nosys_ops_open,
	.tostr = crn_nosys_tostr,
	.ops_set = crn_nosys_ops_set,
};

static int pvb_mr_access(const struct pvb_domain *domain, uint64_t access)
{
	int verbs = 0;

	if (access & (FI_RECV | FI_READ))
		verbs |= IBV_ACCESS_LOCAL_WRITE;
	if (access & FI_REMOTE_READ)
		verbs |= IBV_ACCESS_REMOTE_READ;
	/* Verbs allows remote writing only where local writing is allowed. */
	if (access & FI_REMOTE_WRITE)
		verbs |= IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_LOCAL_WRITE;
	/* fi_mr(3): atomics need both rights; verbs has one, and it is one to modify. */
	if (domain->atomics && (access & FI_REMOTE_WRITE))
		verbs |= IBV_ACCESS_REMOTE_ATOMIC;
	if (pvb_quirk(domain, PVB_QUIRK_READ_NEEDS_WRITE) && (access & FI_READ))
		verbs |= IBV_ACCESS_REMOTE_WRITE;
	return verbs;
}

static void pvb_mr_tell(const struct pvb_mr *mr, size_t len,
			const struct pvb_facts *facts)
{
	PVB_INFO(FI_LOG_MR, "%zu bytes of %s (%s, %s): %s (%s), DDIO %s (%s), FLUSH %s\n",
		 len, facts->mem.where, facts->mem.kind,
		 crn_pmem_source_name(facts->mem.persistent_source),
		 crn_persistence_name(mr->key_attr.domain),
		 crn_pmem_source_name(facts->mem.domain_source),
		 mr->key_attr.ddio ? "on" : "off",
		 crn_pmem_source_name(facts->ddio_source),
		 mr->key_attr.flush ? "yes" : "no");
}

/*
 * Registers with these rights; with flush, the rights of FLUSH, if the device takes them
 * for this memory: rdma_rxe flushes what the firmware describes as persistent, nothing
 * else.
 */
static int pvb_mr_verbs(struct pvb_mr *mr, const void *buf, size_t len, int rights,
			unsigned int flush)
{
	struct ibv_pd *pd = mr->domain->pd;
	int ret;

	if (flush)
		mr->mr = ibv_reg_mr(pd, (void *)buf, len, rights | (int)flush);
	mr->key_attr.flush = mr->mr;
	if (!mr->mr)
		mr->mr = ibv_reg_mr(pd, (void *)buf, len, rights);
	if (mr->mr)
		return 0;
	ret = pvb_errno();
	pvb_mr_explain(-ret, buf, len);
	return ret;
}

/*
 * Linux lets no device keep pages of a file of a DAX file system, for the file system may
 * move them; a device with on-demand paging asks for them anew.
 */
static int pvb_mr_on_demand(struct pvb_mr *mr, const void *buf, size_t len, int rights,
			    const struct pvb_facts *facts)
{
	mr->mr = ibv_reg_mr(mr->domain->pd, (void *)buf, len,
			    rights | IBV_ACCESS_ON_DEMAND);
	if (mr->mr)
		return 0;
	PVB_WARN(
		FI_LOG_MR,
		"%s (%s) cannot be registered with %s: files of a DAX file system need a "
		"device with on-demand paging; a devdax does not\n",
		facts->mem.where, facts->mem.kind, pvb_domain_device(mr->domain));
	return -FI_EOPNOTSUPP;
}

/*
 * FI_RMA_PMEM: only what is persistent memory. A peer that makes it durable by a read
 * needs the right to read. Relaxed ordering, with which a later write may pass, is never
 * asked for.
 */
static int pvb_mr_pmem(struct pvb_mr *mr, const void *buf, size_t len, int rights)
{
	struct pvb_facts facts;
	int ret;

	ret = pvb_facts_of(mr->domain->verbs, buf, len, &facts);
	if (ret)
		return ret;
	if (!facts.key_attr.persistent) {
		PVB_WARN(FI_LOG_MR,
			 "FI_RMA_PMEM refused for %zu bytes at %p: %s%sis %s. Map a "
			 "devdax, or a file of a DAX file system with MAP_SYNC; or "
			 "declare what is mapped, if you know better: \"persistent = "
			 "yes\" in FI_PVERBS_PMEM_CONFIG, fi_pverbs(7)\n",
			 len, buf, *facts.mem.where ? facts.mem.where : "it", " ",
			 facts.mem.kind);
		return -FI_EOPNOTSUPP;
	}
	mr->key_attr = facts.key_attr;
	mr->key_attr.readable = true;
	mr->key_attr.atomic_write &= !!(rights & IBV_ACCESS_REMOTE_WRITE);
	mr->replay = facts.replay;
	rights |= IBV_ACCESS_REMOTE_READ;
	ret = pvb_mr_verbs(mr, buf, len, rights, pvb_native_access(&facts.native));
	if (ret == -FI_EOPNOTSUPP)
		ret = pvb_mr_on_demand(mr, buf, len, rights, &facts);
	if (!ret)
		pvb_mr_tell(mr, len, &facts);
	return ret;
}

/* The range that peers may request to be flushed. */
static struct pvb_pmem_region pvb_mr_pmem_region(const struct pvb_mr *mr, int rights)
{
	return (struct pvb_pmem_region){
		.addr = (uintptr_t)mr->mr->addr,
		.len = mr->mr->length,
		.rkey = mr->mr->rkey,
		.write = rights & IBV_ACCESS_REMOTE_WRITE,
		.flush = crn_pmem_needs_flush(mr->key_attr.domain),
	};
}

static int pvb_mr_register(struct pvb_domain *domain, const void *buf, size_t len,
			   uint64_t access, uint64_t flags, void *context,
			   struct fid_mr **fid)
{
	const int rights = pvb_mr_access(domain, access);
	struct pvb_mr *mr;
	int ret;

	if (access & ~PVB_MR_ACCESS)
		return -FI_EINVAL;
	ret = pvb_flags_check(PVB_FLAGS_MR, flags);
	if (ret)
		return ret;
	if (pvb_removed(domain))
		return -FI_ENODEV;
	mr = calloc(1, sizeof(*mr));
	if (!mr)
		return -FI_ENOMEM;
	mr->domain = domain;
	ret = flags & FI_RMA_PMEM ? pvb_mr_pmem(mr, buf, len, rights)
				  : pvb_mr_verbs(mr, buf, len, rights, 0);
	if (ret)
		goto err;
	mr->pmem_region = pvb_mr_pmem_region(mr, rights);
	ret = pvb_mr_announce(mr);
	if (ret) {
		ibv_dereg_mr(mr->mr);
		goto err;
	}
	mr->fid.fid.fclass = FI_CLASS_MR;
	mr->fid.fid.context = context;
	mr->fid.fid.ops = &pvb_mr_fid_ops;
	mr->fid.mem_desc = (void *)(uintptr_t)mr->mr->lkey;
	mr->fid.key = pvb_key_pack(mr->mr->rkey, &mr->key_attr);
	atomic_fetch_add(&domain->refs, 1);
	*fid = &mr->fid;
	return 0;
err:
	free(mr);
	return pvb_removal_ret(domain, ret);
}

static int pvb_mr_regattr(struct fid *fid, const struct fi_mr_attr *attr, uint64_t flags,
			  struct fid_mr **mr)
{
	struct pvb_domain *domain = crn_container_of(fid, struct pvb_domain, fid.fid);
	int ret;

	if (fid->fclass != FI_CLASS_DOMAIN || !attr || attr->iov_count != 1)
		return -FI_EINVAL;
	/* Some flags change the meaning of attr->mr_iov. */
	ret = pvb_flags_check(PVB_FLAGS_MR, flags);
	if (ret)
		return ret;
	/* The field exists since version 1.10 of the interface. */
	if (FI_VERSION_GE(domain->fabric->fid.api_version, FI_VERSION(1, 10)) &&
	    attr->iface != FI_HMEM_SYSTEM)
		return -FI_EOPNOTSUPP;
	return pvb_mr_register(domain, attr->mr_iov->iov_base, attr->mr_iov->iov_len,
			       attr->access, flags, attr->context, mr);
}

static int pvb_mr_regv(struct fid *fid, const struct iovec *iov, size_t count,
		       uint64_t access, uint64_t offset, uint64_t requested_key,
		       uint64_t flags, struct fid_mr **mr, void *context)
{
	struct pvb_domain *domain = crn_container_of(fid, struct pvb_domain, fid.fid);

	if (fid->fclass != FI_CLASS_DOMAIN || count != 1)
		return -FI_EINVAL;
	return pvb_mr_register(domain, iov->iov_base, iov->iov_len, access, flags,
			       context, mr);
}

static int pvb_mr_reg(struct fid *fid, const void *buf, size_t len, uint64_t access,
		      uint64_t offset, uint64_t requested_key, uint64_t flags,
		      struct fid_mr **mr, void *context)
{
	const struct iovec iov = {.iov_base = (void *)buf, .iov_len = len};

	return pvb_mr_regv(fid, &iov, 1, access, offset, requested_key, flags, mr,
			   context);
}

struct fi_ops_mr pvb_mr_ops = {
	.size = sizeof(struct fi_ops_mr),
	.reg = pvb_mr_reg,
	.regv = pvb_mr_regv,
	.regattr = pvb_mr_regattr,
};
