/* SPDX-License-Identifier: BSD-2-Clause */
/* engine/iwarp.c: what is complete on iWARP, and what then. Each in a child of its own.
 */
#include <stdlib.h>
#include <unistd.h>
#include "../world.h"

static bool on_iwarp(int (*fn)(int fd))
{
	pid_t pid;
	int fd = world_child(fn, &pid), ret = world_reap(pid);

	close(fd);
	CT_EXPECT_EQ(ret, 0);
	return !ret;
}

/* latency: us */
static bool iwarp_pair(struct end *a, struct end *b, const char *latency)
{
	svb_self.settings.devices = 0;
	setenv("SIMVERBS_LINK_LAYER", "iwarp", 1);
	setenv("SIMVERBS_LATENCY_US", latency, 1);
	return world_pair(a, b);
}

static bool becomes(const char *at, char value)
{
	const uint64_t end = ct_soon_end();

	while (__atomic_load_n(at, __ATOMIC_ACQUIRE) != value && ct_soon(end))
		;
	return *at == value;
}

static int leaves(int fd)
{
	struct address to;
	struct end a, b;

	/* Ten seconds: nothing arrives while this runs. */
	if (!iwarp_pair(&a, &b, "10000000"))
		return 1;
	to = world_address(&b);
	a.memory[0] = 'w';
	if (world_rdma(&a, IBV_WR_RDMA_WRITE, 0, 8, &to, 0) || world_recv(&b, 1, 64, 8) ||
	    world_send(&a, 2, 0, 8))
		return 2;
	if (world_status(a.cq) || world_status(a.cq))
		return 3;
	if (b.memory[0] || !world_quiet(b.cq))
		return 4;
	/* What has left arrives although the requester goes away. */
	world_close(&a);
	if (b.memory[0] != 'w' || b.memory[64] != 'w' || world_status(b.cq))
		return 5;
	world_close(&b);
	return 0;
}

CT_TEST(iwarp, writes_and_sends_complete_before_they_arrive)
{
	CT_EXPECT_TRUE(on_iwarp(leaves));
}

static int reuses(int fd)
{
	struct address to;
	struct end a, b;

	if (!iwarp_pair(&a, &b, "20000"))
		return 1;
	to = world_address(&b);
	a.memory[0] = 'o';
	if (world_rdma(&a, IBV_WR_RDMA_WRITE, 0, 8, &to, 0) || world_status(a.cq))
		return 2;
	a.memory[0] = 'n';
	if (!becomes(b.memory, 'o'))
		return 3;
	world_pair_close(&a, &b);
	return 0;
}

CT_TEST(iwarp, memory_is_free_when_the_request_is_complete)
{
	CT_EXPECT_TRUE(on_iwarp(reuses));
}

static int reads_after(int fd)
{
	struct address to;
	struct end a, b;

	if (!iwarp_pair(&a, &b, "5000"))
		return 1;
	to = world_address(&b);
	a.memory[0] = 'w';
	if (world_rdma(&a, IBV_WR_RDMA_WRITE, 0, 8, &to, 0) ||
	    world_rdma(&a, IBV_WR_RDMA_READ, 64, 8, &to, 0))
		return 2;
	if (world_status(a.cq) || world_status(a.cq))
		return 3;
	if (a.memory[64] != 'w' || b.memory[0] != 'w')
		return 4;
	world_pair_close(&a, &b);
	return 0;
}

CT_TEST(iwarp, read_shows_that_what_was_before_it_has_arrived)
{
	CT_EXPECT_TRUE(on_iwarp(reads_after));
}

/* The status that the queue pair's next asynchronous event has. */
static int async_event(struct end *end)
{
	struct ibv_async_event event;

	if (ibv_get_async_event(end->ctx, &event))
		return -1;
	ibv_ack_async_event(&event);
	return (int)event.event_type;
}

