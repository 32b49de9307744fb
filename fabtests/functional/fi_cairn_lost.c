/* SPDX-License-Identifier: BSD-2-Clause */
/* Peers that are killed, that fall silent, or that do not receive. */
#include <arpa/inet.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "lost.h"

/* ---- killed ---- */

static int be_killed(struct fct *t)
{
	struct lost p = {.l.t = t};

	if (!fct_lost_connect(&p, t))
		for (;;)
			pause();
	return fct_link_down(&p.l, -1);
}

/* Only completions are looked at until all have come. */
static int killed_completions(struct fct *t)
{
	struct lost p = {.l.t = t};
	int ret;

	FCT_DO(fct_lost_listen(&p, t));
	FCT_DO(fct_lost_post_all(&p));
	FCT_DO(fct_lost_bystander(&p));
	FCT_TRUE(t, !kill(p.pid, SIGKILL));
	FCT_DO(fct_lost_await_ended(&p));
	FCT_DO(fct_lost_check_errors(&p));
	FCT_DO(fct_lost_await_shutdown(&p));
	FCT_DO(fct_lost_quiet(&p));
	FCT_DO(fct_conn_close(&p.l, &p.c[LOST_PEER]));
	FCT_DO(fct_lost_quiet(&p));
out:
	return fct_link_down(&p.l, ret);
}

/* What is posted ends no later than the endpoint. */
static int killed_events(struct fct *t)
{
	struct lost p = {.l.t = t};
	int ret;

	FCT_DO(fct_lost_listen(&p, t));
	FCT_DO(fct_lost_post_all(&p));
	FCT_TRUE(t, !kill(p.pid, SIGKILL));
	FCT_DO(fct_lost_await_shutdown(&p));
	FCT_DO(fct_conn_close(&p.l, &p.c[LOST_PEER]));
	FCT_DO(fct_lost_quiet(&p));
	FCT_DO(fct_lost_await_ended(&p));
	FCT_EQ(t, p.failed, p.posted);
out:
	return fct_link_down(&p.l, ret);
}

static int killed_idle(struct fct *t)
{
	struct lost p = {.l.t = t};
	int ret;

	FCT_DO(fct_lost_listen(&p, t));
	FCT_DO(fct_lost_post_receives(&p, 3));
	p.first = p.posted;
	FCT_TRUE(t, !kill(p.pid, SIGKILL));
	FCT_DO(fct_lost_await_shutdown(&p));
	FCT_DO(fct_lost_await_ended(&p));
	FCT_DO(fct_lost_check_errors(&p));
	FCT_DO(fct_lost_quiet(&p));
out:
	return fct_link_down(&p.l, ret);
}

/* ---- silent ---- */

/* The side that nobody answers: it does nothing but wait for events. */
static int hear_nothing(struct fct *t)
{
	struct lost p = {.l.t = t, .early = 3};
	int ret;

	FCT_DO(fct_lost_connect(&p, t));
	p.first = p.posted;
	FCT_DO(fct_lost_await_shutdown(&p));
	FCT_DO(fct_lost_await_ended(&p));
	FCT_DO(fct_lost_check_errors(&p));
	FCT_DO(fct_lost_quiet(&p));
out:
	return fct_link_down(&p.l, ret);
}

/* And the other: it answers its bystander all the time. */
static int be_ended(struct fct *t)
{
	struct lost p = {.l.t = t, .early = 3};
	int ret;

	FCT_DO(fct_lost_listen(&p, t));
	p.first = p.posted;
	FCT_DO(fct_lost_await_shutdown(&p));
	FCT_DO(fct_lost_await_ended(&p));
	FCT_DO(fct_lost_check_errors(&p));
	FCT_DO(fct_lost_quiet(&p));
out:
	return fct_link_down(&p.l, ret);
}

/* ---- no receive ---- */

