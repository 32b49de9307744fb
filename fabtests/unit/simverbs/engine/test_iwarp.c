/* SPDX-License-Identifier: BSD-2-Clause */
/* engine/iwarp.c: what is complete on iWARP, and what then. Each in a child of its own.
 */
#include "../world.h"

/* latency: us */
static void iwarp_open(struct pair *pair, const char *latency)
{
	world_settings("SIMVERBS_LINK_LAYER", "iwarp", "SIMVERBS_LATENCY_US", latency,
		       NULL);
	pair_open(pair);
}

static bool becomes(const char *at, char value)
{
	const uint64_t end = ct_soon_end();

	while (__atomic_load_n(at, __ATOMIC_ACQUIRE) != value && ct_soon(end))
		;
	return *at == value;
}

WORLD_CHILD(iwarp, writes_and_sends_complete_before_they_arrive)
{
	struct pair p;

	/* Ten seconds: nothing arrives while this runs. */
	iwarp_open(&p, "10000000");
	p.a.memory[0] = 'w';
	CT_EXPECT_EQ(pair_write(&p), 0);
	CT_ASSERT_TRUE(!world_recv(&p.b, 1, 64, 8) && !world_send(&p.a, 2, 0, 8));
	CT_EXPECT_EQ(world_status(p.a.cq), 0);
	CT_EXPECT_TRUE(!p.b.memory[0] && world_quiet(p.b.cq));
	/* What has left arrives although the requester goes away. */
	world_close(&p.a);
	CT_EXPECT_TRUE(p.b.memory[0] == 'w' && p.b.memory[64] == 'w');
	CT_EXPECT_EQ(world_status(p.b.cq), 0);
	world_close(&p.b);
}

WORLD_CHILD(iwarp, memory_is_free_when_the_request_is_complete)
{
	struct pair p;

	iwarp_open(&p, "20000");
	p.a.memory[0] = 'o';
	CT_EXPECT_EQ(pair_write(&p), 0);
	p.a.memory[0] = 'n';
	CT_EXPECT_TRUE(becomes(p.b.memory, 'o'));
	pair_close(&p);
}

WORLD_CHILD(iwarp, read_shows_that_what_was_before_it_has_arrived)
{
	struct pair p;

	iwarp_open(&p, "5000");
	p.a.memory[0] = 'w';
	CT_ASSERT_TRUE(!world_rdma(&p.a, IBV_WR_RDMA_WRITE, 0, 8, &p.to, 0) &&
		       !world_rdma(&p.a, IBV_WR_RDMA_READ, 64, 8, &p.to, 0));
	CT_EXPECT_TRUE(!world_status(p.a.cq) && !world_status(p.a.cq));
	CT_EXPECT_TRUE(p.a.memory[64] == 'w' && p.b.memory[0] == 'w');
	pair_close(&p);
}

/* The type of the next asynchronous event. */
static int async_event(struct end *end)
{
	struct ibv_async_event event;

	if (ibv_get_async_event(end->ctx, &event))
		return -1;
	ibv_ack_async_event(&event);
	return (int)event.event_type;
}

WORLD_CHILD(iwarp, refused_write_completes_and_the_connection_ends)
{
	struct pair p;

	iwarp_open(&p, "0");
	p.to.rkey ^= 0x55;
	CT_EXPECT_EQ(pair_write(&p), 0);
	CT_EXPECT_EQ(async_event(&p.a), IBV_EVENT_QP_FATAL);
	CT_EXPECT_EQ(async_event(&p.b), IBV_EVENT_QP_ACCESS_ERR);
	CT_EXPECT_EQ(pair_write(&p), IBV_WC_WR_FLUSH_ERR);
	pair_close(&p);
}

WORLD_CHILD(iwarp, message_without_a_receive_ends_the_connection)
{
	struct pair p;

	iwarp_open(&p, "0");
	CT_EXPECT_EQ(world_send(&p.a, 1, 0, 8), 0);
	CT_EXPECT_EQ(world_status(p.a.cq), 0);
	CT_EXPECT_EQ(async_event(&p.a), IBV_EVENT_QP_FATAL);
	CT_EXPECT_EQ(async_event(&p.b), IBV_EVENT_QP_REQ_ERR);
	CT_EXPECT_EQ(world_send(&p.a, 1, 0, 8), 0);
	CT_EXPECT_EQ(world_status(p.a.cq), IBV_WC_WR_FLUSH_ERR);
	pair_close(&p);
}

WORLD_CHILD(iwarp, lost_stream_is_an_event_of_the_queue_pair)
{
	struct pair p;

	world_settings("SIMVERBS_LOSS", "1", NULL);
	iwarp_open(&p, "0");
	CT_EXPECT_EQ(pair_write(&p), 0);
	CT_EXPECT_EQ(async_event(&p.a), IBV_EVENT_QP_FATAL);
	CT_EXPECT_EQ(p.b.memory[0], 0);
	pair_close(&p);
}

