/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Operations that cannot succeed are reported, with their context, where they were
 * posted.
 */
#include "fct_op.h"

#define RECVS 5u
#define LEN 4096u
#define BIG (1u << 20)
#define BIGS 64u

FCT_CASE(truncation, "a message longer than the receive buffer is an error there")
{
	struct fi_cq_err_entry err = {0};
	struct fi_cq_data_entry e;
	FCT_AUTO(fct_link_end) struct fct_parts s = {0};
	int ret;

	FCT_DO(fct_parts_up(&s, NULL, LEN, 1, 0));
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
	struct fi_cq_err_entry err;
	FCT_AUTO(fct_link_end) struct fct_parts s = {0};
	int ret;

	FCT_DO(fct_parts_up(&s, NULL, LEN, RECVS, RECVS));
	if (fct_is_server()) {
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

static int post_recvs(struct fct_parts *s)
{
	unsigned int i;

	for (i = 0; i < RECVS; i++)
		FCT_DO(fct_part_post(s, FCT_RECV, i, 0));
	return 0;
}

/* All receives, in any order, reported as errors; nothing is waited for. */
static int read_cancelled(struct fct_parts *s, bool exact)
{
	bool seen[RECVS] = {false};
	struct fi_cq_data_entry e;
	unsigned int n, i;
	int ret = 0, err;

	for (n = 0; n < RECVS; n++) {
		FCT_GET(ret, fct_cq_look(s->l.rxcq, &e, &err));
		if (!ret || !err)
			FCT_FAIL("%u of %u posted receives were cancelled when fi_close "
				 "returned",
				 n, RECVS);
		for (i = 0; i < RECVS && e.op_context != &s->ctx[i]; i++)
			;
		FCT_TRUE(i < RECVS && !seen[i]);
		seen[i] = true;
		if (exact)
			FCT_EQ(err, FI_ECANCELED);
	}
	return fct_cq_quiet(s->l.rxcq, "after the cancelled receives");
}

FCT_CASE(close_cancels, "fi_close of an endpoint reports its posted receives")
{
	FCT_AUTO(fct_link_end) struct fct_parts s = {0};

	FCT_DO(fct_parts_up(&s, NULL, LEN, RECVS, 0));
	if (fct_is_client()) {
		FCT_DO(post_recvs(&s));
		FCT_DO(fct_conn_close(&s.l, &s.l.c));
		FCT_DO(read_cancelled(&s, true));
	}
	return fct_barrier("client closed");
}

FCT_CASE(peer_closes, "posted receives are reported when the peer goes away")
{
	struct fct_event e;
	FCT_AUTO(fct_link_end) struct fct_parts s = {0};

	FCT_DO(fct_parts_up(&s, NULL, LEN, RECVS, 0));
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
static int await_send_error(struct fct_parts *s, struct fi_cq_data_entry *e, int *err)
{
	struct fct_event event;
	struct fct_wait w;
	int ret = 0;

	fct_wait_init(&w, "an error for a send that has no receive");
	for (;;) {
		FCT_GET(ret, fct_cq_look(s->l.txcq, e, err));
		if (ret)
			break;
		FCT_GET(ret, fct_eq_look(s->l.eq, &event));
		if (ret) {
			FCT_EQ(event.event, FI_SHUTDOWN);
			fct_note("FI_SHUTDOWN came first");
			FCT_DO(fct_conn_close(&s->l, &s->l.c));
		}
		FCT_DO(fct_wait_again(&w));
	}
	FCT_TRUE(*err > 0);
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
	FCT_AUTO(fct_link_end) struct fct_parts s = {0};
	struct fi_cq_data_entry e;
	unsigned int i;
	int err;

	FCT_DO(fct_parts_up(&s, &setup, BIG, 1, 0));
	for (i = 0; fct_is_client() && i < BIGS; i++)
		FCT_POST(s.l.txcq,
			 fi_send(s.l.c.ep, s.m.buf, BIG, s.m.desc, 0, &s.ctx[i]));
	FCT_DO(fct_barrier("sends posted"));
	if (fct_is_server()) {
		FCT_DO(fct_conn_close(&s.l, &s.l.c));
	} else {
		FCT_DO(await_send_error(&s, &e, &err));
		for (i = 0; i < BIGS && e.op_context != &s.ctx[i]; i++)
			;
		FCT_TRUE(i < BIGS);
		fct_note("send %u: %d (%s)", i, err, fi_strerror(err));
	}
	return 0;
}

/* ---- beyond the limits of fi_info ---- */

FCT_CASE(iov_excess, "more pieces than iov_limit are refused")
{
	struct iovec iov[FCT_OP_PIECES + 1];
	void *desc[FCT_OP_PIECES + 1];
	FCT_AUTO(fct_link_end) struct fct_parts s = {0};
	size_t n, i;

	FCT_DO(fct_parts_up(&s, NULL, LEN, 1, 0));
	n = s.l.c.info->tx_attr->iov_limit + 1;
	if (fct_is_client() && n > FCT_OP_PIECES + 1)
		return fct_skip("iov_limit is %zu", n - 1);
	for (i = 0; fct_is_client() && i < n; i++) {
		iov[i] = (struct iovec){s.m.buf + 64 * i, 32};
		desc[i] = s.m.desc;
	}
	if (fct_is_client()) {
		FCT_REFUSED(fi_sendv(s.l.c.ep, iov, desc, n, 0, &s.ctx[0]));
		FCT_REFUSED(fi_recvv(s.l.c.ep, iov, desc, n, 0, &s.ctx[0]));
		FCT_DO(fct_cq_quiet(s.l.txcq, "after calls with too many pieces"));
	}
	return fct_barrier("checked");
}

#define EXCESS_ROOM 65536u

/* What the client's call came to; a message that was taken must arrive whole. */
static int outcome(struct fct_parts *s, int taken, size_t len, uint64_t seed)
{
	struct told {
		int64_t taken;
		uint64_t len;
	} told = {taken, len};
	struct fi_cq_data_entry e;

	if (fct_is_client())
		return fct_tell("outcome", &told, sizeof(told));
	FCT_DO(fct_hear("outcome", &told, sizeof(told)));
	if (told.taken) {
		FCT_DO(fct_comp(s->l.rxcq, &s->ctx[0], FI_RECV | FI_MSG, &e,
				"the message beyond the limit"));
		FCT_EQ(e.len, told.len);
		FCT_DATA(s->m.buf, told.len, seed);
	}
	return 0;
}

/* Layers may ask for more than inject_size (ofi_rxm does where FI_MR_LOCAL is set). */
FCT_CASE(inject_excess, "fi_inject beyond inject_size is refused or delivered whole")
{
	FCT_AUTO(fct_link_end) struct fct_parts s = {0};
	size_t len;
	int ret = 0;

	FCT_DO(fct_parts_up(&s, NULL, EXCESS_ROOM, 1, 0));
	len = s.l.c.info->tx_attr->inject_size + 1;
	if (fct_is_client() && len > EXCESS_ROOM)
		return fct_skip("inject_size is %zu", len - 1);
	if (fct_is_server())
		FCT_POST(s.l.rxcq,
			 fi_recv(s.l.c.ep, s.m.buf, EXCESS_ROOM, s.m.desc, 0, &s.ctx[0]));
	FCT_DO(fct_barrier("receive posted"));
	if (fct_is_client()) {
		fct_fill(s.m.buf, len, 1);
		ret = (int)fi_inject(s.l.c.ep, s.m.buf, len, 0);
		memset(s.m.buf, 0xEE, len);
		fct_note("fi_inject of %zu bytes returned %d", len, ret);
		FCT_TRUE(ret <= 0 && ret != -FI_EAGAIN);
	}
	FCT_DO(outcome(&s, !ret, len, 1));
	return fct_barrier("checked");
}
