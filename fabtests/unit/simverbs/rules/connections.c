/* SPDX-License-Identifier: BSD-2-Clause */
/* Two ends that do not fit, and what is between them. */
#include "rules.h"

/* Asynchronous events of a context until this one. */
static bool told(struct ibv_context *ctx, enum ibv_event_type type)
{
	struct ibv_async_event event;

	do {
		if (!world_readable(ctx->async_fd, CT_DEADLINE_MS) ||
		    ibv_get_async_event(ctx, &event))
			return false;
		ibv_ack_async_event(&event);
	} while (event.event_type != type);
	return true;
}

/* Connections whose sides do not fit: how one end is connected. */
struct side {
	uint32_t sq_psn, rq_psn;
	enum ibv_mtu mtu;
	uint8_t rnr_retry;
};

static bool side_connect(struct end *end, const struct address *peer,
			 const struct side *side)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR,
				   .path_mtu = side->mtu,
				   .dest_qp_num = peer->qpn,
				   .rq_psn = side->rq_psn,
				   .max_dest_rd_atomic = 1,
				   .min_rnr_timer = 1,
				   .ah_attr = {.dlid = (uint16_t)peer->lid,
					       .port_num = 1}};

	if (ibv_modify_qp(end->qp, &attr,
			  IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				  IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				  IBV_QP_MIN_RNR_TIMER))
		return false;
	attr.qp_state = IBV_QPS_RTS;
	attr.sq_psn = side->sq_psn;
	attr.timeout = 10;
	attr.retry_cnt = 1;
	attr.rnr_retry = side->rnr_retry;
	attr.max_rd_atomic = 1;
	return !ibv_modify_qp(end->qp, &attr,
			      IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
				      IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
				      IBV_QP_MAX_QP_RD_ATOMIC);
}

/* One request between two sides, which ends so; then the responder is in that state. */
static void sides_end(const struct side *mine, const struct side *theirs,
		      enum ibv_wr_opcode opcode, size_t len, int status,
		      enum ibv_qp_state state)
{
	struct address to_a, to_b;
	struct end a, b;

	CT_ASSERT_TRUE(world_open(&a, IBV_QPT_RC, false) &&
		       world_open(&b, IBV_QPT_RC, false));
	to_a = world_address(&a);
	to_b = world_address(&b);
	CT_ASSERT_TRUE(side_connect(&a, &to_b, mine) && side_connect(&b, &to_a, theirs));
	memset(a.memory, 1, len);
	CT_EXPECT_EQ(world_rdma(&a, opcode, 0, len, &to_b, 0), 0);
	CT_EXPECT_EQ(world_status(a.cq), status);
	CT_EXPECT_EQ(world_state(&a), status ? IBV_QPS_ERR : IBV_QPS_RTS);
	CT_EXPECT_EQ(world_state(&b), state);
	if (opcode == IBV_WR_RDMA_WRITE)
		CT_EXPECT_EQ(b.memory[0], status ? 0 : 1);
	world_pair_close(&a, &b);
}

static void psn_differs(void)
{
	static const struct {
		uint32_t sq_psn, rq_psn;
		int status;
	} rows[] = {
		{0xabcdef, 0xabcdef, IBV_WC_SUCCESS},
		/* Packet numbers have 24 bits. */
		{0x1000007, 7, IBV_WC_SUCCESS},
		{101, 100, IBV_WC_RETRY_EXC_ERR},
		{99, 100, IBV_WC_RETRY_EXC_ERR},
		{1100, 100, IBV_WC_RETRY_EXC_ERR},
		{0, 0xffffff, IBV_WC_RETRY_EXC_ERR},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct side mine = {rows[i].sq_psn, 5, IBV_MTU_1024, 7};
		struct side theirs = {5, rows[i].rq_psn, IBV_MTU_1024, 7};

		CT_NOTE("PSN %u for %u", rows[i].sq_psn, rows[i].rq_psn);
		sides_end(&mine, &theirs, IBV_WR_RDMA_WRITE, 8, rows[i].status,
			  IBV_QPS_RTS);
		sides_end(&mine, &theirs, IBV_WR_RDMA_READ, 64, rows[i].status,
			  IBV_QPS_RTS);
	}
}

static void mtu_differs(void)
{
	static const struct side small = {0, 0, IBV_MTU_512, 7},
				 large = {0, 0, IBV_MTU_1024, 7};

	sides_end(&small, &large, IBV_WR_RDMA_WRITE, 512, IBV_WC_SUCCESS, IBV_QPS_RTS);
	sides_end(&large, &small, IBV_WR_RDMA_WRITE, 512, IBV_WC_SUCCESS, IBV_QPS_RTS);
	sides_end(&small, &large, IBV_WR_RDMA_WRITE, 513, IBV_WC_REM_INV_REQ_ERR,
		  IBV_QPS_ERR);
	sides_end(&large, &small, IBV_WR_RDMA_WRITE, 513, IBV_WC_REM_INV_REQ_ERR,
		  IBV_QPS_ERR);
	sides_end(&large, &small, IBV_WR_SEND, 2048, IBV_WC_REM_INV_REQ_ERR, IBV_QPS_ERR);
}

