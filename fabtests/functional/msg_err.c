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

static int up(struct side *s, const struct fct_setup *setup, size_t len)
{
	if (fct_link_up(&s->l, setup))
		return -1;
	return fct_mem_alloc(&s->l, &s->m, len, FI_SEND | FI_RECV);
}

static int post_recvs(struct side *s)
{
	unsigned int i;

	for (i = 0; i < RECVS; i++)
		FCT_POST(s->l.rxcq, fi_recv(s->l.c.ep, s->m.buf + (size_t)i * LEN, LEN,
					    s->m.desc, 0, &s->ctx[i]));
	return 0;
}

FCT_CASE(truncation, "a message longer than the receive buffer is an error there")
{
	struct fct_setup setup = {.caps = FI_MSG};
	struct fi_cq_err_entry err = {0};
	struct fi_cq_data_entry e;
	FCT_AUTO(fct_link_end) struct side s = {0};
	int ret;

	FCT_DO(up(&s, &setup, LEN));
	if (fct_is_server()) {
		memset(s.m.buf, 0x5A, LEN);
		FCT_POST(s.l.rxcq,
			 fi_recv(s.l.c.ep, s.m.buf, 64, s.m.desc, 0, &s.ctx[0]));
	}
	FCT_DO(fct_barrier("receive posted"));
	if (fct_is_client()) {
		FCT_POST(s.l.txcq,
			 fi_send(s.l.c.ep, s.m.buf, LEN, s.m.desc, 0, &s.ctx[0]));
		/*
		 * How far the sender learns of it is the provider's matter; its send
		 * ends.
		 */
		FCT_GET(ret, fct_cq_next(s.l.txcq, &e, "the end of the overlong send"));
		if (ret) {
			FCT_DO(fct_comp_err(s.l.txcq, &err,
					    "the end of the overlong send"));
			FCT_TRUE(err.op_context == &s.ctx[0]);
			fct_note("the sender saw %d (%s)", err.err, fi_strerror(err.err));
		}
	} else {
		FCT_DO(fct_comp_err(s.l.rxcq, &err,
				    "an error for the receive that is too short"));
		FCT_TRUE(err.op_context == &s.ctx[0]);
		FCT_TRUE(err.err > 0);
		fct_note("the receiver saw %d (%s)", err.err, fi_strerror(err.err));
		FCT_TRUE(fct_all(s.m.buf + 64, LEN - 64, 0x5A));
	}
	return fct_barrier("truncated");
}

FCT_CASE(cancel, "fi_cancel of a receive")
{
	struct fct_setup setup = {.caps = FI_MSG};
	struct fi_cq_err_entry err;
	FCT_AUTO(fct_link_end) struct side s = {0};
	int ret;

	FCT_DO(up(&s, &setup, RECVS * LEN));
	if (fct_is_server()) {
		FCT_DO(post_recvs(&s));
		ret = (int)fi_cancel(&s.l.c.ep->fid, &s.ctx[2]);
		if (ret == -FI_ENOSYS || ret == -FI_EOPNOTSUPP)
			return fct_skip("fi_cancel: %s", fi_strerror(-ret));
		FCT_CALL(ret);
		FCT_DO(fct_comp_err(s.l.rxcq, &err, "the cancelled receive"));
		FCT_TRUE(err.op_context == &s.ctx[2]);
		FCT_EQ(err.err, FI_ECANCELED);
		FCT_DO(fct_cq_quiet(s.l.rxcq, "after the cancelled receive"));
	}
	return fct_barrier("cancelled");
}

/* All receives, in any order, reported as errors; nothing is waited for. */
static int read_cancelled(struct side *s, bool exact)
{
	bool seen[RECVS] = {false};
	struct fi_cq_err_entry err = {0};
	struct fi_cq_data_entry e;
	unsigned int n, i;
	int ret = 0;

	for (n = 0; n < RECVS; n++) {
		ret = (int)fi_cq_read(s->l.rxcq, &e, 1);
		if (ret != -FI_EAVAIL)
			FCT_FAIL("%u of %u posted receives were reported when fi_close "
				 "returned "
				 "(fi_cq_read returned %d)",
				 n, RECVS, ret);
		memset(&err, 0, sizeof(err));
		FCT_EQ(fi_cq_readerr(s->l.rxcq, &err, 0), 1);
		for (i = 0; i < RECVS; i++)
			if (err.op_context == &s->ctx[i])
				break;
		FCT_TRUE(i < RECVS && !seen[i]);
		seen[i] = true;
		FCT_TRUE(err.err > 0);
		if (exact)
			FCT_EQ(err.err, FI_ECANCELED);
	}
	return fct_cq_quiet(s->l.rxcq, "after the cancelled receives");
}

