/* SPDX-License-Identifier: BSD-2-Clause */
/* What lasts as long as a case: domains, queues, memory; and what they must add up to. */
#include <stdlib.h>

#include "stress.h"

#define TX_SIZE 12u
/* Durable writes share flushes (FI_MORE) where the queue has room for them. */
#define TX_SIZE_DURABLE 96u

static int open_cntr(struct st_hub *hub, struct fid_cntr **cntr)
{
	struct fi_cntr_attr attr = {.events = FI_CNTR_EVENTS_COMP,
				    .wait_obj = FI_WAIT_NONE};
	int ret;

	ret = fi_cntr_open(hub->l.domain, &attr, cntr, hub);
	if (ret == -FI_ENOSYS || ret == -FI_EOPNOTSUPP)
		return fct_skip("no counters: %s", fi_strerror(-ret));
	FCT_CALL(ret);
	return fct_keep(&hub->l, &(*cntr)->fid);
}

static int open_srx(struct st_hub *hub)
{
	struct fi_rx_attr attr = *hub->l.info->rx_attr;
	int ret;

	attr.size = (size_t)hub->lanes * ST_RECVS;
	ret = fi_srx_context(hub->l.domain, &attr, &hub->srx, hub);
	if (ret == -FI_ENOSYS || ret == -FI_EOPNOTSUPP)
		return fct_skip("no shared receive contexts: %s", fi_strerror(-ret));
	FCT_CALL(ret);
	return fct_keep(&hub->l, &hub->srx->fid);
}

/* Runs in fct_link_open, so that both sides learn of it when one skips. */
static int open_rest(struct fct_link *l)
{
	struct st_hub *hub = (struct st_hub *)((char *)l - offsetof(struct st_hub, l));
	const struct st_mode *mode = &hub->s->mode;
	int ret = 0;

	if (mode->counters)
		ret = open_cntr(hub, &hub->tx_cntr) || open_cntr(hub, &hub->rx_cntr);
	if (!ret && mode->shared_rx)
		ret = open_srx(hub);
	return ret ? -1 : 0;
}

/* What the peer writes to, and receives. */
static int open_dram(struct st_lane *lane, struct fct_target *mine)
{
	struct fct_link *l = &lane->hub->l;
	int ret;

	ret = fct_mem_alloc(l, &lane->exposed_mem, sizeof(*lane->exposed),
			    FI_REMOTE_READ | FI_REMOTE_WRITE);
	if (!ret)
		ret = fct_mem_alloc(l, &lane->recvs_mem, sizeof(*lane->recvs), FI_RECV);
	if (ret)
		return ret;
	lane->exposed = (struct st_exposed *)lane->exposed_mem.buf;
	lane->recvs = (struct st_recvs *)lane->recvs_mem.buf;
	lane->recvs_desc = lane->recvs_mem.desc;
	*mine = fct_mem_target(l, &lane->exposed_mem);
	return 0;
}

static int open_pmem(struct st_lane *lane, struct fct_target *mine)
{
	struct st_hub *hub = lane->hub;
	struct st *s = hub->s;

	lane->exposed = fct_st_pmem_take(s, sizeof(*lane->exposed));
	if (!hub->srx)
		lane->recvs = fct_st_pmem_take(s, sizeof(*lane->recvs));
	if (!lane->exposed || !(hub->srx || lane->recvs))
		return fct_skip("FI_CAIRN_PMEM has no room for so many lanes");
	lane->recvs_desc = fi_mr_desc(hub->pmem_mr);
	*mine = (struct fct_target){.len = sizeof(*lane->exposed),
				    .key = fi_mr_key(hub->pmem_mr)};
	mine->addr = hub->l.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR
			     ? (uintptr_t)lane->exposed
			     : (size_t)((uint8_t *)lane->exposed - s->pmem);
	return 0;
}

static int open_lane(struct st_hub *hub, uint32_t number)
{
	struct st_lane *lane = calloc(1, sizeof(*lane));
	struct fct_target mine;
	uint32_t i, k;

	FCT_TRUE(lane);
	hub->lane[number] = lane;
	lane->hub = hub;
	lane->number = number;
	lane->selective = number & 1;
	pthread_rwlock_init(&lane->use, NULL);
	FCT_DO(fct_mem_alloc(&hub->l, &lane->local_mem, sizeof(*lane->local),
			     FI_SEND | FI_READ | FI_WRITE));
	lane->local = (struct st_local *)lane->local_mem.buf;
	FCT_DO(hub->pmem_mr ? open_pmem(lane, &mine) : open_dram(lane, &mine));
	fct_st_fill(lane->exposed->fixed, ST_FIXED,
		    fct_st_seed(lane, true, ST_FIXEDS, 0));
	for (i = 0; i < ST_TASKS; i++) {
		lane->task[i].index = i;
		for (k = 0; k < ST_CHAIN; k++)
			lane->task[i].ctx[k] =
				(struct st_ctx){.lane = lane, .task = &lane->task[i]};
	}
	for (i = 0; i < ST_RECVS; i++)
		lane->recv[i] = (struct st_ctx){.lane = lane, .recv = i + 1};
	return fct_exchange("region", &mine, &lane->peer, sizeof(mine));
}

