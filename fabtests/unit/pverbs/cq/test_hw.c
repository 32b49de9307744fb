/* SPDX-License-Identifier: BSD-2-Clause */
/* Device queues behind a completion queue: shared, several, released. */
#include <errno.h>
#include <stdlib.h>
#include "../world.h"

#define EPS 10

/* Of a queue pair with the sizes of a world: 8 sends, the marker, 8 receives. */
#define SLOTS (8 + 1 + 8)

static bool add_eps(struct world *w, struct fid_ep **eps, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		if (!world_add_ep(w, NULL, &eps[i]))
			return false;
	}
	return true;
}

static void close_eps(struct fid_ep **eps, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		CT_EXPECT_EQ(fi_close(&eps[i]->fid), 0);
}

CT_FIXTURE(cq_hw, struct world, world_fresh, world_close);

CT_TEST_F(cq_hw, endpoints_share_a_device_queue_while_it_is_deep_enough)
{
	struct world_opts opts = {.cq_size = SLOTS * EPS};
	struct fid_ep *eps[EPS], *one_more;

	CT_ASSERT_TRUE(world_open_domain(t, &opts));
	CT_EXPECT_EQ(fake_count(FAKE_CREATE_CQ), 0);
	CT_ASSERT_TRUE(add_eps(t, eps, EPS));
	CT_EXPECT_EQ(fake_count(FAKE_CREATE_CQ), 1);
	CT_ASSERT_TRUE(world_add_ep(t, NULL, &one_more));
	CT_EXPECT_EQ(fake_count(FAKE_CREATE_CQ), 2);
	close_eps(eps, EPS);
	CT_EXPECT_EQ(fi_close(&one_more->fid), 0);
}

CT_TEST_F(cq_hw, a_device_queue_that_lacks_one_entry_is_not_shared)
{
	struct world_opts opts = {.cq_size = 1000};
	struct fid_ep *eps[2];

	fake_devices[0].attr.max_cqe = 2 * SLOTS - 1;
	CT_ASSERT_TRUE(world_open_domain(t, &opts));
	CT_ASSERT_TRUE(add_eps(t, eps, 2));
	CT_EXPECT_EQ(fake_count(FAKE_CREATE_CQ), 2);
	close_eps(eps, 2);
}

CT_TEST_F(cq_hw, a_queue_sized_for_what_endpoints_offer_is_one_device_queue)
{
	static const unsigned int depths[] = {8, 16, 128, 200};
	struct fid_ep *ep;

	for (size_t i = 0; i < CRN_COUNT(depths); i++) {
		struct world_opts opts = {.cq_size = 2 * depths[i],
					  .tx_size = depths[i],
					  .rx_size = depths[i]};

		CT_NOTE("depth %u", depths[i]);
		CT_ASSERT_TRUE(world_reopen_domain(t, &opts));
		CT_ASSERT_TRUE(world_add_ep(t, NULL, &ep));
		CT_EXPECT_EQ(fake_count(FAKE_CREATE_CQ), 1);
		CT_EXPECT_EQ(fi_close(&ep->fid), 0);
	}
}

CT_TEST_F(cq_hw, device_queues_grow_with_the_endpoints)
{
	struct world_opts opts = {.cq_size = 1};
	struct fid_ep *eps[8 * EPS];

	CT_ASSERT_TRUE(world_open_domain(t, &opts));
	CT_ASSERT_TRUE(add_eps(t, eps, 8 * EPS));
	/* 80 times 17 entries: 9, 9, 18, 36, ... */
	CT_EXPECT_GT(10, fake_count(FAKE_CREATE_CQ));
	close_eps(eps, 8 * EPS);
}

CT_TEST_F(cq_hw, the_size_asked_for_is_the_depth_within_what_is_needed_and_possible)
{
	static const struct {
		size_t size;
		int depth;
	} rows[] = {{0, 1089},	  {1, 9},	  {100, 107},
		    {3800, 4000}, {100000, 4000}, {SIZE_MAX, 4000}};
	struct world_opts opts = {.tx_size = 8, .rx_size = 1};

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("size %zu", rows[i].size);
		world_renew(t);
		opts.cq_size = rows[i].size;
		CT_ASSERT_TRUE(world_open(t, &opts));
		CT_EXPECT_EQ(cq_of(t->cq)->hw[0]->cq->cqe, rows[i].depth);
	}
}

CT_TEST_F(cq_hw, no_program_gets_a_hundred_thousand_entries_before_it_needs_them)
{
	struct world_opts opts = {.cq_size = 100000};

	fake_devices[0].attr.max_cqe = 200000;
	CT_ASSERT_TRUE(world_open(t, &opts));
	CT_EXPECT_GT(10000, cq_of(t->cq)->hw[0]->cq->cqe);
}

