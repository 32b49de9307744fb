/* SPDX-License-Identifier: BSD-2-Clause */
/* The queue pair of a connection. */
#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include "../world.h"

CT_FIXTURE(conn_qp, struct world, world_fresh, world_close);

CT_TEST_F(conn_qp, it_has_the_sizes_of_the_endpoint_and_room_for_a_marker)
{
	struct world_opts opts = {.tx_size = 20, .rx_size = 30, .inject_size = 100};
	const struct ibv_qp_cap *cap;

	CT_ASSERT_TRUE(world_open(t, &opts));
	cap = &t->qp->init.cap;
	CT_EXPECT_EQ(t->qp->init.qp_type, IBV_QPT_RC);
	CT_EXPECT_EQ(t->qp->init.sq_sig_all, 0);
	CT_EXPECT_EQ(t->qp->init.srq, NULL);
	CT_EXPECT_EQ(cap->max_send_wr, 21);
	CT_EXPECT_EQ(cap->max_recv_wr, 30);
	CT_EXPECT_EQ(cap->max_send_sge, 4);
	CT_EXPECT_EQ(cap->max_recv_sge, 4);
	CT_EXPECT_EQ(cap->max_inline_data, 100);
}

CT_TEST_F(conn_qp, a_power_of_two_takes_no_more_slots_than_that)
{
	struct world_opts opts = {.tx_size = 16, .rx_size = 16};
	struct pvb_qp *qp;

	CT_ASSERT_TRUE(world_open(t, &opts));
	qp = &ep_of(t->ep)->qp;
	CT_EXPECT_EQ(qp->sq.ring.mask + 1, 16);
	CT_EXPECT_EQ(qp->rq.ring.mask + 1, 16);
	for (uintptr_t i = 0; i < 16; i++)
		CT_EXPECT_EQ(recv_number(t->ep, i), 0);
	CT_EXPECT_EQ(recv_number(t->ep, 16), -FI_EAGAIN);
}

CT_TEST_F(conn_qp, its_slots_are_made_for_the_first_operation)
{
	struct pvb_qp *qp;

	CT_ASSERT_TRUE(world_open_connected(t, NULL));
	qp = &ep_of(t->ep)->qp;
	CT_EXPECT_EQ(qp->sq.slots, NULL);
	CT_EXPECT_EQ(qp->rq.slots, NULL);
	CT_EXPECT_EQ(recv_number(t->ep, 1), 0);
	CT_EXPECT_NE(qp->rq.slots, NULL);
	CT_EXPECT_EQ(qp->sq.slots, NULL);
	CT_EXPECT_EQ(send_number(t->ep, 2), 0);
	CT_EXPECT_NE(qp->sq.slots, NULL);
	CT_EXPECT_EQ(qp->sq.stalls + qp->rq.stalls, 0);
}

CT_TEST_F(conn_qp, without_memory_for_slots_the_call_fails_and_may_be_repeated)
{
	CT_ASSERT_TRUE(world_open_connected(t, NULL));
	ct_fail_alloc(1);
	CT_EXPECT_EQ(send_number(t->ep, 1), -FI_ENOMEM);
	ct_fail_alloc(1);
	CT_EXPECT_EQ(recv_number(t->ep, 2), -FI_ENOMEM);
	CT_EXPECT_EQ(t->qp->sq.posted + t->qp->rq.posted, 0);
	CT_EXPECT_EQ(send_number(t->ep, 1), 0);
	CT_EXPECT_EQ(recv_number(t->ep, 2), 0);
	CT_EXPECT_EQ(t->qp->sq.posted, 1);
	CT_EXPECT_EQ(t->qp->rq.posted, 1);
}

CT_TEST_F(conn_qp, one_that_never_had_slots_says_that_it_is_shut)
{
	CT_ASSERT_TRUE(world_open_connected(t, NULL));
	CT_EXPECT_EQ(fi_shutdown(t->ep, 0), 0);
	CT_EXPECT_EQ(send_number(t->ep, 1), -FI_ESHUTDOWN);
	CT_EXPECT_EQ(recv_number(t->ep, 2), -FI_ESHUTDOWN);
	CT_EXPECT_EQ(ep_of(t->ep)->qp.sq.slots, NULL);
}

