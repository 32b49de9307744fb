/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a completion has said to be durable outlives the target's process. Of a file in
 * the page cache this shows the order alone, the bytes before the completion: the kernel
 * keeps them, and no power fails.
 */
#include <signal.h>

#include "lost.h"

#define KEPT 12u /* writes, 4 KiB apart */

static int be_writable(void)
{
	struct lost p = {.caps = FI_RMA_PMEM, .expose = fct_lost_expose_pmem};

	return fct_lost_serve(&p);
}

/* Each is durable before the next is posted. */
static int write_all(struct lost *p)
{
	unsigned int i;

	for (i = 0; i < KEPT; i++) {
		fct_fill(p->m.buf, LOST_LEN, i);
		FCT_CALL(fct_lost_write_pmem(p, i,
					     i % 3 ? FI_COMMIT_COMPLETE
						   : FI_COMMIT_COMPLETE | FI_FENCE));
		FCT_DO(fct_lost_await_ended(p));
	}
	FCT_EQ(p->failed, 0);
	return 0;
}

static int look(void)
{
	FCT_AUTO(fct_pmem_end) uint8_t *mem = NULL;
	unsigned int i;

	FCT_DO(fct_pmem_map(&mem));
	for (i = 0; i < KEPT; i++)
		FCT_DATA(mem + i * 4096u, LOST_LEN, i);
	return 0;
}

static int watch_kept(void)
{
	FCT_AUTO(fct_link_end) struct lost p = {.caps = FI_RMA_PMEM};

	FCT_DO(fct_lost_listen(&p));
	FCT_DO(write_all(&p));
	FCT_TRUE(!kill(p.pid, SIGKILL));
	FCT_DO(fct_lost_await_shutdown(&p));
	FCT_DO(fct_lost_quiet(&p));
	FCT_DO(look());
	return 0;
}

FCT_CASE_CALL(durable_kept, "what was durable is there when the target was killed",
	      fct_lost_have_pmem()
		      ? -1
		      : fct_lost_play(&(struct lost_play){.killed = true,
							  .listens = watch_kept,
							  .connects = be_writable}))