CT_TEST_F(cq_hw, room_of_a_closed_endpoint_is_used_again)
{
	struct world_opts opts = {.cq_size = SLOTS};
	struct fid_ep *ep;

	CT_ASSERT_TRUE(world_open_domain(t, &opts));
	for (int i = 0; i < 20; i++) {
		CT_ASSERT_TRUE(world_add_ep(t, NULL, &ep));
		CT_EXPECT_EQ(fi_close(&ep->fid), 0);
	}
	CT_EXPECT_EQ(fake_count(FAKE_CREATE_CQ), 1);
	CT_EXPECT_EQ(cq_of(t->cq)->reserved, 0);
}

CT_TEST_F(cq_hw, more_than_a_device_queue_holds_takes_several_and_none_starves)
{
	struct world_opts opts = {.cq_size = 1000};
	struct fi_cq_data_entry entry;
	unsigned int seen[EPS] = {0};
	struct fid_ep *eps[EPS];

	fake_devices[0].attr.max_cqe = 2 * SLOTS;
	CT_ASSERT_TRUE(world_open_domain(t, &opts));
	CT_ASSERT_TRUE(add_eps(t, eps, EPS));
	CT_EXPECT_EQ(cq_of(t->cq)->hw_count, EPS / 2);
	for (uintptr_t i = 0; i < EPS; i++) {
		for (int n = 0; n < 8; n++) {
			CT_EXPECT_EQ(recv_number(eps[i], i), 0);
			fake_receive(qp_of(eps[i]), IBV_WC_RECV, 0, NULL);
		}
	}
	for (int n = 0; n < EPS * 4; n++) {
		CT_ASSERT_EQ(fi_cq_read(t->cq, &entry, 1), 1);
		seen[(uintptr_t)entry.op_context]++;
	}
	for (int i = 0; i < EPS; i += 2)
		CT_EXPECT_GT(seen[i] + seen[i + 1], 0);
	for (int n = 0; n < EPS * 4; n++) {
		CT_ASSERT_EQ(fi_cq_read(t->cq, &entry, 1), 1);
		seen[(uintptr_t)entry.op_context]++;
	}
	for (int i = 0; i < EPS; i++)
		CT_EXPECT_EQ(seen[i], 8);
	expect_no_comp(t->cq);
	close_eps(eps, EPS);
}

CT_TEST_F(cq_hw, a_read_that_finds_nothing_leaves_device_queues_to_the_next_one)
{
	struct fi_cq_data_entry entry;
	struct fid_ep *eps[2 * EPS];

	fake_devices[0].attr.max_cqe = 2 * SLOTS;
	CT_ASSERT_TRUE(world_open_domain(t, NULL));
	CT_ASSERT_TRUE(add_eps(t, eps, 2 * EPS));
	CT_ASSERT_EQ(cq_of(t->cq)->hw_count, EPS);
	CT_EXPECT_EQ(recv_number(eps[2 * EPS - 1], 1), 0);
	CT_EXPECT_EQ(recv_number(eps[2 * EPS - 1], 2), 0);
	fake_receive(qp_of(eps[2 * EPS - 1]), IBV_WC_RECV, 0, NULL);
	for (int n = 0; n < EPS / 4; n++)
		CT_EXPECT_EQ(fi_cq_read(t->cq, &entry, 1), -FI_EAGAIN);
	CT_EXPECT_EQ(fi_cq_read(t->cq, &entry, 1), 1);
	/* Who does not know when the next one is asks all of them. */
	fake_receive(qp_of(eps[2 * EPS - 1]), IBV_WC_RECV, 0, NULL);
	CT_EXPECT_EQ(fi_cq_read(t->cq, &entry, 0), 0);
	CT_EXPECT_EQ(fi_cq_read(t->cq, &entry, 1), 1);
	CT_EXPECT_EQ(entry.op_context, NUMBER(2));
	close_eps(eps, 2 * EPS);
}

CT_TEST_F(cq_hw, one_read_takes_from_every_device_queue)
{
	struct fi_cq_data_entry entries[100];
	struct fid_ep *eps[EPS];

	fake_devices[0].attr.max_cqe = 2 * SLOTS;
	CT_ASSERT_TRUE(world_open_domain(t, NULL));
	CT_ASSERT_TRUE(add_eps(t, eps, EPS));
	for (uintptr_t i = 0; i < EPS; i++) {
		CT_EXPECT_EQ(recv_number(eps[i], i), 0);
		fake_receive(qp_of(eps[i]), IBV_WC_RECV, 0, NULL);
	}
	CT_EXPECT_EQ(fi_cq_read(t->cq, entries, 100), EPS);
	expect_no_comp(t->cq);
	close_eps(eps, EPS);
}

