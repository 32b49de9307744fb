/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Durable writes: what FI_COMMIT_COMPLETE promises, as far as it can be seen without a
 * power failure. The server's persistent memory is what FI_CAIRN_PMEM names, a devdax or
 * a file of 2 MiB, which the provider has to take for persistent.
 */
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
	return fct_pmem_reg(&d->l, d->mem, DURABLE_LEN, FI_REMOTE_READ | FI_REMOTE_WRITE,
			    &d->mr, mine);
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

struct fct_op fct_durable_op(struct durable *d, enum fct_form form, size_t at, size_t len,
			     uint64_t flags)
{
	return (struct fct_op){.form = form,
			       .buf = d->local.buf + at,
			       .len = len,
			       .desc = d->local.desc,
			       .addr = d->peer.addr + at,
			       .key = d->peer.key,
			       .flags = flags,
			       .ctx = &d->ctx[0],
			       .type = FI_UINT64,
			       .op = FI_SUM};
}

ssize_t fct_durable_post(struct durable *d, size_t at, size_t len, uint64_t flags,
			 void *context)
{
	struct fct_op op = fct_durable_op(d, FCT_WRITEMSG, at, len, flags);

	op.ctx = context;
	return fct_op_post(d->l.c.ep, &op);
}

int fct_durable_write(struct durable *d, size_t at, size_t len, uint64_t flags)
{
	const struct fct_op op =
		fct_durable_op(d, FCT_WRITEMSG, at, len, flags | FI_COMPLETION);

	return fct_op_do(d->l.c.ep, d->l.txcq, &op);
}

int fct_durable_counter(struct fct_link *l, struct fct_conn *c, uint64_t kinds,
			struct fid_cntr **cntr)
{
	struct fi_cntr_attr attr = {.events = FI_CNTR_EVENTS_COMP,
				    .wait_obj = FI_WAIT_UNSPEC};

	FCT_CALL(fi_cntr_open(l->domain, &attr, cntr, NULL));
	FCT_DO(fct_keep(l, &(*cntr)->fid));
	FCT_CALL(fi_ep_bind(c->ep, &(*cntr)->fid, kinds));
	return 0;
}

int fct_durable_check(struct durable *d, size_t len, uint64_t seed)
{
	FCT_DO(fct_barrier("written"));
	if (fct_is_server())
		FCT_DATA(d->mem, len, seed);
	return fct_barrier("checked");
}

int main(int argc, char **argv)
{
	const struct fct_prog prog = {
		.name = "fi_cairn_commit",
		.what = "Durable writes on connected endpoints (FI_COMMIT_COMPLETE).",
	};
	const unsigned int scale = fct_time_scale();
	char timeout[16];

	/* One case waits for it; for the others a target may stand still meanwhile. */
	snprintf(timeout, sizeof(timeout), "%u", scale > 1 ? 3000 * scale : 8000);
	setenv("FI_PVERBS_COMMIT_TIMEOUT", timeout, 0);
	return fct_main(argc, argv, &prog);
}
