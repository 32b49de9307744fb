/* SPDX-License-Identifier: BSD-2-Clause */
/* Counters: what moves them, and what they are opened and bound with. */
#include "world_cntr.h"

#define expect_counts(c, ...) \
	expect_counts_at(__FILE__, __LINE__, c, (const uint64_t[4]){__VA_ARGS__}, false)
#define expect_errors(c, ...) \
	expect_counts_at(__FILE__, __LINE__, c, (const uint64_t[4]){__VA_ARGS__}, true)
static void expect_counts_at(const char *file, int line, struct counted *c,
			     const uint64_t wanted[4], bool errors)
{
	static const char *const names[] = {"sends", "reads", "writes", "receives"};
	uint64_t have;

	for (int i = 0; i < 4; i++) {
		have = errors ? fi_cntr_readerr(c->cntr[i]) : fi_cntr_read(c->cntr[i]);
		ct_compare(file, line, CT_EQ, names[i], "wanted", CT_VALUE(have),
			   CT_VALUE(wanted[i]));
	}
}

static void post_each(struct counted *c)
{
	struct fid_ep *ep = c->w.ep;
	char buf[8] = {0};

	CT_EXPECT_EQ(fi_send(ep, buf, 8, NULL, 0, NULL), 0);
	CT_EXPECT_EQ(fi_inject(ep, buf, 8, 0), 0);
	CT_EXPECT_EQ(fi_senddata(ep, buf, 8, NULL, 5, 0, NULL), 0);
	CT_EXPECT_EQ(fi_read(ep, buf, 8, NULL, 0, 0, 0, NULL), 0);
	CT_EXPECT_EQ(fi_write(ep, buf, 8, NULL, 0, 0, 0, NULL), 0);
	CT_EXPECT_EQ(fi_inject_write(ep, buf, 8, 0, 0, 0), 0);
}

CT_FIXTURE(pvb_cntr, struct counted, counted_start, counted_close);

CT_TEST_F(pvb_cntr, operations_without_completion_and_injects_are_counted)
{
	post_each(t);
	expect_counts(t, 0, 0, 0, 0);
	fake_complete_all(t->w.qp);
	expect_counts(t, 3, 1, 2, 0);
	expect_errors(t, 0, 0, 0, 0);
	expect_no_comp(t->w.cq);
}

/* Not when a later operation has a completion: there may be none. */
CT_TEST_F(pvb_cntr, each_is_counted_when_it_is_done)
{
	for (uint64_t i = 1; i < 100; i++) {
		CT_ASSERT_EQ(send_quietly(t->w.ep, 1), 0);
		fake_complete(t->w.qp, 1);
		expect_counts(t, i, 0, 0, 0);
	}
}

CT_TEST_F(pvb_cntr, a_message_received_is_counted_a_write_with_data_is_not)
{
	const uint32_t data = 7;

	for (int i = 0; i < 4; i++)
		CT_EXPECT_EQ(recv_number(t->w.ep, 1), 0);
	fake_receive(t->w.qp, IBV_WC_RECV, 8, NULL);
	fake_receive(t->w.qp, IBV_WC_RECV, 8, &data);
	fake_receive(t->w.qp, IBV_WC_RECV_RDMA_WITH_IMM, 8, &data);
	expect_counts(t, 0, 0, 0, 2);
	expect_comp(t->w.cq, NUMBER(1), FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA, 8,
		    7);
}

CT_TEST_F(pvb_cntr, what_a_counter_takes_stays_to_be_read)
{
	CT_ASSERT_TRUE(counted_open(t, NULL, FI_WAIT_NONE));
	for (uintptr_t i = 0; i < 8; i++)
		CT_EXPECT_EQ(send_number(t->w.ep, i), 0);
	fake_complete_all(t->w.qp);
	expect_counts(t, 8, 0, 0, 0);
	for (uintptr_t i = 0; i < 8; i++)
		expect_comp(t->w.cq, NUMBER(i), FI_SEND | FI_MSG, 0, 0);
	expect_no_comp(t->w.cq);
	expect_counts(t, 8, 0, 0, 0);
}

CT_TEST_F(pvb_cntr, reading_the_queue_counts_as_well)
{
	CT_ASSERT_TRUE(counted_open(t, NULL, FI_WAIT_NONE));
	CT_EXPECT_EQ(send_number(t->w.ep, 1), 0);
	fake_complete_all(t->w.qp);
	expect_comp(t->w.cq, NUMBER(1), FI_SEND | FI_MSG, 0, 0);
	CT_EXPECT_EQ(atomic_load(&((struct pvb_cntr *)t->cntr[SENDS])->cntr.value), 1);
}

