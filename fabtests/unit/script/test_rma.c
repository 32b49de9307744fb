/* SPDX-License-Identifier: BSD-2-Clause */
#include "scene.h"

static char at[4]; /* contexts */

CT_FIXTURE(rma, struct pair, scene_begin, pair_down);

CT_TEST_F(rma, writes_and_reads)
{
	uint64_t key, addr;

	CT_ASSERT_EQ(pair_up(t, SCR_NAME), 0);
	key = fi_mr_key(t->server.mr);
	addr = (uintptr_t)t->server.buf + 100;
	strcpy(t->client.buf, "hello");
	CT_ASSERT_EQ(fi_write(t->client.ep, t->client.buf, 6, t->client.desc, 0, addr,
			      key, &at[0]),
		     0);
	pair_done(t->client.cq, &at[0], FI_RMA | FI_WRITE);
	CT_EXPECT_STREQ(t->server.buf + 100, "hello");
	CT_ASSERT_EQ(fi_read(t->client.ep, t->client.buf + 50, 6, t->client.desc, 0, addr,
			     key, &at[1]),
		     0);
	pair_done(t->client.cq, &at[1], FI_RMA | FI_READ);
	CT_EXPECT_STREQ(t->client.buf + 50, "hello");
	CT_ASSERT_EQ(fi_inject_write(t->client.ep, "bye", 4, 0, addr, key), 0);
	CT_EXPECT_STREQ(t->server.buf + 100, "bye");
	pair_nothing(t->client.cq);
	pair_nothing(t->server.cq);
}

CT_TEST_F(rma, keys_and_bounds_are_kept)
{
	uint64_t key, addr;

	CT_ASSERT_EQ(pair_up(t, SCR_NAME), 0);
	key = fi_mr_key(t->server.mr);
	addr = (uintptr_t)t->server.buf;
	CT_ASSERT_EQ(fi_write(t->client.ep, t->client.buf, 6, t->client.desc, 0, addr, 77,
			      at),
		     0);
	pair_failed(t->client.cq, at, FI_EKEYREJECTED);
	CT_ASSERT_EQ(fi_write(t->client.ep, t->client.buf, 6, t->client.desc, 0,
			      addr + sizeof(t->server.buf) - 5, key, at),
		     0);
	pair_failed(t->client.cq, at, FI_EACCES);
}

/* A write with data is told to the target, on a receive of its own if that is the mode.
 */
static void write_with_data(bool takes_receive)
{
	struct fi_cq_data_entry entry = {0};
	struct pair p;

	CT_NOTE("takes a receive: %d", takes_receive);
	scr_begin();
	scr_offer()->rx_attr->mode = takes_receive ? FI_RX_CQ_DATA : 0;
	CT_ASSERT_EQ(pair_up(&p, SCR_NAME), 0);
	CT_ASSERT_EQ(fi_recv(p.server.ep, p.server.buf, 8, p.server.desc, 0, &at[2]), 0);
	CT_ASSERT_EQ(fi_writedata(p.client.ep, p.client.buf, 6, p.client.desc, 0xabc, 0,
				  (uintptr_t)p.server.buf, fi_mr_key(p.server.mr), at),
		     0);
	pair_done(p.client.cq, at, FI_RMA | FI_WRITE);
	CT_ASSERT_EQ(fi_cq_read(p.server.cq, &entry, 1), 1);
	CT_EXPECT_EQ(entry.flags, FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA);
	CT_EXPECT_EQ(entry.data, 0xabc);
	CT_EXPECT_EQ(entry.op_context, takes_receive ? &at[2] : NULL);
	pair_down(&p);
}

CT_TEST(rma, the_target_learns_of_a_write_with_data)
{
	write_with_data(false);
	write_with_data(true);
}

CT_TEST_F(rma, counters_count_at_both_ends)
{
	struct fi_cntr_attr attr = {.events = FI_CNTR_EVENTS_COMP};
	struct fid_cntr *writes, *remote;

	CT_ASSERT_EQ(pair_open(t, SCR_NAME), 0);
	CT_ASSERT_EQ(fi_cntr_open(t->domain, &attr, &writes, NULL), 0);
	CT_ASSERT_EQ(fi_cntr_open(t->domain, &attr, &remote, NULL), 0);
	CT_ASSERT_EQ(fi_endpoint(t->domain, t->info, &t->client.ep, NULL), 0);
	CT_ASSERT_EQ(fi_ep_bind(t->client.ep, &writes->fid, FI_WRITE), 0);
	CT_ASSERT_EQ(fi_ep_bind(t->client.ep, &remote->fid, FI_REMOTE_WRITE), 0);
	CT_ASSERT_EQ(fi_ep_bind(t->client.ep, &t->client.eq->fid, 0), 0);
	CT_ASSERT_EQ(fi_ep_bind(t->client.ep, &t->client.cq->fid, FI_TRANSMIT | FI_RECV),
		     0);
	CT_ASSERT_EQ(pair_request(t), 0);
	CT_ASSERT_EQ(fi_accept(t->server.ep, NULL, 0), 0);
	CT_ASSERT_EQ(fi_inject_write(t->client.ep, "x", 1, 0, (uintptr_t)t->server.buf,
				     fi_mr_key(t->server.mr)),
		     0);
	CT_EXPECT_EQ(fi_cntr_read(writes), 1);
	CT_ASSERT_EQ(fi_inject_write(t->client.ep, "x", 1, 0, (uintptr_t)t->server.buf,
				     77),
		     0);
	CT_EXPECT_EQ(fi_cntr_readerr(writes), 1);
	pair_failed(t->client.cq, NULL, FI_EKEYREJECTED);
	CT_ASSERT_EQ(fi_inject_write(t->server.ep, "x", 1, 0, (uintptr_t)t->client.buf,
				     fi_mr_key(t->client.mr)),
		     0);
	CT_EXPECT_EQ(fi_cntr_read(remote), 1);
	CT_ASSERT_EQ(fi_read(t->server.ep, t->server.buf, 1, t->server.desc, 0,
			     (uintptr_t)t->client.buf, fi_mr_key(t->client.mr), NULL),
		     0);
	CT_EXPECT_EQ(fi_cntr_read(remote), 1);
	CT_EXPECT_EQ(fi_cntr_read(writes), 1);
	CT_EXPECT_EQ(fi_close(&writes->fid), -FI_EBUSY);
	CT_EXPECT_EQ(fi_close(&t->client.ep->fid), 0);
	t->client.ep = NULL;
	CT_EXPECT_EQ(fi_close(&writes->fid), 0);
	CT_EXPECT_EQ(fi_close(&remote->fid), 0);
}
