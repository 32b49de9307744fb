/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "raw_peer.h"

#define PATIENCE_MS 20000
#define QUEUE (2 * RAW_CREDITS)
#define PSN 0x1234u
/* Receives, sends, and what an atomic fetched: its response comes over another queue pair
 * than an answer, and may be the later one. */
#define FETCHED ((size_t)2 * QUEUE * PVB_WIRE_SIZE)
#define BUF_SIZE (FETCHED + sizeof(uint64_t))

static void need(const struct raw_peer *p, bool well, const char *what)
{
	if (well)
		return;
	fprintf(stderr, "%s: %s: %s\n", p->program, what, strerror(errno));
	exit(1);
}

static double now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

/* The next event has to be this one; its private data is taken apart. */
static void expect(struct raw_peer *p, enum rdma_cm_event_type type)
{
	struct rdma_cm_event *event;

	need(p, !rdma_get_cm_event(p->channel, &event), "rdma_get_cm_event");
	if (event->event != type) {
		fprintf(stderr, "%s: %s instead of %s\n", p->program,
			rdma_event_str(event->event), rdma_event_str(type));
		exit(1);
	}
	if (type == RDMA_CM_EVENT_ESTABLISHED)
		pvb_cm_parse(&p->peer, event->param.conn.private_data,
			     event->param.conn.private_data_len);
	rdma_ack_cm_event(event);
}

static void receive(struct raw_peer *p, uint32_t at)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)(p->buf + (size_t)at * PVB_WIRE_SIZE),
		.length = PVB_WIRE_SIZE,
		.lkey = p->mr->lkey,
	};
	struct ibv_recv_wr wr = {.wr_id = at, .sg_list = &sge, .num_sge = 1}, *bad;

	need(p, !ibv_post_recv(p->control, &wr, &bad), "ibv_post_recv");
}

static void open_queues(struct raw_peer *p)
{
	struct ibv_qp_init_attr attr = {
		.cap = {.max_send_wr = QUEUE,
			.max_recv_wr = QUEUE,
			.max_send_sge = 1,
			.max_recv_sge = 1},
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
	};

	p->pd = ibv_alloc_pd(p->id->verbs);
	need(p, p->pd, "ibv_alloc_pd");
	p->cq = ibv_create_cq(p->id->verbs, 2 * QUEUE, NULL, NULL, 0);
	p->control_cq = ibv_create_cq(p->id->verbs, 2 * QUEUE, NULL, NULL, 0);
	need(p, p->cq && p->control_cq, "ibv_create_cq");
	attr.send_cq = attr.recv_cq = p->cq;
	need(p, !rdma_create_qp(p->id, p->pd, &attr), "rdma_create_qp");
	attr.send_cq = attr.recv_cq = p->control_cq;
	p->control = ibv_create_qp(p->pd, &attr);
	need(p, p->control, "ibv_create_qp");
	p->buf = calloc(1, BUF_SIZE);
	need(p, p->buf, "memory");
	p->mr = ibv_reg_mr(p->pd, p->buf, BUF_SIZE, IBV_ACCESS_LOCAL_WRITE);
	need(p, p->mr, "ibv_reg_mr");
}

static void connect_to(struct raw_peer *p)
{
	const struct pvb_cm_offer offer = {
		.word = {(uintptr_t)p->buf, p->mr->rkey},
		.control = {p->control->qp_num, PSN, true},
	};
	uint8_t data[PVB_CM_REQ_SIZE];
	struct rdma_conn_param param = {
		.private_data = data,
		.private_data_len = (uint8_t)pvb_cm_pack(data, NULL, 0, &offer),
		.responder_resources = 1,
		.initiator_depth = 1,
		.retry_count = 7,
		.rnr_retry_count = 7,
	};

	need(p, !rdma_connect(p->id, &param), "rdma_connect");
	expect(p, RDMA_CM_EVENT_ESTABLISHED);
	if (!p->peer.control.qp_num) {
		fprintf(stderr, "%s: the target has no control queue pair\n", p->program);
		exit(1);
	}
}

/* The control queue pair, on the path of the connection. */
static void bring_up(struct raw_peer *p)
{
	static const enum ibv_qp_state states[] = {IBV_QPS_INIT, IBV_QPS_RTR,
						   IBV_QPS_RTS};
	struct ibv_qp_attr attr;
	uint32_t i;
	int mask;

	for (i = 0; i < 3; i++) {
		memset(&attr, 0, sizeof(attr));
		attr.qp_state = states[i];
		need(p, !rdma_init_qp_attr(p->id, &attr, &mask), "rdma_init_qp_attr");
		attr.dest_qp_num = p->peer.control.qp_num;
		attr.rq_psn = p->peer.control.psn;
		attr.sq_psn = PSN;
		errno = ibv_modify_qp(p->control, &attr, mask);
		need(p, !errno, "ibv_modify_qp");
	}
	for (i = 0; i < QUEUE; i++)
		receive(p, i);
}

