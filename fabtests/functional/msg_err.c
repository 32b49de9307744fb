/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Operations that cannot succeed are reported, with their context, where they were
 * posted.
 */
#include "msg.h"

#define RECVS 5u
#define LEN 4096u
#define BIG (1u << 20)
#define BIGS 64u

struct side {
	struct fct_link l;
	struct fct_mem m;
	struct fct_ctx ctx[BIGS];
};

static int up(struct side *s, struct fct *t, const struct fct_setup *setup, size_t len)
{
	if (fct_link_up(&s->l, t, setup))
		return -1;
	return fct_mem_alloc(&s->l, &s->m, len, FI_SEND | FI_RECV);
}

static int post_recvs(struct side *s)
{
	struct fct *t = s->l.t;
	unsigned int i;
	int ret = 0;

	for (i = 0; i < RECVS; i++)
		FCT_POST(t, s->l.rxcq,
			 fi_recv(s->l.c.ep, s->m.buf + (size_t)i * LEN, LEN, s->m.desc, 0,
				 &s->ctx[i]));
out:
	return ret;
}

int fct_msg_truncation(struct fct *t)
{
	struct fct_setup setup = {.caps = FI_MSG};
	struct fi_cq_err_entry err = {0};
	struct fi_cq_data_entry e;
	struct side s;
	int ret;

	FCT_DO(up(&s, t, &setup, LEN));
	if (fct_is_server(t)) {
		memset(s.m.buf, 0x5A, LEN);
		FCT_POST(t, s.l.rxcq,
			 fi_recv(s.l.c.ep, s.m.buf, 64, s.m.desc, 0, &s.ctx[0]));
	}
	FCT_DO(fct_barrier(t, "receive posted"));
	if (fct_is_client(t)) {
		FCT_POST(t, s.l.txcq,
			 fi_send(s.l.c.ep, s.m.buf, LEN, s.m.desc, 0, &s.ctx[0]));
		/*
		 * How far the sender learns of it is the provider's matter; its send
		 * ends.
		 */
		FCT_DO(fct_cq_next(t, s.l.txcq, &e, "the end of the overlong send"));
		if (ret) {
			FCT_DO(fct_comp_err(t, s.l.txcq, &err,
					    "the end of the overlong send"));
			FCT_TRUE(t, err.op_context == &s.ctx[0]);
			fct_note(t, "the sender saw %d (%s)", err.err,
				 fi_strerror(err.err));
		}
	} else {
		FCT_DO(fct_comp_err(t, s.l.rxcq, &err,
				    "an error for the receive that is too short"));
		FCT_TRUE(t, err.op_context == &s.ctx[0]);
		FCT_TRUE(t, err.err > 0);
		fct_note(t, "the receiver saw %d (%s)", err.err, fi_strerror(err.err));
		FCT_TRUE(t, fct_all(s.m.buf + 64, LEN - 64, 0x5A));
	}
	ret = fct_barrier(t, "truncated");
out:
	return fct_link_down(&s.l, ret);
}

int fct_msg_cancel(struct fct *t)
{
	struct fct_setup setup = {.caps = FI_MSG};
	struct fi_cq_err_entry err;
	struct side s;
	int ret;

	FCT_DO(up(&s, t, &setup, RECVS * LEN));
	if (fct_is_server(t)) {
		FCT_DO(post_recvs(&s));
		ret = (int)fi_cancel(&s.l.c.ep->fid, &s.ctx[2]);
		if (ret == -FI_ENOSYS || ret == -FI_EOPNOTSUPP) {
			fct_skip(t, "fi_cancel: %s", fi_strerror(-ret));
			goto out;
		}
		FCT_CALL(t, ret);
		FCT_DO(fct_comp_err(t, s.l.rxcq, &err, "the cancelled receive"));
		FCT_TRUE(t, err.op_context == &s.ctx[2]);
		FCT_EQ(t, err.err, FI_ECANCELED);
		FCT_DO(fct_cq_quiet(t, s.l.rxcq, "after the cancelled receive"));
	}
	ret = fct_barrier(t, "cancelled");
out:
	return fct_link_down(&s.l, ret);
}

