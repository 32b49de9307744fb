/* SPDX-License-Identifier: BSD-2-Clause */
/* Persistent memory: the file or devdax is one for both sides, and each has a half. */
#include <sys/mman.h>

#include "stress.h"

#define PMEM_HALF (FCT_PMEM_LEN / 2)

int fct_st_pmem_open(struct st *s)
{
	uint8_t *all;

	if (fct_pmem_map(&all))
		return -1;
	s->pmem = all + (fct_is_client() ? PMEM_HALF : 0);
	s->pmem_len = PMEM_HALF;
	s->pmem_used = 0;
	return 0;
}

void fct_st_pmem_close(struct st *s)
{
	if (s->pmem)
		munmap(s->pmem - (fct_is_client() ? PMEM_HALF : 0), FCT_PMEM_LEN);
	s->pmem = NULL;
}

int fct_st_pmem_reg(struct st_hub *hub)
{
	struct st *s = hub->s;

	FCT_CALL(fi_mr_reg(hub->l.domain, s->pmem, s->pmem_len,
			   FI_RECV | FI_REMOTE_READ | FI_REMOTE_WRITE, 0, fct.next_key++,
			   FI_RMA_PMEM, &hub->pmem_mr, NULL));
	return fct_keep(&hub->l, &hub->pmem_mr->fid);
}

void *fct_st_pmem_take(struct st *s, size_t len)
{
	uint8_t *at = s->pmem + s->pmem_used;

	len = (len + 63) & ~(size_t)63;
	if (len > s->pmem_len - s->pmem_used)
		return NULL;
	s->pmem_used += len;
	return memset(at, 0, len);
}

static int is_there(struct st_lane *lane, uint32_t task, const struct st_wrote *wrote)
{
	const uint8_t *slot = lane->exposed->slot[task];
	const size_t head = wrote->echo ? 0 : sizeof(struct st_written);
	const uint64_t seed =
		fct_st_seed(lane, false, wrote->echo ? ST_ECHO : 16 + task, wrote->seq);
	size_t at;

	if (!wrote->seq)
		return 0;
	at = fct_st_differs(slot + head, wrote->len - head, seed, 0);
	if (at == wrote->len - head)
		return 0;
	return fct_st_fail(
		lane->hub->s,
		"lane %u, slot %u: at the end byte %zu of %llu differs from what "
		"write %llu wrote",
		lane->number, task, at + head, (unsigned long long)wrote->len,
		(unsigned long long)wrote->seq);
}

int fct_st_pmem_check(struct st_hub *hub)
{
	struct st_wrote mine[ST_TASKS], theirs[ST_TASKS];
	uint32_t i, k;

	memset(mine, 0, sizeof(mine));
	for (i = 0; i < hub->lanes; i++) {
		for (k = 0; k < ST_TASKS; k++)
			mine[k] = hub->lane[i]->task[k].wrote;
		FCT_DO(fct_exchange("written", mine, theirs, sizeof(mine)));
		for (k = 0; k < ST_TASKS; k++)
			FCT_DO(is_there(hub->lane[i], k, &theirs[k]));
	}
	return 0;
}
