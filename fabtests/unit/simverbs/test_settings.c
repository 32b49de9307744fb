/* SPDX-License-Identifier: BSD-2-Clause */
/* settings/, and what latency and loss do. Each in a child that reads them anew. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "step.h"
#include "world.h"

WORLD_CHILD(settings, latency_passes_before_a_request_arrives)
{
	struct ibv_cq *cq;
	struct pair p;
	uint64_t start;
	void *context;

	world_settings("SIMVERBS_LATENCY_US", "20000", NULL);
	pair_open(&p);
	start = svb_now();
	CT_ASSERT_EQ(ibv_req_notify_cq(p.a.cq, 0), 0);
	CT_ASSERT_EQ(world_rdma(&p.a, IBV_WR_RDMA_WRITE, 0, 8, &p.to, 0), 0);
	/* On a loaded machine the time may be over before the first look. */
	if (!world_quiet(p.a.cq)) {
		CT_EXPECT_GE(svb_now() - start, 20000000);
		pair_close(&p);
		return;
	}
	/* Nobody polls. */
	CT_ASSERT_EQ(ibv_get_cq_event(p.a.channel, &cq, &context), 0);
	CT_EXPECT_GE(svb_now() - start, 20000000);
	ibv_ack_cq_events(cq, 1);
	CT_EXPECT_EQ(world_status(p.a.cq), 0);
	pair_close(&p);
}

WORLD_CHILD(settings, a_fenced_request_leaves_when_reads_are_answered)
{
	struct ibv_send_wr *bad,
		write = {.opcode = IBV_WR_RDMA_WRITE,
			 .send_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE};
	struct pair p;
	uint64_t start;

	world_settings("SIMVERBS_LATENCY_US", "20000", NULL);
	pair_open(&p);
	write.wr.rdma.remote_addr = p.to.memory;
	write.wr.rdma.rkey = p.to.rkey;
	start = svb_now();
	CT_ASSERT_EQ(world_rdma(&p.a, IBV_WR_RDMA_READ, 0, 8, &p.to, 0), 0);
	CT_ASSERT_EQ(ibv_post_send(p.a.qp, &write, &bad), 0);
	CT_EXPECT_TRUE(!world_status(p.a.cq) && !world_status(p.a.cq));
	CT_EXPECT_GE(svb_now() - start, 40000000);
	pair_close(&p);
}

WORLD_CHILD(settings, nothing_arrives_when_all_is_lost)
{
	struct pair p;

	world_settings("SIMVERBS_LOSS", "1", NULL);
	pair_open(&p);
	CT_EXPECT_EQ(pair_write(&p), IBV_WC_RETRY_EXC_ERR);
	pair_close(&p);
}

WORLD_CHILD(settings, file_and_environment)
{
	char name[] = "/tmp/svbiniXXXXXX";
	struct ibv_device_attr attr;
	struct ibv_device **list;
	struct ibv_port_attr port;
	struct ibv_context *ctx;
	union ibv_gid gid;
	int file = mkstemp(name), count;
	static const char text[] =
		"[device]\ndevices = 2\nlink_layer = roce\nmax_cqe = 100\n"
		"[sim1]\naddress = 10.77.0.2/24\nname = other\n";

	CT_ASSERT_EQ(write(file, text, sizeof(text) - 1), sizeof(text) - 1);
	world_settings("SIMVERBS_CONFIG", name, "SIMVERBS_MAX_CQE", "50", NULL);
	list = ibv_get_device_list(&count);
	unlink(name);
	CT_ASSERT_TRUE(list && count == 2);
	CT_EXPECT_STREQ(ibv_get_device_name(list[1]), "other");
	ctx = ibv_open_device(list[1]);
	CT_ASSERT_TRUE(ctx && !ibv_query_device(ctx, &attr) &&
		       !ibv_query_port(ctx, 1, &port) && !ibv_query_gid(ctx, 1, 1, &gid));
	/* The environment wins. */
	CT_EXPECT_EQ(attr.max_cqe, 50);
	CT_EXPECT_EQ(port.link_layer, IBV_LINK_LAYER_ETHERNET);
	CT_EXPECT_TRUE(gid.raw[11] == 0xff && gid.raw[12] == 10 && gid.raw[15] == 2);
	ibv_close_device(ctx);
	ibv_free_device_list(list);
}

WORLD_CHILD(settings, value_out_of_range_is_refused)
{
	world_settings("SIMVERBS_MAX_SGE", "many", NULL);
	fclose(stderr);
	EXPECT_ERRNO(ibv_get_device_list(NULL), NULL, EINVAL);
}
