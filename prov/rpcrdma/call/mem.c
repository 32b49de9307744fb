/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory regions of single operations (RFC 8166 section 4.4): registered for one Call,
 * closed before its end is reported.
 */
#include <stdlib.h>
#include <string.h>
#include "call.h"

/* Where the program chooses keys, others may have taken one. */
#define MEM_KEY_TRIES 64

static uint64_t mem_next_key(struct rpr_domain *domain)
{
	/* A full cycle of 32 bits in no obvious order (RFC 8166 section 8.1.2). */
	domain->next_key = domain->next_key * 1664525U + 1013904223U;
	return domain->next_key;
}

static int mem_reg(struct rpr_domain *domain, void *buf, size_t len, uint64_t access,
		   struct rpr_mem *mem)
{
	int i, ret = -FI_ENOKEY;

	for (i = 0; i < MEM_KEY_TRIES && ret == -FI_ENOKEY; i++)
		ret = fi_mr_reg(domain->lower, buf, len, access, 0, mem_next_key(domain),
				0, &mem->mr, NULL);
	if (ret)
		mem->mr = NULL;
	return ret;
}

int rpr_mem_expose(struct rpr_domain *domain, void *buf, size_t len, uint64_t access,
		   struct rpr_mem *mem)
{
	int ret;

	memset(mem, 0, sizeof(*mem));
	if (len > UINT32_MAX)
		return -FI_EMSGSIZE;
	ret = mem_reg(domain, buf, len, access, mem);
	if (ret)
		return ret;
	mem->seg = (struct rpr_seg){
		.handle = (uint32_t)fi_mr_key(mem->mr),
		.length = (uint32_t)len,
		.offset = domain->virt_addr ? (uintptr_t)buf : 0,
	};
	return 0;
}

int rpr_mem_alloc(struct rpr_domain *domain, size_t len, uint64_t access,
		  struct rpr_mem *mem)
{
	void *owned = malloc(len ? len : 1);
	int ret;

	memset(mem, 0, sizeof(*mem));
	if (!owned)
		return -FI_ENOMEM;
	ret = rpr_mem_expose(domain, owned, len, access, mem);
	if (ret)
		free(owned);
	else
		mem->owned = owned;
	return ret;
}

int rpr_mem_local(struct rpr_domain *domain, void *buf, size_t len, void *desc,
		  uint64_t access, struct rpr_mem *mem)
{
	memset(mem, 0, sizeof(*mem));
	if (desc && domain->direct) {
		mem->desc = desc;
		return 0;
	}
	return domain->mr_local && len ? mem_reg(domain, buf, len, access, mem) : 0;
}

int rpr_mem_copy(struct rpr_domain *domain, size_t len, struct rpr_mem *mem)
{
	void *owned = malloc(len ? len : 1);
	int ret;

	if (!owned)
		return -FI_ENOMEM;
	ret = rpr_mem_local(domain, owned, len, NULL, FI_WRITE, mem);
	if (ret)
		free(owned);
	else
		mem->owned = owned;
	return ret;
}

void rpr_mem_fence(struct rpr_mem *mem)
{
	int ret;

	if (!mem->mr)
		return;
	ret = fi_close(&mem->mr->fid);
	if (ret)
		RPR_WARN(FI_LOG_MR, "the lower provider does not close a region: %s\n",
			 fi_strerror(-ret));
	mem->mr = NULL;
}

void rpr_mem_close(struct rpr_mem *mem)
{
	rpr_mem_fence(mem);
	free(mem->owned);
	mem->owned = NULL;
}
