/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One side can do nothing for durable operations of the other: it is a stock provider, or
 * its FI_PVERBS_DURABLE is off. What needs its processor is refused when it is posted,
 * all else goes on. FCT_SERVER_ENV and FCT_CLIENT_ENV tell the sides apart.
 */
#include <stdlib.h>

#include "durable.h"

#define LEN 256u
#define BACK 4096u /* where each receives */

struct side {
	uint32_t pmem; /* its provider knows persistent memory */
	uint32_t able; /* and has not been told to leave it alone */
};

static struct side look(void)
{
	const struct fct_setup s = fct_durable_setup();
	const char *durable = getenv("FI_PVERBS_DURABLE");
	struct fi_info *info = NULL;
	struct side side = {0};

	side.pmem = !fct_getinfo(&s, NULL, "0", &info);
	side.able = side.pmem && !(durable && !strcmp(durable, "off"));
	fi_freeinfo(info);
	return side;
}

/* What this side exposes: one half of the memory that both have, or ordinary memory. */
static uint8_t *exposed(const struct durable *d)
{
	if (!d->mem)
		return d->local.buf;
	return d->mem + (fct_is_client() ? DURABLE_LEN / 2 : 0);
}

static int expose(struct durable *d, bool pmem, struct fct_target *mine)
{
	if (!pmem) {
		*mine = fct_mem_target(&d->l, &d->local);
		return 0;
	}
	FCT_DO(fct_pmem_map(&d->mem));
	memset(exposed(d), 0, LEN);
	return fct_pmem_reg(&d->l, exposed(d), DURABLE_LEN / 2,
			    FI_REMOTE_READ | FI_REMOTE_WRITE, &d->mr, mine);
}

static ssize_t post_send(struct durable *d, uint64_t flags)
{
	struct fct_op op =
		fct_durable_op(d, FCT_SENDMSG, LEN, LEN, flags | FI_COMPLETION);

	op.ctx = &d->ctx[1];
	return fct_op_post(d->l.c.ep, &op);
}

/* A write that is durable after all, by what the device alone does, or refused. */
static int try_write(struct durable *d, const struct side *peer)
{
	struct fi_cq_data_entry e;
	int ret;

	ret = (int)fct_durable_post(d, 0, LEN, FI_COMMIT_COMPLETE | FI_COMPLETION,
				    &d->ctx[0]);
	fct_note("a durable write: %s", fi_strerror(-ret));
	if (ret || !peer->pmem) {
		FCT_EQ(ret, -FI_EOPNOTSUPP);
		return fct_cq_quiet(d->l.txcq, "after a refused write");
	}
	return fct_comp(d->l.txcq, &d->ctx[0], FI_RMA | FI_WRITE, &e, "the write");
}

static int initiate(struct durable *d, const struct side *mine, const struct side *peer)
{
	struct fi_cq_data_entry e;

	if (mine->pmem) {
		FCT_DO(try_write(d, peer));
		/* Its target has to say when it is durable. */
		FCT_EQ(post_send(d, FI_COMMIT_COMPLETE), -FI_EOPNOTSUPP);
		FCT_DO(fct_cq_quiet(d->l.txcq, "after a refused message"));
		FCT_DO(try_write(d, peer));
	}
	FCT_DO(fct_durable_write(d, 0, LEN, 0));
	FCT_POST(d->l.txcq, post_send(d, 0));
	FCT_DO(fct_comp(d->l.txcq, &d->ctx[1], FI_SEND | FI_MSG, &e,
			"the plain message"));
	/* Nobody can be asked where that one went. */
	if (mine->pmem) {
		FCT_EQ(fct_durable_post(d, 0, LEN,
					FI_FENCE | FI_COMMIT_COMPLETE | FI_COMPLETION,
					&d->ctx[0]),
		       -FI_EOPNOTSUPP);
		FCT_DO(fct_cq_quiet(d->l.txcq, "after a refused fence"));
		FCT_DO(try_write(d, peer));
	}
	return 0;
}

static int respond(struct durable *d, uint64_t seed)
{
	struct fi_cq_data_entry e;

	FCT_DO(fct_comp(d->l.rxcq, &d->ctx[2], FI_RECV | FI_MSG, &e, "the message"));
	FCT_DO(fct_compare(d->local.buf + BACK, LEN, seed, LEN, "the message"));
	FCT_DATA(exposed(d), LEN, seed);
	return 0;
}

/* First one side is the initiator, then the other. */
static int both_ways(struct durable *d, const struct side *mine, const struct side *peer)
{
	uint64_t turn;

	for (turn = 0; turn < 2; turn++) {
		const bool initiates = fct_is_client() == !turn;

		if (initiates)
			fct_fill(d->local.buf, 2 * LEN, turn);
		else
			FCT_CALL(fi_recv(d->l.c.ep, d->local.buf + BACK, LEN,
					 d->local.desc, 0, &d->ctx[2]));
		FCT_DO(fct_barrier("a receive is there"));
		if (initiates)
			FCT_DO(initiate(d, mine, peer));
		else
			FCT_DO(respond(d, turn));
		FCT_DO(fct_barrier("one side is done"));
	}
	return 0;
}

FCT_CASE(without, "where one side can do nothing for it")
{
	struct fct_setup s = {.caps = FI_MSG | FI_RMA};
	FCT_AUTO(fct_durable_end) struct durable d = {0};
	const struct side mine = look();
	struct fct_target target;
	struct side peer;

	if (!getenv("FI_CAIRN_PMEM"))
		return fct_skip("FI_CAIRN_PMEM names no persistent memory");
	FCT_DO(fct_exchange("sides", &mine, &peer, sizeof(mine)));
	if (mine.able && peer.able)
		return fct_skip("both sides can");
	s.caps |= mine.pmem ? FI_RMA_PMEM : 0;
	FCT_DO(fct_link_up(&d.l, &s));
	FCT_DO(fct_mem_alloc(&d.l, &d.local, 2 * BACK,
			     FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ |
				     FI_REMOTE_WRITE));
	FCT_DO(expose(&d, mine.pmem, &target));
	FCT_DO(fct_exchange("region", &target, &d.peer, sizeof(target)));
	return both_ways(&d, &mine, &peer);
}
