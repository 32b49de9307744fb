/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two processes that work for ever on one operation over one connection and check what
 * arrives, to be killed, replaced or forked in the middle.
 *
 *	peer serve PORT
 *	peer drive PORT OPERATION COUNT [exec|fork]
 *
 * The server answers one driver. COUNT 0: for ever. exec: the driver becomes "sleep" in
 * the middle; fork: it has a child that stays until it ends itself. Exit status: 0 done,
 * 3 the other side is gone, 4 what arrived is wrong, 1 anything else.
 */
#include <errno.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SIZE 65536
#define GONE 3
#define WRONG 4

enum what { MESSAGE, WRITE, READ, COUNTER };
static const struct operation {
	const char *name;
	enum ibv_wr_opcode opcode;
	enum what what;
} operations[] = {
	{"send", IBV_WR_SEND, MESSAGE},
	{"send-imm", IBV_WR_SEND_WITH_IMM, MESSAGE},
	{"write", IBV_WR_RDMA_WRITE, WRITE},
	{"write-imm", IBV_WR_RDMA_WRITE_WITH_IMM, MESSAGE},
	{"read", IBV_WR_RDMA_READ, READ},
	{"add", IBV_WR_ATOMIC_FETCH_AND_ADD, COUNTER},
	{"swap", IBV_WR_ATOMIC_CMP_AND_SWP, COUNTER},
};

struct key {
	uint64_t addr;
	uint32_t rkey;
	uint32_t unused;
};

static struct rdma_cm_id *id;
static struct ibv_mr *mr;
static char *memory; /* first half goes out, second comes in */
static struct key peer;

static int fail(const char *what)
{
	fprintf(stderr, "peer: %s: %s\n", what, strerror(errno));
	return 1;
}

static struct ibv_qp_init_attr queue_pair(void)
{
	return (struct ibv_qp_init_attr){
		.cap = {8, 8, 1, 1, 0},
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
	};
}

/* Waits for a request as programs do that wait for other things as well. */
static bool is_asked(struct rdma_cm_id *listener)
{
	struct pollfd fd = {.fd = listener->channel->fd, .events = POLLIN};

	return poll(&fd, 1, -1) == 1;
}