static int send_in_vain(struct fct *t)
{
	struct lost p = {.l.t = t};
	int ret;

	FCT_DO(fct_lost_connect(&p, t));
	FCT_DO(fct_lost_post_all(&p));
	FCT_DO(fct_lost_await_ended(&p));
	FCT_DO(fct_lost_check_errors(&p));
	FCT_EQ(t, p.err[p.first], FI_ENORX);
	FCT_DO(fct_conn_close(&p.l, &p.c[LOST_PEER]));
out:
	return fct_link_down(&p.l, ret);
}

/* Nothing comes, and then the peer is gone. */
static int receive_nothing(struct fct *t)
{
	struct lost p = {.l.t = t};
	int ret;

	FCT_DO(fct_lost_listen(&p, t));
	FCT_DO(fct_lost_await_shutdown(&p));
	FCT_DO(fct_lost_quiet(&p));
	FCT_EQ(t, p.failed, 0);
out:
	return fct_link_down(&p.l, ret);
}

/* ---- nobody there ---- */

/* An address beside this machine's own that, as far as we know, nobody has. */
static int unused_address(struct fct *t, char node[INET_ADDRSTRLEN])
{
	struct in_addr addr;
	uint8_t *last = (uint8_t *)&addr + 3;

	if (inet_pton(AF_INET, t->opts.self, &addr) != 1)
		return fct_skip(t, "made for an IPv4 address");
	*last = *last == 250 ? 251 : 250;
	inet_ntop(AF_INET, &addr, node, INET_ADDRSTRLEN);
	return 0;
}

/* 1: the error is there, 0: not yet. */
static int look_for_error(struct lost *p, const struct fid_ep *ep)
{
	struct fi_eq_err_entry err = {0};
	struct fct *t = p->l.t;
	struct fct_event e = {0};
	ssize_t n = fi_eq_read(p->l.eq, &e.event, e.room, sizeof(e.room), 0);
	int ret;

	if (n == -FI_EAGAIN)
		return 0;
	FCT_EQ(t, n, -FI_EAVAIL);
	FCT_CALL(t, fi_eq_readerr(p->l.eq, &err, 0));
	FCT_TRUE(t, err.fid == &ep->fid);
	fct_note(t, "error %d (%s)", err.err, fi_strerror(err.err));
	FCT_TRUE(t, err.err == FI_EHOSTUNREACH || err.err == FI_ETIMEDOUT ||
			    err.err == FI_ENETUNREACH);
	ret = 1;
out:
	return ret;
}

/* Beside it messages go to and fro. */
static int ask_nobody(struct fct *t)
{
	struct lost p = {.l.t = t};
	char node[INET_ADDRSTRLEN];
	struct fct_conn c = {0};
	struct fct_wait w;
	int ret;

	FCT_DO(fct_lost_listen(&p, t));
	FCT_DO(unused_address(t, node));
	FCT_DO(fct_getinfo(t, &p.l.s, node, "4791", &c.info));
	FCT_DO(fct_ep_open(&p.l, &c, c.info));
	FCT_CALL(t, fi_connect(c.ep, c.info->dest_addr, NULL, 0));
	fct_wait_init(&w, t, "the end of a connection to nobody");
	do {
		FCT_DO(fct_lost_bystander(&p));
		FCT_DO(fct_wait_again(&w));
		FCT_DO(look_for_error(&p, c.ep));
	} while (!ret);
	FCT_DO(fct_lost_quiet(&p));
	FCT_DO(fct_conn_close(&p.l, &c));
	FCT_DO(fct_lost_quiet(&p));
	FCT_EQ(t, p.shutdowns, 0);
out:
	return fct_link_down(&p.l, ret);
}

static int wait_for_end(struct fct *t)
{
	struct lost p = {.l.t = t};
	int ret;

	FCT_DO(fct_lost_connect(&p, t));
	FCT_DO(fct_lost_await_shutdown(&p));
out:
	return fct_link_down(&p.l, ret);
}

