/* SPDX-License-Identifier: BSD-2-Clause */
/* verbs/removal.c, cm/removal.c: a device that is taken away. In processes of their own,
 * for it does not come back. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#include <rdma/rdma_cma.h>
#include "cm/cm.h"
#include "verbs/removal.h"
#include "../world.h"

struct use {
	struct pair p;
	struct end datagrams, shared; /* a UD queue pair, one with a shared queue */
	struct rdma_event_channel *channel;
	struct rdma_cm_id *bound, *any;
	struct sockaddr_in address;
};

static void use_device(struct use *u, enum svb_removal how)
{
	struct sockaddr_in any = {.sin_family = AF_INET};

	u->address = (struct sockaddr_in){.sin_family = AF_INET,
					  .sin_addr = {htonl(INADDR_LOOPBACK)}};
	CT_ASSERT_TRUE(!svb_join());
	svb_self.settings.removal = how;
	pair_open(&u->p);
	CT_ASSERT_TRUE(world_open(&u->datagrams, IBV_QPT_UD, false) &&
		       world_open(&u->shared, IBV_QPT_RC, true));
	CT_ASSERT_TRUE(!world_recv(&u->p.b, 1, 0, 8) && !world_recv(&u->p.b, 2, 0, 8));
	u->channel = rdma_create_event_channel();
	CT_ASSERT_TRUE(!rdma_create_id(u->channel, &u->bound, NULL, RDMA_PS_TCP));
	CT_ASSERT_TRUE(!rdma_bind_addr(u->bound, (struct sockaddr *)&u->address));
	CT_ASSERT_TRUE(!rdma_listen(u->bound, 1));
	CT_ASSERT_TRUE(!rdma_create_id(u->channel, &u->any, NULL, RDMA_PS_TCP));
	CT_ASSERT_TRUE(!rdma_bind_addr(u->any, (struct sockaddr *)&any));
	CT_ASSERT_TRUE(!rdma_listen(u->any, 1));
}

static void hears_of_it(struct use *u)
{
	struct ibv_async_event event;
	struct rdma_cm_event *cm;
	struct ibv_cq *cq;
	void *context;

	CT_ASSERT_TRUE(world_readable(u->p.a.ctx->async_fd, CT_DEADLINE_MS));
	CT_ASSERT_TRUE(!ibv_get_async_event(u->p.a.ctx, &event));
	CT_ASSERT_TRUE(event.event_type == IBV_EVENT_DEVICE_FATAL);
	ibv_ack_async_event(&event);
	CT_ASSERT_TRUE(world_readable(u->p.a.ctx->async_fd, CT_DEADLINE_MS));
	CT_ASSERT_TRUE(ibv_get_async_event(u->p.a.ctx, &event) == -1 && errno == EIO);
	CT_ASSERT_TRUE(world_readable(u->p.a.channel->fd, CT_DEADLINE_MS));
	CT_ASSERT_TRUE(ibv_get_cq_event(u->p.a.channel, &cq, &context) == -1 &&
		       errno == EIO);
	/* The listener for all devices does not. */
	CT_ASSERT_TRUE(!rdma_get_cm_event(u->channel, &cm));
	CT_ASSERT_TRUE(cm->event == RDMA_CM_EVENT_DEVICE_REMOVAL && cm->id == u->bound);
	CT_ASSERT_TRUE(!rdma_ack_cm_event(cm));
	CT_ASSERT_TRUE(!fcntl(u->channel->fd, F_SETFL, O_NONBLOCK));
	CT_ASSERT_TRUE(rdma_get_cm_event(u->channel, &cm) == -1 && errno == EAGAIN);
}

static void makes_an_object(struct use *u)
{
	struct ibv_ah_attr ah = {.dlid = 1, .port_num = 1};
	struct ibv_td_init_attr td = {0};
	struct ibv_parent_domain_init_attr parent = {.pd = u->p.a.pd};
	union ibv_gid group = {.raw = {0xff}};

	EXPECT_ERRNO(ibv_create_ah(u->p.a.pd, &ah), NULL, EIO);
	EXPECT_ERRNO(ibv_alloc_mw(u->p.a.pd, IBV_MW_TYPE_2), NULL, EIO);
	EXPECT_ERRNO(ibv_alloc_td(u->p.a.ctx, &td), NULL, EIO);
	EXPECT_ERRNO(ibv_alloc_parent_domain(u->p.a.ctx, &parent), NULL, EIO);
	EXPECT_ERRNO(ibv_rereg_mr(u->p.a.mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
				  0),
		     IBV_REREG_MR_ERR_CMD, EIO);
	CT_EXPECT_EQ(ibv_resize_cq(u->p.a.cq, 8), EIO);
	CT_EXPECT_EQ(ibv_attach_mcast(u->datagrams.qp, &group, 0xc000), EIO);
}

static void queries_an_object(struct use *u)
{
	struct ibv_srq_attr srq = {.srq_limit = 1};
	struct ibv_qp_init_attr init;
	struct ibv_gid_entry entry;
	struct ibv_device_attr_ex device;
	struct ibv_port_attr port;
	struct ibv_qp_attr attr;
	union ibv_gid gid;
	__be16 pkey;

	CT_EXPECT_EQ(ibv_query_qp(u->p.a.qp, &attr, IBV_QP_STATE, &init), EIO);
	CT_EXPECT_EQ(ibv_modify_srq(u->shared.srq, &srq, IBV_SRQ_LIMIT), EIO);
	CT_EXPECT_EQ(ibv_query_srq(u->shared.srq, &srq), EIO);
	CT_EXPECT_EQ(ibv_query_device_ex(u->p.a.ctx, NULL, &device), EIO);
	CT_EXPECT_EQ(ibv_query_port(u->p.a.ctx, 1, &port), EIO);
	EXPECT_ERRNO(ibv_query_gid(u->p.a.ctx, 1, 0, &gid), -1, EIO);
	CT_EXPECT_EQ(ibv_query_gid_ex(u->p.a.ctx, 1, 0, &entry, 0), EIO);
	CT_EXPECT_EQ(ibv_query_gid_table(u->p.a.ctx, &entry, 1, 0), -EIO);
	EXPECT_ERRNO(ibv_query_pkey(u->p.a.ctx, 1, 0, &pkey), -1, EIO);
	EXPECT_ERRNO(ibv_get_pkey_index(u->p.a.ctx, 1, 0xffff), -1, EIO);
}

