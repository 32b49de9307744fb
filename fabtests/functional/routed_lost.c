/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Somebody is killed in the middle of transfers: a router by a command, an end by itself.
 * Who is left hears of it in time, once; and each of its operations ends, once.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "routed.h"

#define CONNS 4u
#define OPS 512u
#define LEN ((size_t)100000)
#define AHEAD 24u    /* of each connection, to begin with */
#define RECEIVES 12u /* of each connection; more is sent */
/* Operations that have ended well before somebody dies. */
#define BEFORE 400u

struct lost_end {
	struct routed r;
	uint64_t well;		/* operations */
	bool refused;		/* a call has said that a connection is over */
	uint64_t killed, heard; /* ms */
	pid_t command;
};

static int lost_ended(struct routed *r, struct routed_op *op, int err)
{
	struct lost_end *e = r->user;

	e->well += !err;
	/* A receive that has ended well makes room for another. */
	if (op->receives && !err)
		fct_routed_recv(r, op->conn, r->local.buf + LEN, LEN, 0);
	return 0;
}

static ssize_t post_next(struct lost_end *e, struct routed_conn *conn)
{
	struct routed *r = &e->r;

	switch (conn->posted % 3) {
	case 0:
		return fct_routed_send(r, conn, r->local.buf, LEN, conn->posted);
	case 1:
		return fct_routed_write(r, conn, r->local.buf, LEN, &r->peer,
					conn->posted);
	default:
		return fct_routed_read(r, conn, r->local.buf + 2 * LEN, LEN, &r->peer,
				       conn->posted);
	}
}

static int post_some(struct lost_end *e)
{
	uint32_t i;
	ssize_t n;

	for (i = 0; i < e->r.count; i++) {
		n = -FI_EAGAIN;
		if (!e->r.conn[i].shutdowns && e->r.conn[i].busy < AHEAD)
			n = post_next(e, &e->r.conn[i]);
		if (n == -FI_ENOTCONN || n == -FI_ESHUTDOWN)
			e->refused = true;
		else if (n != -FI_EAGAIN)
			FCT_CALL(n);
	}
	return 0;
}

static int step(struct lost_end *e)
{
	FCT_DO(post_some(e));
	FCT_DO(fct_routed_look(&e->r));
	return fct_routed_event(&e->r);
}

static int up(struct lost_end *e)
{
	const struct routed_size size = {.connections = CONNS,
					 .ops = OPS,
					 .tx = 64,
					 .rx = 64,
					 .exposed = LEN,
					 .local = 3 * LEN};
	uint32_t i, n;

	e->r.user = e;
	e->r.ended = lost_ended;
	FCT_DO(fct_routed_up(&e->r, &size));
	for (i = 0; i < CONNS; i++)
		for (n = 0; n < RECEIVES; n++)
			FCT_CALL(fct_routed_recv(&e->r, &e->r.conn[i],
						 e->r.local.buf + LEN, LEN, 0));
	return fct_barrier("receives");
}

/* --- Who is left --- */

static bool all_heard(const struct lost_end *e)
{
	uint32_t i;

	for (i = 0; i < e->r.count && e->r.conn[i].shutdowns; i++)
		;
	return i == e->r.count;
}

static int hear_of_it(struct lost_end *e)
{
	struct fct_wait w;
	unsigned int i;
	int ret = 0;

	fct_wait_init(&w, "FI_SHUTDOWN of every connection");
	while (!all_heard(e)) {
		FCT_GET(ret, step(e));
		if (!ret && ++w.spins % 256 == 0)
			FCT_DO(fct_wait_check(&w));
	}
	e->heard = fct_now_ms();
	FCT_DO(fct_routed_await(&e->r, 0, "the end of every operation"));
	FCT_TRUE(e->r.failed);
	for (i = 0; i < 1000; i++) {
		FCT_GET(ret, fct_routed_look(&e->r));
		FCT_EQ(ret, 0);
		FCT_GET(ret, fct_routed_event(&e->r));
		FCT_EQ(ret, 0);
	}
	return 0;
}

/* How long it took depends on what else the machine does; hear_of_it has a deadline. */
static void say_time(const struct lost_end *e, const char *who)
{
	const uint64_t ms = e->heard > e->killed ? e->heard - e->killed : 0;

	printf("#   %s: the %s hears of it within %llu ms, %llu operations ended in "
	       "error\n",
	       fct.cur->name, who, (unsigned long long)ms,
	       (unsigned long long)e->r.failed);
	fflush(stdout);
}

static int begin(struct lost_end *e, uint64_t well)
{
	struct fct_wait w;
	int ret = 0;

	fct_wait_init(&w, "transfers");
	while (e->well < well) {
		FCT_GET(ret, step(e));
		if (!ret && ++w.spins % 256 == 0)
			FCT_DO(fct_wait_check(&w));
	}
	return 0;
}

/* --- An end --- */

static _Noreturn void die_between(void)
{
	struct lost_end e = {0};

	if (!up(&e) && !begin(&e, BEFORE))
		kill(getpid(), SIGKILL);
	fprintf(stderr, "who was to be killed: %s\n", fct.why);
	_exit(1);
}

static int doomed(void)
{
	const pid_t pid = fct_child();
	uint64_t when;
	int how;

	if (!pid)
		die_between();
	FCT_TRUE(pid > 0 && waitpid(pid, &how, 0) == pid);
	if (!WIFSIGNALED(how) || WTERMSIG(how) != SIGKILL)
		FCT_FAIL("the process that was to be killed ended otherwise: 0x%x", how);
	when = fct_now_ms();
	FCT_DO(fct_tell("killed", &when, sizeof(when)));
	return fct_barrier("closing");
}

static int survivor(void)
{
	FCT_AUTO(fct_routed_end) struct lost_end e = {0};

	FCT_DO(up(&e));
	FCT_DO(hear_of_it(&e));
	FCT_DO(fct_hear("killed", &e.killed, sizeof(e.killed)));
	say_time(&e, fct_role_name());
	return 0;
}

FCT_CASE_CALL(target_lost, "the target is killed in the middle of transfers",
	      fct_is_server() ? doomed() : survivor())

FCT_CASE_CALL(client_lost, "the client is", fct_is_client() ? doomed() : survivor())

/* --- A router: the program's last case, since others want it --- */

FCT_CASE(router_lost, "a router is")
{
	FCT_AUTO(fct_routed_end) struct lost_end e = {0};
	uint64_t when;

	if (!fct_routed.end)
		return fct_skip("--end names no command that ends a router");
	FCT_DO(up(&e));
	/* The other side may be in the midst of it then. */
	FCT_DO(begin(&e, fct_is_client() ? BEFORE : BEFORE / 4));
	if (fct_is_client()) {
		e.killed = fct_now_ms();
		FCT_DO(fct_routed_command(&e.command));
	}
	FCT_DO(hear_of_it(&e));
	if (fct_is_client())
		FCT_DO(fct_child_join(e.command, fct_routed.end, NULL));
	FCT_DO(fct_exchange("killed", &e.killed, &when, sizeof(when)));
	e.killed = fct_is_client() ? e.killed : when;
	say_time(&e, fct_role_name());
	return 0;
}
