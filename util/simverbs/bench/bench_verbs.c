/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What verbs cost, without anything above them: a signaled RDMA write and its completion
 * between two queue pairs of one process, a send with its receive, or a datagram with its
 * own, beside a call of memcpy.
 *
 *	simverbs bench_verbs [-o OPERATION] [-m MEMORY] [-z BYTES] [-n COUNT] [-r ROUNDS]
 *		[-g USEC]
 *
 * With -o one line, "OPERATION size=BYTES ns=NS least=NS": the median and the fastest of
 *the rounds, each COUNT operations. Without, a table. Instructions: two runs under
 *valgrind --tool=callgrind with different COUNT and -r 1; the difference is of the
 *operations alone (util/bench). -g: microseconds between rounds, not counted, so that
 *each round begins at an idle device.
 *
 * With -m, a devdax or a file, durable writes with the device's FLUSH, as fi_cairn_op has
 * them: durable is write, FLUSH; compound is write, FLUSH, ATOMIC WRITE, FLUSH; each
 * sequence is given to the device at once and has one completion.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "../compat56.h"

#define MAX_ROUNDS 1001
#define MOST (1 << 20)
#define QKEY 0x11111111u
#define GRH 40 /* bytes in front of a datagram that was received */

struct side {
	struct ibv_cq *cq;
	struct ibv_qp *qp;
};

static struct ibv_context *ctx;
static struct ibv_pd *pd;
static struct ibv_mr *mr;
static struct side sides[2];
static char *memory;
static const char *persistent;
static struct ibv_mr *persistent_mr;
static int datagrams;
static struct ibv_ah *ah; /* of the port itself */
static long count = 20000, rounds = 31, rest;

static void need(int ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "bench_verbs: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void side_open(struct side *side)
{
	struct ibv_qp_init_attr init = {
		.cap = {.max_send_wr = 64,
			.max_recv_wr = 64,
			.max_send_sge = 1,
			.max_recv_sge = 2,
			.max_inline_data = 64},
		.qp_type = datagrams ? IBV_QPT_UD : IBV_QPT_RC,
	};

	struct ibv_qp_init_attr_ex init_ex = {
		.qp_type = IBV_QPT_RC,
		.pd = pd,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE | SVB_QP_EX_WITH_FLUSH |
				  SVB_QP_EX_WITH_ATOMIC_WRITE,
	};

	side->cq = ibv_create_cq(ctx, 256, NULL, NULL, 0);
	need(side->cq != NULL, "ibv_create_cq");
	init.send_cq = init.recv_cq = init_ex.send_cq = init_ex.recv_cq = side->cq;
	init_ex.cap = init.cap;
	init_ex.cap.max_inline_data = 0;
	side->qp =
		persistent ? ibv_create_qp_ex(ctx, &init_ex) : ibv_create_qp(pd, &init);
	need(side->qp != NULL, "ibv_create_qp");
}

static void side_connect(struct side *side, uint32_t peer,
			 const struct ibv_port_attr *port)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ,
	};

	if (persistent)
		attr.qp_access_flags |=
			SVB_ACCESS_FLUSH_GLOBAL | SVB_ACCESS_FLUSH_PERSISTENT;

	need(!ibv_modify_qp(side->qp, &attr,
			    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				    IBV_QP_ACCESS_FLAGS),
	     "INIT");
	attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTR,
		.path_mtu = port->active_mtu,
		.dest_qp_num = peer,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 1,
		.ah_attr = {.dlid = port->lid, .port_num = 1},
	};
	if (!port->lid) {
		attr.ah_attr.is_global = 1;
		ibv_query_gid(ctx, 1, 0, &attr.ah_attr.grh.dgid);
	}
	need(!ibv_modify_qp(side->qp, &attr,
			    IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				    IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				    IBV_QP_MIN_RNR_TIMER),
	     "RTR");
	attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTS,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = 1,
	};
	need(!ibv_modify_qp(side->qp, &attr,
			    IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
				    IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
				    IBV_QP_MAX_QP_RD_ATOMIC),
	     "RTS");
}

