/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Targets of durable operations that stand still or are killed while an answer may be
 * due. The process that connects exposes what FI_CAIRN_PMEM names; the one that listens
 * writes to it.
 */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <rdma/fi_ext_cairn.h>

#include "lost.h"

#define WRITES 6u
#define STRIDE 256u

/* It stays mapped as long as the process lives. */
static uint8_t *pmem;
static struct fid_mr *pmem_mr;

int fct_lost_expose_pmem(struct lost *p, struct fct_target *mine)
{
	FCT_DO(fct_pmem_map(&pmem));
	memset(pmem, 0, FCT_PMEM_LEN);
	FCT_DO(fct_pmem_reg(&p->l, pmem, FCT_PMEM_LEN,
			    FI_RECV | FI_REMOTE_READ | FI_REMOTE_WRITE, &pmem_mr, mine));
	return fct_keep(&p->l, &pmem_mr->fid);
}

int fct_lost_have_pmem(void)
{
	return getenv("FI_CAIRN_PMEM")
		       ? 0
		       : fct_skip("FI_CAIRN_PMEM names no persistent memory");
}

static int receive(struct lost *p, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		FCT_CALL(fi_recv(p->c[LOST_PEER].ep, pmem + i * STRIDE, STRIDE,
				 fi_mr_desc(pmem_mr), 0, &p->ctx[i]));
	return 0;
}

int fct_lost_receive_pmem(struct lost *p)
{
	return receive(p, LOST_OPS);
}

int fct_lost_await_message(struct lost *p)
{
	const volatile uint8_t *first = pmem;

	FCT_WAIT_WHILE(!*first, "the first message, in memory", 0);
	return 0;
}

static int be_target(void)
{
	struct lost p = {.caps = FI_RMA_PMEM, .expose = fct_lost_expose_pmem};

	return fct_lost_wait(&p);
}

/* ---- writes ---- */

ssize_t fct_lost_write_pmem(struct lost *p, unsigned int at, uint64_t flags)
{
	return fct_lost_post(p, &(struct fct_op){.form = FCT_WRITEMSG,
						 .buf = p->m.buf,
						 .len = LOST_LEN,
						 .addr = at * 4096u,
						 .flags = flags | FI_COMPLETION});
}

static int post_durable(struct lost *p, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		FCT_CALL(fct_lost_write_pmem(p, i, FI_COMMIT_COMPLETE));
	return 0;
}

int fct_lost_stand_still(struct lost *p)
{
	FCT_TRUE(!kill(p->pid, SIGSTOP));
	return fct_child_still(p->pid);
}

/* Those that needed nobody are durable; of the others the first tells why. */
static int check_ends(struct lost *p, int first)
{
	bool failed = false;
	unsigned int i;

	for (i = 0; i < p->posted; i++) {
		fct_note("write %u: %s", i, fi_strerror(p->err[i]));
		if (failed) {
			FCT_TRUE(p->err[i]);
		} else if (p->err[i] && first) {
			FCT_EQ(p->err[i], first);
		}
		failed |= p->err[i] != 0;
	}
	return 0;
}

static int watch_killed(void)
{
	FCT_AUTO(fct_link_end) struct lost p = {.caps = FI_RMA_PMEM};

	FCT_DO(fct_lost_listen(&p));
	FCT_DO(fct_lost_stand_still(&p));
	FCT_DO(post_durable(&p, WRITES));
	FCT_DO(fct_lost_bystander(&p));
	FCT_TRUE(!kill(p.pid, SIGKILL));
	FCT_DO(fct_lost_await_ended(&p));
	FCT_DO(check_ends(&p, 0));
	FCT_DO(fct_lost_await_shutdown(&p));
	FCT_TRUE(fct_lost_write_pmem(&p, 0, FI_COMMIT_COMPLETE) < 0);
	FCT_DO(fct_lost_quiet(&p));
	FCT_DO(fct_conn_close(&p.l, &p.c[LOST_PEER]));
	FCT_DO(fct_lost_quiet(&p));
	return 0;
}

static int watch_stopped(void)
{
	FCT_AUTO(fct_link_end) struct lost p = {.caps = FI_RMA_PMEM};
	unsigned int durable;
	int ret;

	FCT_DO(fct_lost_listen(&p));
	FCT_DO(fct_lost_stand_still(&p));
	FCT_DO(post_durable(&p, WRITES));
	FCT_DO(fct_lost_await_ended(&p));
	FCT_DO(check_ends(&p, FI_ETIMEDOUT));
	/* Only durable operations are concerned, and those that need nobody are not. */
	durable = p.failed;
	FCT_CALL(fct_lost_write_pmem(&p, 0, 0));
	FCT_DO(fct_lost_await_ended(&p));
	FCT_EQ(p.failed, durable);
	ret = (int)fct_lost_write_pmem(&p, 1, FI_COMMIT_COMPLETE);
	FCT_EQ(ret, durable ? -FI_ECONNABORTED : 0);
	FCT_DO(fct_lost_await_ended(&p));
	FCT_TRUE(!kill(p.pid, SIGKILL));
	FCT_DO(fct_lost_await_shutdown(&p));
	FCT_DO(fct_lost_quiet(&p));
	FCT_EQ(p.failed, durable);
	return 0;
}

