/* SPDX-License-Identifier: BSD-2-Clause */
/* Connections, operations and their completions, for all cases. */
#include <stdarg.h>
#include <stdlib.h>

#include "routed.h"

#define CQ_MOST 65536u

static int make_stock(struct routed *r, uint32_t ops)
{
	uint32_t i;

	r->op = calloc(ops, sizeof(*r->op));
	if (!r->op)
		return fct_fail("out of memory");
	r->ops = ops;
	for (i = 0; i < ops; i++) {
		r->op[i].next = r->free;
		r->free = &r->op[i];
	}
	return 0;
}

static struct fct_setup setup_of(const struct routed_size *size)
{
	const uint64_t cq = (uint64_t)(size->tx + size->rx) * size->connections;

	return (struct fct_setup){
		.caps = FI_MSG | FI_RMA,
		.msg_order = FI_ORDER_SAS | FI_ORDER_SAW,
		.tx_size = size->tx,
		.rx_size = size->rx,
		.cq_data_size = 8,
		.cq_size = cq < CQ_MOST ? cq : CQ_MOST,
		.without_mr_mode = size->own_keys ? FI_MR_PROV_KEY : 0,
	};
}

int fct_routed_open(struct routed *r, const struct routed_size *size)
{
	const struct fct_setup s = setup_of(size);
	uint32_t i;

	r->count = size->connections;
	r->conn = calloc(r->count, sizeof(*r->conn));
	FCT_TRUE(r->conn);
	for (i = 0; i < r->count; i++)
		r->conn[i].index = i;
	FCT_DO(make_stock(r, size->ops));
	FCT_DO(fct_link_open(&r->l, &s));
	if (size->exposed)
		FCT_DO(fct_mem_alloc(&r->l, &r->exposed, size->exposed,
				     FI_REMOTE_READ | FI_REMOTE_WRITE));
	if (size->local)
		FCT_DO(fct_mem_alloc(&r->l, &r->local, size->local,
				     FI_SEND | FI_RECV | FI_READ | FI_WRITE));
	return 0;
}

int fct_routed_up(struct routed *r, const struct routed_size *size)
{
	struct fct_target mine = {0};
	uint32_t i;

	FCT_DO(fct_routed_open(r, size));
	for (i = 0; i < r->count; i++)
		FCT_DO(fct_conn_up(&r->l, &r->conn[i].c));
	if (r->exposed.mr)
		mine = fct_mem_target(&r->l, &r->exposed);
	return fct_exchange("region", &mine, &r->peer, sizeof(mine));
}

void fct_routed_end(void *routed)
{
	struct routed *r = routed;

	fct_link_down(&r->l, fct_ret());
	free(r->conn);
	free(r->op);
}

/* --- Operations --- */

struct routed_op *fct_routed_take(struct routed *r, struct routed_conn *conn)
{
	struct routed_op *op = r->free;

	if (!op)
		return NULL;
	r->free = op->next;
	op->busy = true;
	op->receives = false;
	op->kind = 0;
	op->len = 0;
	op->conn = conn;
	r->busy++;
	conn->busy++;
	return op;
}

void fct_routed_give(struct routed *r, struct routed_op *op)
{
	op->busy = false;
	op->next = r->free;
	r->free = op;
	r->busy--;
	if (!op->receives)
		op->conn->busy--;
}

static int posted(struct routed *r, struct routed_op *op, ssize_t ret, size_t len,
		  uint64_t number)
{
	op->len = len;
	op->number = number;
	if (ret)
		fct_routed_give(r, op);
	else if (!op->receives)
		op->conn->posted++;
	return (int)ret;
}

int fct_routed_send(struct routed *r, struct routed_conn *conn, const void *buf,
		    size_t len, uint64_t number)
{
	struct routed_op *op = fct_routed_take(r, conn);

	return op ? posted(r, op,
			   fi_send(conn->c.ep, buf, len, r->local.desc, 0, &op->ctx), len,
			   number)
		  : -FI_EAGAIN;
}

int fct_routed_recv(struct routed *r, struct routed_conn *conn, void *buf, size_t len,
		    uint64_t number)
{
	struct routed_op *op = fct_routed_take(r, conn);

	if (!op)
		return -FI_EAGAIN;
	op->receives = true;
	conn->busy--;
	return posted(r, op, fi_recv(conn->c.ep, buf, len, r->local.desc, 0, &op->ctx),
		      len, number);
}