static int refused(int fd)
{
	struct address to;
	struct end a, b;

	if (!iwarp_pair(&a, &b, "0"))
		return 1;
	to = world_address(&b);
	to.rkey ^= 0x55;
	if (world_rdma(&a, IBV_WR_RDMA_WRITE, 0, 8, &to, 0) || world_status(a.cq))
		return 2;
	if (async_event(&a) != IBV_EVENT_QP_FATAL ||
	    async_event(&b) != IBV_EVENT_QP_ACCESS_ERR)
		return 3;
	if (world_rdma(&a, IBV_WR_RDMA_WRITE, 0, 8, &to, 0) ||
	    world_status(a.cq) != IBV_WC_WR_FLUSH_ERR)
		return 4;
	world_pair_close(&a, &b);
	return 0;
}

CT_TEST(iwarp, refused_write_completes_and_the_connection_ends)
{
	CT_EXPECT_TRUE(on_iwarp(refused));
}

static int unexpected(int fd)
{
	struct end a, b;

	if (!iwarp_pair(&a, &b, "0"))
		return 1;
	if (world_send(&a, 1, 0, 8) || world_status(a.cq))
		return 2;
	if (async_event(&a) != IBV_EVENT_QP_FATAL ||
	    async_event(&b) != IBV_EVENT_QP_REQ_ERR)
		return 3;
	if (world_send(&a, 1, 0, 8) || world_status(a.cq) != IBV_WC_WR_FLUSH_ERR)
		return 4;
	world_pair_close(&a, &b);
	return 0;
}

CT_TEST(iwarp, message_without_a_receive_ends_the_connection)
{
	CT_EXPECT_TRUE(on_iwarp(unexpected));
}

static int lost(int fd)
{
	struct address to;
	struct end a, b;

	setenv("SIMVERBS_LOSS", "1", 1);
	if (!iwarp_pair(&a, &b, "0"))
		return 1;
	to = world_address(&b);
	if (world_rdma(&a, IBV_WR_RDMA_WRITE, 0, 8, &to, 0) || world_status(a.cq))
		return 2;
	if (async_event(&a) != IBV_EVENT_QP_FATAL || b.memory[0])
		return 3;
	world_pair_close(&a, &b);
	return 0;
}

CT_TEST(iwarp, lost_stream_is_an_event_of_the_queue_pair)
{
	CT_EXPECT_TRUE(on_iwarp(lost));
}

static int own_mistake(int fd)
{
	struct address to;
	struct end a, b;

	if (!iwarp_pair(&a, &b, "1000"))
		return 1;
	to = world_address(&b);
	if (world_rdma(&a, IBV_WR_RDMA_WRITE, WORLD_BYTES, 8, &to, 0) ||
	    world_status(a.cq) != IBV_WC_LOC_PROT_ERR)
		return 2;
	world_pair_close(&a, &b);
	return 0;
}

CT_TEST(iwarp, own_key_is_checked_before_anything_leaves)
{
	CT_EXPECT_TRUE(on_iwarp(own_mistake));
}

static int sink(int fd)
{
	struct ibv_mr *mr;
	struct address to;
	struct ibv_sge sge;
	struct ibv_send_wr *bad, wr = {
					 .sg_list = &sge,
					 .num_sge = 1,
					 .opcode = IBV_WR_RDMA_READ,
					 .send_flags = IBV_SEND_SIGNALED,
				 };
	struct end a, b;

	if (!iwarp_pair(&a, &b, "0"))
		return 1;
	to = world_address(&b);
	mr = ibv_reg_mr(a.pd, a.memory, 64, IBV_ACCESS_LOCAL_WRITE);
	if (!mr)
		return 2;
	sge = (struct ibv_sge){(uintptr_t)a.memory, 8, mr->lkey};
	wr.wr.rdma.remote_addr = to.memory;
	wr.wr.rdma.rkey = to.rkey;
	if (ibv_post_send(a.qp, &wr, &bad) || world_status(a.cq) != IBV_WC_LOC_PROT_ERR)
		return 3;
	ibv_dereg_mr(mr);
	world_pair_close(&a, &b);
	return 0;
}

