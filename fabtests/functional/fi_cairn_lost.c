/* SPDX-License-Identifier: BSD-2-Clause */
/* Peers that are killed, that fall silent, or that do not receive. */
#include <arpa/inet.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "lost.h"

/* ---- killed ---- */

static int be_killed(void)
{
	struct lost p = {0};

	return fct_lost_wait(&p);
}

/* Only completions are looked at until all have come. */
static int killed_completions(void)
{
	FCT_AUTO(fct_link_end) struct lost p = {0};

	FCT_DO(fct_lost_listen(&p));
	FCT_DO(fct_lost_post_all(&p));
	FCT_DO(fct_lost_bystander(&p));
	FCT_TRUE(!kill(p.pid, SIGKILL));
	FCT_DO(fct_lost_await_ended(&p));
	FCT_DO(fct_lost_check_errors(&p));
	FCT_DO(fct_lost_await_shutdown(&p));
	FCT_DO(fct_lost_quiet(&p));
	FCT_DO(fct_conn_close(&p.l, &p.c[LOST_PEER]));
	FCT_DO(fct_lost_quiet(&p));
	return 0;
}

/* What is posted ends no later than the endpoint. */
static int killed_events(void)
{
	FCT_AUTO(fct_link_end) struct lost p = {0};

	FCT_DO(fct_lost_listen(&p));
	FCT_DO(fct_lost_post_all(&p));
	FCT_TRUE(!kill(p.pid, SIGKILL));
	FCT_DO(fct_lost_await_shutdown(&p));
	FCT_DO(fct_conn_close(&p.l, &p.c[LOST_PEER]));
	FCT_DO(fct_lost_quiet(&p));
	FCT_DO(fct_lost_await_ended(&p));
	FCT_EQ(p.failed, p.posted);
	return 0;
}

static int killed_idle(void)
{
	FCT_AUTO(fct_link_end) struct lost p = {0};

	FCT_DO(fct_lost_listen(&p));
	FCT_DO(fct_lost_post_receives(&p, 3));
	p.first = p.posted;
	FCT_TRUE(!kill(p.pid, SIGKILL));
	FCT_DO(fct_lost_await_shutdown(&p));
	FCT_DO(fct_lost_await_ended(&p));
	FCT_DO(fct_lost_check_errors(&p));
	FCT_DO(fct_lost_quiet(&p));
	return 0;
}

/* ---- silent ---- */

static int hear_of_the_end(int (*connect)(struct lost *p))
{
	FCT_AUTO(fct_link_end) struct lost p = {.early = 3};

	FCT_DO(connect(&p));
	p.first = p.posted;
	FCT_DO(fct_lost_await_shutdown(&p));
	FCT_DO(fct_lost_await_ended(&p));
	FCT_DO(fct_lost_check_errors(&p));
	FCT_DO(fct_lost_quiet(&p));
	return 0;
}

/* The side that nobody answers: it does nothing but wait for events. */
static int hear_nothing(void)
{
	return hear_of_the_end(fct_lost_connect);
}

/* And the other: it answers its bystander all the time. */
static int be_ended(void)
{
	return hear_of_the_end(fct_lost_listen);
}

/* ---- no receive ---- */

static int send_in_vain(void)
{
	FCT_AUTO(fct_link_end) struct lost p = {0};

	FCT_DO(fct_lost_connect(&p));
	FCT_DO(fct_lost_post_all(&p));
	FCT_DO(fct_lost_await_ended(&p));
	FCT_DO(fct_lost_check_errors(&p));
	FCT_EQ(p.err[p.first], FI_ENORX);
	return fct_conn_close(&p.l, &p.c[LOST_PEER]);
}

/* Nothing comes, and then the peer is gone. */
static int receive_nothing(void)
{
	FCT_AUTO(fct_link_end) struct lost p = {0};

	FCT_DO(fct_lost_listen(&p));
	FCT_DO(fct_lost_await_shutdown(&p));
	FCT_DO(fct_lost_quiet(&p));
	FCT_EQ(p.failed, 0);
	return 0;
}

/* ---- nobody there ---- */

/* An address beside this machine's own that, as far as we know, nobody has. */
static int unused_address(char node[INET_ADDRSTRLEN])
{
	struct in_addr addr;
	uint8_t *last = (uint8_t *)&addr + 3;

	if (inet_pton(AF_INET, fct.opts.self, &addr) != 1)
		return fct_skip("made for an IPv4 address");
	*last = *last == 250 ? 251 : 250;
	inet_ntop(AF_INET, &addr, node, INET_ADDRSTRLEN);
	return 0;
}

