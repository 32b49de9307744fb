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
	struct fct_link *l = &d->r.l;
	struct fct *t = l->t;
	int ret;

	conn->posted = conn->done = 0;
	conn->c.info = fi_dupinfo(l->info);
	FCT_TRUE(t, conn->c.info);
	FCT_DO(fct_ep_open(l, &conn->c, conn->c.info));
	FCT_CALL(t, fi_connect(conn->c.ep, l->info->dest_addr, NULL, 0));
	d->slot[conn->index].state = CONNECTING;
out:
	return ret;
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
	int ret = 0;

	while (!n && conn->posted < ops_of(conn) && conn->busy < AHEAD) {
		n = conn->posted % 4 == 3 ? fct_routed_read(r, conn, r->local.buf, LEN,
							    &r->peer, conn->posted)
					  : fct_routed_write(r, conn, r->local.buf,
							     is_long(conn) ? LEN : 64,
							     &r->peer, conn->posted);
		if (n && n != -FI_EAGAIN)
			FCT_CALL(r->l.t, n);
	}
	ret = 0;
out:
	return ret;
}

static struct routed_conn *conn_of(struct routed *r, fid_t fid)
{
	uint32_t i;

	for (i = 0; i < r->count; i++)
		if (r->conn[i].c.ep && &r->conn[i].c.ep->fid == fid)
			return &r->conn[i];
	return NULL;
}

static int say_failure(struct routed *r)
{
	struct fi_eq_err_entry err = {0};
	uint64_t router = 0;
	uint8_t data[FCT_CM_DATA_MAX] = {0};
	const char *why = (const char *)data + sizeof(router);

	err.err_data = data;
	err.err_data_size = sizeof(data) - 1;
	if (fi_eq_readerr(r->l.eq, &err, 0) < 0)
		return fct_fail_at(r->l.t, NULL, 0, "no error entry");
	if (err.err_data_size >= sizeof(router))
		router = crn_get_le64(data);
	return fct_fail_at(r->l.t, NULL, 0,
			   "a connection failed: %s, router %" PRIu64 ", %s",
			   fi_strerror(err.err), router, router ? why : "");
}

/* 1: an event, 0: there is none. */
static int next_event(struct routed *r, struct fct_event *e)
{
	struct fct *t = r->l.t;
	ssize_t n = fi_eq_read(r->l.eq, &e->event, e->room, sizeof(e->room), 0);
	int ret;

	if (n == -FI_EAGAIN)
		return 0;
	if (n == -FI_EAVAIL)
		return say_failure(r);
	FCT_CALL(t, n);
	e->len = (size_t)n - CRN_MIN(sizeof(e->cm), (size_t)n);
	ret = 1;
out:
	return ret;
}

static int client_event(struct drained *d)
{
	struct fct *t = d->r.l.t;
	struct routed_conn *conn;
	struct fct_event e = {0};
	int ret;

	FCT_DO(next_event(&d->r, &e));
	if (!ret)
		return 0;
	conn = conn_of(&d->r, e.cm.fid);
	FCT_TRUE(t, conn);
	if (e.event == FI_SHUTDOWN)
		FCT_FAIL(t, "connection %u was lost", conn->index);
	FCT_EQ(t, e.event, FI_CONNECTED);
	d->slot[conn->index].state = RUNNING;
out:
	return ret;
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
out:
	return ret;
}

/* --- Phases --- */

