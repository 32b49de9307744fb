/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a completion has said to be durable outlives the target's process. Of a file in
 * the page cache this shows the order alone, the bytes before the completion: the kernel
 * keeps them, and no power fails.
 */
#include <signal.h>
#include <sys/mman.h>

#include "lost.h"

#define KEPT 12u /* writes, 4 KiB apart */

static int be_writable(struct fct *t)
{
	struct lost p = {.l.t = t, .caps = FI_RMA_PMEM, .expose = fct_lost_expose_pmem};

	return fct_lost_serve(&p, t);
}

/* Each is durable before the next is posted. */
static int write_all(struct lost *p)
{
	struct fct *t = p->l.t;
	unsigned int i;
	int ret = 0;

	for (i = 0; i < KEPT; i++) {
		fct_fill(p->m.buf, LOST_LEN, i);
		FCT_CALL(t, fct_lost_write_pmem(p, i,
						i % 3 ? FI_COMMIT_COMPLETE
						      : FI_COMMIT_COMPLETE | FI_FENCE));
		FCT_DO(fct_lost_await_ended(p));
	}
	FCT_EQ(t, p->failed, 0);
out:
	return ret;
}

static int look(struct fct *t)
{
	uint8_t *mem = NULL;
	unsigned int i;
	int ret;

	FCT_DO(fct_pmem_map(t, &mem));
	for (i = 0; i < KEPT; i++)
		FCT_DATA(t, mem + i * 4096u, LOST_LEN, i);
out:
	if (mem)
		munmap(mem, FCT_PMEM_LEN);
	return ret;
}

static int watch_kept(struct fct *t)
{
	struct lost p = {.l.t = t, .caps = FI_RMA_PMEM};
	int ret;

	FCT_DO(fct_lost_listen(&p, t));
	FCT_DO(write_all(&p));
	FCT_TRUE(t, !kill(p.pid, SIGKILL));
	FCT_DO(fct_lost_await_shutdown(&p));
	FCT_DO(fct_lost_quiet(&p));
	FCT_DO(look(t));
out:
	return fct_link_down(&p.l, ret);
}

int fct_lost_durable_kept(struct fct *t)
{
	return fct_lost_have_pmem(t)
		       ? -1
		       : fct_lost_play(t, &(struct lost_play){.killed = true,
							      .listens = watch_kept,
							      .connects = be_writable});
}