FCT_CASE(close_cancels, "fi_close of an endpoint reports its posted receives")
{
	struct fct_setup setup = {.caps = FI_MSG};
	FCT_AUTO(fct_link_end) struct side s = {0};

	FCT_DO(up(&s, &setup, RECVS * LEN));
	if (fct_is_client()) {
		FCT_DO(post_recvs(&s));
		FCT_DO(fct_conn_close(&s.l, &s.l.c));
		FCT_DO(read_cancelled(&s, true));
	}
	return fct_barrier("client closed");
}

FCT_CASE(peer_closes, "posted receives are reported when the peer goes away")
{
	struct fct_setup setup = {.caps = FI_MSG};
	struct fct_event e;
	FCT_AUTO(fct_link_end) struct side s = {0};

	FCT_DO(up(&s, &setup, RECVS * LEN));
	if (fct_is_client())
		FCT_DO(post_recvs(&s));
	FCT_DO(fct_barrier("receives posted"));
	if (fct_is_server()) {
		FCT_DO(fct_conn_close(&s.l, &s.l.c));
	} else {
		FCT_DO(fct_eq_expect(s.l.eq, FI_SHUTDOWN, &s.l.c.ep->fid, &e));
		FCT_DO(fct_conn_close(&s.l, &s.l.c));
		FCT_DO(read_cancelled(&s, false));
	}
	return 0;
}

/*
 * An error in the CQ by itself, or once FI_SHUTDOWN has been seen and the endpoint is
 * closed.
 */
static int await_send_error(struct side *s, struct fi_cq_err_entry *err)
{
	struct fi_cq_data_entry e;
	struct fct_event event;
	struct fct_wait w;
	ssize_t n;

	fct_wait_init(&w, "an error for a send that has no receive");
	while ((n = fi_cq_read(s->l.txcq, &e, 1)) == -FI_EAGAIN) {
		n = fi_eq_read(s->l.eq, &event.event, event.room, sizeof(event.room), 0);
		if (n != -FI_EAGAIN) {
			FCT_CALL(n);
			FCT_EQ(event.event, FI_SHUTDOWN);
			fct_note("FI_SHUTDOWN came first");
			FCT_DO(fct_conn_close(&s->l, &s->l.c));
		}
		FCT_DO(fct_wait_again(&w));
	}
	FCT_EQ(n, -FI_EAVAIL);
	memset(err, 0, sizeof(*err));
	FCT_EQ(fi_cq_readerr(s->l.txcq, err, 0), 1);
	return 0;
}

/*
 * More than sockets buffer, so that some sends must be unfinished when the peer goes
 * away.
 */
FCT_CASE(selective_error, "a failed send is reported also without FI_COMPLETION")
{
	struct fct_setup setup = {.caps = FI_MSG,
				  .tx_size = BIGS,
				  .tx_bind = FI_SELECTIVE_COMPLETION};
	struct fi_cq_err_entry err;
	FCT_AUTO(fct_link_end) struct side s = {0};
	unsigned int i;

	FCT_DO(up(&s, &setup, BIG));
	for (i = 0; fct_is_client() && i < BIGS; i++)
		FCT_POST(s.l.txcq,
			 fi_send(s.l.c.ep, s.m.buf, BIG, s.m.desc, 0, &s.ctx[i]));
	FCT_DO(fct_barrier("sends posted"));
	if (fct_is_server()) {
		FCT_DO(fct_conn_close(&s.l, &s.l.c));
	} else {
		FCT_DO(await_send_error(&s, &err));
		for (i = 0; i < BIGS; i++)
			if (err.op_context == &s.ctx[i])
				break;
		FCT_TRUE(i < BIGS);
		fct_note("send %u: %d (%s)", i, err.err, fi_strerror(err.err));
	}
	return 0;
}