CT_TEST(iwarp, memory_that_is_read_into_must_be_open_to_remote_writes)
{
	CT_EXPECT_TRUE(on_iwarp(sink));
}

static int without(int fd)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR};
	struct ibv_qp_init_attr_ex ex = {0};
	struct ibv_qp_init_attr init = {
		.cap = {1, 1, 1, 1, 0},
		.qp_type = IBV_QPT_UD,
	};
	struct ibv_ah_attr ah = {.is_global = 1, .port_num = 1};
	struct address to;
	struct end a, b;

	if (!iwarp_pair(&a, &b, "0"))
		return 1;
	to = world_address(&b);
	if (world_rdma(&a, IBV_WR_RDMA_WRITE_WITH_IMM, 0, 8, &to, 0) != EINVAL ||
	    world_rdma(&a, IBV_WR_ATOMIC_FETCH_AND_ADD, 0, 8, &to, 0) != EINVAL)
		return 2;
	init.send_cq = init.recv_cq = a.cq;
	if (ibv_create_qp(a.pd, &init) || errno != EOPNOTSUPP)
		return 3;
	memcpy(&ex, &init, sizeof(init));
	ex.qp_type = IBV_QPT_RC;
	ex.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	ex.pd = a.pd;
	ex.send_ops_flags = IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD;
	if (ibv_create_qp_ex(a.ctx, &ex) || errno != EOPNOTSUPP)
		return 4;
	if (ibv_create_ah(a.pd, &ah) || errno != EOPNOTSUPP)
		return 5;
	/* Ready to receive is nothing, and ready to send needs a connection. */
	world_close(&b);
	if (!world_open(&b, IBV_QPT_RC, false) ||
	    ibv_modify_qp(b.qp, &attr, IBV_QP_STATE))
		return 6;
	attr.qp_state = IBV_QPS_RTS;
	if (ibv_modify_qp(b.qp, &attr, 0) ||
	    ibv_modify_qp(b.qp, &attr, IBV_QP_STATE) != EINVAL)
		return 7;
	world_pair_close(&a, &b);
	return 0;
}

CT_TEST(iwarp, what_rfc_5040_lacks_is_refused)
{
	CT_EXPECT_TRUE(on_iwarp(without));
}

static enum ibv_qp_state state_of(const struct end *end)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	return ibv_query_qp(end->qp, &attr, IBV_QP_STATE, &init) ? IBV_QPS_UNKNOWN
								 : attr.qp_state;
}

/* Made and reset queue pairs are what siw and cxgb4 call idle. */
static int idle(int fd)
{
	struct ibv_qp_init_attr init = {.cap = {1, 1, 1, 1, 0}, .qp_type = IBV_QPT_RC};
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};
	struct end a;
	struct ibv_qp *made;

	svb_self.settings.devices = 0;
	setenv("SIMVERBS_LINK_LAYER", "iwarp", 1);
	if (!world_open(&a, IBV_QPT_RC, false))
		return 1;
	init.send_cq = init.recv_cq = a.cq;
	made = a.qp;
	a.qp = ibv_create_qp(a.pd, &init);
	if (!a.qp || state_of(&a) != IBV_QPS_INIT || world_recv(&a, 1, 0, 8))
		return 2;
	if (ibv_modify_qp(a.qp, &attr, IBV_QP_STATE) || state_of(&a) != IBV_QPS_INIT ||
	    world_recv(&a, 1, 0, 8))
		return 3;
	if (ibv_destroy_qp(a.qp))
		return 4;
	a.qp = made;
	world_close(&a);
	return 0;
}

CT_TEST(iwarp, a_new_queue_pair_is_idle_and_takes_receives)
{
	CT_EXPECT_TRUE(on_iwarp(idle));
}