/* With a GRH, as to an address that has a GID. */
static void datagram_port(struct ibv_ah_attr *attr, const struct ibv_port_attr *port)
{
	memset(attr, 0, sizeof(*attr));
	attr->dlid = port->lid;
	attr->port_num = 1;
	attr->is_global = 1;
	ibv_query_gid(ctx, 1, 0, &attr->grh.dgid);
}

static void side_start(struct side *side)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY};
	int ret;

	ret = ibv_modify_qp(side->qp, &attr,
			    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
	attr.qp_state = IBV_QPS_RTR;
	if (!ret)
		ret = ibv_modify_qp(side->qp, &attr, IBV_QP_STATE);
	attr.qp_state = IBV_QPS_RTS;
	if (!ret)
		ret = ibv_modify_qp(side->qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN);
	need(!ret, "a queue pair for datagrams");
}

static void await(struct ibv_cq *cq)
{
	struct ibv_wc wc;
	int ret;

	do {
		ret = ibv_poll_cq(cq, 1, &wc);
	} while (!ret);
	need(ret > 0 && !wc.status, "completion");
}

/* Field by field, as a program in a hurry does it: the rest means nothing for a write. */
static void write_flags(size_t len, unsigned int flags)
{
	struct ibv_send_wr wr, *bad;
	struct ibv_sge sge;

	sge.addr = (uintptr_t)memory;
	sge.length = (uint32_t)len;
	sge.lkey = mr->lkey;
	wr.wr_id = (uintptr_t)&sides[0];
	wr.next = NULL;
	wr.sg_list = &sge;
	wr.num_sge = 1;
	wr.opcode = IBV_WR_RDMA_WRITE;
	wr.send_flags = IBV_SEND_SIGNALED | flags;
	wr.wr.rdma.remote_addr = (uintptr_t)memory + MOST;
	wr.wr.rdma.rkey = mr->rkey;
	need(!ibv_post_send(sides[0].qp, &wr, &bad), "ibv_post_send");
	await(sides[0].cq);
}

static void write_once(size_t len)
{
	write_flags(len, 0);
}

static void inline_once(size_t len)
{
	write_flags(len, IBV_SEND_INLINE);
}

static void send_once(size_t len)
{
	struct ibv_recv_wr *bad_recv, recv;
	struct ibv_send_wr *bad, wr;
	struct ibv_sge from, to;

	to.addr = (uintptr_t)memory + MOST;
	from.addr = (uintptr_t)memory;
	to.length = from.length = (uint32_t)len;
	to.lkey = from.lkey = mr->lkey;
	recv.wr_id = (uintptr_t)&sides[1];
	recv.next = NULL;
	recv.sg_list = &to;
	recv.num_sge = 1;
	wr.wr_id = (uintptr_t)&sides[0];
	wr.next = NULL;
	wr.sg_list = &from;
	wr.num_sge = 1;
	wr.opcode = IBV_WR_SEND;
	wr.send_flags = IBV_SEND_SIGNALED | (len <= 64 ? IBV_SEND_INLINE : 0);
	need(!ibv_post_recv(sides[1].qp, &recv, &bad_recv), "ibv_post_recv");
	need(!ibv_post_send(sides[0].qp, &wr, &bad), "ibv_post_send");
	await(sides[0].cq);
	await(sides[1].cq);
}

/* Two entries of the receive, as a program has them that wants the data at a place of
 * its own. */
