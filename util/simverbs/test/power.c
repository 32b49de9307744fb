/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A log in persistent memory: records of two cache lines and a tail that counts them,
 * written over RDMA until the power of the log's machine fails, and what is left of it.
 *
 *	power server SOCKET FILE	has the log
 *	power client SOCKET METHOD	appends, prints how many records were reported
 *durable power check FILE REPORTED	is every reported record there, and each that the
 *tail counts? 0: yes, 3: no
 *
 * METHOD: none, read, flush, message or wait: see methods[].
 */
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "compat56.h"

#define RECORDS 6
#define RECORD 128
#define AT(i) (4096 + (i)*RECORD)
#define SIZE 8192
#define RIGHTS                                                                       \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | \
	 (int)SVB_ACCESS_FLUSH_GLOBAL | (int)SVB_ACCESS_FLUSH_PERSISTENT)

struct side {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr, *log;
	char *memory; /* ordinary */
	char *pm;
	int sock;
};

struct hello {
	uint32_t qpn, rkey;
	uint64_t log;
	uint16_t lid;
};
static struct hello peer;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void setup(struct side *s)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_qp_init_attr_ex init = {
		.cap = {16, 16, 1, 1, 0},
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_READ |
				  IBV_QP_EX_WITH_SEND | SVB_QP_EX_WITH_FLUSH |
				  SVB_QP_EX_WITH_ATOMIC_WRITE,
	};

	s->ctx = list && list[0] ? ibv_open_device(list[0]) : NULL;
	if (!s->ctx)
		die("no device");
	ibv_free_device_list(list);
	s->pd = ibv_alloc_pd(s->ctx);
	s->cq = ibv_create_cq(s->ctx, 64, NULL, NULL, 0);
	init.pd = s->pd;
	init.send_cq = init.recv_cq = s->cq;
	s->qp = ibv_create_qp_ex(s->ctx, &init);
	s->memory = calloc(1, SIZE);
	s->mr = ibv_reg_mr(s->pd, s->memory, SIZE, IBV_ACCESS_LOCAL_WRITE);
	if (!s->qp || !s->mr)
		die("verbs");
}

static void receive(struct side *s, int slot)
{
	struct ibv_sge sge = {(uintptr_t)s->memory + 64u * (unsigned int)slot, 8,
			      s->mr->lkey};
	struct ibv_recv_wr *bad,
		wr = {.wr_id = (uint64_t)slot, .sg_list = &sge, .num_sge = 1};

	if (ibv_post_recv(s->qp, &wr, &bad))
		die("receive");
}

static void connect_qp(struct side *s)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
				   .port_num = 1,
				   .qp_access_flags = RIGHTS,
				   .path_mtu = IBV_MTU_1024,
				   .max_dest_rd_atomic = 4,
				   .max_rd_atomic = 4,
				   .min_rnr_timer = 1,
				   .timeout = 10,
				   .retry_cnt = 1,
				   .rnr_retry = 7};
	struct ibv_port_attr port;
	struct hello hello = {.qpn = s->qp->qp_num};

	ibv_query_port(s->ctx, 1, &port);
	hello.lid = port.lid;
	if (s->log) {
		hello.rkey = s->log->rkey;
		hello.log = (uintptr_t)s->pm;
	}
	if (ibv_modify_qp(s->qp, &attr,
			  IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				  IBV_QP_ACCESS_FLAGS))
		die("INIT");
	receive(s, 0);
	receive(s, 1);
	if (write(s->sock, &hello, sizeof(hello)) != sizeof(hello) ||
	    recv(s->sock, &peer, sizeof(peer), MSG_WAITALL) != sizeof(peer))
		die("hello");
	attr.qp_state = IBV_QPS_RTR;
	attr.dest_qp_num = peer.qpn;
	attr.ah_attr = (struct ibv_ah_attr){.dlid = peer.lid, .port_num = 1};
	if (ibv_modify_qp(s->qp, &attr,
			  IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				  IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				  IBV_QP_MIN_RNR_TIMER))
		die("RTR");
	attr.qp_state = IBV_QPS_RTS;
	if (ibv_modify_qp(s->qp, &attr,
			  IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
				  IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
				  IBV_QP_MAX_QP_RD_ATOMIC))
		die("RTS");
	/* Both are ready when both have said so. */
	if (write(s->sock, "", 1) != 1 || recv(s->sock, &hello, 1, MSG_WAITALL) != 1)
		die("ready");
}