/* All receives, in any order, reported as errors; nothing is waited for. */
static int read_cancelled(struct side *s, bool exact)
{
	bool seen[RECVS] = {false};
	struct fi_cq_err_entry err = {0};
	struct fi_cq_data_entry e;
	struct fct *t = s->l.t;
	unsigned int n, i;
	int ret = 0;

	for (n = 0; n < RECVS; n++) {
		ret = (int)fi_cq_read(s->l.rxcq, &e, 1);
		if (ret != -FI_EAVAIL)
			FCT_FAIL(t,
				 "%u of %u posted receives were reported when fi_close "
				 "returned "
				 "(fi_cq_read returned %d)",
				 n, RECVS, ret);
		memset(&err, 0, sizeof(err));
		FCT_EQ(t, fi_cq_readerr(s->l.rxcq, &err, 0), 1);
		for (i = 0; i < RECVS; i++)
			if (err.op_context == &s->ctx[i])
				break;
		FCT_TRUE(t, i < RECVS && !seen[i]);
		seen[i] = true;
		FCT_TRUE(t, err.err > 0);
		if (exact)
			FCT_EQ(t, err.err, FI_ECANCELED);
	}
	ret = fct_cq_quiet(t, s->l.rxcq, "after the cancelled receives");
out:
	return ret;
}

int fct_msg_close_cancels(struct fct *t)
{
	struct fct_setup setup = {.caps = FI_MSG};
	struct side s;
	int ret;

	FCT_DO(up(&s, t, &setup, RECVS * LEN));
	if (fct_is_client(t)) {
		FCT_DO(post_recvs(&s));
		FCT_DO(fct_conn_close(&s.l, &s.l.c));
		FCT_DO(read_cancelled(&s, true));
	}
	ret = fct_barrier(t, "client closed");
out:
	return fct_link_down(&s.l, ret);
}

int fct_msg_peer_closes(struct fct *t)
{
	struct fct_setup setup = {.caps = FI_MSG};
	struct fct_event e;
	struct side s;
	int ret;

	FCT_DO(up(&s, t, &setup, RECVS * LEN));
	if (fct_is_client(t))
		FCT_DO(post_recvs(&s));
	FCT_DO(fct_barrier(t, "receives posted"));
	if (fct_is_server(t)) {
		FCT_DO(fct_conn_close(&s.l, &s.l.c));
	} else {
		FCT_DO(fct_eq_expect(t, s.l.eq, FI_SHUTDOWN, &s.l.c.ep->fid, &e));
		FCT_DO(fct_conn_close(&s.l, &s.l.c));
		FCT_DO(read_cancelled(&s, false));
	}
out:
	return fct_link_down(&s.l, ret);
}

/*
 * An error in the CQ by itself, or once FI_SHUTDOWN has been seen and the endpoint is
 * closed.
 */
static int await_send_error(struct side *s, struct fi_cq_err_entry *err)
{
	struct fct *t = s->l.t;
	struct fi_cq_data_entry e;
	struct fct_event event;
	struct fct_wait w;
	ssize_t n;
	int ret;

	fct_wait_init(&w, t, "an error for a send that has no receive");
	while ((n = fi_cq_read(s->l.txcq, &e, 1)) == -FI_EAGAIN) {
		n = fi_eq_read(s->l.eq, &event.event, event.room, sizeof(event.room), 0);
		if (n != -FI_EAGAIN) {
			FCT_CALL(t, n);
			FCT_EQ(t, event.event, FI_SHUTDOWN);
			fct_note(t, "FI_SHUTDOWN came first");
			FCT_DO(fct_conn_close(&s->l, &s->l.c));
		}
		FCT_DO(fct_wait_again(&w));
	}
	FCT_EQ(t, n, -FI_EAVAIL);
	memset(err, 0, sizeof(*err));
	FCT_EQ(t, fi_cq_readerr(s->l.txcq, err, 0), 1);
	ret = 0;
out:
	return ret;
}

/*
 * More than sockets buffer, so that some sends must be unfinished when the peer goes
 * away.
 */
int fct_msg_selective_error(struct fct *t)
{
	struct fct_setup setup = {.caps = FI_MSG,
				  .tx_size = BIGS,
				  .tx_bind = FI_SELECTIVE_COMPLETION};
	struct fi_cq_err_entry err;
	struct side s;
	unsigned int i;
	int ret;

	FCT_DO(up(&s, t, &setup, BIG));
	for (i = 0; fct_is_client(t) && i < BIGS; i++)
		FCT_POST(t, s.l.txcq,
			 fi_send(s.l.c.ep, s.m.buf, BIG, s.m.desc, 0, &s.ctx[i]));
	FCT_DO(fct_barrier(t, "sends posted"));
	if (fct_is_server(t)) {
		FCT_DO(fct_conn_close(&s.l, &s.l.c));
	} else {
		FCT_DO(await_send_error(&s, &err));
		for (i = 0; i < BIGS; i++)
			if (err.op_context == &s.ctx[i])
				break;
		FCT_TRUE(t, i < BIGS);
		fct_note(t, "send %u: %d (%s)", i, err.err, fi_strerror(err.err));
	}
out:
	return fct_link_down(&s.l, ret);
}