static void datagram_once(size_t len)
{
	struct ibv_recv_wr *bad_recv, recv;
	struct ibv_sge from, to[2];
	struct ibv_send_wr *bad, wr;

	to[0].addr = (uintptr_t)memory + 2 * MOST - GRH;
	to[0].length = GRH;
	to[1].addr = (uintptr_t)memory + MOST;
	from.addr = (uintptr_t)memory;
	to[1].length = from.length = (uint32_t)len;
	to[0].lkey = to[1].lkey = from.lkey = mr->lkey;
	recv.wr_id = (uintptr_t)&sides[1];
	recv.next = NULL;
	recv.sg_list = to;
	recv.num_sge = 2;
	wr.wr_id = (uintptr_t)&sides[0];
	wr.next = NULL;
	wr.sg_list = &from;
	wr.num_sge = 1;
	wr.opcode = IBV_WR_SEND;
	wr.send_flags = IBV_SEND_SIGNALED | (len <= 64 ? IBV_SEND_INLINE : 0);
	wr.wr.ud.ah = ah;
	wr.wr.ud.remote_qpn = sides[1].qp->qp_num;
	wr.wr.ud.remote_qkey = QKEY;
	need(!ibv_post_recv(sides[1].qp, &recv, &bad_recv), "ibv_post_recv");
	need(!ibv_post_send(sides[0].qp, &wr, &bad), "ibv_post_send");
	await(sides[0].cq);
	await(sides[1].cq);
}

static void flush(struct ibv_qp_ex *qp, uint64_t to, size_t len)
{
	const struct svb_qp_ex56 *qp56 = (const void *)qp;

	qp56->wr_flush(qp, persistent_mr->rkey, to, len, SVB_FLUSH_PERSISTENT,
		       SVB_FLUSH_RANGE);
}

static struct ibv_qp_ex *durable_begin(size_t len)
{
	struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(sides[0].qp);
	const uint64_t to = (uintptr_t)persistent_mr->addr;

	ibv_wr_start(qp);
	qp->wr_id = (uintptr_t)&sides[0];
	qp->wr_flags = 0;
	ibv_wr_rdma_write(qp, persistent_mr->rkey, to);
	ibv_wr_set_sge(qp, mr->lkey, (uintptr_t)memory, (uint32_t)len);
	return qp;
}

static void durable_end(struct ibv_qp_ex *qp)
{
	need(!ibv_wr_complete(qp), "ibv_wr_complete");
	await(sides[0].cq);
}

static void durable_once(size_t len)
{
	struct ibv_qp_ex *qp = durable_begin(len);

	qp->wr_flags = IBV_SEND_SIGNALED;
	flush(qp, (uintptr_t)persistent_mr->addr, len);
	durable_end(qp);
}

static void compound_once(size_t len)
{
	struct ibv_qp_ex *qp = durable_begin(len);
	const struct svb_qp_ex56 *qp56 = (const void *)qp;
	const uint64_t word = (uintptr_t)persistent_mr->addr + MOST;

	flush(qp, (uintptr_t)persistent_mr->addr, len);
	qp56->wr_atomic_write(qp, persistent_mr->rkey, word, memory);
	qp->wr_flags = IBV_SEND_SIGNALED;
	flush(qp, word, 8);
	durable_end(qp);
}

static void copy_once(size_t len)
{
	memcpy(memory + MOST, memory, len);
	__asm__ __volatile__("" ::: "memory");
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
	return (*(const double *)a > *(const double *)b) -
	       (*(const double *)a < *(const double *)b);
}

/* Of the rounds, the median; and the fastest, to *least. */
static double measure(void (*fn)(size_t len), size_t len, double *least)
{
	static double times[MAX_ROUNDS];
	double start;
	long round, i;

	for (round = 0; round < rounds; round++) {
		for (start = now(); now() < start + (double)rest * 1e3;)
			;
		start = now();
		for (i = 0; i < count; i++)
			fn(len);
		times[round] = (now() - start) / (double)count;
	}
	qsort(times, (size_t)rounds, sizeof(times[0]), ascending);
	*least = times[0];
	return times[rounds / 2];
}

