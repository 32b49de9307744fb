/* SPDX-License-Identifier: BSD-2-Clause */
/* verbs/removal.c, cm/removal.c: a device that is taken away. In processes of their own,
 * for it does not come back. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>
#include <rdma/rdma_cma.h>
#include "cm/cm.h"
#include "verbs/removal.h"
#include "../world.h"

/* Children say by their exit status which line did not find what it looked for. */
#define MUST(condition)                            \
	do {                                       \
		if (!(condition))                  \
			return __LINE__ % 255 + 1; \
	} while (0)

struct use {
	struct end a, b;
	struct end datagrams, shared; /* a UD queue pair, one with a shared queue */
	struct rdma_event_channel *channel;
	struct rdma_cm_id *bound, *any;
	struct sockaddr_in address;
};

static bool readable(int fd)
{
	struct pollfd pollfd = {.fd = fd, .events = POLLIN};

	return poll(&pollfd, 1, CT_DEADLINE_MS) == 1;
}

static int use_device(struct use *u, enum svb_removal how)
{
	struct sockaddr_in any = {.sin_family = AF_INET};

	u->address = (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_addr = {htonl(INADDR_LOOPBACK)},
	};
	MUST(!svb_join());
	svb_self.settings.removal = how;
	MUST(world_pair(&u->a, &u->b));
	MUST(world_open(&u->datagrams, IBV_QPT_UD, false));
	MUST(world_open(&u->shared, IBV_QPT_RC, true));
	MUST(!world_recv(&u->b, 1, 0, 8) && !world_recv(&u->b, 2, 0, 8));
	u->channel = rdma_create_event_channel();
	MUST(!rdma_create_id(u->channel, &u->bound, NULL, RDMA_PS_TCP));
	MUST(!rdma_bind_addr(u->bound, (struct sockaddr *)&u->address));
	MUST(!rdma_listen(u->bound, 1));
	MUST(!rdma_create_id(u->channel, &u->any, NULL, RDMA_PS_TCP));
	MUST(!rdma_bind_addr(u->any, (struct sockaddr *)&any));
	MUST(!rdma_listen(u->any, 1));
	return 0;
}

static int hears_of_it(struct use *u)
{
	struct ibv_async_event event;
	struct rdma_cm_event *cm;
	struct ibv_cq *cq;
	void *context;

	MUST(readable(u->a.ctx->async_fd));
	MUST(!ibv_get_async_event(u->a.ctx, &event));
	MUST(event.event_type == IBV_EVENT_DEVICE_FATAL);
	ibv_ack_async_event(&event);
	MUST(readable(u->a.ctx->async_fd));
	MUST(ibv_get_async_event(u->a.ctx, &event) == -1 && errno == EIO);
	MUST(readable(u->a.channel->fd));
	MUST(ibv_get_cq_event(u->a.channel, &cq, &context) == -1 && errno == EIO);
	/* The listener for all devices does not. */
	MUST(!rdma_get_cm_event(u->channel, &cm));
	MUST(cm->event == RDMA_CM_EVENT_DEVICE_REMOVAL && cm->id == u->bound);
	MUST(!rdma_ack_cm_event(cm));
	MUST(!fcntl(u->channel->fd, F_SETFL, O_NONBLOCK));
	MUST(rdma_get_cm_event(u->channel, &cm) == -1 && errno == EAGAIN);
	return 0;
}

static int makes_an_object(struct use *u)
{
	struct ibv_ah_attr ah = {.dlid = 1, .port_num = 1};
	struct ibv_td_init_attr td = {0};
	struct ibv_parent_domain_init_attr parent = {.pd = u->a.pd};
	union ibv_gid group = {.raw = {0xff}};

	MUST(!ibv_create_ah(u->a.pd, &ah) && errno == EIO);
	MUST(!ibv_alloc_mw(u->a.pd, IBV_MW_TYPE_2) && errno == EIO);
	MUST(!ibv_alloc_td(u->a.ctx, &td) && errno == EIO);
	MUST(!ibv_alloc_parent_domain(u->a.ctx, &parent) && errno == EIO);
	MUST(ibv_rereg_mr(u->a.mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, 0) ==
		     IBV_REREG_MR_ERR_CMD &&
	     errno == EIO);
	MUST(ibv_resize_cq(u->a.cq, 8) == EIO);
	MUST(ibv_attach_mcast(u->datagrams.qp, &group, 0xc000) == EIO);
	return 0;
}

static int queries_an_object(struct use *u)
{
	struct ibv_srq_attr srq = {.srq_limit = 1};
	struct ibv_qp_init_attr init;
	struct ibv_gid_entry entry;
	struct ibv_device_attr_ex device;
	struct ibv_port_attr port;
	struct ibv_qp_attr attr;
	union ibv_gid gid;
	__be16 pkey;

	MUST(ibv_query_qp(u->a.qp, &attr, IBV_QP_STATE, &init) == EIO);
	MUST(ibv_modify_srq(u->shared.srq, &srq, IBV_SRQ_LIMIT) == EIO);
	MUST(ibv_query_srq(u->shared.srq, &srq) == EIO);
	MUST(ibv_query_device_ex(u->a.ctx, NULL, &device) == EIO);
	MUST(ibv_query_port(u->a.ctx, 1, &port) == EIO);
	MUST(ibv_query_gid(u->a.ctx, 1, 0, &gid) == -1 && errno == EIO);
	MUST(ibv_query_gid_ex(u->a.ctx, 1, 0, &entry, 0) == EIO);
	MUST(ibv_query_gid_table(u->a.ctx, &entry, 1, 0) == -EIO);
	MUST(ibv_query_pkey(u->a.ctx, 1, 0, &pkey) == -1 && errno == EIO);
	MUST(ibv_get_pkey_index(u->a.ctx, 1, 0xffff) == -1 && errno == EIO);
	return 0;
}

