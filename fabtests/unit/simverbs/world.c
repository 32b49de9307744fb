/* SPDX-License-Identifier: BSD-2-Clause */
#include <ftw.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "subnet/subnet.h"
#include "world.h"

static char world_dir[] = "/tmp/svbXXXXXX";
static pid_t world_owner;

/* Children of a process with threads start threads of their own. */
const char *__tsan_default_options(void);
__attribute__((visibility("default"))) const char *__tsan_default_options(void)
{
	return "die_after_fork=0";
}

/* A process joins the device once, when it needs to (cairn_test.cc). */
bool ct_keeps_descriptors(void);
bool ct_keeps_descriptors(void)
{
	return true;
}

static int world_remove(const char *path, const struct stat *st, int kind,
			struct FTW *ftw)
{
	return remove(path);
}

static void world_clean(void)
{
	if (getpid() == world_owner)
		nftw(world_dir, world_remove, 8, FTW_DEPTH | FTW_PHYS);
}

/* Every run has its own device: others of this user are not met. */
__attribute__((constructor)) static void world_begin(void)
{
	if (!mkdtemp(world_dir))
		abort();
	setenv("SIMVERBS_DIR", world_dir, 1);
	setenv("SIMVERBS_RETRY_MS", "50", 1);
	world_owner = getpid();
	atexit(world_clean);
}

/* A device that has no FLUSH takes no rights to it. */
static int world_access(void)
{
	return svb_self.settings.flush
		       ? WORLD_ACCESS
		       : WORLD_ACCESS & ~(int)(SVB_ACCESS_FLUSH_GLOBAL |
					       SVB_ACCESS_FLUSH_PERSISTENT);
}

bool world_open(struct end *end, enum ibv_qp_type type, bool srq)
{
	struct ibv_srq_init_attr srq_attr = {.attr = {.max_wr = WORLD_WRS, .max_sge = 2}};
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_qp_init_attr init = {.cap = {WORLD_WRS, WORLD_WRS, 4, 4, WORLD_INLINE},
					.qp_type = type,
					.sq_sig_all = 0};

	memset(end, 0, sizeof(*end));
	end->ctx = list ? ibv_open_device(list[0]) : NULL;
	ibv_free_device_list(list);
	end->memory = aligned_alloc(4096, WORLD_BYTES);
	if (!end->ctx || !end->memory)
		return false;
	memset(end->memory, 0, WORLD_BYTES);
	end->pd = ibv_alloc_pd(end->ctx);
	end->channel = ibv_create_comp_channel(end->ctx);
	end->cq = ibv_create_cq(end->ctx, 64, end, end->channel, 0);
	end->mr = ibv_reg_mr(end->pd, end->memory, WORLD_BYTES, world_access());
	if (srq)
		end->srq = ibv_create_srq(end->pd, &srq_attr);
	init.send_cq = init.recv_cq = end->cq;
	init.srq = end->srq;
	end->qp = ibv_create_qp(end->pd, &init);
	CT_EXPECT_TRUE(end->channel && end->cq && end->mr && end->qp);
	return end->channel && end->cq && end->mr && end->qp && world_init(end, type);
}

struct address world_address(const struct end *end)
{
	struct ibv_port_attr port = {0};
	union ibv_gid gid = {0};

	ibv_query_port(end->ctx, 1, &port);
	ibv_query_gid(end->ctx, 1, 0, &gid);
	return (struct address){
		end->qp->qp_num, end->mr->rkey, (uintptr_t)end->memory, port.lid, 0, gid};
}

bool world_init(struct end *end, enum ibv_qp_type type)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
				   .port_num = 1,
				   .qkey = 0x1234,
				   .qp_access_flags = (unsigned int)world_access()};
	int ret = ibv_modify_qp(end->qp, &attr,
				IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
					(type == IBV_QPT_UD ? IBV_QP_QKEY
							    : IBV_QP_ACCESS_FLAGS));

	CT_EXPECT_EQ(ret, 0);
	return !ret;
}

