/* SPDX-License-Identifier: BSD-2-Clause */
/* Many at a time, ways of waiting, and targets that are busy, idle or stopped. */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "durable.h"

#define WRITES 400u

/* Durable writes of all sizes, as many outstanding as there is room for up to 64. */
static int stream(struct durable *d, unsigned int count)
{
	unsigned int posted = 0, ended = 0;
	struct fct *t = d->l.t;
	struct fi_cq_data_entry e;
	ssize_t posting;
	int ret = 0;

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
		FCT_EQ(t, posting, -FI_EAGAIN);
		FCT_TRUE(t, ended < posted);
		FCT_DO(fct_comp(t, d->l.txcq, &d->ctx[ended % 64], FI_RMA | FI_WRITE, &e,
				"the oldest durable write"));
		ended++;
	}
	ret = fct_cq_quiet(t, d->l.txcq, "after the last one");
out:
	return ret;
}

static int streams(struct fct *t, const struct fct_setup *s, bool passive)
{
	struct durable d;
	int ret;

	FCT_DO(fct_durable_up(&d, t, s));
	fct_fill(d.local.buf, DURABLE_MAX, 7);
	if (passive && fct_is_server(t)) {
		t->n_progress_cq = 0;
		t->progress_eq = NULL;
	}
	FCT_DO(fct_barrier(t, "ready"));
	if (fct_is_client(t))
		FCT_DO(stream(&d, WRITES));
	FCT_DO(fct_durable_check(&d, 1, 7));
out:
	return fct_durable_down(&d, ret);
}

int fct_durable_many(struct fct *t)
{
	struct fct_setup s = fct_durable_setup();

	s.tx_size = 256;
	return streams(t, &s, false);
}

int fct_durable_sread(struct fct *t)
{
	struct fct_setup s = fct_durable_setup();

	s.cq_wait = FI_WAIT_UNSPEC;
	return streams(t, &s, false);
}

int fct_durable_manual(struct fct *t)
{
	struct fct_setup s = fct_durable_setup();

	s.data_progress = FI_PROGRESS_MANUAL;
	return streams(t, &s, false);
}

int fct_durable_passive(struct fct *t)
{
	struct fct_setup s = fct_durable_setup();

	s.data_progress = FI_PROGRESS_AUTO;
	return streams(t, &s, true);
}

/* The write ends although the client does nothing but sleep at the descriptor. */
static int asleep(struct durable *d, int fd, unsigned int i)
{
	struct fct *t = d->l.t;
	struct fid *fids[] = {&d->l.txcq->fid};
	struct fi_cq_data_entry e;
	struct pollfd pfd = {.fd = fd, .events = POLLIN};
	struct fct_wait w;
	ssize_t n;
	int ret;

	FCT_POST(t, d->l.txcq,
		 fct_durable_post(d, i * 64u, 64, FI_COMMIT_COMPLETE | FI_COMPLETION,
				  &d->ctx[i % 64]));
	fct_wait_init(&w, t, "a durable write, at the descriptor");
	while ((n = fi_cq_read(d->l.txcq, &e, 1)) == -FI_EAGAIN) {
		if (!fi_trywait(d->l.fabric, fids, 1))
			poll(&pfd, 1, 1000);
		FCT_DO(fct_wait_check(&w));
	}
	FCT_EQ(t, n, 1);
	FCT_TRUE(t, e.op_context == &d->ctx[i % 64]);
	ret = 0;
out:
	return ret;
}

int fct_durable_wait_fd(struct fct *t)
{
	struct fct_setup s = fct_durable_setup();
	struct durable d;
	unsigned int i;
	int fd, ret;

	s.cq_wait = FI_WAIT_FD;
	FCT_DO(fct_durable_up(&d, t, &s));
	FCT_CALL(t, fi_control(&d.l.txcq->fid, FI_GETWAIT, &fd));
	for (i = 0; fct_is_client(t) && i < 100; i++)
		FCT_DO(asleep(&d, fd, i));
	ret = fct_barrier(t, "done");
out:
	return fct_durable_down(&d, ret);
}

/* Each writes its own part. */
int fct_durable_endpoints(struct fct *t)
{
	struct fct_setup s = fct_durable_setup();
	struct fct_conn more[3] = {0}, first;
	struct durable d;
	int i, ret;

	FCT_DO(fct_durable_up(&d, t, &s));
	first = d.l.c;
	for (i = 0; i < 3; i++)
		FCT_DO(fct_conn_up(&d.l, &more[i]));
	fct_fill(d.local.buf, 4 * 4096, 8);
	for (i = 0; fct_is_client(t) && i < 64; i++) {
		d.l.c.ep = i % 4 ? more[i % 4 - 1].ep : first.ep;
		ret = fct_durable_write(&d, (size_t)i * 256, 256, FI_COMMIT_COMPLETE);
		d.l.c.ep = first.ep;
		FCT_DO(ret);
	}
	FCT_DO(fct_durable_check(&d, 4 * 4096, 8));
out:
	return fct_durable_down(&d, ret);
}