static int open_shared_recvs(struct st_hub *hub)
{
	const uint32_t count = hub->lanes * ST_RECVS;
	uint32_t i;

	if (hub->pmem_mr) {
		hub->recv_mem.buf = fct_st_pmem_take(hub->s, count * ST_PART);
		hub->recv_mem.desc = fi_mr_desc(hub->pmem_mr);
		if (!hub->recv_mem.buf)
			return fct_skip("FI_CAIRN_PMEM has no room for receives");
	} else {
		FCT_DO(fct_mem_alloc(&hub->l, &hub->recv_mem, count * ST_PART, FI_RECV));
	}
	hub->recv = calloc(count, sizeof(*hub->recv));
	FCT_TRUE(hub->recv);
	for (i = 0; i < count; i++) {
		hub->recv[i].recv = i + 1;
		FCT_CALL(fct_st_hub_recv(hub, &hub->recv[i]));
	}
	return 0;
}

int fct_st_hub_open(struct st *s, uint32_t lanes, struct st_hub **out)
{
	const size_t tx = s->mode.durable && !s->mode.small ? TX_SIZE_DURABLE : TX_SIZE;
	const size_t all = (size_t)lanes * (2 * tx + ST_RECVS);
	struct fct_setup setup = {
		.caps = s->caps,
		.threading = s->mode.threading,
		.tx_size = tx,
		.rx_size = ST_RECVS,
		.cq_data_size = 4,
		.shared_rx = s->mode.shared_rx,
		.cq_wait = s->mode.waits ? FI_WAIT_UNSPEC : FI_WAIT_NONE,
		.cq_size = s->mode.small ? 1 : all,
		.open = open_rest,
	};
	struct st_hub *hub = calloc(1, sizeof(*hub));
	uint32_t i;

	*out = hub;
	if (!hub)
		return fct_fail("out of memory");
	hub->s = s;
	hub->lanes = lanes;
	pthread_rwlock_init(&hub->reading, NULL);
	FCT_DO(fct_link_open(&hub->l, &setup));
	/* Threads of the case look at the queues. */
	fct.n_progress_cq = 0;
	fct.progress_eq = NULL;
	if (!(hub->l.info->caps & FI_ATOMIC))
		s->no_atomics = true;
	if (s->mode.durable)
		FCT_DO(fct_st_pmem_reg(hub));
	for (i = 0; i < lanes; i++)
		FCT_DO(open_lane(hub, i));
	if (hub->srx)
		FCT_DO(open_shared_recvs(hub));
	return 0;
}

int fct_st_hub_close(struct st_hub *hub, int ret)
{
	uint32_t i;

	if (!hub)
		return ret;
	for (i = 0; i < ST_LANES && hub->lane[i]; i++)
		if (hub->lane[i]->ep && fct_st_lane_close(hub->lane[i]))
			ret = -1;
	ret = fct_link_down(&hub->l, ret);
	for (i = 0; i < ST_LANES && hub->lane[i]; i++) {
		pthread_rwlock_destroy(&hub->lane[i]->use);
		free(hub->lane[i]);
	}
	pthread_rwlock_destroy(&hub->reading);
	free(hub->recv);
	free(hub);
	return ret;
}

/* Every operation is counted once, however it ended; and every message. */
static int check_counters(struct st_hub *hub)
{
	const uint64_t sent = hub->tx_count, received = hub->rx_count;
	uint64_t ok = fi_cntr_read(hub->tx_cntr), bad = fi_cntr_readerr(hub->tx_cntr);
	uint64_t got = fi_cntr_read(hub->rx_cntr);

	if (ok + bad != sent)
		return fct_st_fail(hub->s,
				   "the counter says %llu done and %llu failed of %llu "
				   "operations",
				   (unsigned long long)ok, (unsigned long long)bad,
				   (unsigned long long)sent);
	if (got != received)
		return fct_st_fail(hub->s,
				   "the counter says %llu of %llu messages received",
				   (unsigned long long)got, (unsigned long long)received);
	return 0;
}

int fct_st_hub_check(struct st_hub *hub)
{
	static const enum st_kind kinds[] = {ST_ADD, ST_FETCH, ST_SWAP};
	uint32_t theirs[3], mine[3], i, k;
	struct st_lane *lane;
	uint64_t word;
	int ret = 0;

	for (i = 0; i < hub->lanes; i++) {
		lane = hub->lane[i];
		for (k = 0; k < 3; k++)
			mine[k] = lane->atomics[kinds[k]];
		FCT_DO(fct_exchange("atomics", mine, theirs, sizeof(mine)));
		for (k = 0; k < 3; k++) {
			word = lane->exposed->word[kinds[k]];
			if (word != theirs[k])
				ret = fct_st_fail(hub->s,
						  "lane %u: %u atomics of kind %u "
						  "succeeded, the word is %llu",
						  i, theirs[k], kinds[k],
						  (unsigned long long)word);
		}
	}
	if (hub->pmem_mr)
		FCT_DO(fct_st_pmem_check(hub));
	/* Nobody else reads the queue any more. */
	if (fct_st_comp_all(hub) || (hub->tx_cntr && check_counters(hub)))
		ret = -1;
	return ret;
}
