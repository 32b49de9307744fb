/* SPDX-License-Identifier: BSD-2-Clause */
/* Many at a time, ways of waiting, and targets that are busy, idle or stopped. */
#include <signal.h>
#include <unistd.h>

#include "durable.h"

#define WRITES 400u

/* Durable writes of all sizes, as many outstanding as there is room for up to 64. */
static int stream(struct durable *d, unsigned int count)
{
	unsigned int posted = 0, ended = 0;
	struct fi_cq_data_entry e;
	ssize_t posting;

	while (ended < count) {
		posting = posted < count && posted - ended < 64
				  ? fct_durable_post(d, posted % 64 * 8192,
						     1u << posted % 13,
						     FI_COMMIT_COMPLETE | FI_COMPLETION,
						     &d->ctx[posted % 64])
				  : -FI_EAGAIN;
		if (!posting) {
			posted++;
			continue;
		}
		FCT_EQ(posting, -FI_EAGAIN);
		FCT_TRUE(ended < posted);
		FCT_DO(fct_comp(d->l.txcq, &d->ctx[ended % 64], FI_RMA | FI_WRITE, &e,
				"the oldest durable write"));
		ended++;
	}
	return fct_cq_quiet(d->l.txcq, "after the last one");
}

static int streams(const struct fct_setup *s, bool passive)
{
	FCT_AUTO(fct_durable_end) struct durable d = {0};

	FCT_DO(fct_durable_up(&d, s));
	fct_fill(d.local.buf, DURABLE_MAX, 7);
	if (passive && fct_is_server()) {
		fct.n_progress_cq = 0;
		fct.progress_eq = NULL;
	}
	FCT_DO(fct_barrier("ready"));
	if (fct_is_client())
		FCT_DO(stream(&d, WRITES));
	return fct_durable_check(&d, 1, 7);
}

FCT_CASE(many, "64 of all sizes outstanding, ended in order")
{
	struct fct_setup s = fct_durable_setup();

	s.tx_size = 256;
	return streams(&s, false);
}

FCT_CASE(sread, "fi_cq_sread sleeps until they are durable")
{
	struct fct_setup s = fct_durable_setup();

	s.cq_wait = FI_WAIT_UNSPEC;
	return streams(&s, false);
}

FCT_CASE(manual, "with manual progress on both sides")
{
	struct fct_setup s = fct_durable_setup();

	s.data_progress = FI_PROGRESS_MANUAL;
	return streams(&s, false);
}

FCT_CASE(passive, "to a target that calls nothing")
{
	struct fct_setup s = fct_durable_setup();

	s.data_progress = FI_PROGRESS_AUTO;
	return streams(&s, true);
}

/* The write ends although the client does nothing but sleep at the descriptor. */
static int asleep(struct durable *d, unsigned int i)
{
	struct fi_cq_data_entry e;
	struct fct_wait w;
	ssize_t n;

	FCT_POST(d->l.txcq,
		 fct_durable_post(d, i * 64u, 64, FI_COMMIT_COMPLETE | FI_COMPLETION,
				  &d->ctx[i % 64]));
	fct_wait_init(&w, "a durable write, at the descriptor");
	while ((n = fi_cq_read(d->l.txcq, &e, 1)) == -FI_EAGAIN) {
		FCT_DO(fct_sleep(&d->l, &d->l.txcq->fid, 1000));
		FCT_DO(fct_wait_check(&w));
	}
	FCT_EQ(n, 1);
	FCT_TRUE(e.op_context == &d->ctx[i % 64]);
	return 0;
}

FCT_CASE(wait_fd, "a descriptor wakes up when they are durable")
{
	struct fct_setup s = fct_durable_setup();
	FCT_AUTO(fct_durable_end) struct durable d = {0};
	unsigned int i;

	s.cq_wait = FI_WAIT_FD;
	FCT_DO(fct_durable_up(&d, &s));
	for (i = 0; fct_is_client() && i < 100; i++)
		FCT_DO(asleep(&d, i));
	return fct_barrier("done");
}