static int on_op(struct routed *r, struct routed_op *op, int err)
{
	struct drained *d = r->user;

	if (err)
		return fct_fail_at(r->l.t, NULL, 0,
				   "an operation of connection %u failed: %s",
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
	struct fct *t = d->r.l.t;
	int how, ret;
	pid_t pid;

	if (!d->command)
		return 1;
	pid = waitpid(d->command, &how, WNOHANG);
	FCT_TRUE(t, pid >= 0);
	if (!pid)
		return 0;
	d->command = 0;
	if (!WIFEXITED(how) || WEXITSTATUS(how))
		FCT_FAIL(t, "%s: status 0x%x", fct_routed.end, how);
	ret = 1;
out:
	return ret;
}

static int run_phase(struct drained *d, struct phase *phase)
{
	struct fct_wait w;
	uint32_t i, turns;
	int ret, over_now = 0;

	d->ops = d->shorts = d->connections = 0;
	for (i = 0; i < LONG; i++)
		d->slot[i].ops = 0;
	fct_wait_init(&w, d->r.l.t, phase->name);
	w.end_ms = UINT64_MAX; /* the run's deadline holds */
	phase->began = fct_now_ns();
	for (turns = 1; !over_now || least(d) < OPS_AROUND || d->shorts < SHORTS_AROUND;
	     turns++) {
		FCT_DO(step(d));
		if (turns % 256)
			continue;
		FCT_DO(fct_wait_check(&w));
		FCT_DO(command_over(d));
		over_now = ret;
	}
	phase->ended = fct_now_ns();
	phase->ops = d->ops;
	phase->connections = d->connections;
	phase->least = least(d);
	ret = 0;
out:
	return ret;
}

static int begin_command(struct drained *d)
{
	struct fct *t = d->r.l.t;
	int ret = 0;

	fflush(stdout);
	d->command = fork();
	if (!d->command) {
		execl("/bin/sh", "sh", "-c", fct_routed.end, (char *)NULL);
		_exit(127);
	}
	FCT_TRUE(t, d->command > 0);
out:
	return ret;
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
	struct fct *t = r->l.t;
	struct fct_event e;
	struct fct_wait w;
	int ret;

	d->ending = true;
	fct_wait_init(&w, t, "the end of the last connections");
	while (any_open(d)) {
		FCT_DO(step(d));
		if (++w.spins % 256 == 0)
			FCT_DO(fct_wait_check(&w));
	}
	r->conn[0].c.info = fi_dupinfo(r->l.info);
	FCT_TRUE(t, r->conn[0].c.info);
	FCT_DO(fct_ep_open(&r->l, &r->conn[0].c, r->conn[0].c.info));
	FCT_CALL(t,
		 fi_connect(r->conn[0].c.ep, r->l.info->dest_addr, over, sizeof(over)));
	FCT_DO(fct_eq_expect_err(t, r->l.eq, &r->conn[0].c.ep->fid, &e));
	FCT_EQ(t, e.err.err, FI_ECONNREFUSED);
out:
	return ret;
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

static int client(struct drained *d)
{
	struct phase phase[] = {{.name = "before"},
				{.name = "meanwhile"},
				{.name = "afterwards"}};
	uint32_t i;
	int ret;

	for (i = 0; i < CRN_COUNT(phase); i++) {
		if (i == 1)
			FCT_DO(begin_command(d));
		FCT_DO(run_phase(d, &phase[i]));
		say(d, &phase[i]);
	}
	ret = end_all(d);
out:
	if (d->command)
		kill(d->command, SIGTERM);
	return ret;
}

/* --- The server --- */

static int take(struct drained *d, const struct fct_event *e)
{
	struct routed *r = &d->r;
	struct fct *t = r->l.t;
	uint32_t i;
	int ret;

	for (i = 0; i < r->count && r->conn[i].c.ep; i++)
		;
	FCT_TRUE(t, i < r->count);
	r->conn[i].c.info = e->cm.info;
	FCT_DO(fct_ep_open(&r->l, &r->conn[i].c, e->cm.info));
	FCT_CALL(t, fi_accept(r->conn[i].c.ep, NULL, 0));
out:
	return ret;
}

/* 1: it is over. */
static int server_event(struct drained *d, const struct fct_event *e)
{
	struct routed *r = &d->r;
	struct fct *t = r->l.t;
	struct routed_conn *conn;
	int ret = 0;

	switch (e->event) {
	case FI_CONNREQ:
		if (e->len < sizeof(over))
			return take(d, e);
		FCT_CALL(t, fi_reject(r->l.pep, e->cm.info->handle, NULL, 0));
		fi_freeinfo(e->cm.info);
		return 1;
	case FI_SHUTDOWN:
		conn = conn_of(r, e->cm.fid);
		FCT_TRUE(t, conn);
		return fct_conn_close(&r->l, &conn->c);
	default:
		FCT_EQ(t, e->event, FI_CONNECTED);
	}
out:
	return ret;
}

static int server(struct drained *d)
{
	struct fct *t = d->r.l.t;
	struct fct_event e = {0};
	struct fct_wait w;
	int ret = 0;

	fct_wait_init(&w, t, "the client's last word");
	w.end_ms = UINT64_MAX; /* the run's deadline holds */
	for (;;) {
		FCT_DO(next_event(&d->r, &e));
		if (ret)
			FCT_DO(server_event(d, &e));
		if (ret)
			break;
		FCT_DO(fct_routed_look(&d->r));
		if (++w.spins % 1024 == 0)
			FCT_DO(fct_wait_check(&w));
	}
	ret = 0;
out:
	return ret;
}

int fct_routed_drained(struct fct *t)
{
	const struct routed_size size = {.connections = fct_is_client(t) ? SLOTS : PLACES,
					 .ops = SLOTS * AHEAD,
					 .tx = 16,
					 .rx = 16,
					 .exposed = LEN,
					 .local = LEN};
	struct drained d = {.r = {.l.t = t, .ended = on_op, .user = &d}};
	struct fct_target mine = {0};
	int ret;

	if (!fct_routed.end)
		return fct_skip(t, "--end names no command that takes routers away");
	FCT_DO(fct_routed_open(&d.r, t, &size));
	mine = fct_mem_target(&d.r.l, &d.r.exposed);
	FCT_DO(fct_exchange(t, "region", &mine, &d.r.peer, sizeof(mine)));
	FCT_DO(fct_is_client(t) ? client(&d) : server(&d));
	/* The server is told by the rejection alone; it closes nothing before. */
	ret = fct_barrier(t, "over");
out:
	return fct_routed_down(&d.r, ret);
}