CT_TEST_F(pvb_cntr, a_queue_nobody_reads_keeps_what_it_has_and_counts_no_further)
{
	unsigned int posted = 0, errors;

	CT_ASSERT_TRUE(counted_open(t, NULL, FI_WAIT_NONE));
	for (int round = 0; round < 100; round++) {
		while (!send_number(t->w.ep, 1))
			posted++;
		fake_complete_all(t->w.qp);
		fi_cntr_read(t->cntr[SENDS]);
	}
	CT_EXPECT_LE(fi_cntr_read(t->cntr[SENDS]), posted);
	CT_EXPECT_EQ(read_all_comps(t->w.cq, &errors), posted);
	CT_EXPECT_EQ(fi_cntr_read(t->cntr[SENDS]), posted);
}

CT_TEST_F(pvb_cntr, failures_are_counted_apart_injects_among_them)
{
	CT_EXPECT_EQ(recv_number(t->w.ep, 1), 0);
	post_each(t);
	fake_complete(t->w.qp, 1);
	fake_send_error(t->w.qp, IBV_WC_RETRY_EXC_ERR);
	expect_counts(t, 1, 0, 0, 0);
	expect_errors(t, 2, 1, 2, 1);
}

CT_TEST_F(pvb_cntr, what_a_close_cancels_is_counted)
{
	CT_EXPECT_EQ(recv_number(t->w.ep, 1), 0);
	post_each(t);
	world_close_ep(&t->w);
	expect_counts(t, 0, 0, 0, 0);
	expect_errors(t, 3, 1, 2, 1);
	CT_EXPECT_EQ(fi_endpoint(t->w.domain, t->w.info, &t->w.ep, NULL), 0);
}

CT_TEST_F(pvb_cntr, what_a_silent_device_does_not_return_is_counted_as_failed)
{
	fake_devices[0].no_flush = true;
	world_polls_take_time();
	pvb_params.close_timeout = 1;
	post_each(t);
	world_close_ep(&t->w);
	expect_errors(t, 3, 1, 2, 0);
	CT_EXPECT_EQ(fi_endpoint(t->w.domain, t->w.info, &t->w.ep, NULL), 0);
}

CT_TEST_F(pvb_cntr, an_accepted_operation_that_the_device_refuses_later_is_counted)
{
	CT_ASSERT_TRUE(counted_open(t, NULL, FI_WAIT_NONE));
	CT_EXPECT_EQ(send_more(t->w.ep, 1), 0);
	fake_fail(FAKE_POST_SEND, 1, EINVAL);
	CT_EXPECT_EQ(send_number(t->w.ep, 2), -FI_EINVAL);
	expect_counts(t, 0, 0, 0, 0);
	expect_errors(t, 1, 0, 0, 0);
}

CT_TEST(pvb_cntr, one_counter_may_count_several_things_of_several_endpoints)
{
	struct fid_cntr *cntr;
	struct fid_ep *ep[2];
	struct world w;
	char buf[8] = {0};

	world_reset();
	CT_ASSERT_TRUE(world_open_domain(&w, NULL));
	CT_ASSERT_EQ(fi_cntr_open(w.domain, NULL, &cntr, NULL), 0);
	for (int i = 0; i < 2; i++) {
		CT_ASSERT_EQ(fi_endpoint(w.domain, w.info, &ep[i], NULL), 0);
		CT_EXPECT_EQ(fi_ep_bind(ep[i], &w.eq->fid, 0), 0);
		CT_EXPECT_EQ(fi_ep_bind(ep[i], &w.cq->fid, FI_TRANSMIT | FI_RECV), 0);
		CT_EXPECT_EQ(fi_ep_bind(ep[i], &cntr->fid, FI_WRITE | FI_RECV), 0);
		CT_ASSERT_EQ(fi_enable(ep[i]), 0);
		CT_ASSERT_TRUE(world_connect(&w, ep[i]));
		CT_EXPECT_EQ(send_number(ep[i], 1), 0);
		CT_EXPECT_EQ(fi_write(ep[i], buf, 8, NULL, 0, 0, 0, NULL), 0);
		CT_EXPECT_EQ(recv_number(ep[i], 1), 0);
		fake_complete_all(qp_of(ep[i]));
		fake_receive(qp_of(ep[i]), IBV_WC_RECV, 8, NULL);
	}
	CT_EXPECT_EQ(fi_cntr_read(cntr), 4);
	CT_EXPECT_EQ(fi_close(&cntr->fid), -FI_EBUSY);
	CT_EXPECT_EQ(fi_close(&ep[0]->fid), 0);
	CT_EXPECT_EQ(fi_cntr_read(cntr), 4);
	CT_EXPECT_EQ(fi_close(&cntr->fid), -FI_EBUSY);
	CT_EXPECT_EQ(fi_close(&ep[1]->fid), 0);
	CT_EXPECT_EQ(fi_cntr_read(cntr), 4);
	CT_EXPECT_EQ(fi_close(&w.domain->fid), -FI_EBUSY);
	CT_EXPECT_EQ(fi_close(&cntr->fid), 0);
	world_close(&w);
}