/* ---- cases ---- */

static char **arguments;

static int completions(struct fct *t)
{
	return fct_lost_play(t, &(struct lost_play){.killed = true,
						    .listens = killed_completions,
						    .connects = be_killed});
}

static int events(struct fct *t)
{
	return fct_lost_play(t, &(struct lost_play){.killed = true,
						    .listens = killed_events,
						    .connects = be_killed});
}

static int idle(struct fct *t)
{
	return fct_lost_play(t, &(struct lost_play){.killed = true,
						    .listens = killed_idle,
						    .connects = be_killed});
}

/*
 * On the software device one process' requests can all be lost; connecting is not touched
 * by that.
 */
static int silent(struct fct *t)
{
	static const char *const lossy[] = {"FI_PVERBS_KEEPALIVE",
					    "50",
					    "SIMVERBS_LOSS",
					    "1",
					    "FI_PVERBS_ACK_TIMEOUT",
					    "10",
					    NULL};

	if (!getenv("LD_PRELOAD") || !strstr(getenv("LD_PRELOAD"), "simverbs"))
		return fct_skip(t, "only simverbs loses what one process sends");
	return fct_lost_play(t, &(struct lost_play){.prov = "pverbs",
						    .connects_env = lossy,
						    .argv = arguments,
						    .listens = be_ended,
						    .connects = hear_nothing});
}

static int no_receive(struct fct *t)
{
	static const char *const soon[] = {"FI_PVERBS_RNR_RETRY_COUNT", "2",
					   "FI_PVERBS_RNR_TIMER", "1", NULL};

	return fct_lost_play(t, &(struct lost_play){.prov = "pverbs",
						    .env = soon,
						    .listens = receive_nothing,
						    .connects = send_in_vain});
}

static int nobody_there(struct fct *t)
{
	static const char *const soon[] = {"FI_PVERBS_RESOLVE_TIMEOUT", "300", NULL};

	return fct_lost_play(t, &(struct lost_play){.prov = "pverbs",
						    .env = soon,
						    .listens = ask_nobody,
						    .connects = wait_for_end});
}

int main(int argc, char **argv)
{
	static const struct fct_case cases[] = {
		{"killed_completions",
		 "of a killed peer the completions tell: one error, the rest cancelled",
		 completions},
		{"killed_events",
		 "of a killed peer FI_SHUTDOWN tells, once; all that is posted ends",
		 events},
		{"killed_idle", "a killed peer is noticed where nothing is sent", idle},
		{"silent", "a silent peer on an idle connection is noticed by keep-alive",
		 silent},
		{"no_receive", "retries for a receive that is never posted end",
		 no_receive},
		{"durable_killed",
		 "a target is killed while it owes answers: each operation ends",
		 fct_lost_durable_killed},
		{"durable_kept", "what was durable is there when the target was killed",
		 fct_lost_durable_kept},
		{"durable_stopped",
		 "a target stands still: durable operations end, others go on",
		 fct_lost_durable_stopped},
		{"durable_full",
		 "of a killed target completions tell, and make room for others",
		 fct_lost_durable_full},
		{"durable_left",
		 "a target leaves while it owes answers: completions tell of that too",
		 fct_lost_durable_left},
		{"replay_killed",
		 "a receiver is killed: another process finds what was durable",
		 fct_lost_replay_killed},
		{"nobody_there", "asking for a connection where nobody is ends in time",
		 nobody_there},
	};
	const struct fct_prog prog = {
		.name = "fi_cairn_lost",
		.what = "Peers that are killed, fall silent or do not receive.",
		.cases = cases,
		.n_cases = sizeof(cases) / sizeof(cases[0]),
		.single = true,
		.forks = true,
	};

	arguments = argv;
	fct_lost_play_again(argc, argv, &prog, hear_nothing);
	return fct_main(argc, argv, &prog);
}