/* The next completion. False: it failed, or the other side has gone. */
static bool completion(struct side *s, struct ibv_wc *wc)
{
	struct pollfd pollfd = {s->sock, POLLIN, 0};
	int polls = 0;

	while (!ibv_poll_cq(s->cq, 1, wc))
		if (++polls % 1024 == 0 && !s->log && poll(&pollfd, 1, 0) > 0)
			return ibv_poll_cq(s->cq, 1, wc) && !wc->status;
	return !wc->status;
}

/* --- the client's steps; each makes one request */

struct step {
	struct side *s;
	int record;
	int posted; /* and not yet complete */
	int acks;
};

static void post(struct step *step, enum ibv_wr_opcode opcode, uint64_t to, uint32_t len,
		 uint32_t from)
{
	struct ibv_sge sge = {(uintptr_t)step->s->memory + from, len, step->s->mr->lkey};
	struct ibv_send_wr *bad, wr = {.sg_list = &sge,
				       .num_sge = 1,
				       .opcode = opcode,
				       .wr.rdma = {peer.log + to, peer.rkey}};

	if (ibv_post_send(step->s->qp, &wr, &bad))
		die("post");
	step->posted++;
}

static void write_record(struct step *step)
{
	memset(step->s->memory + AT(step->record), step->record, RECORD);
	post(step, IBV_WR_RDMA_WRITE, (uint64_t)AT(step->record), RECORD,
	     (uint32_t)AT(step->record));
}

static void write_tail(struct step *step)
{
	uint64_t tail = (uint64_t)step->record;

	memcpy(step->s->memory + 512 + 8 * step->record, &tail, 8);
	post(step, IBV_WR_RDMA_WRITE, 0, 8, 512 + 8 * (uint32_t)step->record);
}

static void swap_tail(struct step *step)
{
	struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(step->s->qp);
	struct svb_qp_ex56 *ex56 = (struct svb_qp_ex56 *)ex;
	uint64_t tail = (uint64_t)step->record;

	ibv_wr_start(ex);
	ex56->wr_atomic_write(ex, peer.rkey, peer.log, &tail);
	if (ibv_wr_complete(ex))
		die("atomic write");
	step->posted++;
}

static void flush(struct step *step, int at, size_t len)
{
	struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(step->s->qp);
	struct svb_qp_ex56 *ex56 = (struct svb_qp_ex56 *)ex;

	ibv_wr_start(ex);
	ex56->wr_flush(ex, peer.rkey, peer.log + (uint64_t)at, len, SVB_FLUSH_PERSISTENT,
		       SVB_FLUSH_RANGE);
	if (ibv_wr_complete(ex))
		die("flush");
	step->posted++;
}

static void flush_record(struct step *step)
{
	flush(step, AT(step->record), RECORD);
}

static void flush_tail(struct step *step)
{
	flush(step, 0, 8);
}

static void read_record(struct step *step)
{
	post(step, IBV_WR_RDMA_READ, (uint64_t)AT(step->record) + RECORD - 1, 1, 256);
}

static void read_tail(struct step *step)
{
	post(step, IBV_WR_RDMA_READ, 7, 1, 256);
}

static void ask(struct step *step)
{
	memcpy(step->s->memory + 1024, &step->record, sizeof(step->record));
	post(step, IBV_WR_SEND, 0, 8, 1024);
}

/* Waits for all that was posted. */
static bool wait_posted(struct step *step)
{
	struct ibv_wc wc;

	while (step->posted) {
		if (!completion(step->s, &wc))
			return false;
		if (wc.opcode == IBV_WC_RECV)
			step->acks++;
		else
			step->posted--;
	}
	return true;
}

static bool wait_ack(struct step *step)
{
	struct ibv_wc wc;

	while (!step->acks) {
		if (!completion(step->s, &wc))
			return false;
		if (wc.opcode == IBV_WC_RECV)
			step->acks++;
		else
			step->posted--;
	}
	step->acks--;
	receive(step->s, 0);
	return wait_posted(step);
}

