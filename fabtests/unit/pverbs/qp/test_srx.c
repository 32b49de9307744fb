/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared receive contexts: posting, completing at any endpoint, room, ending. */
#include <errno.h>
#include "ct_fid.h"
#include "../world.h"

#define SIZE 8
/* When a late device says that a queue pair has left a shared queue, ms. */
#define LATE_MS 40

static uint64_t late_from, late_by = LATE_MS;

struct shared {
	struct world w;
	struct fid_ep *srx;
	struct fake_srq *srq;
	struct fid_ep *ep[2];
};

/* Closes what is open, which may be nothing. */
static void srx_close(struct shared *s)
{
	for (int i = 0; i < 2; i++)
		close_object(s->ep[i]);
	close_object(s->srx);
	world_close(&s->w);
}

static bool srx_open(struct shared *s, const struct world_opts *opts)
{
	struct fi_rx_attr attr = {.size = SIZE, .iov_limit = 2};

	srx_close(s);
	world_reset();
	if (!world_open_domain(&s->w, opts))
		return false;
	CT_EXPECT_EQ(fi_srx_context(s->w.domain, &attr, &s->srx, NUMBER(99)), 0);
	if (!s->srx)
		return false;
	s->srq = (struct fake_srq *)crn_container_of(s->srx, struct pvb_srx, fid)->srq;
	s->w.info->ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT;
	return true;
}

static struct fid_ep *srx_add(struct shared *s, struct fid_cq *cq, uint64_t flags)
{
	struct fid_ep *ep = NULL;

	CT_EXPECT_EQ(fi_endpoint(s->w.domain, s->w.info, &ep, NULL), 0);
	CT_EXPECT_EQ(fi_ep_bind(ep, &s->w.eq->fid, 0), 0);
	CT_EXPECT_EQ(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT), 0);
	CT_EXPECT_EQ(fi_ep_bind(ep, &cq->fid, FI_RECV | flags), 0);
	CT_EXPECT_EQ(fi_ep_bind(ep, &s->srx->fid, 0), 0);
	CT_EXPECT_EQ(fi_enable(ep), 0);
	CT_EXPECT_TRUE(world_connect(&s->w, ep));
	return ep;
}

/* Two endpoints on one queue. */
static bool srx_open_pair(struct shared *s, const struct world_opts *opts)
{
	if (!srx_open(s, opts))
		return false;
	for (int i = 0; i < 2; i++)
		s->ep[i] = srx_add(s, s->w.cq, opts ? opts->cq_flags : 0);
	return !ct_failed();
}

static void start_pair(struct shared *t)
{
	CT_ASSERT_TRUE(srx_open_pair(t, NULL));
}

CT_FIXTURE(srx, struct shared, start_pair, srx_close);

CT_TEST_F(srx, every_call_form_posts_its_buffers)
{
	static char a[100], b[100];
	struct iovec iov[] = {{a, 100}, {b, 50}, {b, 1}};
	void *desc[] = {NUMBER(11), NUMBER(22), NULL};
	struct fi_msg msg = {
		.msg_iov = iov, .desc = desc, .iov_count = 2, .context = NUMBER(3)};
	const struct fake_wr *wr;

	CT_EXPECT_EQ(fi_recv(t->srx, a, 100, NUMBER(11), 0, NUMBER(1)), 0);
	CT_EXPECT_EQ(fi_recvv(t->srx, iov, desc, 2, 0, NUMBER(2)), 0);
	CT_EXPECT_EQ(fi_recvmsg(t->srx, &msg, FI_COMPLETION | FI_MORE), 0);
	wr = fake_wr(&t->srq->rq, 0);
	CT_EXPECT_EQ(wr->num_sge, 1);
	CT_EXPECT_EQ(wr->sge[0].lkey, 11);
	for (unsigned int i = 1; i < 3; i++) {
		wr = fake_wr(&t->srq->rq, i);
		CT_EXPECT_EQ(wr->num_sge, 2);
		CT_EXPECT_EQ(wr->sge[1].addr, (uintptr_t)b);
		CT_EXPECT_EQ(wr->sge[1].length, 50);
		CT_EXPECT_EQ(wr->sge[1].lkey, 22);
	}
	CT_EXPECT_EQ(fi_recvv(t->srx, iov, desc, 3, 0, NULL), -FI_EINVAL);
	CT_EXPECT_EQ(fi_recvmsg(t->srx, &msg, FI_INJECT), -FI_EBADFLAGS);
	CT_EXPECT_EQ(fi_recv(t->srx, a, UINT32_MAX + 1ULL, NULL, 0, NULL), -FI_EMSGSIZE);
	CT_EXPECT_EQ(fi_send(t->srx, a, 1, NULL, 0, NULL), -FI_ENOSYS);
}