/* Durable operations count on them, and on what was posted before. */
CT_TEST_F(conn_qp, slots_are_there_before_the_first_operation_when_it_may_be_durable)
{
	const struct world_opts opts = {.caps = FI_MSG | FI_RMA | FI_RMA_PMEM};

	CT_ASSERT_TRUE(world_open(t, &opts));
	CT_EXPECT_EQ(ep_of(t->ep)->qp.sq.slots, NULL);
	CT_EXPECT_EQ(send_number(t->ep, 1), -FI_ENOTCONN);
	CT_EXPECT_NE(ep_of(t->ep)->qp.sq.slots, NULL);
	CT_EXPECT_NE(ep_of(t->ep)->qp.commit, NULL);
}

CT_TEST_F(conn_qp, enabling_makes_it_ready_for_receives)
{
	CT_ASSERT_TRUE(world_open(t, NULL));
	CT_EXPECT_EQ(t->qp->ibv.state, IBV_QPS_INIT);
	CT_EXPECT_EQ(t->qp->mask[IBV_QPS_INIT], IBV_QP_STATE | IBV_QP_PKEY_INDEX |
							IBV_QP_PORT |
							IBV_QP_ACCESS_FLAGS);
	CT_EXPECT_EQ(t->qp->attr[IBV_QPS_INIT].port_num, 1);
	CT_EXPECT_EQ(t->qp->attr[IBV_QPS_INIT].qp_access_flags,
		     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
			     IBV_ACCESS_REMOTE_WRITE);
	CT_EXPECT_EQ(recv_number(t->ep, 1), 0);
}

/* Keys of regions say that they may; this side's own operations are another matter. */
CT_TEST_F(conn_qp, peers_may_flush_whether_or_not_this_side_does)
{
	for (int durable = 0; durable < 2; durable++) {
		world_reset();
		pvb_params.durable = durable ? PVB_DURABLE_ON : PVB_DURABLE_OFF;
		fake_devices[0].caps_ex = 3ull << 38;
		CT_ASSERT_TRUE(world_open(t, NULL));
		CT_EXPECT_EQ(t->qp->attr[IBV_QPS_INIT].qp_access_flags & 3u << 8,
			     3u << 8);
		world_close(t);
	}
}

CT_TEST_F(conn_qp, of_two_ports_it_begins_on_that_of_its_address)
{
	struct fid_ep *ep;

	fake_devices[0].attr.phys_port_cnt = 2;
	fake_add_addr("10.0.1.1", &fake_devices[0], 2, IFF_UP);
	fake_add_route("10.0.1.2", "10.0.1.1");
	CT_ASSERT_TRUE(world_open(t, NULL));
	CT_EXPECT_EQ(t->qp->attr[IBV_QPS_INIT].port_num, 1);
	((struct sockaddr_in *)t->info->src_addr)->sin_addr =
		fake_addr("10.0.1.1", 0).in.sin_addr;
	CT_ASSERT_TRUE(world_add_ep(t, NULL, &ep));
	CT_EXPECT_EQ(qp_of(ep)->attr[IBV_QPS_INIT].port_num, 2);
	CT_EXPECT_EQ(fi_close(&ep->fid), 0);

	free(t->info->src_addr);
	t->info->src_addr = NULL;
	t->info->src_addrlen = 0;
	CT_ASSERT_TRUE(world_add_ep(t, NULL, &ep));
	CT_EXPECT_EQ(qp_of(ep)->attr[IBV_QPS_INIT].port_num, 1);
	CT_EXPECT_EQ(fi_close(&ep->fid), 0);
}

/* What a device takes is half of what it does not, or a half of that. */
CT_TEST_F(conn_qp, inline_data_beyond_the_device_are_tried_with_less)
{
	struct world_opts opts = {.inject_size = 257};
	char buf[129] = "";

	CT_ASSERT_TRUE(world_open(t, &opts));
	CT_EXPECT_EQ(t->qp->init.cap.max_inline_data, 128);
	CT_EXPECT_EQ(ep_of(t->ep)->qp.bounce_mr, NULL);
	CT_ASSERT_TRUE(world_connect(t, t->ep));
	CT_EXPECT_EQ(fi_inject(t->ep, buf, 128, 0), 0);
	CT_EXPECT_EQ(ep_of(t->ep)->qp.bounce_mr, NULL);
	CT_EXPECT_EQ(fi_inject(t->ep, buf, 129, 0), 0);
	CT_EXPECT_EQ(ep_of(t->ep)->qp.bounce_mr->length, 8 * 257);
	CT_EXPECT_EQ(((struct fake_mr *)ep_of(t->ep)->qp.bounce_mr)->access, 0);
}