CT_TEST(pvb_cntr, binding_says_what_cannot_be_counted)
{
	static const struct {
		uint64_t flags;
		int wanted;
	} rows[] = {
		{0, 0}, /* counts nothing */
		{FI_REMOTE_READ, -FI_EOPNOTSUPP},
		{FI_REMOTE_WRITE, -FI_EOPNOTSUPP},
		{FI_RECV | FI_REMOTE_WRITE, -FI_EOPNOTSUPP},
		{FI_SEND | FI_SELECTIVE_COMPLETION, -FI_EBADFLAGS},
		{FI_SEND | FI_READ, 0},
		{FI_READ | FI_WRITE, -FI_EINVAL}, /* reads are counted already */
		{FI_WRITE | FI_RECV, 0},
		{FI_RECV, -FI_EINVAL},
	};
	struct fid_domain *other;
	struct fid_cntr *cntr, *stranger;
	struct world w;

	world_reset();
	CT_ASSERT_TRUE(world_open_domain(&w, NULL));
	CT_ASSERT_EQ(fi_domain(w.fabric, w.info, &other, NULL), 0);
	CT_ASSERT_EQ(fi_cntr_open(other, NULL, &stranger, NULL), 0);
	CT_ASSERT_EQ(fi_cntr_open(w.domain, NULL, &cntr, NULL), 0);
	CT_ASSERT_EQ(fi_endpoint(w.domain, w.info, &w.ep, NULL), 0);
	CT_EXPECT_EQ(fi_ep_bind(w.ep, &stranger->fid, FI_SEND), -FI_EDOMAIN);
	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("row %zu", i);
		CT_EXPECT_EQ(fi_ep_bind(w.ep, &cntr->fid, rows[i].flags), rows[i].wanted);
	}
	CT_EXPECT_EQ(fi_close(&w.ep->fid), 0);
	w.ep = NULL;
	CT_EXPECT_EQ(fi_close(&cntr->fid), 0);
	CT_EXPECT_EQ(fi_close(&stranger->fid), 0);
	CT_EXPECT_EQ(fi_close(&other->fid), 0);
	world_close(&w);
}

CT_TEST(pvb_cntr, enabling_without_memory_leaves_nothing_behind)
{
	struct fi_cntr_attr attr = {.wait_obj = FI_WAIT_FD};
	struct fid_cntr *cntr;
	unsigned int nth = 1;
	bool failed = true;
	struct world w;
	int ret;

	for (; failed; nth++) {
		world_reset();
		CT_ASSERT_TRUE(world_open_domain(&w, NULL));
		CT_ASSERT_EQ(fi_cntr_open(w.domain, &attr, &cntr, NULL), 0);
		CT_ASSERT_EQ(fi_endpoint(w.domain, w.info, &w.ep, NULL), 0);
		CT_EXPECT_EQ(fi_ep_bind(w.ep, &w.eq->fid, 0), 0);
		CT_EXPECT_EQ(fi_ep_bind(w.ep, &w.cq->fid, FI_TRANSMIT | FI_RECV), 0);
		CT_EXPECT_EQ(fi_ep_bind(w.ep, &cntr->fid, FI_SEND | FI_READ | FI_RECV),
			     0);
		ct_fail_alloc(nth);
		ret = fi_enable(w.ep);
		failed = ct_alloc_failed();
		CT_NOTE("allocation %u", nth);
		/* A queue pair is tried once more, without inline data. */
		CT_EXPECT_TRUE(!ret || (failed && ret == -FI_ENOMEM));
		CT_EXPECT_EQ(fi_enable(w.ep), 0);
		world_close_ep(&w);
		CT_EXPECT_EQ(fi_close(&cntr->fid), 0);
		world_close(&w);
	}
	CT_EXPECT_GT(nth, 4);
}

CT_TEST(pvb_cntr, opening_refuses_what_is_not_offered)
{
	struct fi_cntr_attr attr = {.wait_obj = FI_WAIT_SET};
	struct fid_cntr *cntr;
	struct world w;

	world_reset();
	CT_ASSERT_TRUE(world_open_domain(&w, NULL));
	CT_EXPECT_EQ(fi_cntr_open(w.domain, &attr, &cntr, NULL), -FI_ENOSYS);
	attr = (struct fi_cntr_attr){.flags = 1};
	CT_EXPECT_EQ(fi_cntr_open(w.domain, &attr, &cntr, NULL), -FI_EINVAL);
	ct_fail_alloc(1);
	CT_EXPECT_EQ(fi_cntr_open(w.domain, NULL, &cntr, NULL), -FI_ENOMEM);
	CT_EXPECT_TRUE(ct_alloc_failed());
	CT_EXPECT_EQ(w.info->domain_attr->cntr_cnt, 100);
	world_close(&w);
}
