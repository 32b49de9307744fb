/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Durable messages to a target that is gone, sent by a program that reads its completion
 * queue and nothing else: what is refused for lack of room becomes possible or an error,
 * and everything ends.
 */
#include <unistd.h>
#include <signal.h>

#include "lost.h"

static ssize_t send_durable(struct lost *p)
{
	return fct_lost_post(p, &(struct fct_op){.form = FCT_SENDMSG,
						 .buf = p->m.buf,
						 .len = LOST_LEN,
						 .flags = FI_COMMIT_COMPLETE |
							  FI_COMPLETION});
}

static int send_some(struct lost *p, unsigned int count)
{
	fct_fill(p->m.buf, LOST_LEN, 3);
	p->m.buf[0] = 1;
	while (count--)
		FCT_CALL(send_durable(p));
	return 0;
}

/* Tries until a send is taken, or refused for good. */
static int send_one_more(struct lost *p)
{
	struct fi_cq_data_entry e;
	struct fct_wait w;
	ssize_t n;

	p->posted = 0;
	p->ended[0] = 0;
	fct_wait_init(&w, "room for one more, or an error");
	while ((n = send_durable(p)) == -FI_EAGAIN) {
		FCT_EQ(fi_cq_read(p->l.txcq, &e, 1), -FI_EAGAIN);
		FCT_DO(fct_wait_again(&w));
	}
	fct_note("one more: %s", fi_strerror((int)-n));
	FCT_DO(fct_lost_await_ended(p));
	FCT_TRUE(n || p->err[0]);
	return 0;
}

static int all_failed(struct lost *p)
{
	unsigned int i;

	for (i = 0; i < p->posted; i++)
		FCT_TRUE(p->err[i]);
	return 0;
}

static int be_killed(void)
{
	struct lost p = {.caps = FI_RMA_PMEM,
			 .expose = fct_lost_expose_pmem,
			 .receive = fct_lost_receive_pmem};

	return fct_lost_wait(&p);
}

static int fill(void)
{
	FCT_AUTO(fct_link_end) struct lost p = {.caps = FI_RMA_PMEM};

	FCT_DO(fct_lost_listen(&p));
	FCT_DO(fct_lost_stand_still(&p));
	FCT_DO(send_some(&p, LOST_OPS));
	FCT_TRUE(!kill(p.pid, SIGKILL));
	FCT_DO(fct_lost_await_ended(&p));
	FCT_DO(all_failed(&p));
	FCT_DO(send_one_more(&p));
	FCT_DO(fct_lost_await_shutdown(&p));
	FCT_DO(fct_lost_quiet(&p));
	return 0;
}

static int leave(void)
{
	FCT_AUTO(fct_link_end)
	struct lost p = {.caps = FI_RMA_PMEM,
			 .expose = fct_lost_expose_pmem,
			 .receive = fct_lost_receive_pmem};

	FCT_DO(fct_lost_connect(&p));
	FCT_DO(fct_lost_await_message(&p));
	FCT_CALL(fi_shutdown(p.c[LOST_PEER].ep, 0));
	FCT_DO(fct_lost_await_shutdown(&p));
	return 0;
}

static int be_left(void)
{
	FCT_AUTO(fct_link_end) struct lost p = {.caps = FI_RMA_PMEM};

	FCT_DO(fct_lost_listen(&p));
	FCT_DO(send_some(&p, 4));
	/* Some may be durable: the other side looks at its bystander before it closes. */
	FCT_DO(fct_lost_await_ended(&p));
	FCT_DO(send_one_more(&p));
	FCT_DO(fct_lost_await_shutdown(&p));
	FCT_DO(fct_lost_quiet(&p));
	return 0;
}

/* Longer than any case lasts. */
static const char *const late[] = {"FI_PVERBS_COMMIT_TIMEOUT", "3600000", NULL};

FCT_CASE_CALL(durable_full,
	      "of a killed target completions tell, and make room for others",
	      fct_lost_have_pmem()
		      ? -1
		      : fct_lost_play(&(struct lost_play){.prov = "pverbs",
							  .env = late,
							  .killed = true,
							  .listens = fill,
							  .connects = be_killed}))

FCT_CASE_CALL(durable_left,
	      "a target leaves while it owes answers: completions tell of that too",
	      fct_lost_have_pmem()
		      ? -1
		      : fct_lost_play(&(struct lost_play){.prov = "pverbs",
							  .env = late,
							  .listens = be_left,
							  .connects = leave}))