CT_TEST_F(srx, whichever_endpoint_receives_takes_the_oldest)
{
	const uint32_t data = 5;

	for (uintptr_t i = 0; i < 4; i++)
		CT_EXPECT_EQ(recv_number(t->srx, i), 0);
	fake_receive(qp_of(t->ep[0]), IBV_WC_RECV, 10, NULL);
	fake_receive(qp_of(t->ep[1]), IBV_WC_RECV, 11, &data);
	fake_receive(qp_of(t->ep[1]), IBV_WC_RECV_RDMA_WITH_IMM, 12, &data);
	fake_receive(qp_of(t->ep[0]), IBV_WC_RECV, 13, NULL);
	expect_comp(t->w.cq, NUMBER(0), FI_RECV | FI_MSG, 10, 0);
	expect_comp(t->w.cq, NUMBER(1), FI_RECV | FI_MSG | FI_REMOTE_CQ_DATA, 11, 5);
	expect_comp(t->w.cq, NUMBER(2), FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA, 12,
		    5);
	expect_comp(t->w.cq, NUMBER(3), FI_RECV | FI_MSG, 13, 0);
	expect_no_comp(t->w.cq);
}

CT_TEST_F(srx, a_full_context_says_try_again_until_a_completion_is_read)
{
	for (uintptr_t round = 0; round < 50; round++) {
		for (uintptr_t i = 0; i < SIZE; i++)
			CT_ASSERT_EQ(recv_number(t->srx, i), 0);
		CT_EXPECT_EQ(recv_number(t->srx, 9), -FI_EAGAIN);
		for (uintptr_t i = 0; i < SIZE; i++)
			fake_receive(qp_of(t->ep[(i + round) % 2]), IBV_WC_RECV, 1, NULL);
		CT_EXPECT_EQ(recv_number(t->srx, 9), -FI_EAGAIN);
		for (uintptr_t i = 0; i < SIZE; i++)
			expect_comp(t->w.cq, NUMBER(i), FI_RECV | FI_MSG, 1, 0);
	}
}

CT_TEST_F(srx, a_refused_receive_never_was)
{
	fake_fail(FAKE_POST_RECV, 1, EINVAL);
	CT_EXPECT_EQ(recv_number(t->srx, 1), -FI_EINVAL);
	fake_fail(FAKE_POST_RECV, 1, ENOMEM);
	CT_EXPECT_EQ(recv_number(t->srx, 1), -FI_EAGAIN);
	for (uintptr_t i = 0; i < SIZE; i++)
		CT_EXPECT_EQ(recv_number(t->srx, i), 0);
	CT_EXPECT_EQ(recv_number(t->srx, 9), -FI_EAGAIN);
}

CT_TEST_F(srx, an_endpoint_that_shares_takes_no_receives_itself)
{
	CT_EXPECT_EQ(recv_number(t->ep[0], 1), -FI_EOPNOTSUPP);
	CT_EXPECT_EQ(qp_of(t->ep[0])->init.cap.max_recv_wr, 0);
}

/* The device queue has room for all shared receives once, not for each endpoint. */
CT_TEST_F(srx, receives_are_counted_once_in_a_completion_queue)
{
	struct fi_cq_attr attr = {.format = FI_CQ_FORMAT_DATA, .size = 4};
	struct fid_cq *other;

	CT_EXPECT_EQ(cq_of(t->w.cq)->reserved, SIZE + 2 * (8 + 1));
	CT_ASSERT_EQ(fi_cq_open(t->w.domain, &attr, &other, NULL), 0);
	close_object(t->ep[1]);
	t->ep[1] = srx_add(t, other, 0);
	CT_EXPECT_EQ(cq_of(t->w.cq)->reserved, SIZE + 8 + 1);
	CT_EXPECT_EQ(cq_of(other)->reserved, SIZE + 8 + 1);
	for (uintptr_t i = 0; i < SIZE; i++)
		CT_EXPECT_EQ(recv_number(t->srx, i), 0);
	for (uintptr_t i = 0; i < SIZE; i++)
		fake_receive(qp_of(t->ep[1]), IBV_WC_RECV, 1, NULL);
	expect_no_comp(t->w.cq);
	for (uintptr_t i = 0; i < SIZE; i++)
		expect_comp(other, NUMBER(i), FI_RECV | FI_MSG, 1, 0);
	for (int i = 0; i < 2; i++) {
		close_object(t->ep[i]);
	}
	CT_EXPECT_EQ(cq_of(other)->reserved, 0);
	CT_EXPECT_EQ(cq_of(t->w.cq)->reserved, 0);
	CT_EXPECT_EQ(fi_close(&other->fid), 0);
}