/* Each writes its own part. */
FCT_CASE(endpoints, "four connections of one completion queue")
{
	struct fct_setup s = fct_durable_setup();
	struct fct_conn more[3] = {0}, first;
	FCT_AUTO(fct_durable_end) struct durable d = {0};
	int i, ret;

	FCT_DO(fct_durable_up(&d, &s));
	first = d.l.c;
	for (i = 0; i < 3; i++)
		FCT_DO(fct_conn_up(&d.l, &more[i]));
	fct_fill(d.local.buf, 4 * 4096, 8);
	for (i = 0; fct_is_client() && i < 64; i++) {
		d.l.c.ep = i % 4 ? more[i % 4 - 1].ep : first.ep;
		ret = fct_durable_write(&d, (size_t)i * 256, 256, FI_COMMIT_COMPLETE);
		d.l.c.ep = first.ep;
		FCT_DO(ret);
	}
	return fct_durable_check(&d, 4 * 4096, 8);
}

static struct fid_cntr *written;

static int bind_counter(struct fct_link *l, struct fct_conn *c)
{
	return fct_durable_counter(l, c, FI_WRITE, &written);
}

FCT_CASE(counters, "counters count at durability")
{
	struct fct_setup s = fct_durable_setup();
	FCT_AUTO(fct_durable_end) struct durable d = {0};
	uint64_t i;

	s.tx_bind = FI_SELECTIVE_COMPLETION;
	s.tx_op_flags = FI_COMMIT_COMPLETE;
	s.bind = bind_counter;
	FCT_DO(fct_durable_up(&d, &s));
	fct_fill(d.local.buf, 4096, 9);
	for (i = 0; fct_is_client() && i < 64; i++) {
		if (i % 2)
			FCT_POST(d.l.txcq,
				 fi_inject_write(d.l.c.ep, d.local.buf + 64 * i, 64, 0,
						 d.peer.addr + 64 * i, d.peer.key));
		else
			FCT_POST(d.l.txcq, fct_durable_post(&d, 64 * i, 64,
							    FI_COMMIT_COMPLETE, NULL));
	}
	if (fct_is_client()) {
		FCT_CALL(fi_cntr_wait(written, 64, 20000 * (int)fct.scale));
		FCT_EQ(fi_cntr_read(written), 64);
		FCT_EQ(fi_cntr_readerr(written), 0);
	}
	return fct_durable_check(&d, 4096, 9);
}

struct place {
	char host[64];
	int32_t pid;
};

/* The write that needs the target ends, with an error if it is not durable; a plain one
 * is not concerned. */
static int write_to_stopped(struct durable *d, int32_t pid)
{
	struct fi_cq_err_entry err = {0};
	struct fi_cq_data_entry e;
	int ret;

	FCT_DO(fct_child_still(pid));
	FCT_POST(d->l.txcq, fct_durable_post(d, 0, 64, FI_COMMIT_COMPLETE | FI_COMPLETION,
					     &d->ctx[0]));
	ret = fct_cq_next(d->l.txcq, &e, "the durable write");
	if (ret == 1) {
		FCT_EQ(fi_cq_readerr(d->l.txcq, &err, 0), 1);
		FCT_TRUE(err.op_context == &d->ctx[0]);
		FCT_EQ(err.err, FI_ETIMEDOUT);
	} else {
		FCT_DO(ret);
		FCT_TRUE(e.op_context == &d->ctx[0]);
	}
	FCT_DO(fct_durable_write(d, 0, 64, 0));
	return fct_cq_quiet(d->l.txcq, "after both writes");
}

FCT_CASE(stopped, "to a target that stands still: an end in time, and others go on")
{
	struct fct_setup s = fct_durable_setup();
	struct place mine = {.pid = (int32_t)getpid()}, peer;
	FCT_AUTO(fct_durable_end) struct durable d = {0};
	int ret;

	gethostname(mine.host, sizeof(mine.host) - 1);
	FCT_DO(fct_durable_up(&d, &s));
	FCT_DO(fct_exchange("place", &mine, &peer, sizeof(mine)));
	fct_fill(d.local.buf, 64, 10);
	if (fct_is_client()) {
		if (strcmp(mine.host, peer.host) != 0 || kill(peer.pid, SIGSTOP))
			return fct_skip("the target cannot be stopped from here");
		ret = write_to_stopped(&d, peer.pid);
		kill(peer.pid, SIGCONT);
		FCT_DO(ret);
	}
	return fct_durable_check(&d, 64, 10);
}