static void table(void)
{
	static const size_t sizes[] = {8, 64, 4096, 65536};
	double least;
	size_t i;

	printf("%8s %12s %12s %12s\n", "bytes", "memcpy ns", "write ns", "send ns");
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		printf("%8zu %12.1f %12.1f %12.1f\n", sizes[i],
		       measure(copy_once, sizes[i], &least),
		       measure(write_once, sizes[i], &least),
		       measure(send_once, sizes[i], &least));
}

static void open_persistent(void)
{
	const int fd = open(persistent, O_RDWR);
	void *map = mmap(NULL, 2 * MOST, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	need(map != MAP_FAILED, persistent);
	persistent_mr =
		ibv_reg_mr(pd, map, 2 * MOST,
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
				   IBV_ACCESS_REMOTE_READ | SVB_ACCESS_FLUSH_GLOBAL |
				   SVB_ACCESS_FLUSH_PERSISTENT);
	need(persistent_mr != NULL, "ibv_reg_mr of persistent memory");
}

static void open_all(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_ah_attr ah_attr;
	struct ibv_port_attr port;

	need(list && list[0], "ibv_get_device_list");
	ctx = ibv_open_device(list[0]);
	need(ctx && !ibv_query_port(ctx, 1, &port), "ibv_open_device");
	pd = ibv_alloc_pd(ctx);
	memory = aligned_alloc(4096, 2 * MOST);
	need(pd && memory, "memory");
	memset(memory, 1, 2 * MOST);
	mr = ibv_reg_mr(pd, memory, 2 * MOST,
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	need(mr != NULL, "ibv_reg_mr");
	if (persistent)
		open_persistent();
	side_open(&sides[0]);
	side_open(&sides[1]);
	if (datagrams) {
		datagram_port(&ah_attr, &port);
		ah = ibv_create_ah(pd, &ah_attr);
		need(ah != NULL, "ibv_create_ah");
		side_start(&sides[0]);
		side_start(&sides[1]);
		return;
	}
	side_connect(&sides[0], sides[1].qp->qp_num, &port);
	side_connect(&sides[1], sides[0].qp->qp_num, &port);
}

static const struct operation {
	const char *name;
	void (*once)(size_t len);
} operations[] = {
	{"write", write_once},	     {"inline", inline_once},
	{"send", send_once},	     {"memcpy", copy_once},
	{"datagram", datagram_once}, {"durable", durable_once},
	{"compound", compound_once},
};

static const struct operation *operation(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(operations) / sizeof(operations[0]); i++)
		if (!strcmp(operations[i].name, name))
			return &operations[i];
	fprintf(stderr,
		"bench_verbs: operation %s is none of write, inline, send, memcpy, "
		"datagram, durable, compound\n",
		name);
	exit(2);
}

static long number(const char *text, long most)
{
	char *end;
	long value = strtol(text, &end, 10);

	if (*end || value < 1 || value > most) {
		fprintf(stderr, "bench_verbs: %s is no number from 1 to %ld\n", text,
			most);
		exit(2);
	}
	return value;
}

int main(int argc, char **argv)
{
	const struct operation *op = NULL;
	double median, least;
	long size = 8;
	int option;

	while ((option = getopt(argc, argv, "o:m:z:n:r:g:")) != -1) {
		if (option == 'o')
			op = operation(optarg);
		else if (option == 'm')
			persistent = optarg;
		else if (option == 'z')
			size = number(optarg, MOST);
		else if (option == 'n')
			count = number(optarg, 1000000000);
		else if (option == 'r')
			rounds = number(optarg, MAX_ROUNDS);
		else if (option == 'g')
			rest = number(optarg, 1000000);
		else
			return 2;
	}
	if (!persistent !=
	    (!op || (op->once != durable_once && op->once != compound_once)))
		return 2;
	datagrams = op && op->once == datagram_once;
	open_all();
	if (!op) {
		table();
		return 0;
	}
	median = measure(op->once, (size_t)size, &least);
	printf("%s size=%ld ns=%.1f least=%.1f\n", op->name, size, median, least);
	return 0;
}
