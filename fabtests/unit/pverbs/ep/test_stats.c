/* SPDX-License-Identifier: BSD-2-Clause */
/* What an endpoint says of itself: rdma/fi_ext_cairn.h. */
#include <stdio.h>
#include <rdma/fi_ext_cairn.h>
#include "../world.h"

#define expect_stats(w, ...)                         \
	expect_stats_at(__FILE__, __LINE__, (w)->ep, \
			(const struct fi_cairn_stats){__VA_ARGS__})
static void expect_stats_at(const char *file, int line, struct fid_ep *ep,
			    struct fi_cairn_stats wanted)
{
	struct fi_cairn_ops_stats *ops;
	struct fi_cairn_stats stats;

	CT_ASSERT_EQ(fi_open_ops(&ep->fid, FI_CAIRN_STATS, 0, (void **)&ops, NULL), 0);
	CT_EXPECT_EQ(ops->size, sizeof(*ops));
	CT_EXPECT_EQ(ops->read(ep, &stats, sizeof(stats)), 0);
	ct_memeq(file, line, "the counts", "wanted", &stats, &wanted, sizeof(wanted));
}

CT_FIXTURE(stats, struct world, world_start_connected, world_close);

CT_TEST_F(stats, entries_and_stalls_are_counted)
{
	expect_stats(t, 0);
	for (int i = 0; i < 3; i++) {
		CT_EXPECT_EQ(send_number(t->ep, 1), 0);
		CT_EXPECT_EQ(recv_number(t->ep, 1), 0);
	}
	expect_stats(t, .tx_entries = 3, .rx_entries = 3);
	while (!send_number(t->ep, 1))
		;
	while (!recv_number(t->ep, 1))
		;
	CT_EXPECT_EQ(recv_number(t->ep, 1), -FI_EAGAIN);
	expect_stats(t, .tx_entries = 8, .tx_stalls = 1, .rx_entries = 8, .rx_stalls = 2);
}

CT_TEST_F(stats, counts_go_on_where_the_rings_begin_anew)
{
	ep_of(t->ep)->qp.sq.entries = ep_of(t->ep)->qp.sq.ring.head = UINT32_MAX;
	ep_of(t->ep)->qp.sq.ring.tail = UINT32_MAX;
	CT_EXPECT_EQ(send_number(t->ep, 1), 0);
	CT_EXPECT_EQ(send_number(t->ep, 1), 0);
	expect_stats(t, .tx_entries = UINT32_MAX + 2ULL);
}

CT_TEST_F(stats, what_is_refused_for_another_reason_is_no_stall)
{
	CT_ASSERT_TRUE(world_reopen(t, NULL));
	CT_EXPECT_EQ(send_number(t->ep, 1), -FI_ENOTCONN);
	expect_stats(t, 0);
}

CT_TEST_F(stats, an_older_or_newer_program_gets_what_it_knows)
{
	struct {
		struct fi_cairn_stats stats;
		uint64_t newer;
	} out;
	struct fi_cairn_ops_stats *ops;
	struct fid_ep *srx;

	CT_EXPECT_EQ(send_number(t->ep, 1), 0);
	CT_ASSERT_EQ(fi_open_ops(&t->ep->fid, FI_CAIRN_STATS, 0, (void **)&ops, NULL), 0);
	memset(&out, 0xff, sizeof(out));
	CT_EXPECT_EQ(ops->read(t->ep, &out.stats, sizeof(uint64_t)), 0);
	CT_EXPECT_EQ(out.stats.tx_entries, 1);
	CT_EXPECT_EQ(out.stats.tx_stalls, UINT64_MAX);
	CT_EXPECT_EQ(ops->read(t->ep, &out.stats, sizeof(out)), 0);
	CT_EXPECT_EQ(out.newer, 0);
	CT_ASSERT_EQ(fi_srx_context(t->domain, NULL, &srx, NULL), 0);
	CT_EXPECT_EQ(ops->read(srx, &out.stats, sizeof(out)), -FI_EINVAL);
	CT_EXPECT_EQ(fi_close(&srx->fid), 0);
	CT_EXPECT_EQ(fi_open_ops(&t->ep->fid, "other", 0, (void **)&ops, NULL),
		     -FI_ENOSYS);
	CT_EXPECT_EQ(fi_open_ops(&t->ep->fid, FI_CAIRN_STATS, 1, (void **)&ops, NULL),
		     -FI_EINVAL);
}

CT_TEST_F(stats, closing_logs_the_counts_of_the_queue_pair)
{
	char number[16];

	CT_EXPECT_EQ(send_number(t->ep, 1), 0);
	snprintf(number, sizeof(number), "0x%x", t->qp->ibv.qp_num);
	world_close_ep(t);
	CT_EXPECT_STRSTR(ct_log_last(), number);
}
