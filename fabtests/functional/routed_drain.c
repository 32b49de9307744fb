/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connections come and go all the time, short ones and some with large transfers, while a
 * command takes routers away and brings them back: no connection fails, no operation
 * does, and large transfers go on meanwhile.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cairn/bytes.h>
#include <cairn/compat.h>

#include "routed.h"

/* Connections at a time that write a lot, and that write once. */
#define LONG 4u
#define SHORT 2u
#define SLOTS (LONG + SHORT)
#define LEN ((size_t)256 << 10)
#define LONG_OPS 200u
#define AHEAD 8u
/* The server's: connections that the client has closed may still be there. */
#define PLACES 64u
/* Operations of each long connection, and short connections, before and after. */
#define OPS_AROUND 200u
#define SHORTS_AROUND 30u
/* What the client asks for last. */
static const char over[] = "over";

enum state { IDLE, CONNECTING, RUNNING };

struct slot {
	enum state state;
	uint64_t ops; /* in this phase, of all its connections */
};

struct phase {
	const char *name;
	uint64_t began, ended; /* ns */
	uint64_t ops, connections;
	uint64_t least; /* of a long slot's operations */
};

struct drained {
	struct routed r;
	struct slot slot[SLOTS];
	uint64_t ops, shorts, connections; /* in this phase */
	pid_t command;
	bool ending; /* no more connections */
};

static bool is_long(const struct routed_conn *conn)
{
	return conn->index < LONG;
}

static uint32_t ops_of(const struct routed_conn *conn)
{
	return is_long(conn) ? LONG_OPS : 1;
}

/* --- The client --- */

static int connect_slot(struct drained *d, struct routed_conn *conn)
{
	conn->posted = conn->done = 0;
	d->slot[conn->index].state = CONNECTING;
	return fct_conn_ask(&d->r.l, &conn->c, NULL, 0);
}

static int close_slot(struct drained *d, struct routed_conn *conn)
{
	d->slot[conn->index].state = IDLE;
	d->connections++;
	d->shorts += !is_long(conn);
	return fct_conn_close(&d->r.l, &conn->c);
}

static int post(struct drained *d, struct routed_conn *conn)
{
	struct routed *r = &d->r;
	ssize_t n = 0;

	while (!n && conn->posted < ops_of(conn) && conn->busy < AHEAD) {
		n = conn->posted % 4 == 3 ? fct_routed_read(r, conn, r->local.buf, LEN,
							    &r->peer, conn->posted)
					  : fct_routed_write(r, conn, r->local.buf,
							     is_long(conn) ? LEN : 64,
							     &r->peer, conn->posted);
		if (n && n != -FI_EAGAIN)
			FCT_CALL(n);
	}
	return 0;
}

/* 1: an event, 0: there is none. */
static int next_event(struct routed *r, struct fct_event *e)
{
	const int ret = fct_eq_look(r->l.eq, e);
	uint64_t router = 0;

	if (ret < 2)
		return ret;
	if (e->err.err_data_size > sizeof(router))
		router = crn_get_le64(e->err.err_data);
	return fct_fail("a connection failed: %s, router %" PRIu64 ", %s",
			fi_strerror(e->err.err), router,
			router ? (const char *)e->err.err_data + sizeof(router) : "");
}

static int client_event(struct drained *d)
{
	struct routed_conn *conn;
	struct fct_event e = {0};
	int ret;

	FCT_GET(ret, next_event(&d->r, &e));
	if (!ret)
		return 0;
	conn = fct_routed_conn_of(&d->r, e.cm.fid);
	FCT_TRUE(conn);
	if (e.event == FI_SHUTDOWN)
		FCT_FAIL("connection %u was lost", conn->index);
	FCT_EQ(e.event, FI_CONNECTED);
	d->slot[conn->index].state = RUNNING;
	return 0;
}

static int step_slot(struct drained *d, struct routed_conn *conn)
{
	struct slot *slot = &d->slot[conn->index];

	if (slot->state == IDLE)
		return d->ending ? 0 : connect_slot(d, conn);
	if (slot->state == CONNECTING)
		return 0;
	if (conn->done == ops_of(conn))
		return close_slot(d, conn);
	return post(d, conn);
}

static int step(struct drained *d)
{
	uint32_t i;
	int ret;

	for (i = 0; i < SLOTS; i++)
		FCT_DO(step_slot(d, &d->r.conn[i]));
	FCT_DO(client_event(d));
	while ((ret = fct_routed_look(&d->r)) > 0) {
	}
	return ret;
}

/* --- Phases --- */

static int on_op(struct routed *r, struct routed_op *op, int err)
{
	struct drained *d = r->user;

	if (err)
		return fct_fail("an operation of connection %u failed: %s",
				op->conn->index, fi_strerror(err));
	d->ops++;
	d->slot[op->conn->index].ops++;
	return 0;
}

static uint64_t least(const struct drained *d)
{
	uint64_t ops = UINT64_MAX;
	uint32_t i;

	for (i = 0; i < LONG; i++)
		ops = CRN_MIN(ops, d->slot[i].ops);
	return ops;
}

/* 1: the command is over. */
static int command_over(struct drained *d)
{
	int how;
	pid_t pid;

	if (!d->command)
		return 1;
	pid = waitpid(d->command, &how, WNOHANG);
	FCT_TRUE(pid >= 0);
	if (!pid)
		return 0;
	d->command = 0;
	FCT_DO(fct_child_result(fct_routed.end, NULL, how));
	return 1;
}