bool world_rtr(struct end *end, const struct address *peer)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR,
				   .path_mtu = IBV_MTU_1024,
				   .dest_qp_num = peer->qpn,
				   .max_dest_rd_atomic = 4,
				   .min_rnr_timer = 1,
				   .ah_attr = {.dlid = (uint16_t)peer->lid,
					       .port_num = 1,
					       .is_global = !peer->lid,
					       .grh = {.dgid = peer->gid,
						       .hop_limit = 1}}};
	int ret = svb_modify_qp(end->qp, &attr,
				end->qp->qp_type == IBV_QPT_UD
					? IBV_QP_STATE
					: IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
						  IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
						  IBV_QP_MAX_DEST_RD_ATOMIC |
						  IBV_QP_MIN_RNR_TIMER);

	CT_EXPECT_EQ(ret, 0);
	return !ret;
}

bool world_rts(struct end *end, uint8_t timeout, uint8_t rnr_retry)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS,
				   .timeout = timeout,
				   .retry_cnt = 1,
				   .rnr_retry = rnr_retry,
				   .max_rd_atomic = 4};
	int ret =
		svb_modify_qp(end->qp, &attr,
			      end->qp->qp_type == IBV_QPT_UD
				      ? IBV_QP_STATE | IBV_QP_SQ_PSN
				      : IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
						IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
						IBV_QP_MAX_QP_RD_ATOMIC);

	CT_EXPECT_EQ(ret, 0);
	return !ret;
}

bool world_connect(struct end *end, const struct address *peer)
{
	return world_rtr(end, peer) && world_rts(end, 10, 7);
}

void world_close(struct end *end)
{
	CT_EXPECT_EQ(end->qp ? ibv_destroy_qp(end->qp) : 0, 0);
	CT_EXPECT_EQ(end->srq ? ibv_destroy_srq(end->srq) : 0, 0);
	CT_EXPECT_EQ(end->mr ? ibv_dereg_mr(end->mr) : 0, 0);
	CT_EXPECT_EQ(end->cq ? ibv_destroy_cq(end->cq) : 0, 0);
	CT_EXPECT_EQ(end->channel ? ibv_destroy_comp_channel(end->channel) : 0, 0);
	CT_EXPECT_EQ(end->pd ? ibv_dealloc_pd(end->pd) : 0, 0);
	CT_EXPECT_EQ(end->ctx ? ibv_close_device(end->ctx) : 0, 0);
	free(end->memory);
	memset(end, 0, sizeof(*end));
}

bool world_pair(struct end *a, struct end *b)
{
	struct address to_a, to_b;

	if (!world_open(a, IBV_QPT_RC, false) || !world_open(b, IBV_QPT_RC, false))
		return false;
	/* One domain for both would hide a wrong one. */
	to_a = world_address(a);
	to_b = world_address(b);
	return world_connect(a, &to_b) && world_connect(b, &to_a);
}

void world_pair_close(struct end *a, struct end *b)
{
	world_close(a);
	world_close(b);
}

bool world_open_ud(struct end *end)
{
	const struct address nobody = {0};

	return world_open(end, IBV_QPT_UD, false) && world_connect(end, &nobody);
}

void pair_open(struct pair *pair)
{
	CT_ASSERT_TRUE(world_pair(&pair->a, &pair->b));
	pair->to = world_address(&pair->b);
}

void pair_open_ud(struct pair *pair)
{
	CT_ASSERT_TRUE(world_open_ud(&pair->a) && world_open_ud(&pair->b));
}

void pair_close(struct pair *pair)
{
	world_pair_close(&pair->a, &pair->b);
}

int pair_write(struct pair *pair)
{
	return world_rdma(&pair->a, IBV_WR_RDMA_WRITE, 0, 8, &pair->to, 0)
		       ? -1
		       : world_status(pair->a.cq);
}

int world_recv(struct end *end, uint64_t wr_id, size_t offset, size_t len)
{
	struct ibv_sge sge = {(uintptr_t)end->memory + offset, (uint32_t)len,
			      end->mr->lkey};
	struct ibv_recv_wr *bad, wr = {.wr_id = wr_id, .sg_list = &sge, .num_sge = 1};

	return end->srq ? ibv_post_srq_recv(end->srq, &wr, &bad)
			: ibv_post_recv(end->qp, &wr, &bad);
}

int world_send(struct end *end, uint64_t wr_id, size_t offset, size_t len)
{
	struct ibv_sge sge = {(uintptr_t)end->memory + offset, (uint32_t)len,
			      end->mr->lkey};
	struct ibv_send_wr *bad, wr = {.wr_id = wr_id,
				       .sg_list = &sge,
				       .num_sge = 1,
				       .opcode = IBV_WR_SEND,
				       .send_flags = IBV_SEND_SIGNALED};

	return ibv_post_send(end->qp, &wr, &bad);
}