static void mtu_of_answers_differs(void)
{
	static const struct side small = {0, 0, IBV_MTU_512, 7},
				 large = {0, 0, IBV_MTU_1024, 7};

	sides_end(&small, &large, IBV_WR_RDMA_READ, 512, IBV_WC_SUCCESS, IBV_QPS_RTS);
	sides_end(&small, &large, IBV_WR_RDMA_READ, 513, IBV_WC_BAD_RESP_ERR,
		  IBV_QPS_RTS);
	sides_end(&large, &small, IBV_WR_RDMA_READ, 513, IBV_WC_BAD_RESP_ERR,
		  IBV_QPS_RTS);
}

static void receive_missing(void)
{
	static const struct side mine = {0, 0, IBV_MTU_1024, 0},
				 theirs = {0, 0, IBV_MTU_1024, 7};

	sides_end(&mine, &theirs, IBV_WR_SEND, 8, IBV_WC_RNR_RETRY_EXC_ERR, IBV_QPS_RTS);
}

static void peer_connected_elsewhere(void)
{
	struct ask ask;
	struct end c;

	CT_ASSERT_TRUE(ask_open(&ask));
	CT_ASSERT_TRUE(world_open(&c, IBV_QPT_RC, false));
	struct address to_b = world_address(&ask.b);

	CT_ASSERT_TRUE(world_connect(&c, &to_b));
	CT_EXPECT_EQ(world_rdma(&c, IBV_WR_RDMA_WRITE, 0, 8, &to_b, 0), 0);
	CT_EXPECT_EQ(world_status(c.cq), IBV_WC_RETRY_EXC_ERR);
	world_close(&c);
	ask.wr.send_flags = IBV_SEND_SIGNALED;
	ask_ends(&ask, IBV_WC_SUCCESS);
}

static void error_flushes(struct ask *ask)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};

	CT_ASSERT_EQ(ibv_modify_qp(ask->a.qp, &attr, IBV_QP_STATE), 0);
}

/* An end with room for two completions. */
static bool small_open(struct end *end)
{
	struct ibv_qp_init_attr init = {.cap = {WORLD_WRS, WORLD_WRS, 1, 1, 0},
					.qp_type = IBV_QPT_RC};

	if (!world_open(end, IBV_QPT_RC, false) || ibv_destroy_qp(end->qp) ||
	    ibv_destroy_cq(end->cq))
		return false;
	end->cq = ibv_create_cq(end->ctx, 2, NULL, end->channel, 0);
	init.send_cq = init.recv_cq = end->cq;
	end->qp = end->cq ? ibv_create_qp(end->pd, &init) : NULL;
	return end->qp && world_init(end, IBV_QPT_RC);
}

static void completion_without_room(void)
{
	struct address to_a, to_b;
	struct ibv_wc wc[4];
	struct end a, b;

	CT_ASSERT_TRUE(small_open(&a) && world_open(&b, IBV_QPT_RC, false));
	to_a = world_address(&a);
	to_b = world_address(&b);
	CT_ASSERT_TRUE(world_connect(&a, &to_b) && world_connect(&b, &to_a));
	for (int i = 0; i < 3; i++)
		CT_EXPECT_EQ(world_rdma(&a, IBV_WR_RDMA_WRITE, 0, 8, &to_b, 0), 0);
	CT_EXPECT_TRUE(told(a.ctx, IBV_EVENT_QP_FATAL));
	CT_EXPECT_TRUE(told(a.ctx, IBV_EVENT_CQ_ERR));
	CT_EXPECT_EQ(world_state(&a), IBV_QPS_ERR);
	/* What found room is there, and never anything more. */
	CT_EXPECT_EQ(ibv_poll_cq(a.cq, 4, wc), 2);
	CT_EXPECT_EQ(wc[1].status, IBV_WC_SUCCESS);
	CT_EXPECT_EQ(world_rdma(&a, IBV_WR_RDMA_WRITE, 0, 8, &to_b, 0), 0);
	CT_EXPECT_TRUE(world_quiet(a.cq));
	/* Which is said once. */
	CT_EXPECT_FALSE(world_readable(a.ctx->async_fd, 0));
	CT_EXPECT_EQ(ibv_resize_cq(a.cq, 8), EINVAL);
	world_pair_close(&a, &b);
}