CT_TEST_F(srx, each_endpoint_has_its_own_selective_completion)
{
	struct fi_msg msg = {.context = NUMBER(2)};
	const uint32_t data = 5;

	CT_ASSERT_TRUE(srx_open(t, NULL));
	t->ep[0] = srx_add(t, t->w.cq, FI_SELECTIVE_COMPLETION);
	t->ep[1] = srx_add(t, t->w.cq, 0);
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 2; i++) {
			CT_EXPECT_EQ(recv_number(t->srx, 1), 0);
			CT_EXPECT_EQ(fi_recvmsg(t->srx, &msg, FI_COMPLETION), 0);
			fake_receive(qp_of(t->ep[i]), IBV_WC_RECV, 10, NULL);
			fake_receive(qp_of(t->ep[i]), IBV_WC_RECV, 10, NULL);
		}
		expect_comp(t->w.cq, NUMBER(2), FI_RECV | FI_MSG, 10, 0);
		expect_comp(t->w.cq, NUMBER(1), FI_RECV | FI_MSG, 10, 0);
		expect_comp(t->w.cq, NUMBER(2), FI_RECV | FI_MSG, 10, 0);
		expect_no_comp(t->w.cq);
	}
	CT_EXPECT_EQ(recv_number(t->srx, 1), 0);
	fake_receive(qp_of(t->ep[0]), IBV_WC_RECV_RDMA_WITH_IMM, 10, &data);
	expect_comp(t->w.cq, NUMBER(1), FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA, 10,
		    5);
	CT_EXPECT_EQ(recv_number(t->srx, 3), 0);
	fake_recv_error(qp_of(t->ep[0]), IBV_WC_LOC_LEN_ERR);
	expect_cq_error(t->w.cq, NUMBER(3), FI_RECV | FI_MSG, FI_ETRUNC);
}

CT_TEST_F(srx, counters_of_an_endpoint_count_what_it_takes)
{
	struct fid_cntr *cntr[2];

	CT_ASSERT_TRUE(srx_open(t, NULL));
	for (int i = 0; i < 2; i++) {
		CT_ASSERT_EQ(fi_cntr_open(t->w.domain, NULL, &cntr[i], NULL), 0);
		CT_ASSERT_EQ(fi_endpoint(t->w.domain, t->w.info, &t->ep[i], NULL), 0);
		CT_EXPECT_EQ(fi_ep_bind(t->ep[i], &t->w.eq->fid, 0), 0);
		CT_EXPECT_EQ(fi_ep_bind(t->ep[i], &t->w.cq->fid, FI_TRANSMIT | FI_RECV),
			     0);
		CT_EXPECT_EQ(fi_ep_bind(t->ep[i], &t->srx->fid, 0), 0);
		CT_EXPECT_EQ(fi_ep_bind(t->ep[i], &cntr[i]->fid, FI_RECV), 0);
		CT_ASSERT_EQ(fi_enable(t->ep[i]), 0);
	}
	for (uintptr_t i = 0; i < 7; i++)
		CT_EXPECT_EQ(recv_number(t->srx, i), 0);
	for (int i = 0; i < 5; i++)
		fake_receive(qp_of(t->ep[i < 3]), IBV_WC_RECV, 1, NULL);
	fake_recv_error(qp_of(t->ep[1]), IBV_WC_LOC_LEN_ERR);
	CT_EXPECT_EQ(fi_cntr_read(cntr[0]), 2);
	CT_EXPECT_EQ(fi_cntr_read(cntr[1]), 3);
	CT_EXPECT_EQ(fi_cntr_readerr(cntr[0]), 0);
	CT_EXPECT_EQ(fi_cntr_readerr(cntr[1]), 1);
	for (int i = 0; i < 2; i++) {
		close_object(t->ep[i]);
		CT_EXPECT_EQ(fi_close(&cntr[i]->fid), 0);
	}
}

