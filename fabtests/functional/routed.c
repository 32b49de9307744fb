/* SPDX-License-Identifier: BSD-2-Clause */
/* Connections, operations and their completions, for all cases. */
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

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

/* NULL: all are busy. */
static struct routed_op *take(struct routed *r, struct routed_conn *conn)
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

static void give(struct routed *r, struct routed_op *op)
{
	op->busy = false;
	op->next = r->free;
	r->free = op;
	r->busy--;
	if (!op->receives)
		op->conn->busy--;
}

int fct_routed_post(struct routed *r, struct routed_conn *conn, const struct fct_op *what,
		    uint32_t kind, uint64_t number)
{
	struct routed_op *op = take(r, conn);
	struct fct_op o = *what;
	ssize_t ret;

	if (!op)
		return -FI_EAGAIN;
	op->receives = o.form == FCT_RECV;
	conn->busy -= op->receives;
	op->len = o.len;
	op->kind = kind;
	op->number = number;
	o.desc = r->local.desc;
	o.ctx = &op->ctx;
	ret = fct_op_post(conn->c.ep, &o);
	if (ret)
		give(r, op);
	else
		conn->posted += !op->receives;
	return (int)ret;
}

int fct_routed_send(struct routed *r, struct routed_conn *conn, const void *buf,
		    size_t len, uint64_t number)
{
	return fct_routed_post(
		r, conn,
		&(struct fct_op){.form = FCT_SEND, .buf = (void *)buf, .len = len}, 0,
		number);
}

int fct_routed_recv(struct routed *r, struct routed_conn *conn, void *buf, size_t len,
		    uint64_t number)
{
	return fct_routed_post(r, conn,
			       &(struct fct_op){.form = FCT_RECV, .buf = buf, .len = len},
			       0, number);
}

int fct_routed_write(struct routed *r, struct routed_conn *conn, const void *buf,
		     size_t len, const struct fct_target *to, uint64_t number)
{
	return fct_routed_post(r, conn,
			       &(struct fct_op){.form = FCT_WRITE,
						.buf = (void *)buf,
						.len = len,
						.addr = to->addr,
						.key = to->key},
			       0, number);
}

int fct_routed_read(struct routed *r, struct routed_conn *conn, void *buf, size_t len,
		    const struct fct_target *from, uint64_t number)
{
	return fct_routed_post(r, conn,
			       &(struct fct_op){.form = FCT_READ,
						.buf = buf,
						.len = len,
						.addr = from->addr,
						.key = from->key},
			       0, number);
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
	r->failed += err != 0;
	op->conn->arrived += !err && op->receives;
	op->conn->done += !err && !op->receives;
	op->conn->bytes += err ? 0 : op->len;
	give(r, op);
	if (r->ended)
		return r->ended(r, op, err);
	if (err)
		FCT_FAIL("an operation of connection %u failed: %s", op->conn->index,
			 fi_strerror(err));
	return 0;
}

int fct_routed_look(struct routed *r)
{
	int err, ret = fct_cq_look(r->l.txcq, &r->entry, &err);

	if (ret <= 0)
		return ret;
	return completed(r, r->entry.op_context, err) ? -1 : 1;
}

int fct_routed_event(struct routed *r)
{
	struct routed_conn *conn;
	struct fct_event e;
	int ret;

	FCT_GET(ret, fct_eq_look(r->l.eq, &e));
	if (!ret)
		return 0;
	FCT_EQ(ret, 1);
	FCT_EQ(e.event, FI_SHUTDOWN);
	conn = fct_routed_conn_of(r, e.cm.fid);
	FCT_TRUE(conn);
	if (conn->shutdowns++)
		FCT_FAIL("FI_SHUTDOWN of connection %u has come twice", conn->index);
	return 1;
}

struct routed_conn *fct_routed_conn_of(struct routed *r, fid_t fid)
{
	return (struct routed_conn *)fct_conn_of(&r->l, fid);
}

int fct_routed_await(struct routed *r, uint32_t busy, const char *what)
{
	FCT_WAIT_WHILE(r->busy > busy, what, fct_routed_look(r));
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

/* --- Many readers --- */

static int read_on(struct routed *r, struct routed_conn *conn,
		   const struct routed_reading *how)
{
	size_t at;

	while (conn->busy < how->window) {
		at = conn->index * how->window + conn->posted % how->window;
		FCT_CALL(fct_routed_read(r, conn, r->local.buf + at * how->len, how->len,
					 &r->peer, conn->posted));
	}
	return 0;
}

int fct_routed_read_all(struct routed *r, const struct routed_reading *how, double *rate)
{
	const uint64_t begun = fct_now_ns(), end = fct_now_ms() + how->ms * fct.scale;
	uint64_t ended = 0;
	uint32_t i;
	int ret;

	for (i = 0; i < how->count; i++)
		r->conn[i].bytes = 0;
	while (fct_now_ms() < end || ended < how->least) {
		for (i = 0; i < how->count; i++)
			FCT_DO(read_on(r, &r->conn[i], how));
		/* What arrives is taken before more is asked for. */
		do {
			FCT_GET(ret, fct_routed_look(r));
			ended += (uint64_t)ret;
		} while (ret);
	}
	*rate = (double)ended * 1e9 / (double)(fct_now_ns() - begun);
	return 0;
}

/* How even conn[].bytes are: (sum of x)^2 / (n * sum of x^2), Jain, Chiu and Hawe,
 * DEC-TR-301. */
int fct_routed_fair(struct routed *r, double least)
{
	double sum = 0, squares = 0, x, index;
	uint32_t i;

	for (i = 0; i < r->count; i++) {
		x = (double)r->conn[i].bytes;
		sum += x;
		squares += x * x;
	}
	index = squares > 0 ? sum * sum / (r->count * squares) : 0;
	fct_routed_say(r, "%u readers: Jain index %.3f", r->count, index);
	if (index < least)
		FCT_FAIL("Jain index %.3f", index);
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

static int by_value(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

void fct_routed_sort(uint64_t *values, size_t count)
{
	qsort(values, count, sizeof(*values), by_value);
}

int fct_routed_command(pid_t *pid)
{
	*pid = fct_child();
	if (!*pid) {
		execl("/bin/sh", "sh", "-c", fct_routed.end, (char *)NULL);
		_exit(127);
	}
	return *pid < 0 ? -1 : 0;
}