/* A datagram to the own port, by its LID or else by its GID, which does not arrive. */
static void datagram(uint16_t lid, size_t len, uint32_t qkey, int status)
{
	struct ibv_ah_attr attr = {
		.dlid = lid, .port_num = 1, .is_global = !lid, .grh.hop_limit = 1};
	struct pair p;
	struct ibv_ah *ah;

	pair_open_ud(&p);
	CT_EXPECT_EQ(ibv_query_gid(p.a.ctx, 1, 0, &attr.grh.dgid), 0);
	ah = ibv_create_ah(p.a.pd, &attr);
	CT_ASSERT_NE(ah, NULL);
	CT_ASSERT_EQ(world_recv(&p.b, 1, 0, 100), 0);
	CT_EXPECT_EQ(world_send_to(&p.a, ah, p.b.qp->qp_num, qkey, len), 0);
	CT_EXPECT_EQ(world_status(p.a.cq), status);
	CT_EXPECT_TRUE(world_quiet(p.b.cq));
	CT_EXPECT_EQ(ibv_destroy_ah(ah), 0);
	pair_close(&p);
}

static void datagram_long(void)
{
	datagram(1, 4097, 0x1234, IBV_WC_LOC_LEN_ERR);
}

static void datagram_qkey(void)
{
	datagram(1, 8, 0x4321, IBV_WC_SUCCESS);
}

static void lid_missing(void)
{
	struct address to_a;
	struct pair p;

	datagram(0, 8, 0x1234, IBV_WC_SUCCESS);
	CT_ASSERT_TRUE(world_open(&p.a, IBV_QPT_RC, false) &&
		       world_open(&p.b, IBV_QPT_RC, false));
	to_a = world_address(&p.a);
	p.to = world_address(&p.b);
	p.to.lid = 0;
	CT_ASSERT_TRUE(world_connect(&p.a, &p.to) && world_connect(&p.b, &to_a));
	CT_EXPECT_EQ(pair_write(&p), IBV_WC_RETRY_EXC_ERR);
	pair_close(&p);
}

static void window_beyond_its_region(void)
{
	struct ibv_mw *mw;
	struct ask ask;

	CT_ASSERT_TRUE(ask_open(&ask));
	mw = ibv_alloc_mw(ask.a.pd, IBV_MW_TYPE_2);
	CT_ASSERT_NE(mw, NULL);
	ask.wr =
		(struct ibv_send_wr){.opcode = IBV_WR_BIND_MW,
				     .bind_mw = {mw,
						 ibv_inc_rkey(mw->rkey),
						 {ask.a.mr, (uintptr_t)ask.a.memory + 1,
						  WORLD_BYTES, IBV_ACCESS_REMOTE_WRITE}}};
	CT_EXPECT_EQ(ask_post(&ask), 0);
	CT_EXPECT_EQ(world_status(ask.a.cq), IBV_WC_MW_BIND_ERR);
	CT_EXPECT_EQ(ibv_dealloc_mw(mw), 0);
	ask_close(&ask);
}

static void partition_differs(void)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .pkey_index = 1};
	struct svb_port *port = &svb_self.settings.device[0].port[0];
	struct address to_a, to_b;
	struct end a, b;

	CT_ASSERT_TRUE(world_open(&a, IBV_QPT_RC, false) &&
		       world_open(&b, IBV_QPT_RC, false));
	to_a = world_address(&a);
	to_b = world_address(&b);
	port->pkey[port->pkeys++] = 0x8001;
	CT_EXPECT_EQ(ibv_modify_qp(b.qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX), 0);
	port->pkeys--;
	CT_ASSERT_TRUE(world_connect(&a, &to_b) && world_connect(&b, &to_a));
	CT_EXPECT_EQ(world_rdma(&a, IBV_WR_RDMA_WRITE, 0, 8, &to_b, 0), 0);
	CT_EXPECT_EQ(world_status(a.cq), IBV_WC_RETRY_EXC_ERR);
	world_pair_close(&a, &b);
}

const struct rule rules_of_connections[] = {
	{"A receive is there", TEST(receive_missing)},
	{"The peer is connected back", TEST(peer_connected_elsewhere)},
	{"The PSNs of both sides fit", TEST(psn_differs)},
	{"The path MTUs of both sides fit", TEST(mtu_differs)},
	{"Those of an answer do", TEST(mtu_of_answers_differs)},
	{"After an error nothing is done", ENDS(error_flushes, IBV_WC_WR_FLUSH_ERR)},
	{"A completion finds room", TEST(completion_without_room)},
	{"A datagram is one packet", TEST(datagram_long)},
	{"A datagram has the Q_Key", TEST(datagram_qkey)},
	{"On InfiniBand a destination has a LID", TEST(lid_missing)},
	{"Both ends are in one partition", TEST(partition_differs)},
	{"A window lies within its region", TEST(window_beyond_its_region)},
	{.name = NULL},
};