CT_TEST_F(srx, an_endpoint_that_closes_takes_nothing_of_the_others_with_it)
{
	CT_ASSERT_TRUE(srx_open(t, NULL));
	/* The queue knows the second one only, for its silence. */
	t->ep[0] = srx_add(t, t->w.cq, 0);
	t->ep[1] = srx_add(t, t->w.cq, FI_SELECTIVE_COMPLETION);
	for (int i = 0; i < 2; i++) {
		CT_EXPECT_EQ(recv_number(t->srx, 1), 0);
		fake_receive(qp_of(t->ep[1]), IBV_WC_RECV, 1, NULL);
		expect_no_comp(t->w.cq);
		close_object(t->ep[0]);
	}
}

CT_TEST_F(srx, an_endpoint_that_closes_leaves_the_receives_to_the_others)
{
	for (uintptr_t i = 0; i < SIZE; i++)
		CT_EXPECT_EQ(recv_number(t->srx, i), 0);
	fake_receive(qp_of(t->ep[0]), IBV_WC_RECV, 1, NULL);
	fake_take(qp_of(t->ep[0]));
	close_object(t->ep[0]);
	expect_comp(t->w.cq, NUMBER(0), FI_RECV | FI_MSG, 1, 0);
	expect_cq_error(t->w.cq, NUMBER(1), FI_RECV | FI_MSG, FI_ECANCELED);
	expect_no_comp(t->w.cq);
	for (uintptr_t i = 2; i < SIZE; i++)
		fake_receive(qp_of(t->ep[1]), IBV_WC_RECV, 1, NULL);
	for (uintptr_t i = 2; i < SIZE; i++)
		expect_comp(t->w.cq, NUMBER(i), FI_RECV | FI_MSG, 1, 0);
	for (uintptr_t i = 0; i < SIZE; i++)
		CT_EXPECT_EQ(recv_number(t->srx, i), 0);
}

static void async_look(void *arg)
{
	struct fake_qp *late = arg;

	ct_time_pass(1);
	if (late && crn_now_ms() >= late_from + late_by)
		fake_leave_srq(late);
}

/* How long fi_close takes, ms, where each look at the device's events takes one; the
 * device speaks after late_by if it is late. */
static uint64_t srx_close_time(struct fid_ep *ep, bool late)
{
	late_from = crn_now_ms();
	fake_devices[0].async_hook = async_look;
	fake_devices[0].async_hook_arg = late ? qp_of(ep) : NULL;
	CT_EXPECT_EQ(fi_close(&ep->fid), 0);
	fake_devices[0].async_hook = NULL;
	return crn_now_ms() - late_from;
}

/* Some devices never tell that a queue pair has left the shared queue. */
CT_TEST_F(srx, a_device_that_says_nothing_is_waited_for_less_each_time)
{
	static const uint64_t most[] = {102, 52, 27, 14, 8, 5, 3, 3, 3};

	CT_ASSERT_TRUE(srx_open(t, NULL));
	fake_devices[0].no_last_wqe = true;
	ct_time_stop();
	for (size_t i = 0; i < CRN_COUNT(most); i++) {
		CT_NOTE("close %zu", i);
		CT_EXPECT_LE(srx_close_time(srx_add(t, t->w.cq, 0), false), most[i]);
	}
}

/* One that was late once, on a busy machine, is waited for the next time; and one that is
 * known to speak for as long as a close may take. */
CT_TEST_F(srx, a_device_that_was_late_is_waited_for_again)
{
	struct fid_ep *ep;

	ep = srx_add(t, t->w.cq, 0);
	for (uintptr_t i = 0; i < SIZE; i++)
		CT_EXPECT_EQ(recv_number(t->srx, i), 0);
	fake_devices[0].no_last_wqe = true;
	ct_time_stop();
	srx_close_time(t->ep[0], false);
	fake_take(qp_of(t->ep[1]));
	CT_EXPECT_GE(srx_close_time(t->ep[1], true), LATE_MS);
	expect_cq_error(t->w.cq, NUMBER(0), FI_RECV | FI_MSG, FI_ECANCELED);
	expect_no_comp(t->w.cq);
	pvb_params.close_timeout = 600000;
	late_by = 100 * LATE_MS;
	CT_EXPECT_GE(srx_close_time(ep, true), late_by);
	late_by = LATE_MS;
	t->ep[0] = t->ep[1] = NULL;
}