static void is_refused(struct use *u)
{
	struct ibv_srq_init_attr srq = {.attr = {.max_wr = 1, .max_sge = 1}};
	struct ibv_qp_init_attr qp = {.send_cq = u->p.a.cq,
				      .recv_cq = u->p.a.cq,
				      .cap = {1, 1, 1, 1, 0},
				      .qp_type = IBV_QPT_RC};
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
	struct ibv_device_attr device;
	struct ibv_device **list;
	struct rdma_cm_id *id;
	int count;

	CT_ASSERT_TRUE(!ibv_alloc_pd(u->p.a.ctx) && errno == EIO);
	CT_ASSERT_TRUE(!ibv_create_comp_channel(u->p.a.ctx) && errno == EIO);
	CT_ASSERT_TRUE(!ibv_create_cq(u->p.a.ctx, 1, NULL, NULL, 0) && errno == EIO);
	CT_ASSERT_TRUE(!ibv_create_srq(u->p.a.pd, &srq) && errno == EIO);
	CT_ASSERT_TRUE(!ibv_create_qp(u->p.a.pd, &qp) && errno == EIO);
	CT_ASSERT_TRUE(!ibv_reg_mr(u->p.a.pd, u->p.a.memory, 8, 0) && errno == EIO);
	CT_ASSERT_TRUE(ibv_modify_qp(u->p.a.qp, &attr, IBV_QP_STATE) == EIO);
	CT_ASSERT_TRUE(ibv_query_device(u->p.a.ctx, &device) == EIO);
	makes_an_object(u);
	queries_an_object(u);
	list = ibv_get_device_list(&count);
	CT_ASSERT_TRUE(list && count == (int)svb_self.settings.devices - 1);
	ibv_free_device_list(list);
	u->address.sin_port = 0;
	CT_ASSERT_TRUE(!rdma_create_id(u->channel, &id, NULL, RDMA_PS_TCP));
	CT_ASSERT_TRUE(rdma_bind_addr(id, (struct sockaddr *)&u->address) == -1 &&
		       errno == ENODEV);
	CT_ASSERT_TRUE(!rdma_destroy_id(id));
}

static void close_all(struct use *u)
{
	CT_EXPECT_TRUE(!rdma_destroy_id(u->bound) && !rdma_destroy_id(u->any));
	rdma_destroy_event_channel(u->channel);
	pair_close(&u->p);
	world_close(&u->datagrams);
	world_close(&u->shared);
}

WORLD_CHILD(removal, ends_what_is_posted_and_is_told_to_all)
{
	struct use u;

	use_device(&u, SVB_REMOVAL_FLUSH);
	svb_removal_do(0);
	CT_EXPECT_EQ(world_status(u.p.b.cq), IBV_WC_WR_FLUSH_ERR);
	CT_EXPECT_EQ(world_status(u.p.b.cq), IBV_WC_WR_FLUSH_ERR);
	CT_EXPECT_TRUE(world_quiet(u.p.b.cq));
	hears_of_it(&u);
	is_refused(&u);
	close_all(&u);
}

WORLD_CHILD(removal, may_leave_what_is_posted_without_an_end)
{
	struct use u;

	use_device(&u, SVB_REMOVAL_SILENT);
	svb_removal_do(0);
	/* Posting is refused by nobody, and completes nothing. */
	CT_EXPECT_EQ(world_send(&u.p.a, 3, 0, 8), 0);
	CT_EXPECT_TRUE(world_quiet(u.p.a.cq) && world_quiet(u.p.b.cq));
	hears_of_it(&u);
	is_refused(&u);
	close_all(&u);
}

static bool ask_for(const char *name)
{
	char path[200];
	int fd;

	snprintf(path, sizeof(path), "%s/remove/%s", svb_self.dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	return fd >= 0 && !close(fd) && !unlink(path);
}

WORLD_CHILD(removal, is_asked_for_by_a_file_that_names_device_and_process)
{
	char name[32];
	struct use u;

	use_device(&u, SVB_REMOVAL_FLUSH);
	/* Other devices, and other processes, are not meant. */
	CT_ASSERT_TRUE(ask_for("sim") && ask_for("sim00") && ask_for("sim0@1"));
	snprintf(name, sizeof(name), "sim0@%d", (int)getpid());
	CT_ASSERT_TRUE(ask_for(name));
	hears_of_it(&u);
	close_all(&u);
}

/* Nobody listens where the settings do not say so. */
WORLD_CHILD(removal, is_not_heard_of_unless_it_is_set)
{
	struct end end;

	CT_ASSERT_EQ(svb_join(), 0);
	CT_EXPECT_EQ(svb_self.settings.removal, SVB_REMOVAL_OFF);
	CT_ASSERT_TRUE(world_open(&end, IBV_QPT_RC, false));
	ask_for("sim0");
	CT_EXPECT_FALSE(svb_removed(0));
	world_close(&end);
}