static struct fid_cntr *written;

static int open_counter(struct fct_link *l)
{
	struct fi_cntr_attr attr = {.events = FI_CNTR_EVENTS_COMP,
				    .wait_obj = FI_WAIT_UNSPEC};
	struct fct *t = l->t;
	int ret;

	FCT_CALL(t, fi_cntr_open(l->domain, &attr, &written, NULL));
	ret = fct_keep(l, &written->fid);
out:
	return ret;
}

static int bind_counter(struct fct_link *l, struct fct_conn *c)
{
	struct fct *t = l->t;
	int ret;

	FCT_CALL(t, fi_ep_bind(c->ep, &written->fid, FI_WRITE));
	ret = 0;
out:
	return ret;
}

int fct_durable_counters(struct fct *t)
{
	struct fct_setup s = fct_durable_setup();
	struct durable d;
	uint64_t i;
	int ret;

	s.tx_bind = FI_SELECTIVE_COMPLETION;
	s.tx_op_flags = FI_COMMIT_COMPLETE;
	s.open = open_counter;
	s.bind = bind_counter;
	FCT_DO(fct_durable_up(&d, t, &s));
	fct_fill(d.local.buf, 4096, 9);
	for (i = 0; fct_is_client(t) && i < 64; i++) {
		if (i % 2)
			FCT_POST(t, d.l.txcq,
				 fi_inject_write(d.l.c.ep, d.local.buf + 64 * i, 64, 0,
						 d.peer.addr + 64 * i, d.peer.key));
		else
			FCT_POST(t, d.l.txcq,
				 fct_durable_post(&d, 64 * i, 64, FI_COMMIT_COMPLETE,
						  NULL));
	}
	if (fct_is_client(t)) {
		FCT_CALL(t, fi_cntr_wait(written, 64, 20000 * (int)t->scale));
		FCT_EQ(t, fi_cntr_read(written), 64);
		FCT_EQ(t, fi_cntr_readerr(written), 0);
	}
	FCT_DO(fct_durable_check(&d, 4096, 9));
out:
	return fct_durable_down(&d, ret);
}

struct place {
	char host[64];
	int32_t pid;
};

/* Has the process noticed the signal? */
static bool stands_still(int32_t pid)
{
	char path[64], state = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "r");
	if (!f)
		return false;
	if (fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
		state = 0;
	fclose(f);
	return state == 'T';
}

/* The write that needs the target ends, with an error if it is not durable; a plain one
 * is not concerned. */
static int write_to_stopped(struct durable *d, int32_t pid)
{
	struct fct *t = d->l.t;
	struct fi_cq_err_entry err = {0};
	struct fi_cq_data_entry e;
	struct fct_wait w;
	int ret;

	fct_wait_init(&w, t, "the target to stand still");
	while (!stands_still(pid))
		FCT_DO(fct_wait_again(&w));
	FCT_POST(t, d->l.txcq,
		 fct_durable_post(d, 0, 64, FI_COMMIT_COMPLETE | FI_COMPLETION,
				  &d->ctx[0]));
	ret = fct_cq_next(t, d->l.txcq, &e, "the durable write");
	if (ret == 1) {
		FCT_EQ(t, fi_cq_readerr(d->l.txcq, &err, 0), 1);
		FCT_TRUE(t, err.op_context == &d->ctx[0]);
		FCT_EQ(t, err.err, FI_ETIMEDOUT);
	} else {
		FCT_DO(ret);
		FCT_TRUE(t, e.op_context == &d->ctx[0]);
	}
	FCT_DO(fct_durable_write(d, 0, 64, 0));
	ret = fct_cq_quiet(t, d->l.txcq, "after both writes");
out:
	return ret;
}

int fct_durable_stopped(struct fct *t)
{
	struct fct_setup s = fct_durable_setup();
	struct place mine = {.pid = (int32_t)getpid()}, peer;
	struct durable d;
	int ret;

	gethostname(mine.host, sizeof(mine.host) - 1);
	FCT_DO(fct_durable_up(&d, t, &s));
	FCT_DO(fct_exchange(t, "place", &mine, &peer, sizeof(mine)));
	fct_fill(d.local.buf, 64, 10);
	if (fct_is_client(t)) {
		if (strcmp(mine.host, peer.host) != 0 || kill(peer.pid, SIGSTOP)) {
			ret = fct_skip(t, "the target cannot be stopped from here");
			goto out;
		}
		ret = write_to_stopped(&d, peer.pid);
		kill(peer.pid, SIGCONT);
		FCT_DO(ret);
	}
	FCT_DO(fct_durable_check(&d, 64, 10));
out:
	return fct_durable_down(&d, ret);
}