static int open_end(bool server, const char *port)
{
	struct rdma_addrinfo hints = {.ai_port_space = RDMA_PS_TCP}, *info;
	struct ibv_qp_init_attr attr = queue_pair();
	struct rdma_cm_id *listener = NULL;
	int ret;

	hints.ai_flags = server ? RAI_PASSIVE : 0;
	if (rdma_getaddrinfo("127.0.0.1", port, &hints, &info))
		return fail("rdma_getaddrinfo");
	ret = rdma_create_ep(server ? &listener : &id, info, NULL, &attr);
	rdma_freeaddrinfo(info);
	if (ret)
		return fail("rdma_create_ep");
	if (server && (rdma_listen(listener, 1) || !is_asked(listener) ||
		       rdma_get_request(listener, &id)))
		return fail("rdma_get_request");
	memory = aligned_alloc(4096, SIZE);
	if (!memory)
		return fail("aligned_alloc");
	memset(memory, 0, SIZE);
	mr = ibv_reg_mr(id->pd, memory, SIZE,
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
				IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
	return mr ? 0 : fail("ibv_reg_mr");
}

static int post_receive(void)
{
	struct ibv_sge sge = {(uintptr_t)memory + SIZE / 2, SIZE / 2, mr->lkey};
	struct ibv_recv_wr *bad, wr = {.sg_list = &sge, .num_sge = 1};

	return ibv_post_recv(id->qp, &wr, &bad) ? fail("ibv_post_recv") : 0;
}

static int connect_ends(bool server)
{
	struct key own = {(uintptr_t)memory, mr->rkey, 0};
	struct rdma_conn_param param = {
		.private_data = &own,
		.private_data_len = sizeof(own),
		.responder_resources = 4,
		.initiator_depth = 4,
		.retry_count = 1,
		.rnr_retry_count = 7,
	};
	int i;

	for (i = 0; i < 4; i++)
		if (post_receive())
			return 1;
	/* The peer's is in the request, or in the answer to it. */
	if (server)
		memcpy(&peer, id->event->param.conn.private_data, sizeof(peer));
	if (server ? rdma_accept(id, &param) : rdma_connect(id, &param))
		return GONE;
	if (!server)
		memcpy(&peer, id->event->param.conn.private_data, sizeof(peer));
	return 0;
}

/* Has the connection ended? */
static bool over(void)
{
	struct pollfd fd = {.fd = id->channel->fd, .events = POLLIN};

	struct rdma_cm_event *event;

	if (poll(&fd, 1, 0) != 1)
		return false;
	if (!rdma_get_cm_event(id->channel, &event)) {
		fprintf(stderr, "peer: %s\n", rdma_event_str(event->event));
		rdma_ack_cm_event(event);
	}
	return true;
}

/* The next completion of a queue. */
static int next(struct ibv_cq *cq, struct ibv_wc *wc)
{
	unsigned int tries = 0;
	int n;

	while (!(n = ibv_poll_cq(cq, 1, wc)))
		if (++tries % 1024 == 0 && over())
			return GONE;
	if (n > 0 && wc->status)
		fprintf(stderr, "peer: %s\n", ibv_wc_status_str(wc->status));
	return n < 0 ? 1 : wc->status ? GONE : 0;
}

static int post(enum ibv_wr_opcode opcode, size_t from, size_t len, size_t to,
		uint64_t compare, uint64_t swap)
{
	struct ibv_sge sge = {(uintptr_t)memory + from, (uint32_t)len, mr->lkey};
	struct ibv_send_wr *bad, wr = {
					 .sg_list = &sge,
					 .num_sge = 1,
					 .opcode = opcode,
				 };
	struct ibv_wc wc;

	if (opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
	    opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = peer.addr + to;
		wr.wr.atomic.rkey = peer.rkey;
		wr.wr.atomic.compare_add = compare;
		wr.wr.atomic.swap = swap;
	} else {
		wr.wr.rdma.remote_addr = peer.addr + to;
		wr.wr.rdma.rkey = peer.rkey;
	}
	if (ibv_post_send(id->qp, &wr, &bad))
		return GONE;
	return next(id->send_cq, &wc);
}

static bool all(const char *at, char value, size_t len)
{
	return *at == value && !memcmp(at, at + 1, len - 1);
}

/* Sends back what comes, until nothing more can. */
static int serve(void)
{
	struct ibv_wc wc;
	int ret;

	for (;;) {
		ret = next(id->recv_cq, &wc);
		if (ret)
			return ret;
		memcpy(memory, memory + SIZE / 2, SIZE / 2);
		ret = post_receive();
		if (!ret)
			ret = post(IBV_WR_SEND, 0, SIZE / 2, 0, 0, 0);
		if (ret)
			return ret;
	}
}

/* One round: the bytes must come back as they went, the counter must go up by one. */
static int drive(const struct operation *op, uint64_t round)
{
	uint64_t *word = (uint64_t *)(memory + SIZE / 2);
	char value = (char)(round % 100 + 1);
	struct ibv_wc wc;
	int ret;

	memset(memory, value, SIZE / 2);
	switch (op->what) {
	case MESSAGE:
		ret = post(op->opcode, 0, SIZE / 2, SIZE / 2, 0, 0);
		if (!ret)
			ret = next(id->recv_cq, &wc);
		if (!ret && !all(memory + SIZE / 2, value, SIZE / 2))
			ret = WRONG;
		return ret ? ret : post_receive();
	case WRITE:
	case READ:
		ret = post(IBV_WR_RDMA_WRITE, 0, SIZE / 2, 0, 0, 0);
		if (!ret && (op->what == READ || round % 64 == 0))
			ret = post(IBV_WR_RDMA_READ, SIZE / 2, SIZE / 2, 0, 0, 0);
		else
			return ret;
		return ret || all(memory + SIZE / 2, value, SIZE / 2) ? ret : WRONG;
	case COUNTER:
	default:
		ret = post(op->opcode, SIZE / 2, 8, 0,
			   op->opcode == IBV_WR_ATOMIC_CMP_AND_SWP ? round : 1,
			   round + 1);
		return ret || *word == round ? ret : WRONG;
	}
}

/* The child uses nothing, and goes before the parent is done. */
static int fork_here(pid_t *child)
{
	*child = fork();
	if (!*child) {
		usleep(200000);
		exit(0);
	}
	return *child < 0 ? fail("fork") : 0;
}

static int run(const struct operation *op, uint64_t count, const char *then)
{
	uint64_t round;
	pid_t child = 0;
	int ret = 0;

	for (round = 0; (!count || round < count) && !ret; round++) {
		ret = drive(op, round);
		if (!round && !ret)
			puts("connected");
		fflush(stdout);
		if (round == 100 && !strcmp(then, "exec"))
			execlp("sleep", "sleep", "30", NULL);
		if (round == 100 && !strcmp(then, "fork"))
			ret = fork_here(&child);
	}
	if (child > 0)
		waitpid(child, NULL, 0);
	/* After the child's end everything must still be there. */
	if (child > 0 && !ret && op->what != COUNTER)
		ret = drive(op, round);
	if (!ret)
		rdma_disconnect(id);
	return ret;
}

int main(int argc, char **argv)
{
	bool server = argc > 2 && !strcmp(argv[1], "serve");
	const struct operation *op = NULL;
	size_t i;
	int ret;

	for (i = 0; argc > 4 && i < sizeof(operations) / sizeof(operations[0]); i++)
		if (!strcmp(operations[i].name, argv[3]))
			op = &operations[i];
	if (!server && !op) {
		fprintf(stderr, "usage: peer serve PORT | drive PORT OPERATION COUNT "
				"[exec|fork]\n");
		return 2;
	}
	ret = open_end(server, argv[2]);
	if (!ret)
		ret = connect_ends(server);
	if (ret)
		return ret;
	if (!server)
		return run(op, strtoull(argv[4], NULL, 10), argc > 5 ? argv[5] : "");
	ret = serve();
	/* The driver goes when it is done: that is how a server ends. */
	return ret == GONE ? 0 : ret;
}