CT_TEST_F(conn_qp, a_program_that_injects_nothing_needs_no_buffers)
{
	unsigned int before;

	fake_devices[0].max_inline = 0;
	CT_ASSERT_TRUE(world_open_domain(t, NULL));
	before = fake_count(FAKE_REG_MR);
	t->info->tx_attr->inject_size = 0;
	CT_ASSERT_TRUE(world_add_ep(t, NULL, &t->ep));
	CT_EXPECT_EQ(fake_count(FAKE_CREATE_QP), 1);
	CT_EXPECT_EQ(fake_count(FAKE_REG_MR), before);
	CT_ASSERT_TRUE(world_connect(t, t->ep));
	CT_EXPECT_EQ(fi_inject(t->ep, "", 0, 0), 0);
	CT_EXPECT_EQ(fi_inject(t->ep, "x", 1, 0), -FI_EMSGSIZE);
}

CT_TEST_F(conn_qp, whatever_the_device_refuses_enabling_fails_and_may_be_repeated)
{
	static const struct {
		enum fake_call call;
		unsigned int nth;
	} rows[] = {{FAKE_CREATE_QP, 1},
		    {FAKE_MODIFY_QP, 1},
		    {FAKE_CREATE_EVENT_CHANNEL, 1}};
	struct fid_ep *ep;
	int objects;

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("row %zu", i);
		world_reset();
		fake_devices[0].max_inline = 0;
		fake_devices[0].attr.phys_port_cnt = 2;
		CT_ASSERT_TRUE(world_open_domain(t, NULL));
		/* Without inline the first attempt at a queue pair fails anyway. */
		t->info->tx_attr->inject_size = rows[i].call == FAKE_CREATE_QP ? 0 : 64;
		CT_ASSERT_EQ(fi_endpoint(t->domain, t->info, &ep, NULL), 0);
		CT_EXPECT_EQ(fi_ep_bind(ep, &t->eq->fid, 0), 0);
		CT_EXPECT_EQ(fi_ep_bind(ep, &t->cq->fid, FI_TRANSMIT | FI_RECV), 0);
		objects = fake_objects;
		fake_fail(rows[i].call, rows[i].nth, ENOBUFS);
		CT_EXPECT_LT(fi_enable(ep), 0);
		CT_EXPECT_EQ(fake_objects, objects + 1); /* the device queue stays */
		CT_EXPECT_EQ(cq_of(t->cq)->reserved, 0);
		CT_EXPECT_EQ(fi_enable(ep), 0);
		CT_EXPECT_EQ(fi_close(&ep->fid), 0);
		world_close(t);
	}
}

CT_TEST_F(conn_qp, a_queue_pair_that_does_not_go_to_err_is_closed_all_the_same)
{
	unsigned int errors;

	pvb_params.close_timeout = 20;
	world_polls_take_time();
	CT_ASSERT_TRUE(world_open_connected(t, NULL));
	CT_EXPECT_EQ(recv_number(t->ep, 1), 0);
	fake_fail(FAKE_MODIFY_QP, 1, EIO);
	world_close_ep(t);
	CT_EXPECT_EQ(read_all_comps(t->cq, &errors), 1);
	CT_EXPECT_EQ(errors, 1);
}

CT_TEST_F(conn_qp, without_locks_a_program_gets_the_same)
{
	struct world_opts opts = {.threading = FI_THREAD_DOMAIN};

	CT_ASSERT_TRUE(world_open_connected(t, &opts));
	CT_EXPECT_FALSE(ep_of(t->ep)->qp.tx_lock.on);
	CT_EXPECT_FALSE(ep_of(t->ep)->qp.rx_lock.on);
	CT_EXPECT_FALSE(cq_of(t->cq)->lock.on);
	CT_EXPECT_EQ(send_number(t->ep, 1), 0);
	fake_complete_all(t->qp);
	expect_comp(t->cq, NUMBER(1), FI_SEND | FI_MSG, 0, 0);
	CT_EXPECT_EQ(send_number(t->ep, 2), 0);
	world_close_ep(t);
	expect_cq_error(t->cq, NUMBER(2), FI_SEND | FI_MSG, FI_ECANCELED);
}

CT_TEST_F(conn_qp, with_any_other_threading_there_are_locks)
{
	static const enum fi_threading rows[] = {FI_THREAD_UNSPEC, FI_THREAD_SAFE,
						 FI_THREAD_FID, FI_THREAD_COMPLETION,
						 FI_THREAD_ENDPOINT};
	struct world_opts opts = {0};

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		world_reset();
		opts.threading = rows[i];
		CT_ASSERT_TRUE(world_open(t, &opts));
		CT_EXPECT_TRUE(ep_of(t->ep)->qp.tx_lock.on);
		CT_EXPECT_TRUE(cq_of(t->cq)->lock.on);
		world_close(t);
	}
}