CT_TEST_F(srx, closing_reports_what_is_posted_to_the_queue_bound_to_it)
{
	CT_EXPECT_EQ(fi_ep_bind(t->srx, &t->w.eq->fid, 0), -FI_ENOSYS);
	CT_EXPECT_EQ(fi_ep_bind(t->srx, &t->w.cq->fid, FI_TRANSMIT), -FI_EINVAL);
	CT_EXPECT_EQ(fi_ep_bind(t->srx, &t->w.cq->fid, FI_RECV), 0);
	CT_EXPECT_EQ(fi_ep_bind(t->srx, &t->w.cq->fid, FI_RECV), -FI_EINVAL);
	CT_EXPECT_EQ(fi_enable(t->srx), 0);
	for (uintptr_t i = 1; i < 4; i++)
		CT_EXPECT_EQ(recv_number(t->srx, i), 0);
	fake_receive(qp_of(t->ep[0]), IBV_WC_RECV, 1, NULL);
	expect_comp(t->w.cq, NUMBER(1), FI_RECV | FI_MSG, 1, 0);
	CT_EXPECT_EQ(fi_close(&t->srx->fid), -FI_EBUSY);
	close_object(t->ep[0]);
	CT_EXPECT_EQ(fi_close(&t->srx->fid), -FI_EBUSY);
	close_object(t->ep[1]);
	CT_EXPECT_EQ(fi_close(&t->w.cq->fid), -FI_EBUSY);
	CT_EXPECT_EQ(fi_close(&t->w.domain->fid), -FI_EBUSY);
	close_object(t->srx);
	expect_cq_error(t->w.cq, NUMBER(2), FI_RECV | FI_MSG, FI_ECANCELED);
	expect_cq_error(t->w.cq, NUMBER(3), FI_RECV | FI_MSG, FI_ECANCELED);
	expect_no_comp(t->w.cq);
}

CT_TEST_F(srx, a_queue_of_another_domain_is_not_bound)
{
	struct fi_cq_attr attr = {.wait_obj = FI_WAIT_NONE};
	struct fid_domain *domain;
	struct fid_cq *cq;

	CT_ASSERT_TRUE(srx_open(t, NULL));
	CT_ASSERT_EQ(fi_domain(t->w.fabric, t->w.info, &domain, NULL), 0);
	CT_ASSERT_EQ(fi_cq_open(domain, &attr, &cq, NULL), 0);
	CT_EXPECT_EQ(fi_ep_bind(t->srx, &cq->fid, FI_RECV), -FI_EDOMAIN);
	CT_EXPECT_EQ(fi_close(&cq->fid), 0);
	CT_EXPECT_EQ(fi_close(&domain->fid), 0);
}

CT_TEST_F(srx, closing_wakes_who_waits_for_the_queue_bound_to_it)
{
	const struct world_opts opts = {.wait_obj = FI_WAIT_FD};
	struct fid *fid;

	CT_ASSERT_TRUE(srx_open(t, &opts));
	fid = &t->w.cq->fid;
	CT_EXPECT_EQ(fi_ep_bind(t->srx, fid, FI_RECV), 0);
	CT_EXPECT_EQ(recv_number(t->srx, 1), 0);
	CT_EXPECT_EQ(fi_trywait(t->w.fabric, &fid, 1), 0);
	CT_EXPECT_FALSE(ct_readable(fid));
	close_object(t->srx);
	CT_EXPECT_TRUE(ct_readable(fid));
	expect_cq_error(t->w.cq, NUMBER(1), FI_RECV | FI_MSG, FI_ECANCELED);
}

CT_TEST_F(srx, binding_says_what_does_not_fit)
{
	struct fid_domain *other;
	struct fid_ep *ep, *stranger;

	CT_ASSERT_TRUE(srx_open(t, NULL));
	CT_ASSERT_EQ(fi_domain(t->w.fabric, t->w.info, &other, NULL), 0);
	CT_ASSERT_EQ(fi_srx_context(other, NULL, &stranger, NULL), 0);
	CT_ASSERT_EQ(fi_endpoint(t->w.domain, t->w.info, &ep, NULL), 0);
	CT_EXPECT_EQ(fi_ep_bind(ep, &t->w.eq->fid, 0), 0);
	CT_EXPECT_EQ(fi_ep_bind(ep, &t->w.cq->fid, FI_TRANSMIT | FI_RECV), 0);
	CT_EXPECT_EQ(fi_enable(ep), -FI_EOPBADSTATE);
	CT_EXPECT_EQ(fi_ep_bind(ep, &stranger->fid, 0), -FI_EDOMAIN);
	CT_EXPECT_EQ(fi_ep_bind(ep, &t->srx->fid, FI_RECV), -FI_EINVAL);
	CT_EXPECT_EQ(fi_ep_bind(ep, &t->srx->fid, 0), 0);
	CT_EXPECT_EQ(fi_ep_bind(ep, &t->srx->fid, 0), -FI_EINVAL);
	CT_EXPECT_EQ(fi_enable(ep), 0);
	CT_EXPECT_EQ(fi_close(&ep->fid), 0);
	CT_EXPECT_EQ(fi_close(&stranger->fid), 0);
	CT_EXPECT_EQ(fi_close(&other->fid), 0);
}

