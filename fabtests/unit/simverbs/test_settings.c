/* SPDX-License-Identifier: BSD-2-Clause */
/* settings/, and what latency and loss do. Each in a child that reads them anew. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "step.h"
#include "world.h"

static bool in_child(int (*fn)(int fd))
{
	pid_t pid;
	int fd = world_child(fn, &pid), ret = world_reap(pid);

	close(fd);
	CT_EXPECT_EQ(ret, 0);
	return !ret;
}

static void forget(void)
{
	svb_self.settings.devices = 0;
}

static int slow(int fd)
{
	struct ibv_cq *cq;
	struct address to;
	struct end a, b;
	uint64_t start;
	void *context;
	bool early;

	forget();
	setenv("SIMVERBS_LATENCY_US", "20000", 1);
	if (!world_pair(&a, &b))
		return 1;
	to = world_address(&b);
	start = svb_now();
	if (ibv_req_notify_cq(a.cq, 0) || world_rdma(&a, IBV_WR_RDMA_WRITE, 0, 8, &to, 0))
		return 2;
	/* On a loaded machine the time may be over before the first look. */
	if (!world_quiet(a.cq)) {
		early = svb_now() - start < 20000000;
		world_pair_close(&a, &b);
		return early;
	}
	/* Nobody polls. */
	if (ibv_get_cq_event(a.channel, &cq, &context) || svb_now() - start < 20000000)
		return 3;
	ibv_ack_cq_events(cq, 1);
	if (world_status(a.cq))
		return 4;
	world_pair_close(&a, &b);
	return 0;
}

CT_TEST(settings, latency_passes_before_a_request_arrives)
{
	CT_EXPECT_TRUE(in_child(slow));
}

static int fenced(int fd)
{
	struct ibv_send_wr *bad, write = {
					 .opcode = IBV_WR_RDMA_WRITE,
					 .send_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE,
				 };
	struct address to;
	struct end a, b;
	uint64_t start;

	forget();
	setenv("SIMVERBS_LATENCY_US", "20000", 1);
	if (!world_pair(&a, &b))
		return 1;
	to = world_address(&b);
	write.wr.rdma.remote_addr = to.memory;
	write.wr.rdma.rkey = to.rkey;
	start = svb_now();
	if (world_rdma(&a, IBV_WR_RDMA_READ, 0, 8, &to, 0) ||
	    ibv_post_send(a.qp, &write, &bad))
		return 2;
	if (world_status(a.cq) || world_status(a.cq) || svb_now() - start < 40000000)
		return 3;
	world_pair_close(&a, &b);
	return 0;
}

CT_TEST(settings, a_fenced_request_leaves_when_reads_are_answered)
{
	CT_EXPECT_TRUE(in_child(fenced));
}

static int lossy(int fd)
{
	struct address to;
	struct end a, b;

	forget();
	setenv("SIMVERBS_LOSS", "1", 1);
	if (!world_pair(&a, &b))
		return 1;
	to = world_address(&b);
	if (world_rdma(&a, IBV_WR_RDMA_WRITE, 0, 8, &to, 0))
		return 2;
	if (world_status(a.cq) != IBV_WC_RETRY_EXC_ERR)
		return 3;
	world_pair_close(&a, &b);
	return 0;
}

CT_TEST(settings, nothing_arrives_when_all_is_lost)
{
	CT_EXPECT_TRUE(in_child(lossy));
}

static int filed(int fd)
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

	if (file < 0 || write(file, text, sizeof(text) - 1) != sizeof(text) - 1)
		return 1;
	forget();
	setenv("SIMVERBS_CONFIG", name, 1);
	setenv("SIMVERBS_MAX_CQE", "50", 1);
	list = ibv_get_device_list(&count);
	unlink(name);
	if (!list || count != 2 || strcmp(ibv_get_device_name(list[1]), "other"))
		return 2;
	ctx = ibv_open_device(list[1]);
	if (!ctx || ibv_query_device(ctx, &attr) || ibv_query_port(ctx, 1, &port) ||
	    ibv_query_gid(ctx, 1, 1, &gid))
		return 3;
	/* The environment wins. */
	if (attr.max_cqe != 50 || port.link_layer != IBV_LINK_LAYER_ETHERNET)
		return 4;
	ibv_close_device(ctx);
	ibv_free_device_list(list);
	return gid.raw[11] == 0xff && gid.raw[12] == 10 && gid.raw[15] == 2 ? 0 : 5;
}

CT_TEST(settings, file_and_environment)
{
	CT_EXPECT_TRUE(in_child(filed));
}

static int wrong(int fd)
{
	forget();
	setenv("SIMVERBS_MAX_SGE", "many", 1);
	fclose(stderr);
	return !ibv_get_device_list(NULL) && errno == EINVAL ? 0 : 1;
}

CT_TEST(settings, value_out_of_range_is_refused)
{
	CT_EXPECT_TRUE(in_child(wrong));
}
