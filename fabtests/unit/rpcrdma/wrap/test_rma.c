/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Wrap mode: the remote CQ data of a write travel in a Call of their own. The write is
 * complete when the Call is, too, so that its program may close the endpoint then.
 */
#include "ends.h"

#define WRITES 3u
#define BYTES 8u

struct world {
	struct ends e;
	struct fid_mr *mr, *local; /* of the server's and the client's buffer */
	uint64_t addr, key;
};

static void start(struct world *t)
{
	ends_begin();
	CT_ASSERT_EQ(ends_up(&t->e, RPR_MODE_WRAP), 0);
	CT_ASSERT_EQ(fi_mr_reg(t->e.server.domain, t->e.server.got[0], ENDS_LONG,
			       FI_REMOTE_WRITE, 0, 0, 0, &t->mr, NULL),
		     0);
	CT_ASSERT_EQ(fi_mr_reg(t->e.client.domain, t->e.client.sent, ENDS_LONG, FI_WRITE,
			       0, 0, 0, &t->local, NULL),
		     0);
	t->key = fi_mr_key(t->mr);
	t->addr = t->e.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR
			  ? (uintptr_t)t->e.server.got[0]
			  : 0;
}

static void stop(struct world *t)
{
	if (t->mr)
		CT_EXPECT_EQ(fi_close(&t->mr->fid), 0);
	if (t->local)
		CT_EXPECT_EQ(fi_close(&t->local->fid), 0);
	ends_close(&t->e);
}

CT_FIXTURE(rpcrdma_rma, struct world, start, stop);

/* Writes number i with i as data; what fi_writemsg returned. */
static ssize_t write_data(struct world *t, unsigned int i, uint64_t flags)
{
	char *buf = t->e.client.sent + i * BYTES;
	const struct iovec iov = {.iov_base = buf, .iov_len = BYTES};
	const struct fi_rma_iov rma = {.addr = t->addr, .len = BYTES, .key = t->key};
	void *desc = fi_mr_desc(t->local);
	const struct fi_msg_rma msg = {
		.msg_iov = &iov,
		.desc = &desc,
		.iov_count = 1,
		.rma_iov = &rma,
		.rma_iov_count = 1,
		.context = buf,
		.data = i,
	};

	return fi_writemsg(t->e.client.ep, &msg,
			   FI_COMPLETION | FI_REMOTE_CQ_DATA | flags);
}

/* The Reply, which lets go the Calls that waited. */
static void take_reply(struct world *t)
{
	pair_nothing(t->e.client.cq);
}

static void write_all(struct world *t, uint64_t flags)
{
	for (unsigned int i = 0; i < WRITES; i++)
		CT_EXPECT_EQ(write_data(t, i, flags), 0);
}

static void expect_done(struct world *t, unsigned int i)
{
	pair_done(t->e.client.cq, t->e.client.sent + i * BYTES, FI_WRITE | FI_RMA);
}

static void expect_data(struct world *t, unsigned int i)
{
	struct fi_cq_data_entry entry = {.data = ~0ULL};

	CT_EXPECT_EQ(fi_cq_read(t->e.server.cq, &entry, 1), 1);
	CT_EXPECT_EQ(entry.flags, FI_REMOTE_WRITE | FI_RMA | FI_REMOTE_CQ_DATA);
	CT_EXPECT_EQ(entry.data, i);
	CT_EXPECT_EQ(entry.len, BYTES);
}

/* Before the first Reply there is one credit: the second Call waits for that. */
CT_TEST_F(rpcrdma_rma, a_write_with_data_waits_for_its_call)
{
	write_all(t, 0);
	expect_done(t, 0);
	pair_nothing(t->e.client.cq);
	expect_data(t, 0);
	take_reply(t);
	expect_done(t, 1);
	expect_done(t, 2);
	pair_nothing(t->e.client.cq);
}

CT_TEST_F(rpcrdma_rma, data_of_writes_that_are_complete_survive_the_close)
{
	write_all(t, 0);
	expect_done(t, 0);
	expect_data(t, 0);
	take_reply(t);
	expect_done(t, 1);
	expect_done(t, 2);
	CT_EXPECT_EQ(fi_close(&t->e.client.ep->fid), 0);
	t->e.client.ep = NULL;
	expect_data(t, 1);
	expect_data(t, 2);
	pair_nothing(t->e.server.cq);
}

/* The target's queue has the data by then. */
CT_TEST_F(rpcrdma_rma, delivery_complete_waits_for_the_reply)
{
	CT_EXPECT_EQ(write_data(t, 0, FI_DELIVERY_COMPLETE), 0);
	pair_nothing(t->e.client.cq);
	expect_data(t, 0);
	expect_done(t, 0);
	/* Also with credits for many. */
	CT_EXPECT_EQ(write_data(t, 1, FI_DELIVERY_COMPLETE), 0);
	pair_nothing(t->e.client.cq);
	expect_data(t, 1);
	expect_done(t, 1);
}

CT_TEST_F(rpcrdma_rma, a_write_whose_call_is_lost_fails)
{
	write_all(t, 0);
	expect_done(t, 0);
	scr_break(scr_fid(FI_CLASS_EP, 0));
	pair_failed(t->e.client.cq, t->e.client.sent + BYTES, FI_ECANCELED);
	pair_failed(t->e.client.cq, t->e.client.sent + 2 * BYTES, FI_ECANCELED);
	pair_nothing(t->e.client.cq);
}

/* One error for both of its parts. */
CT_TEST_F(rpcrdma_rma, a_write_that_fails_fails_once)
{
	scr_hold(SCR_ARRIVALS);
	CT_EXPECT_EQ(write_data(t, 0, 0), 0);
	CT_EXPECT_TRUE(scr_fail_held(0, FI_EACCES, 0, NULL, 0));
	scr_hold(0);
	scr_break(scr_fid(FI_CLASS_EP, 0));
	pair_failed(t->e.client.cq, t->e.client.sent, FI_EACCES);
	pair_nothing(t->e.client.cq);
}

CT_TEST_F(rpcrdma_rma, closing_with_writes_under_way_leaks_nothing)
{
	scr_hold(SCR_ARRIVALS | SCR_COMPLETIONS);
	write_all(t, FI_DELIVERY_COMPLETE);
	scr_hold(0);
	CT_EXPECT_EQ(fi_close(&t->e.client.ep->fid), 0);
	t->e.client.ep = NULL;
	scr_let_all_go();
}
