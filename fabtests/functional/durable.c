/* SPDX-License-Identifier: BSD-2-Clause */
/* A connection, persistent memory on its server's side, and writes to it. */
#include <stdlib.h>
#include <sys/mman.h>

#include "durable.h"

struct fct_setup fct_durable_setup(void)
{
	return (struct fct_setup){.caps = FI_MSG | FI_RMA | FI_RMA_PMEM};
}

int fct_durable_expose(struct durable *d, struct fct_target *mine)
{
	FCT_DO(fct_pmem_map(&d->mem));
	memset(d->mem, 0, DURABLE_LEN);
	FCT_CALL(fi_mr_reg(d->l.domain, d->mem, DURABLE_LEN,
			   FI_REMOTE_READ | FI_REMOTE_WRITE, 0, fct.next_key++,
			   FI_RMA_PMEM, &d->mr, NULL));
	mine->key = fi_mr_key(d->mr);
	mine->len = DURABLE_LEN;
	if (d->l.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR)
		mine->addr = (uintptr_t)d->mem;
	return 0;
}

int fct_durable_up(struct durable *d, const struct fct_setup *s)
{
	struct fct_target mine = {0};

	*d = (struct durable){0};
	if (!getenv("FI_CAIRN_PMEM"))
		return fct_skip("FI_CAIRN_PMEM names no persistent memory");
	FCT_DO(fct_link_up(&d->l, s));
	FCT_DO(fct_mem_alloc(&d->l, &d->local, DURABLE_LEN, FI_READ | FI_WRITE));
	if (fct_is_server())
		FCT_DO(fct_durable_expose(d, &mine));
	return fct_exchange("region", &mine, &d->peer, sizeof(mine));
}

void fct_durable_end(void *durable)
{
	struct durable *d = durable;

	fct_doing("fi_close of the region");
	if (d->mr && fi_close(&d->mr->fid))
		fct_fail_at(__FILE__, __LINE__, "fi_close of the region");
	fct_link_down(&d->l, fct_ret());
	if (d->mem)
		munmap(d->mem, DURABLE_LEN);
}

ssize_t fct_durable_post(struct durable *d, size_t at, size_t len, uint64_t flags,
			 void *context)
{
	const struct iovec iov = {d->local.buf + at, len};
	const struct fi_rma_iov range = {d->peer.addr + at, len, d->peer.key};
	const struct fi_msg_rma msg = {
		.msg_iov = &iov,
		.desc = &d->local.desc,
		.iov_count = 1,
		.rma_iov = &range,
		.rma_iov_count = 1,
		.context = context,
	};

	return fi_writemsg(d->l.c.ep, &msg, flags);
}

int fct_durable_write(struct durable *d, size_t at, size_t len, uint64_t flags)
{
	struct fi_cq_data_entry e;

	FCT_POST(d->l.txcq,
		 fct_durable_post(d, at, len, flags | FI_COMPLETION, &d->ctx[0]));
	return fct_comp(d->l.txcq, &d->ctx[0], FI_RMA | FI_WRITE, &e, "the write");
}

int fct_durable_check(struct durable *d, size_t len, uint64_t seed)
{
	FCT_DO(fct_barrier("written"));
	if (fct_is_server())
		FCT_DATA(d->mem, len, seed);
	return fct_barrier("checked");
}