WORLD_CHILD(iwarp, own_key_is_checked_before_anything_leaves)
{
	struct pair p;

	iwarp_open(&p, "1000");
	CT_EXPECT_EQ(world_rdma(&p.a, IBV_WR_RDMA_WRITE, WORLD_BYTES, 8, &p.to, 0), 0);
	CT_EXPECT_EQ(world_status(p.a.cq), IBV_WC_LOC_PROT_ERR);
	pair_close(&p);
}

WORLD_CHILD(iwarp, memory_that_is_read_into_must_be_open_to_remote_writes)
{
	struct ibv_mr *mr, *whole;
	struct pair p;

	iwarp_open(&p, "0");
	whole = p.a.mr;
	mr = ibv_reg_mr(p.a.pd, p.a.memory, 64, IBV_ACCESS_LOCAL_WRITE);
	CT_ASSERT_NE(mr, NULL);
	p.a.mr = mr;
	CT_EXPECT_EQ(world_rdma(&p.a, IBV_WR_RDMA_READ, 0, 8, &p.to, 0), 0);
	CT_EXPECT_EQ(world_status(p.a.cq), IBV_WC_LOC_PROT_ERR);
	p.a.mr = whole;
	ibv_dereg_mr(mr);
	pair_close(&p);
}

WORLD_CHILD(iwarp, what_rfc_5040_lacks_is_refused)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR};
	struct ibv_qp_init_attr_ex ex = {0};
	struct ibv_qp_init_attr init = {.cap = {1, 1, 1, 1, 0}, .qp_type = IBV_QPT_UD};
	struct ibv_ah_attr ah = {.is_global = 1, .port_num = 1};
	struct pair p;

	iwarp_open(&p, "0");
	CT_EXPECT_EQ(world_rdma(&p.a, IBV_WR_RDMA_WRITE_WITH_IMM, 0, 8, &p.to, 0),
		     EINVAL);
	CT_EXPECT_EQ(world_rdma(&p.a, IBV_WR_ATOMIC_FETCH_AND_ADD, 0, 8, &p.to, 0),
		     EINVAL);
	init.send_cq = init.recv_cq = p.a.cq;
	CT_EXPECT_TRUE(!ibv_create_qp(p.a.pd, &init) && errno == EOPNOTSUPP);
	memcpy(&ex, &init, sizeof(init));
	ex.qp_type = IBV_QPT_RC;
	ex.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	ex.pd = p.a.pd;
	ex.send_ops_flags = IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD;
	errno = 0;
	CT_EXPECT_TRUE(!ibv_create_qp_ex(p.a.ctx, &ex) && errno == EOPNOTSUPP);
	errno = 0;
	CT_EXPECT_TRUE(!ibv_create_ah(p.a.pd, &ah) && errno == EOPNOTSUPP);
	/* Ready to receive is nothing, and ready to send needs a connection. */
	world_close(&p.b);
	CT_ASSERT_TRUE(world_open(&p.b, IBV_QPT_RC, false));
	CT_EXPECT_EQ(ibv_modify_qp(p.b.qp, &attr, IBV_QP_STATE), 0);
	attr.qp_state = IBV_QPS_RTS;
	CT_EXPECT_EQ(ibv_modify_qp(p.b.qp, &attr, 0), 0);
	CT_EXPECT_EQ(ibv_modify_qp(p.b.qp, &attr, IBV_QP_STATE), EINVAL);
	pair_close(&p);
}

/* Made and reset queue pairs are what siw and cxgb4 call idle. */
WORLD_CHILD(iwarp, a_new_queue_pair_is_idle_and_takes_receives)
{
	struct ibv_qp_init_attr init = {.cap = {1, 1, 1, 1, 0}, .qp_type = IBV_QPT_RC};
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};
	struct end a;
	struct ibv_qp *made;

	world_settings("SIMVERBS_LINK_LAYER", "iwarp", NULL);
	CT_ASSERT_TRUE(world_open(&a, IBV_QPT_RC, false));
	init.send_cq = init.recv_cq = a.cq;
	made = a.qp;
	a.qp = ibv_create_qp(a.pd, &init);
	CT_ASSERT_NE(a.qp, NULL);
	CT_EXPECT_EQ(world_state(&a), IBV_QPS_INIT);
	CT_EXPECT_EQ(world_recv(&a, 1, 0, 8), 0);
	CT_EXPECT_EQ(ibv_modify_qp(a.qp, &attr, IBV_QP_STATE), 0);
	CT_EXPECT_EQ(world_state(&a), IBV_QPS_INIT);
	CT_EXPECT_EQ(world_recv(&a, 1, 0, 8), 0);
	CT_EXPECT_EQ(ibv_destroy_qp(a.qp), 0);
	a.qp = made;
	world_close(&a);
}
