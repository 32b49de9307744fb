/* SPDX-License-Identifier: BSD-2-Clause */
/* Peers that are killed, that fall silent, or that do not receive. */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "lost.h"

/* ---- killed ---- */

static int be_killed(struct fct *t)
{
	struct lost p = {.l.t = t};

	if (!lost_connect(&p, t))
		for (;;)
			pause();
	return fct_link_down(&p.l, -1);
}

/* Only completions are looked at until all have come. */
static int killed_completions(struct fct *t)
{
	struct lost p = {.l.t = t};
	int ret;

	FCT_DO(lost_listen(&p, t));
	FCT_DO(lost_post_all(&p));
	FCT_DO(lost_bystander(&p));
	FCT_TRUE(t, !kill(p.pid, SIGKILL));
	FCT_DO(lost_await_ended(&p));
	FCT_DO(lost_check_errors(&p));
	FCT_DO(lost_await_shutdown(&p));
	FCT_DO(lost_quiet(&p));
	FCT_DO(fct_conn_close(&p.l, &p.c[LOST_PEER]));
	FCT_DO(lost_quiet(&p));
out:
	return fct_link_down(&p.l, ret);
}

/* What is posted ends no later than the endpoint. */
static int killed_events(struct fct *t)
{
	struct lost p = {.l.t = t};
	int ret;

	FCT_DO(lost_listen(&p, t));
	FCT_DO(lost_post_all(&p));
	FCT_TRUE(t, !kill(p.pid, SIGKILL));
	FCT_DO(lost_await_shutdown(&p));
	FCT_DO(fct_conn_close(&p.l, &p.c[LOST_PEER]));
	FCT_DO(lost_quiet(&p));
	FCT_DO(lost_await_ended(&p));
	FCT_EQ(t, p.failed, p.posted);
out:
	return fct_link_down(&p.l, ret);
}

static int killed_idle(struct fct *t)
{
	struct lost p = {.l.t = t};
	int ret;

	FCT_DO(lost_listen(&p, t));
	FCT_DO(lost_post_receives(&p, 3));
	p.first = p.posted;
	FCT_TRUE(t, !kill(p.pid, SIGKILL));
	FCT_DO(lost_await_shutdown(&p));
	FCT_DO(lost_await_ended(&p));
	FCT_DO(lost_check_errors(&p));
	FCT_DO(lost_quiet(&p));
out:
	return fct_link_down(&p.l, ret);
}

/* ---- silent ---- */

/* The side that nobody answers: it does nothing but wait for events. */
static int hear_nothing(struct fct *t)
{
	struct lost p = {.l.t = t, .early = 3};
	int ret;

	FCT_DO(lost_connect(&p, t));
	p.first = p.posted;
	FCT_DO(lost_await_shutdown(&p));
	FCT_DO(lost_await_ended(&p));
	FCT_DO(lost_check_errors(&p));
	FCT_DO(lost_quiet(&p));
out:
	return fct_link_down(&p.l, ret);
}

/* And the other: it answers its bystander all the time. */
static int be_ended(struct fct *t)
{
	struct lost p = {.l.t = t, .early = 3};
	int ret;

	FCT_DO(lost_listen(&p, t));
	p.first = p.posted;
	FCT_DO(lost_await_shutdown(&p));
	FCT_DO(lost_await_ended(&p));
	FCT_DO(lost_check_errors(&p));
	FCT_DO(lost_quiet(&p));
out:
	return fct_link_down(&p.l, ret);
}

/* ---- no receive ---- */

static int send_in_vain(struct fct *t)
{
	struct lost p = {.l.t = t};
	int ret;

	FCT_DO(lost_connect(&p, t));
	FCT_DO(lost_post_all(&p));
	FCT_DO(lost_await_ended(&p));
	FCT_DO(lost_check_errors(&p));
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

	FCT_DO(lost_listen(&p, t));
	FCT_DO(lost_await_shutdown(&p));
	FCT_DO(lost_quiet(&p));
	FCT_EQ(t, p.failed, 0);
out:
	return fct_link_down(&p.l, ret);
}

/* ---- cases ---- */

static char **arguments;

static int completions(struct fct *t)
{
	return lost_play(t, &(struct lost_play){.killed = true,
						.listens = killed_completions,
						.connects = be_killed});
}

static int events(struct fct *t)
{
	return lost_play(t, &(struct lost_play){.killed = true,
						.listens = killed_events,
						.connects = be_killed});
}

static int idle(struct fct *t)
{
	return lost_play(t, &(struct lost_play){.killed = true,
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
	return lost_play(t, &(struct lost_play){.prov = "pverbs",
						.connects_env = lossy,
						.argv = arguments,
						.listens = be_ended,
						.connects = hear_nothing});
}

static int no_receive(struct fct *t)
{
	static const char *const soon[] = {"FI_PVERBS_RNR_RETRY_COUNT", "2",
					   "FI_PVERBS_RNR_TIMER", "1", NULL};

	return lost_play(t, &(struct lost_play){.prov = "pverbs",
						.env = soon,
						.listens = receive_nothing,
						.connects = send_in_vain});
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
	lost_play_again(argc, argv, &prog, hear_nothing);
	return fct_main(argc, argv, &prog);
}