static const struct {
	const char *name;
	void (*step[6])(struct step *step); /* NULL: wait for what was posted */
	int steps;
	bool ack;
} methods[] = {
	{"none", {write_record, write_tail}, 2, false},
	{"read", {write_record, read_record, NULL, write_tail, read_tail}, 5, false},
	{"pipeline", {write_record, write_tail, read_tail}, 3, false},
	{"flush", {write_record, flush_record, swap_tail, flush_tail}, 4, false},
	{"message", {write_record, ask}, 2, true},
};

static int find_method(const char *name)
{
	int i;

	for (i = 0; i < (int)(sizeof(methods) / sizeof(methods[0])); i++)
		if (!strcmp(methods[i].name, name))
			return i;
	fprintf(stderr, "no method %s\n", name);
	exit(2);
}

static bool append(struct step *step, int method)
{
	int i;

	for (i = 0; i < methods[method].steps; i++) {
		if (methods[method].step[i])
			methods[method].step[i](step);
		else if (!wait_posted(step))
			return false;
	}
	return methods[method].ack ? wait_ack(step) : wait_posted(step);
}

static int client(struct side *s, int method)
{
	struct step step = {.s = s};
	int reported = 0;

	connect_qp(s);
	for (step.record = 1; step.record <= RECORDS; step.record++) {
		if (!append(&step, method))
			break;
		reported = step.record;
	}
	printf("%d\n", reported);
	return 0;
}

/* Writes back the record that a message names, then stores and writes back the tail. */
static void apply(struct side *s, int slot)
{
	uint64_t tail = 0;
	int record;

	memcpy(&record, s->memory + 64 * slot, sizeof(record));
	if (msync(s->pm + 4096, 4096, MS_SYNC))
		die("msync");
	tail = (uint64_t)record;
	memcpy(s->pm, &tail, sizeof(tail));
	if (msync(s->pm, 4096, MS_SYNC))
		die("msync");
}

static int server(struct side *s, const char *file)
{
	struct pollfd pollfd = {s->sock, POLLIN, 0};
	struct step step = {.s = s};
	struct ibv_wc wc;
	int fd = open(file, O_RDWR);

	s->pm = fd < 0 ? MAP_FAILED
		       : mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
			      MAP_SHARED_VALIDATE | MAP_SYNC, fd, 0);
	if (s->pm == MAP_FAILED)
		die(file);
	s->log = ibv_reg_mr(s->pd, s->pm, SIZE, RIGHTS);
	if (!s->log)
		die("log");
	connect_qp(s);
	/* Until the client has gone. */
	while (poll(&pollfd, 1, 0) == 0) {
		if (!ibv_poll_cq(s->cq, 1, &wc) || wc.opcode != IBV_WC_RECV || wc.status)
			continue;
		apply(s, (int)wc.wr_id);
		receive(s, (int)wc.wr_id);
		post(&step, IBV_WR_SEND, 0, 8, 2048);
	}
	return 0;
}

static int check(const char *file, int reported)
{
	static char log[SIZE];
	uint64_t tail;
	int fd = open(file, O_RDONLY), i, k;

	if (fd < 0 || read(fd, log, SIZE) != SIZE)
		die(file);
	memcpy(&tail, log, sizeof(tail));
	printf("tail %d, reported %d\n", (int)tail, reported);
	if ((int)tail < reported || tail > RECORDS)
		return 3;
	for (i = 1; i <= (int)tail; i++)
		for (k = 0; k < RECORD; k++)
			if (log[AT(i) + k] != i) {
				printf("record %d is not whole\n", i);
				return 3;
			}
	return 0;
}

static int meet(const char *path, bool listens)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0), tries = 0;

	snprintf(at.sun_path, sizeof(at.sun_path), "%s", path);
	if (listens) {
		if (bind(fd, (struct sockaddr *)&at, sizeof(at)) || listen(fd, 1))
			die(path);
		return accept(fd, NULL, NULL);
	}
	while (connect(fd, (struct sockaddr *)&at, sizeof(at))) {
		if (++tries > 2000)
			die(path);
		usleep(5000);
	}
	return fd;
}

int main(int argc, char **argv)
{
	struct side s = {0};

	if (argc == 4 && !strcmp(argv[1], "check"))
		return check(argv[2], atoi(argv[3]));
	if (argc != 4)
		return 2;
	setup(&s);
	s.sock = meet(argv[2], !strcmp(argv[1], "server"));
	return !strcmp(argv[1], "server") ? server(&s, argv[3])
					  : client(&s, find_method(argv[3]));
}