static int is_refused(struct use *u)
{
	struct ibv_srq_init_attr srq = {.attr = {.max_wr = 1, .max_sge = 1}};
	struct ibv_qp_init_attr qp = {.send_cq = u->a.cq,
				      .recv_cq = u->a.cq,
				      .cap = {1, 1, 1, 1, 0},
				      .qp_type = IBV_QPT_RC};
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
	struct ibv_device_attr device;
	struct ibv_device **list;
	struct rdma_cm_id *id;
	int count, ret;

	MUST(!ibv_alloc_pd(u->a.ctx) && errno == EIO);
	MUST(!ibv_create_comp_channel(u->a.ctx) && errno == EIO);
	MUST(!ibv_create_cq(u->a.ctx, 1, NULL, NULL, 0) && errno == EIO);
	MUST(!ibv_create_srq(u->a.pd, &srq) && errno == EIO);
	MUST(!ibv_create_qp(u->a.pd, &qp) && errno == EIO);
	MUST(!ibv_reg_mr(u->a.pd, u->a.memory, 8, 0) && errno == EIO);
	MUST(ibv_modify_qp(u->a.qp, &attr, IBV_QP_STATE) == EIO);
	MUST(ibv_query_device(u->a.ctx, &device) == EIO);
	ret = makes_an_object(u);
	if (!ret)
		ret = queries_an_object(u);
	if (ret)
		return ret;
	list = ibv_get_device_list(&count);
	MUST(list && count == (int)svb_self.settings.devices - 1);
	ibv_free_device_list(list);
	u->address.sin_port = 0;
	MUST(!rdma_create_id(u->channel, &id, NULL, RDMA_PS_TCP));
	MUST(rdma_bind_addr(id, (struct sockaddr *)&u->address) == -1 && errno == ENODEV);
	MUST(!rdma_destroy_id(id));
	return 0;
}

static int is_closed(struct use *u)
{
	MUST(!rdma_destroy_id(u->bound) && !rdma_destroy_id(u->any));
	rdma_destroy_event_channel(u->channel);
	world_pair_close(&u->a, &u->b);
	world_close(&u->datagrams);
	world_close(&u->shared);
	return ct_failed();
}

static int flushed(int fd)
{
	struct use u;
	int ret = use_device(&u, SVB_REMOVAL_FLUSH);

	if (ret)
		return ret;
	svb_removal_do(0);
	MUST(world_status(u.b.cq) == IBV_WC_WR_FLUSH_ERR);
	MUST(world_status(u.b.cq) == IBV_WC_WR_FLUSH_ERR);
	MUST(world_quiet(u.b.cq));
	ret = hears_of_it(&u);
	ret = ret ? ret : is_refused(&u);
	return ret ? ret : is_closed(&u);
}

CT_TEST(removal, ends_what_is_posted_and_is_told_to_all)
{
	pid_t pid;
	int fd = world_child(flushed, &pid);

	CT_EXPECT_EQ(world_reap(pid), 0);
	close(fd);
}

static int silent(int fd)
{
	struct use u;
	int ret = use_device(&u, SVB_REMOVAL_SILENT);

	if (ret)
		return ret;
	svb_removal_do(0);
	/* Posting is refused by nobody, and completes nothing. */
	MUST(!world_send(&u.a, 3, 0, 8));
	MUST(world_quiet(u.a.cq) && world_quiet(u.b.cq));
	ret = hears_of_it(&u);
	ret = ret ? ret : is_refused(&u);
	return ret ? ret : is_closed(&u);
}

CT_TEST(removal, may_leave_what_is_posted_without_an_end)
{
	pid_t pid;
	int fd = world_child(silent, &pid);

	CT_EXPECT_EQ(world_reap(pid), 0);
	close(fd);
}

static bool ask_for(const char *name)
{
	char path[200];
	int fd;

	snprintf(path, sizeof(path), "%s/remove/%s", svb_self.dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	return fd >= 0 && !close(fd) && !unlink(path);
}

static int asked(int fd)
{
	char name[32];
	struct use u;
	int ret = use_device(&u, SVB_REMOVAL_FLUSH);

	if (ret)
		return ret;
	/* Other devices, and other processes, are not meant. */
	MUST(ask_for("sim") && ask_for("sim00") && ask_for("sim0@1"));
	snprintf(name, sizeof(name), "sim0@%d", (int)getpid());
	MUST(ask_for(name));
	ret = hears_of_it(&u);
	return ret ? ret : is_closed(&u);
}

CT_TEST(removal, is_asked_for_by_a_file_that_names_device_and_process)
{
	pid_t pid;
	int fd = world_child(asked, &pid);

	CT_EXPECT_EQ(world_reap(pid), 0);
	close(fd);
}

/* Nobody listens where the settings do not say so. */
static int not_offered(int fd)
{
	struct end end;

	MUST(!svb_join());
	MUST(svb_self.settings.removal == SVB_REMOVAL_OFF);
	MUST(world_open(&end, IBV_QPT_RC, false));
	ask_for("sim0");
	MUST(!svb_removed(0));
	world_close(&end);
	return 0;
}

CT_TEST(removal, is_not_heard_of_unless_it_is_set)
{
	pid_t pid;
	int fd = world_child(not_offered, &pid);

	CT_EXPECT_EQ(world_reap(pid), 0);
	close(fd);
}