CT_TEST(srx, attributes_within_the_device_or_refused)
{
	static const struct {
		struct fi_rx_attr attr;
		int wanted;
	} rows[] = {
		{{.size = 500, .iov_limit = 8}, 0},
		{{.size = 501}, -FI_EINVAL},
		{{.iov_limit = 9}, -FI_EINVAL},
		{{.op_flags = FI_COMPLETION}, 0},
		{{.op_flags = FI_MULTI_RECV}, -FI_EINVAL},
		{{.size = 0}, 0},
	};
	struct fi_rx_attr attr;
	struct fid_stx *stx;
	struct fid_ep *srx;
	struct world w;

	world_reset();
	CT_ASSERT_TRUE(world_open_domain(&w, NULL));
	CT_EXPECT_EQ(w.info->domain_attr->max_ep_srx_ctx, 50);
	CT_EXPECT_EQ(w.info->domain_attr->max_ep_stx_ctx, 0);
	CT_EXPECT_EQ(w.info->ep_attr->rx_ctx_cnt, 1);
	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("row %zu", i);
		attr = rows[i].attr;
		CT_EXPECT_EQ(fi_srx_context(w.domain, &attr, &srx, NULL), rows[i].wanted);
		if (!rows[i].wanted)
			CT_EXPECT_EQ(fi_close(&srx->fid), 0);
	}
	CT_EXPECT_EQ(fi_stx_context(w.domain, NULL, &stx, NULL), -FI_ENOSYS);
	fake_fail(FAKE_CREATE_SRQ, 1, ENOMEM);
	CT_EXPECT_EQ(fi_srx_context(w.domain, NULL, &srx, NULL), -FI_ENOMEM);
	CT_EXPECT_EQ(fi_srx_context(w.domain, NULL, &srx, NULL), 0);
	fake_fail(FAKE_DESTROY_SRQ, 1, EIO);
	CT_EXPECT_EQ(fi_close(&srx->fid), -FI_EIO);
	CT_EXPECT_EQ(fi_close(&srx->fid), 0);
	world_close(&w);

	world_reset();
	fake_devices[0].attr.max_srq = 0;
	CT_ASSERT_TRUE(world_open_domain(&w, NULL));
	CT_EXPECT_EQ(fi_srx_context(w.domain, NULL, &srx, NULL), -FI_ENOSYS);
	world_close(&w);
}

CT_TEST_F(srx, without_memory_nothing_is_left_behind)
{
	unsigned int nth = 1;
	bool failed = true;
	struct fid_ep *ep;
	int ret;

	for (; failed; nth++) {
		CT_ASSERT_TRUE(srx_open(t, NULL));
		CT_ASSERT_EQ(fi_endpoint(t->w.domain, t->w.info, &ep, NULL), 0);
		CT_EXPECT_EQ(fi_ep_bind(ep, &t->w.eq->fid, 0), 0);
		CT_EXPECT_EQ(fi_ep_bind(ep, &t->w.cq->fid,
					FI_TRANSMIT | FI_RECV | FI_SELECTIVE_COMPLETION),
			     0);
		CT_EXPECT_EQ(fi_ep_bind(ep, &t->srx->fid, 0), 0);
		ct_fail_alloc(nth);
		ret = fi_enable(ep);
		failed = ct_alloc_failed();
		CT_NOTE("allocation %u", nth);
		/* A queue pair is tried once more, without inline data. */
		CT_EXPECT_TRUE(!ret || (failed && ret == -FI_ENOMEM));
		CT_EXPECT_EQ(fi_enable(ep), 0);
		CT_EXPECT_EQ(fi_close(&ep->fid), 0);
		srx_close(t);
	}
	CT_EXPECT_GT(nth, 5);
}