void bench_raw_open(struct raw_peer *p, const char *program, const char *address,
		    uint16_t port)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};

	memset(p, 0, sizeof(*p));
	p->program = program;
	need(p, inet_pton(AF_INET, address, &to.sin_addr) == 1, address);
	p->channel = rdma_create_event_channel();
	need(p, p->channel, "rdma_create_event_channel");
	need(p, !rdma_create_id(p->channel, &p->id, NULL, RDMA_PS_TCP), "rdma_create_id");
	need(p, !rdma_resolve_addr(p->id, NULL, (struct sockaddr *)&to, PATIENCE_MS),
	     "rdma_resolve_addr");
	expect(p, RDMA_CM_EVENT_ADDR_RESOLVED);
	need(p, !rdma_resolve_route(p->id, PATIENCE_MS), "rdma_resolve_route");
	expect(p, RDMA_CM_EVENT_ROUTE_RESOLVED);
	open_queues(p);
	connect_to(p);
	bring_up(p);
}

void bench_raw_close(struct raw_peer *p)
{
	rdma_disconnect(p->id);
	ibv_destroy_qp(p->control);
	rdma_destroy_qp(p->id);
	ibv_dereg_mr(p->mr);
	ibv_destroy_cq(p->cq);
	ibv_destroy_cq(p->control_cq);
	rdma_destroy_id(p->id);
	rdma_destroy_event_channel(p->channel);
	ibv_dealloc_pd(p->pd);
	free(p->buf);
}

void bench_raw_ask(struct raw_peer *p, const struct pvb_wire_range *range,
		   uint32_t seq_word)
{
	const struct pvb_wire_message message = {
		.kind = PVB_WIRE_REQUEST,
		.number = p->asked + 1,
		.fence = p->asked + 1,
		.seq_word = seq_word,
		.ranges = 1,
		.range = {*range},
	};
	uint8_t *buf = p->buf + (size_t)(QUEUE + p->asked % QUEUE) * PVB_WIRE_SIZE;
	struct ibv_sge sge = {
		.addr = (uintptr_t)buf,
		.length = (uint32_t)pvb_wire_pack(buf, &message),
		.lkey = p->mr->lkey,
	};
	struct ibv_send_wr wr = {.wr_id = UINT64_MAX,
				 .sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_SEND},
			   *bad;

	need(p, !ibv_post_send(p->control, &wr, &bad), "ibv_post_send");
	p->asked++;
}

static bool poll_one(struct ibv_cq *cq, struct ibv_wc *wc, double end)
{
	while (ibv_poll_cq(cq, 1, wc) != 1) {
		if (now_ms() >= end)
			return false;
	}
	return true;
}

int bench_raw_answer(struct raw_peer *p, int ms)
{
	const double end = now_ms() + ms;
	struct pvb_wire_message answer;
	struct ibv_wc wc;

	while (poll_one(p->control_cq, &wc, end)) {
		if (wc.status != IBV_WC_SUCCESS)
			return -1;
		if (wc.wr_id == UINT64_MAX)
			continue;
		if (!pvb_wire_parse(&answer, p->buf + wc.wr_id * PVB_WIRE_SIZE,
				    wc.byte_len))
			return -1;
		receive(p, (uint32_t)wc.wr_id);
		p->answered++;
		return answer.status;
	}
	return -1;
}

enum ibv_wc_status bench_raw_add(struct raw_peer *p, const struct pvb_cm_word *word,
				 uint64_t add)
{
	struct ibv_sge sge = {.addr = (uintptr_t)(p->buf + FETCHED),
			      .length = sizeof(uint64_t),
			      .lkey = p->mr->lkey};
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
		.wr.atomic = {word->addr, add, 0, word->rkey},
	};
	struct ibv_send_wr *bad;
	struct ibv_wc wc;

	need(p, !ibv_post_send(p->id->qp, &wr, &bad), "ibv_post_send");
	if (!poll_one(p->cq, &wc, now_ms() + PATIENCE_MS))
		return IBV_WC_RESP_TIMEOUT_ERR;
	return wc.status;
}
