/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory regions. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include "model/model.h"
#include "verbs.h"
#include "vg.h"

#undef ibv_reg_mr
#undef ibv_reg_mr_iova

#define SVB_MR_ACCESS                                                                  \
	((uint32_t)(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |                 \
		    IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC |                \
		    IBV_ACCESS_MW_BIND | IBV_ACCESS_ZERO_BASED | IBV_ACCESS_HUGETLB) | \
	 SVB_ACCESS_FLUSH_GLOBAL | SVB_ACCESS_FLUSH_PERSISTENT |                       \
	 (uint32_t)IBV_ACCESS_OPTIONAL_RANGE)

/* Kernel: ib_check_mr_access; ibv_reg_mr(3). */
static int svb_mr_access(uint32_t access)
{
	if (access & IBV_ACCESS_ON_DEMAND)
		return EOPNOTSUPP;
	if (access & ~SVB_MR_ACCESS)
		return EINVAL;
	if (access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC) &&
	    !(access & IBV_ACCESS_LOCAL_WRITE))
		return EINVAL;
	if (access & (SVB_ACCESS_FLUSH_GLOBAL | SVB_ACCESS_FLUSH_PERSISTENT) &&
	    !svb_self.settings.flush)
		return EOPNOTSUPP;
	return 0;
}

static uintptr_t svb_mr_page(void)
{
	return (uintptr_t)sysconf(_SC_PAGESIZE);
}

/* Kernel: ib_access_writable. */
#define SVB_MR_WRITES                                                  \
	((uint32_t)(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
		    IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND))

/*
 * An adapter pins the pages, for writing when it may write: what is not mapped so cannot
 * be registered, nor what touches no page (kernel: ib_umem_get; no bytes in the middle of
 * a page touch it).
 */
static int svb_mr_mapped(const void *addr, size_t length, uint32_t access)
{
	const uintptr_t at = (uintptr_t)addr;

	if (at + length < at || (!length && !(at % svb_mr_page())))
		return EINVAL;
	return svb_mapped(addr, length, access & SVB_MR_WRITES) ? 0 : EFAULT;
}

static void svb_mr_publish(struct svb_mr *mr, uint64_t iova, uint32_t access)
{
	struct svb_mr_sh *sh = mr->sh;

	sh->access = access;
	sh->pd = mr->ibv.pd->handle;
	sh->qpn = 0;
	sh->iova = iova;
	sh->length = mr->ibv.length;
	sh->addr = (uintptr_t)mr->ibv.addr;
	sh->flags = SVB_MR_USED;
	if (access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC))
		svb_vg_written(mr->ibv.addr, mr->ibv.length);
	if (svb_unlikely(svb_self.model) &&
	    svb_medium_find(mr->ibv.addr, mr->ibv.length, &sh->medium))
		sh->flags |= SVB_MR_PERSISTENT;
	__atomic_store_n(&sh->key, mr->ibv.lkey, __ATOMIC_RELEASE);
}

static struct ibv_mr *svb_mr_register(struct ibv_pd *pd, void *addr, size_t length,
				      uint64_t iova, uint32_t access)
{
	struct svb_mr *mr;
	int64_t slot;

	errno = svb_mr_access(access);
	/* Kernel: ib_uverbs_reg_mr; pages are what is mapped. */
	if (!errno && ((uintptr_t)addr ^ iova) % svb_mr_page())
		errno = EINVAL;
	if (!errno)
		errno = svb_mr_mapped(addr, length, access);
	if (errno || svb_removed_ctx(pd->context))
		return NULL;
	mr = calloc(1, sizeof(*mr));
	slot = mr ? svb_slot_alloc(SVB_TAB_MR) : -1;
	if (slot < 0) {
		free(mr);
		errno = ENOMEM;
		return NULL;
	}
	mr->sh = svb_seg_mr(svb_self.seg, (uint32_t)slot);
	mr->sh->tag = svb_key_tag(mr->sh->tag);
	mr->ibv = (struct ibv_mr){
		.context = pd->context,
		.pd = pd,
		.addr = addr,
		.length = length,
		.handle = (uint32_t)slot,
		.lkey = (uint32_t)slot << 8 | mr->sh->tag,
		.rkey = (uint32_t)slot << 8 | mr->sh->tag,
	};
	svb_pd_hold(pd);
	svb_mr_publish(mr, access & IBV_ACCESS_ZERO_BASED ? 0 : iova, access);
	return &mr->ibv;
}

SVB_API struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length,
				  int access)
{
	return svb_mr_register(pd, addr, length, (uintptr_t)addr, (uint32_t)access);
}

SVB_API struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *addr, size_t length,
				       uint64_t iova, int access)
{
	return svb_mr_register(pd, addr, length, iova, (uint32_t)access);
}

SVB_API struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length,
					uint64_t iova, unsigned int access)
{
	return svb_mr_register(pd, addr, length, iova, access);
}

/* When it returns no request reaches the memory any more: the program may reuse it. */
static void svb_mr_withdraw(struct svb_mr *mr)
{
	__atomic_store_n(&mr->sh->key, 0, __ATOMIC_SEQ_CST);
	svb_engine_quiesce();
}

SVB_API int ibv_dereg_mr(struct ibv_mr *ibmr)
{
	struct svb_mr *mr = (struct svb_mr *)ibmr;

	if (__atomic_load_n(&mr->sh->windows, __ATOMIC_ACQUIRE))
		return EBUSY;
	svb_mr_withdraw(mr);
	mr->sh->flags = 0;
	svb_pd_drop(ibmr->pd);
	svb_slot_free(SVB_TAB_MR, ibmr->handle);
	free(mr);
	return 0;
}

SVB_API int ibv_rereg_mr(struct ibv_mr *ibmr, int flags, struct ibv_pd *pd, void *addr,
			 size_t length, int access)
{
	bool moves = flags & IBV_REREG_MR_CHANGE_TRANSLATION;
	struct svb_mr *mr = (struct svb_mr *)ibmr;
	uint32_t rights =
		flags & IBV_REREG_MR_CHANGE_ACCESS ? (uint32_t)access : mr->sh->access;

	errno = !flags || flags & ~IBV_REREG_MR_FLAGS_SUPPORTED ? EINVAL
								: svb_mr_access(rights);
	if (!errno && moves)
		errno = addr ? svb_mr_mapped(addr, length, rights) : EINVAL;
	if (!errno && !moves && flags & IBV_REREG_MR_CHANGE_ACCESS)
		errno = svb_mr_mapped(ibmr->addr, ibmr->length, rights);
	if (!errno && flags & IBV_REREG_MR_CHANGE_PD && !pd)
		errno = EINVAL;
	if (!errno && __atomic_load_n(&mr->sh->windows, __ATOMIC_ACQUIRE))
		errno = EBUSY;
	if (errno)
		return IBV_REREG_MR_ERR_INPUT;
	if (svb_removed_ctx(ibmr->context))
		return IBV_REREG_MR_ERR_CMD;
	svb_mr_withdraw(mr);
	if (moves) {
		ibmr->addr = addr;
		ibmr->length = length;
	}
	if (flags & IBV_REREG_MR_CHANGE_PD) {
		svb_pd_hold(pd);
		svb_pd_drop(ibmr->pd);
		ibmr->pd = pd;
	}
	svb_mr_publish(mr, moves ? (uintptr_t)addr : mr->sh->iova, rights);
	return 0;
}
