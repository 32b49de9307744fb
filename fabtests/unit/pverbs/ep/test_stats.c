/* SPDX-License-Identifier: BSD-2-Clause */
/* What an endpoint says of itself: rdma/fi_ext_cairn.h. */
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

CT_TEST(stats, entries_and_stalls_are_counted)
{
	struct world w;

	world_reset();
	CT_ASSERT_TRUE(world_open_connected(&w, NULL));
	expect_stats(&w, 0);
	for (int i = 0; i < 3; i++) {
		CT_EXPECT_EQ(send_number(w.ep, 1), 0);
		CT_EXPECT_EQ(recv_number(w.ep, 1), 0);
	}
	expect_stats(&w, .tx_entries = 3, .rx_entries = 3);
	while (!send_number(w.ep, 1))
		;
	while (!recv_number(w.ep, 1))
		;
	CT_EXPECT_EQ(recv_number(w.ep, 1), -FI_EAGAIN);
	expect_stats(&w, .tx_entries = 8, .tx_stalls = 1, .rx_entries = 8,
		     .rx_stalls = 2);
	world_close(&w);
}

CT_TEST(stats, counts_go_on_where_the_rings_begin_anew)
{
	struct world w;

	world_reset();
	CT_ASSERT_TRUE(world_open_connected(&w, NULL));
	ep_of(w.ep)->qp.sq.entries = ep_of(w.ep)->qp.sq.ring.head = UINT32_MAX;
	ep_of(w.ep)->qp.sq.ring.tail = UINT32_MAX;
	CT_EXPECT_EQ(send_number(w.ep, 1), 0);
	CT_EXPECT_EQ(send_number(w.ep, 1), 0);
	expect_stats(&w, .tx_entries = UINT32_MAX + 2ULL);
	world_close(&w);
}

CT_TEST(stats, what_is_refused_for_another_reason_is_no_stall)
{
	struct world w;

	world_reset();
	CT_ASSERT_TRUE(world_open(&w, NULL));
	CT_EXPECT_EQ(send_number(w.ep, 1), -FI_ENOTCONN);
	expect_stats(&w, 0);
	world_close(&w);
}

CT_TEST(stats, an_older_or_newer_program_gets_what_it_knows)
{
	struct {
		struct fi_cairn_stats stats;
		uint64_t newer;
	} out;
	struct fi_cairn_ops_stats *ops;
	struct fid_ep *srx;
	struct world w;

	world_reset();
	CT_ASSERT_TRUE(world_open_connected(&w, NULL));
	CT_EXPECT_EQ(send_number(w.ep, 1), 0);
	CT_ASSERT_EQ(fi_open_ops(&w.ep->fid, FI_CAIRN_STATS, 0, (void **)&ops, NULL), 0);
	memset(&out, 0xff, sizeof(out));
	CT_EXPECT_EQ(ops->read(w.ep, &out.stats, sizeof(uint64_t)), 0);
	CT_EXPECT_EQ(out.stats.tx_entries, 1);
	CT_EXPECT_EQ(out.stats.tx_stalls, UINT64_MAX);
	CT_EXPECT_EQ(ops->read(w.ep, &out.stats, sizeof(out)), 0);
	CT_EXPECT_EQ(out.newer, 0);
	CT_ASSERT_EQ(fi_srx_context(w.domain, NULL, &srx, NULL), 0);
	CT_EXPECT_EQ(ops->read(srx, &out.stats, sizeof(out)), -FI_EINVAL);
	CT_EXPECT_EQ(fi_close(&srx->fid), 0);
	CT_EXPECT_EQ(fi_open_ops(&w.ep->fid, "other", 0, (void **)&ops, NULL),
		     -FI_ENOSYS);
	CT_EXPECT_EQ(fi_open_ops(&w.ep->fid, FI_CAIRN_STATS, 1, (void **)&ops, NULL),
		     -FI_EINVAL);
	world_close(&w);
}

CT_TEST(stats, closing_leaves_a_line_in_the_log)
{
	struct world w;

	world_reset();
	CT_ASSERT_TRUE(world_open_connected(&w, NULL));
	CT_EXPECT_EQ(send_number(w.ep, 1), 0);
	ct_log_reset();
	world_close_ep(&w);
	CT_EXPECT_STRSTR(ct_log_last(), "entries sent (0 stalls)");
	world_close(&w);
}