int fct_routed_write(struct routed *r, struct routed_conn *conn, const void *buf,
		     size_t len, const struct fct_target *to, uint64_t number)
{
	struct routed_op *op = fct_routed_take(r, conn);

	return op ? posted(r, op,
			   fi_write(conn->c.ep, buf, len, r->local.desc, 0, to->addr,
				    to->key, &op->ctx),
			   len, number)
		  : -FI_EAGAIN;
}

int fct_routed_read(struct routed *r, struct routed_conn *conn, void *buf, size_t len,
		    const struct fct_target *from, uint64_t number)
{
	struct routed_op *op = fct_routed_take(r, conn);

	return op ? posted(r, op,
			   fi_read(conn->c.ep, buf, len, r->local.desc, 0, from->addr,
				   from->key, &op->ctx),
			   len, number)
		  : -FI_EAGAIN;
}

/* --- Their ends --- */

static int completed(struct routed *r, const void *context, int err)
{
	struct routed_op *op = (struct routed_op *)context;

	if (op < r->op || op >= r->op + r->ops)
		FCT_FAIL("a completion without the context of an operation");
	if (!op->busy)
		FCT_FAIL("operation %llu of connection %u has completed twice",
			 (unsigned long long)op->number, op->conn->index);
	if (err)
		r->failed++;
	else if (op->receives)
		op->conn->arrived++;
	else
		op->conn->done++;
	fct_routed_give(r, op);
	if (r->ended)
		return r->ended(r, op, err);
	if (err)
		FCT_FAIL("an operation of connection %u failed: %s", op->conn->index,
			 fi_strerror(err));
	return 0;
}

int fct_routed_look(struct routed *r)
{
	struct fi_cq_err_entry err = {0};
	ssize_t n = fi_cq_read(r->l.txcq, &r->entry, 1);

	if (n == -FI_EAGAIN)
		return 0;
	if (n == 1)
		return completed(r, r->entry.op_context, 0) ? -1 : 1;
	FCT_EQ(n, -FI_EAVAIL);
	FCT_EQ(fi_cq_readerr(r->l.txcq, &err, 0), 1);
	FCT_TRUE(err.err > 0);
	return completed(r, err.op_context, err.err) ? -1 : 1;
}

int fct_routed_event(struct routed *r)
{
	struct fct_event e = {0};
	ssize_t n = fi_eq_read(r->l.eq, &e.event, e.room, sizeof(e.room), 0);
	uint32_t i;

	if (n == -FI_EAGAIN)
		return 0;
	FCT_CALL(n);
	FCT_EQ(e.event, FI_SHUTDOWN);
	for (i = 0; i < r->count && &r->conn[i].c.ep->fid != e.cm.fid; i++)
		;
	FCT_TRUE(i < r->count);
	if (r->conn[i].shutdowns++)
		FCT_FAIL("FI_SHUTDOWN of connection %u has come twice", i);
	return 1;
}

int fct_routed_await(struct routed *r, uint32_t busy, const char *what)
{
	struct fct_wait w;
	int ret = 0;

	fct_wait_init(&w, what);
	while (r->busy > busy) {
		FCT_GET(ret, fct_routed_look(r));
		if (!ret)
			FCT_DO(fct_wait_again(&w));
	}
	return 0;
}

/* --- The last message --- */

int fct_routed_stop_arm(struct routed *r)
{
	FCT_CALL(fct_routed_recv(r, &r->conn[0], r->local.buf, 1, 0));
	return 0;
}

int fct_routed_stop(struct routed *r)
{
	FCT_CALL(fct_routed_send(r, &r->conn[0], r->local.buf, 1, 0));
	return fct_routed_await(r, 0, "the last message");
}

int fct_routed_until_stop(struct routed *r)
{
	const uint64_t before = r->conn[0].arrived;
	struct fct_wait w;
	int ret = 0;

	fct_wait_init(&w, "the last message");
	w.end_ms = UINT64_MAX; /* the run's deadline holds */
	while (r->conn[0].arrived == before) {
		FCT_GET(ret, fct_routed_look(r));
		if (!ret && ++w.spins % 1024 == 0)
			FCT_DO(fct_wait_check(&w));
	}
	return 0;
}

/* --- For people --- */

void fct_routed_say(const struct routed *r, const char *format, ...)
{
	va_list args;

	printf("#   %s: ", fct.cur->name);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	fflush(stdout);
}

long fct_routed_resident(pid_t pid)
{
	char path[64], line[128];
	long kib = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "VmRSS: %ld kB", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return kib;
}