int world_send_to(struct end *end, struct ibv_ah *ah, uint32_t qpn, uint32_t qkey,
		  size_t len)
{
	struct ibv_sge sge = {(uintptr_t)end->memory, (uint32_t)len, end->mr->lkey};
	struct ibv_send_wr *bad, wr = {.sg_list = &sge,
				       .num_sge = 1,
				       .opcode = IBV_WR_SEND,
				       .send_flags = IBV_SEND_SIGNALED,
				       .wr.ud = {ah, qpn, qkey}};

	return ibv_post_send(end->qp, &wr, &bad);
}

int world_rdma(struct end *end, enum ibv_wr_opcode opcode, size_t offset, size_t len,
	       const struct address *peer, size_t at)
{
	struct ibv_sge sge = {(uintptr_t)end->memory + offset, (uint32_t)len,
			      end->mr->lkey};
	struct ibv_send_wr *bad, wr = {.wr_id = 77,
				       .sg_list = &sge,
				       .num_sge = 1,
				       .opcode = opcode,
				       .send_flags = IBV_SEND_SIGNALED,
				       .imm_data = htobe32(0xabcd),
				       .wr.rdma = {peer->memory + at, peer->rkey}};

	return ibv_post_send(end->qp, &wr, &bad);
}

static uint64_t world_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

uint16_t world_join_group(const union ibv_gid *mgid)
{
	const struct svb_group_attr attr = {.qkey = 0x1234, .pkey = 0xffff};
	struct svb_subnet_join join = {
		.mgid = *mgid, .state = SVB_JOIN_FULL, .by_cm = true, .create = &attr};
	uint32_t place;

	CT_EXPECT_EQ(svb_subnet_join(&join, NULL, &place), SVB_SA_OK);
	return join.handle ? (uint16_t)(SVB_MLID_FIRST + place) : 0;
}

bool world_wait(struct ibv_cq *cq, struct ibv_wc *wc)
{
	uint64_t end = world_now() + 60000;

	do {
		if (ibv_poll_cq(cq, 1, wc) == 1)
			return true;
	} while (world_now() < end);
	return false;
}

int world_status(struct ibv_cq *cq)
{
	struct ibv_wc wc;

	return world_wait(cq, &wc) ? (int)wc.status : -1;
}

enum ibv_qp_state world_state(const struct end *end)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	ibv_query_qp(end->qp, &attr, IBV_QP_STATE, &init);
	return attr.qp_state;
}

bool world_readable(int fd, int ms)
{
	struct pollfd pollfd = {.fd = fd, .events = POLLIN};

	return poll(&pollfd, 1, ms) == 1;
}

bool world_quiet(struct ibv_cq *cq)
{
	struct ibv_wc wc;

	return ibv_poll_cq(cq, 1, &wc) == 0;
}

static void (*world_running)(void);

static int world_run_checks(int fd)
{
	world_running();
	return ct_failed();
}

void world_run(void (*fn)(void))
{
	pid_t pid;
	int fd;

	world_running = fn;
	fd = world_child(world_run_checks, &pid);
	CT_EXPECT_EQ(world_reap(pid), 0);
	close(fd);
}

void world_settings(const char *name, ...)
{
	va_list args;

	svb_self.settings.devices = 0;
	va_start(args, name);
	for (; name; name = va_arg(args, const char *))
		setenv(name, va_arg(args, const char *), 1);
	va_end(args);
}

int world_child(int (*fn)(int fd), pid_t *pid)
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds))
		return -1;
	*pid = fork();
	if (!*pid) {
		close(fds[0]);
		_exit(fn(fds[1]));
	}
	close(fds[1]);
	return fds[0];
}

int world_reap(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

bool world_swap(int fd, const struct address *mine, struct address *peer)
{
	return send(fd, mine, sizeof(*mine), MSG_NOSIGNAL) == sizeof(*mine) &&
	       recv(fd, peer, sizeof(*peer), MSG_WAITALL) == sizeof(*peer);
}

bool world_tell(int fd)
{
	return send(fd, "", 1, MSG_NOSIGNAL) == 1;
}

bool world_hear(int fd)
{
	char byte;

	return recv(fd, &byte, 1, 0) == 1;
}