static const char *const soon[] = {"FI_PVERBS_COMMIT_TIMEOUT", "1000", NULL};

FCT_CASE_CALL(durable_killed,
	      "a target is killed while it owes answers: each operation ends",
	      fct_lost_have_pmem()
		      ? -1
		      : fct_lost_play(&(struct lost_play){.killed = true,
							  .listens = watch_killed,
							  .connects = be_target}))

FCT_CASE_CALL(durable_stopped,
	      "a target stands still: durable operations end, others go on",
	      fct_lost_have_pmem()
		      ? -1
		      : fct_lost_play(&(struct lost_play){.prov = "pverbs",
							  .env = soon,
							  .killed = true,
							  .listens = watch_stopped,
							  .connects = be_target}))

/* ---- messages ---- */

/* All receives are in the region, and nobody reads what they bring. */
static int receive_there(struct lost *p)
{
	FCT_CALL(fi_setopt(&p->c[LOST_PEER].ep->fid, FI_OPT_ENDPOINT, FI_OPT_CAIRN_REPLAY,
			   &pmem_mr, sizeof(pmem_mr)));
	return receive(p, WRITES);
}

static int be_receiver(void)
{
	struct lost p = {.caps = FI_RMA_PMEM,
			 .expose = fct_lost_expose_pmem,
			 .receive = receive_there};

	return fct_lost_serve(&p);
}

static int replay_ops(struct lost *p, struct fi_cairn_ops_replay **ops)
{
	FCT_CALL(fi_open_ops(&p->l.domain->fid, FI_CAIRN_REPLAY, 0, (void **)ops, NULL));
	return 0;
}

static int send_replay_format(struct lost *p, const struct fi_cairn_ops_replay *ops,
			      unsigned int i)
{
	const size_t len = 100 + i;
	const struct fct_op send = {.form = FCT_SENDMSG,
				    .buf = p->m.buf,
				    .len = FI_CAIRN_REPLAY_HEADER + len,
				    .flags = FI_COMMIT_COMPLETE | FI_COMPLETION};

	fct_fill(p->m.buf + FI_CAIRN_REPLAY_HEADER, len, i);
	FCT_CALL(ops->write_header(p->m.buf, p->m.buf + FI_CAIRN_REPLAY_HEADER, len,
				   i + 1));
	FCT_CALL(fct_lost_post(p, &send));
	/* Its buffer is the next one's. */
	return fct_lost_await_ended(p);
}

struct found {
	unsigned int count;
};

static int look_at(void *ctx, const struct fi_cairn_replay_message *message)
{
	struct found *found = ctx;
	const unsigned int i = found->count++;

	FCT_EQ(message->number, i + 1);
	FCT_EQ(message->len, 100 + i);
	FCT_DATA(message->payload, message->len, i);
	return 0;
}

/* What it finds in the file is what the receiver had not applied. */
static int watch_receiver(void)
{
	FCT_AUTO(fct_link_end) struct lost p = {.caps = FI_RMA_PMEM};
	struct fi_cairn_ops_replay *ops;
	struct found found = {0};
	FCT_AUTO(fct_pmem_end) uint8_t *mem = NULL;
	unsigned int i;

	FCT_DO(fct_lost_listen(&p));
	FCT_DO(replay_ops(&p, &ops));
	for (i = 0; i < WRITES; i++)
		FCT_DO(send_replay_format(&p, ops, i));
	FCT_EQ(p.failed, 0);
	FCT_TRUE(!kill(p.pid, SIGKILL));
	FCT_DO(fct_lost_await_shutdown(&p));
	FCT_DO(fct_lost_quiet(&p));
	FCT_DO(fct_pmem_map(&mem));
	FCT_EQ(ops->replay(mem, STRIDE, WRITES + 2, 1, look_at, &found), WRITES);
	FCT_EQ(found.count, WRITES);
	return 0;
}

FCT_CASE_CALL(replay_killed,
	      "a receiver is killed: another process finds what was durable",
	      fct_lost_have_pmem()
		      ? -1
		      : fct_lost_play(&(struct lost_play){.prov = "pverbs",
							  .killed = true,
							  .listens = watch_receiver,
							  .connects = be_receiver}))