static int run_phase(struct drained *d, struct phase *phase)
{
	struct fct_wait w;
	uint32_t i, turns;
	int ret, over_now = 0;

	d->ops = d->shorts = d->connections = 0;
	for (i = 0; i < LONG; i++)
		d->slot[i].ops = 0;
	fct_wait_init(&w, phase->name);
	w.end_ms = UINT64_MAX; /* the run's deadline holds */
	phase->began = fct_now_ns();
	for (turns = 1; !over_now || least(d) < OPS_AROUND || d->shorts < SHORTS_AROUND;
	     turns++) {
		FCT_DO(step(d));
		if (turns % 256)
			continue;
		FCT_DO(fct_wait_check(&w));
		FCT_GET(ret, command_over(d));
		over_now = ret;
	}
	phase->ended = fct_now_ns();
	phase->ops = d->ops;
	phase->connections = d->connections;
	phase->least = least(d);
	return 0;
}

static bool any_open(const struct drained *d)
{
	uint32_t i;

	for (i = 0; i < SLOTS; i++)
		if (d->slot[i].state != IDLE)
			return true;
	return false;
}

/* What is asked for last is the server's end. */
static int end_all(struct drained *d)
{
	struct routed *r = &d->r;
	struct fct_event e;
	struct fct_wait w;

	d->ending = true;
	fct_wait_init(&w, "the end of the last connections");
	while (any_open(d)) {
		FCT_DO(step(d));
		if (++w.spins % 256 == 0)
			FCT_DO(fct_wait_check(&w));
	}
	FCT_DO(fct_conn_ask(&r->l, &r->conn[0].c, over, sizeof(over)));
	FCT_DO(fct_eq_expect_err(r->l.eq, &r->conn[0].c.ep->fid, &e));
	FCT_EQ(e.err.err, FI_ECONNREFUSED);
	return 0;
}

static void say(const struct drained *d, const struct phase *phase)
{
	const double seconds = (double)(phase->ended - phase->began) / 1e9;

	fct_routed_say(&d->r,
		       "%s: %.1f s, %.0f MB/s, %" PRIu64
		       " connections, at least %.0f MB/s in each of %u places",
		       phase->name, seconds,
		       (double)phase->ops * (double)LEN / 1e6 / seconds,
		       phase->connections,
		       (double)phase->least * (double)LEN / 1e6 / seconds, LONG);
}

static int phases(struct drained *d)
{
	struct phase phase[] = {{.name = "before"},
				{.name = "meanwhile"},
				{.name = "afterwards"}};
	uint32_t i;

	for (i = 0; i < CRN_COUNT(phase); i++) {
		if (i == 1)
			FCT_DO(fct_routed_command(&d->command));
		FCT_DO(run_phase(d, &phase[i]));
		say(d, &phase[i]);
	}
	return end_all(d);
}

static int client(struct drained *d)
{
	int ret = phases(d);

	if (d->command)
		kill(d->command, SIGTERM);
	return ret;
}

/* --- The server --- */

static int take(struct drained *d, const struct fct_event *e)
{
	struct routed *r = &d->r;
	uint32_t i;

	for (i = 0; i < r->count && r->conn[i].c.ep; i++)
		;
	FCT_TRUE(i < r->count);
	FCT_DO(fct_conn_take(&r->l, &r->conn[i].c, e->cm.info));
	FCT_CALL(fi_accept(r->conn[i].c.ep, NULL, 0));
	return 0;
}

/* 1: it is over. */
static int server_event(struct drained *d, const struct fct_event *e)
{
	struct routed *r = &d->r;
	struct routed_conn *conn;

	switch (e->event) {
	case FI_CONNREQ:
		if (e->len < sizeof(over))
			return take(d, e);
		FCT_CALL(fi_reject(r->l.pep, e->cm.info->handle, NULL, 0));
		fi_freeinfo(e->cm.info);
		return 1;
	case FI_SHUTDOWN:
		conn = fct_routed_conn_of(r, e->cm.fid);
		FCT_TRUE(conn);
		return fct_conn_close(&r->l, &conn->c);
	default:
		FCT_EQ(e->event, FI_CONNECTED);
	}
	return 0;
}

static int server(struct drained *d)
{
	struct fct_event e = {0};
	struct fct_wait w;
	int ret = 0;

	fct_wait_init(&w, "the client's last word");
	w.end_ms = UINT64_MAX; /* the run's deadline holds */
	for (;;) {
		FCT_GET(ret, next_event(&d->r, &e));
		if (ret)
			FCT_GET(ret, server_event(d, &e));
		if (ret)
			break;
		FCT_DO(fct_routed_look(&d->r));
		if (++w.spins % 1024 == 0)
			FCT_DO(fct_wait_check(&w));
	}
	return 0;
}

FCT_CASE(drained, "connections come and go while routers are taken away, and none fails")
{
	const struct routed_size size = {.connections = fct_is_client() ? SLOTS : PLACES,
					 .ops = SLOTS * AHEAD,
					 .tx = 16,
					 .rx = 16,
					 .exposed = LEN,
					 .local = LEN};
	FCT_AUTO(fct_routed_end) struct drained d = {.r = {.ended = on_op, .user = &d}};
	struct fct_target mine = {0};

	if (!fct_routed.end)
		return fct_skip("--end names no command that takes routers away");
	FCT_DO(fct_routed_open(&d.r, &size));
	mine = fct_mem_target(&d.r.l, &d.r.exposed);
	FCT_DO(fct_exchange("region", &mine, &d.r.peer, sizeof(mine)));
	FCT_DO(fct_is_client() ? client(&d) : server(&d));
	/* The server is told by the rejection alone; it closes nothing before. */
	return fct_barrier("over");
}
