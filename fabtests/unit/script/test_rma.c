/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include "cairn_test.h"
#include "pair.h"
#include "script.h"

static char at[4]; /* contexts */

CT_TEST(rma, writes_and_reads)
{
	uint64_t key, addr;
	struct pair p;

	scr_begin();
	CT_ASSERT_EQ(pair_up(&p, SCR_NAME), 0);
	key = fi_mr_key(p.server.mr);
	addr = (uintptr_t)p.server.buf + 100;
	strcpy(p.client.buf, "hello");
	CT_ASSERT_EQ(fi_write(p.client.ep, p.client.buf, 6, p.client.desc, 0, addr, key,
			      &at[0]),
		     0);
	pair_done(p.client.cq, &at[0], FI_RMA | FI_WRITE);
	CT_EXPECT_STREQ(p.server.buf + 100, "hello");
	CT_ASSERT_EQ(fi_read(p.client.ep, p.client.buf + 50, 6, p.client.desc, 0, addr,
			     key, &at[1]),
		     0);
	pair_done(p.client.cq, &at[1], FI_RMA | FI_READ);
	CT_EXPECT_STREQ(p.client.buf + 50, "hello");
	CT_ASSERT_EQ(fi_inject_write(p.client.ep, "bye", 4, 0, addr, key), 0);
	CT_EXPECT_STREQ(p.server.buf + 100, "bye");
	pair_nothing(p.client.cq);
	pair_nothing(p.server.cq);
	pair_down(&p);
}

CT_TEST(rma, keys_and_bounds_are_kept)
{
	uint64_t key, addr;
	struct pair p;

	scr_begin();
	CT_ASSERT_EQ(pair_up(&p, SCR_NAME), 0);
	key = fi_mr_key(p.server.mr);
	addr = (uintptr_t)p.server.buf;
	CT_ASSERT_EQ(fi_write(p.client.ep, p.client.buf, 6, p.client.desc, 0, addr, 77,
			      at),
		     0);
	pair_failed(p.client.cq, at, FI_EKEYREJECTED);
	CT_ASSERT_EQ(fi_write(p.client.ep, p.client.buf, 6, p.client.desc, 0,
			      addr + sizeof(p.server.buf) - 5, key, at),
		     0);
	pair_failed(p.client.cq, at, FI_EACCES);
	pair_down(&p);
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

CT_TEST(rma, counters_count_at_both_ends)
{
	struct fi_cntr_attr attr = {.events = FI_CNTR_EVENTS_COMP};
	struct fid_cntr *writes, *remote;
	struct pair p;

	scr_begin();
	CT_ASSERT_EQ(pair_open(&p, SCR_NAME), 0);
	CT_ASSERT_EQ(fi_cntr_open(p.domain, &attr, &writes, NULL), 0);
	CT_ASSERT_EQ(fi_cntr_open(p.domain, &attr, &remote, NULL), 0);
	CT_ASSERT_EQ(fi_endpoint(p.domain, p.info, &p.client.ep, NULL), 0);
	CT_ASSERT_EQ(fi_ep_bind(p.client.ep, &writes->fid, FI_WRITE), 0);
	CT_ASSERT_EQ(fi_ep_bind(p.client.ep, &remote->fid, FI_REMOTE_WRITE), 0);
	CT_ASSERT_EQ(fi_ep_bind(p.client.ep, &p.client.eq->fid, 0), 0);
	CT_ASSERT_EQ(fi_ep_bind(p.client.ep, &p.client.cq->fid, FI_TRANSMIT | FI_RECV),
		     0);
	CT_ASSERT_EQ(pair_request(&p), 0);
	CT_ASSERT_EQ(fi_accept(p.server.ep, NULL, 0), 0);
	CT_ASSERT_EQ(fi_inject_write(p.client.ep, "x", 1, 0, (uintptr_t)p.server.buf,
				     fi_mr_key(p.server.mr)),
		     0);
	CT_EXPECT_EQ(fi_cntr_read(writes), 1);
	CT_ASSERT_EQ(fi_inject_write(p.client.ep, "x", 1, 0, (uintptr_t)p.server.buf, 77),
		     0);
	CT_EXPECT_EQ(fi_cntr_readerr(writes), 1);
	pair_failed(p.client.cq, NULL, FI_EKEYREJECTED);
	CT_ASSERT_EQ(fi_inject_write(p.server.ep, "x", 1, 0, (uintptr_t)p.client.buf,
				     fi_mr_key(p.client.mr)),
		     0);
	CT_EXPECT_EQ(fi_cntr_read(remote), 1);
	CT_ASSERT_EQ(fi_read(p.server.ep, p.server.buf, 1, p.server.desc, 0,
			     (uintptr_t)p.client.buf, fi_mr_key(p.client.mr), NULL),
		     0);
	CT_EXPECT_EQ(fi_cntr_read(remote), 1);
	CT_EXPECT_EQ(fi_cntr_read(writes), 1);
	CT_EXPECT_EQ(fi_close(&writes->fid), -FI_EBUSY);
	CT_EXPECT_EQ(fi_close(&p.client.ep->fid), 0);
	p.client.ep = NULL;
	CT_EXPECT_EQ(fi_close(&writes->fid), 0);
	CT_EXPECT_EQ(fi_close(&remote->fid), 0);
	pair_down(&p);
}