/* Others may be empty: what is not reported hides nothing behind it. */
CT_TEST_F(cq_hw, a_read_gets_past_what_is_not_reported_in_any_device_queue)
{
	const struct world_opts opts = {.cq_flags = FI_SELECTIVE_COMPLETION,
					.rx_size = 100};
	const struct fi_msg loud = {.context = NUMBER(7)};
	struct fid_ep *eps[3];

	fake_devices[0].attr.max_cqe = 210;
	CT_ASSERT_TRUE(world_open_domain(t, &opts));
	for (int i = 0; i < 3; i++)
		CT_ASSERT_TRUE(world_add_ep(t, &opts, &eps[i]));
	CT_EXPECT_EQ(cq_of(t->cq)->hw_count, 2);
	for (int i = 0; i < 3; i++) {
		CT_NOTE("endpoint %d", i);
		for (int n = 0; n < 99; n++)
			CT_EXPECT_EQ(recv_number(eps[i], 1), 0);
		CT_EXPECT_EQ(fi_recvmsg(eps[i], &loud, FI_COMPLETION), 0);
		for (int n = 0; n < 100; n++)
			fake_receive(qp_of(eps[i]), IBV_WC_RECV, 0, NULL);
		expect_comp(t->cq, NUMBER(7), FI_RECV | FI_MSG, 0, 0);
		expect_no_comp(t->cq);
	}
	close_eps(eps, 3);
}

CT_TEST_F(cq_hw, an_endpoint_larger_than_a_device_queue_is_refused)
{
	fake_devices[0].attr.max_cqe = 20;
	CT_ASSERT_TRUE(world_open_domain(t, NULL));
	t->info->rx_attr->size = 21;
	CT_ASSERT_TRUE(world_new_ep(t, &t->ep));
	CT_EXPECT_EQ(fi_enable(t->ep), -FI_EINVAL);
	CT_EXPECT_EQ(cq_of(t->cq)->reserved, 0);
}

CT_TEST_F(cq_hw, a_device_without_another_queue_is_an_error_that_may_pass)
{
	CT_ASSERT_TRUE(world_open_domain(t, NULL));
	CT_ASSERT_TRUE(world_new_ep(t, &t->ep));
	fake_fail(FAKE_CREATE_CQ, 1, ENOSPC);
	CT_EXPECT_EQ(fi_enable(t->ep), -FI_ENOSPC);
	CT_EXPECT_WARNED("fake0");
	CT_EXPECT_EQ(fi_enable(t->ep), 0);
}

CT_TEST_F(cq_hw, two_completion_queues_of_an_endpoint_are_reserved_apart)
{
	struct fi_cq_attr attr = {.format = FI_CQ_FORMAT_DATA};
	struct fid_cq *tx, *rx;
	struct fid_ep *ep;

	CT_ASSERT_TRUE(world_open_domain(t, NULL));
	CT_ASSERT_EQ(fi_cq_open(t->domain, &attr, &tx, NULL), 0);
	CT_ASSERT_EQ(fi_cq_open(t->domain, &attr, &rx, NULL), 0);
	CT_ASSERT_EQ(fi_endpoint(t->domain, t->info, &ep, NULL), 0);
	CT_EXPECT_EQ(fi_ep_bind(ep, &t->eq->fid, 0), 0);
	CT_EXPECT_EQ(fi_ep_bind(ep, &tx->fid, FI_TRANSMIT), 0);
	CT_EXPECT_EQ(fi_ep_bind(ep, &rx->fid, FI_RECV), 0);
	CT_ASSERT_EQ(fi_enable(ep), 0);
	CT_EXPECT_EQ(cq_of(tx)->reserved, 9);
	CT_EXPECT_EQ(cq_of(rx)->reserved, 8);
	CT_ASSERT_TRUE(world_connect(t, ep));
	CT_EXPECT_EQ(send_number(ep, 1), 0);
	CT_EXPECT_EQ(recv_number(ep, 2), 0);
	CT_EXPECT_EQ(fi_close(&ep->fid), 0);
	expect_cq_error(tx, NUMBER(1), FI_SEND | FI_MSG, FI_ECANCELED);
	expect_no_comp(tx);
	expect_cq_error(rx, NUMBER(2), FI_RECV | FI_MSG, FI_ECANCELED);
	expect_no_comp(rx);
	CT_EXPECT_EQ(fi_close(&tx->fid), 0);
	CT_EXPECT_EQ(fi_close(&rx->fid), 0);
}