/* 1: the error is there, 0: not yet. */
static int look_for_error(struct lost *p, const struct fid_ep *ep)
{
	struct fct_event e;
	int ret;

	FCT_GET(ret, fct_eq_look(p->l.eq, &e));
	if (!ret)
		return 0;
	FCT_EQ(ret, 2);
	FCT_TRUE(e.err.fid == &ep->fid);
	fct_note("error %d (%s)", e.err.err, fi_strerror(e.err.err));
	FCT_TRUE(e.err.err == FI_EHOSTUNREACH || e.err.err == FI_ETIMEDOUT ||
		 e.err.err == FI_ENETUNREACH);
	return 1;
}

/* Beside it messages go to and fro. */
static int ask_nobody(void)
{
	FCT_AUTO(fct_link_end) struct lost p = {0};
	char node[INET_ADDRSTRLEN];
	struct fct_conn c = {0};
	struct fct_wait w;
	int ret;

	FCT_DO(fct_lost_listen(&p));
	FCT_DO(unused_address(node));
	FCT_DO(fct_getinfo(&p.l.s, node, "4791", &c.info));
	FCT_DO(fct_ep_open(&p.l, &c, c.info));
	FCT_CALL(fi_connect(c.ep, c.info->dest_addr, NULL, 0));
	fct_wait_init(&w, "the end of a connection to nobody");
	do {
		FCT_DO(fct_lost_bystander(&p));
		FCT_DO(fct_wait_again(&w));
		FCT_GET(ret, look_for_error(&p, c.ep));
	} while (!ret);
	FCT_DO(fct_lost_quiet(&p));
	FCT_DO(fct_conn_close(&p.l, &c));
	FCT_DO(fct_lost_quiet(&p));
	FCT_EQ(p.shutdowns, 0);
	return 0;
}

static int wait_for_end(void)
{
	FCT_AUTO(fct_link_end) struct lost p = {0};

	FCT_DO(fct_lost_connect(&p));
	FCT_DO(fct_lost_await_shutdown(&p));
	return 0;
}

/* ---- cases ---- */

static char **arguments;

FCT_CASE_CALL(killed_completions,
	      "of a killed peer the completions tell: one error, the rest cancelled",
	      fct_lost_play(&(struct lost_play){.killed = true,
						.listens = killed_completions,
						.connects = be_killed}))

FCT_CASE_CALL(killed_events,
	      "of a killed peer FI_SHUTDOWN tells, once; all that is posted ends",
	      fct_lost_play(&(struct lost_play){
		      .killed = true, .listens = killed_events, .connects = be_killed}))

FCT_CASE_CALL(killed_idle, "a killed peer is noticed where nothing is sent",
	      fct_lost_play(&(struct lost_play){
		      .killed = true, .listens = killed_idle, .connects = be_killed}))

/*
 * On the software device one process' requests can all be lost; connecting is not touched
 * by that.
 */
FCT_CASE(silent, "a silent peer on an idle connection is noticed by keep-alive")
{
	static const char *const lossy[] = {"FI_PVERBS_KEEPALIVE",
					    "50",
					    "SIMVERBS_LOSS",
					    "1",
					    "FI_PVERBS_ACK_TIMEOUT",
					    "10",
					    NULL};

	if (!getenv("LD_PRELOAD") || !strstr(getenv("LD_PRELOAD"), "simverbs"))
		return fct_skip("only simverbs loses what one process sends");
	return fct_lost_play(&(struct lost_play){.prov = "pverbs",
						 .connects_env = lossy,
						 .argv = arguments,
						 .listens = be_ended,
						 .connects = hear_nothing});
}

FCT_CASE(no_receive, "retries for a receive that is never posted end")
{
	static const char *const soon[] = {"FI_PVERBS_RNR_RETRY_COUNT", "2",
					   "FI_PVERBS_RNR_TIMER", "1", NULL};

	return fct_lost_play(&(struct lost_play){.prov = "pverbs",
						 .env = soon,
						 .listens = receive_nothing,
						 .connects = send_in_vain});
}

FCT_CASE(nobody_there, "asking for a connection where nobody is ends in time")
{
	static const char *const soon[] = {"FI_PVERBS_RESOLVE_TIMEOUT", "300", NULL};

	return fct_lost_play(&(struct lost_play){.prov = "pverbs",
						 .env = soon,
						 .listens = ask_nobody,
						 .connects = wait_for_end});
}

int main(int argc, char **argv)
{
	const struct fct_prog prog = {
		.name = "fi_cairn_lost",
		.what = "Peers that are killed, fall silent or do not receive.",
		.single = true,
		.forks = true,
	};

	arguments = argv;
	fct_lost_play_again(argc, argv, &prog, hear_nothing);
	return fct_main(argc, argv, &prog);
}
