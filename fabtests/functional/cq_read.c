/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading completion queues. */
#include "cq.h"

#define BULK 48u

/* One entry of whatever format, into room for the largest. */
static int next_entry(struct cq_side *s, struct fi_cq_tagged_entry *e)
{
	struct fct *t = s->l.t;
	struct fct_wait w;
	ssize_t n;
	int ret;

	memset(e, 0xCC, sizeof(*e));
	fct_wait_init(&w, t, "a completion");
	while ((n = fi_cq_read(s->l.rxcq, e, 1)) == -FI_EAGAIN)
		FCT_DO(fct_wait_again(&w));
	FCT_EQ(t, n, 1);
	ret = 0;
out:
	return ret;
}

static int format(struct fct *t, enum fi_cq_format format, size_t size)
{
	struct fct_setup setup = {.caps = FI_MSG, .cq_data_size = 4};
	uint8_t untouched[sizeof(struct fi_cq_tagged_entry)];
	struct fi_cq_tagged_entry e;
	struct cq_side s;
	int ret;

	setup.format = format;
	memset(untouched, 0xCC, sizeof(untouched));
	FCT_DO(fct_cq_up(&s, t, &setup, 1));
	if (fct_is_client(t))
		FCT_POST(t, s.l.txcq,
			 fi_senddata(s.l.c.ep, s.m.buf, 48, s.m.desc, 0x1234, 0,
				     &s.ctx[0]));
	FCT_DO(next_entry(&s, &e));
	if (format == FI_CQ_FORMAT_UNSPEC)
		goto out;
	FCT_TRUE(t, e.op_context == &s.ctx[0]);
	FCT_TRUE(t, !memcmp((uint8_t *)&e + size, untouched, sizeof(e) - size));
	if (format == FI_CQ_FORMAT_CONTEXT)
		goto out;
	FCT_EQ(t, e.flags,
	       fct_is_client(t) ? FI_SEND | FI_MSG
				: FI_RECV | FI_MSG | FI_REMOTE_CQ_DATA);
	if (fct_is_client(t))
		goto out;
	FCT_EQ(t, e.len, 48);
	if (format == FI_CQ_FORMAT_DATA)
		FCT_EQ(t, e.data, 0x1234);
out:
	return fct_link_down(&s.l, ret);
}

int fct_cq_format_msg(struct fct *t)
{
	return format(t, FI_CQ_FORMAT_MSG, sizeof(struct fi_cq_msg_entry));
}

int fct_cq_readfrom(struct fct *t)
{
	struct fct_setup setup = {.caps = FI_MSG};
	struct fi_cq_data_entry e;
	fi_addr_t addr = 0;
	struct cq_side s;
	struct fct_wait w;
	ssize_t n;
	int ret;

	FCT_DO(fct_cq_up(&s, t, &setup, 1));
	n = fi_cq_readfrom(s.l.rxcq, &e, 1, &addr);
	if (n == -FI_ENOSYS || n == -FI_EOPNOTSUPP) {
		ret = fct_skip(t, "fi_cq_readfrom: %s", fi_strerror((int)-n));
		goto out;
	}
	FCT_ERR(t, n, -FI_EAGAIN);
	FCT_DO(fct_barrier(t, "supported"));
	if (fct_is_client(t)) {
		FCT_DO(fct_cq_post_send(&s, 0));
		FCT_DO(fct_comp(t, s.l.txcq, &s.ctx[0], FI_SEND | FI_MSG, &e,
				"the send"));
		goto out;
	}
	fct_wait_init(&w, t, "a receive by fi_cq_readfrom");
	while ((n = fi_cq_readfrom(s.l.rxcq, &e, 1, &addr)) == -FI_EAGAIN)
		FCT_DO(fct_wait_again(&w));
	FCT_EQ(t, n, 1);
	FCT_TRUE(t, e.op_context == &s.ctx[0]);
	FCT_TRUE(t, addr == FI_ADDR_NOTAVAIL);
out:
	return fct_link_down(&s.l, ret);
}

static int check_error(struct cq_side *s, const struct fct_ctx *ctx)
{
	struct fi_cq_err_entry err = {0};
	struct fi_cq_data_entry e;
	struct fct *t = s->l.t;
	char text[128] = "";
	const char *p;
	int ret;

	FCT_ERR(t, fi_cq_read(s->l.rxcq, &e, 1), -FI_EAVAIL);
	FCT_ERR(t, fi_cq_read(s->l.rxcq, &e, 1), -FI_EAVAIL);
	FCT_EQ(t, fi_cq_readerr(s->l.rxcq, &err, 0), 1);
	FCT_TRUE(t, err.op_context == ctx);
	FCT_TRUE(t, err.err > 0);
	p = fi_cq_strerror(s->l.rxcq, err.prov_errno, err.err_data, text, sizeof(text));
	FCT_TRUE(t, p && *p);
	fct_note(t, "%d (%s; provider: %s; buffer: '%s')", err.err, fi_strerror(err.err),
		 p, text);
	ret = 0;
out:
	return ret;
}

/* Which of the contexts 0 to 4 and 10 has been reported, and how. */
static int note_once(struct cq_side *s, const void *ctx, int how, int *seen)
{
	struct fct *t = s->l.t;
	unsigned int i;
	int ret = 0;

	for (i = 0; i <= 10 && ctx != &s->ctx[i]; i++)
		;
	FCT_TRUE(t, i < 5 || i == 10);
	FCT_EQ(t, seen[i], 0);
	seen[i] = how;
out:
	return ret;
}

/*
 * Two endpoints on one CQ. The first has two messages and is closed with three receives
 * left, the second has a message after that. Every receive is reported once; whether the
 * close overtook the second message is the provider's matter.
 */
static int mixed_server(struct cq_side *s, struct fct_conn *other)
{
	struct fi_cq_err_entry err = {0};
	struct fi_cq_data_entry e[8];
	struct fct *t = s->l.t;
	int n, i, total = 0, seen[11] = {0};
	struct fct_wait w;
	int ret;

	FCT_POST(t, s->l.rxcq,
		 fi_recv(other->ep, s->m.buf + 10 * CQ_LEN, CQ_LEN, s->m.desc, 0,
			 &s->ctx[10]));
	FCT_DO(fct_barrier(t, "all posted"));
	FCT_DO(fct_barrier(t, "two sent"));
	FCT_DO(fct_conn_close(&s->l, &s->l.c));
	FCT_DO(fct_barrier(t, "closed"));
	FCT_DO(fct_barrier(t, "third sent"));
	fct_wait_init(&w, t, "all good and all bad completions");
	while (total < 6) {
		n = (int)fi_cq_read(s->l.rxcq, e, 8);
		if (n == -FI_EAGAIN) {
			FCT_DO(fct_wait_again(&w));
		} else if (n == -FI_EAVAIL) {
			memset(&err, 0, sizeof(err));
			FCT_EQ(t, fi_cq_readerr(s->l.rxcq, &err, 0), 1);
			FCT_DO(note_once(s, err.op_context, -1, seen));
			total++;
		} else {
			FCT_CALL(t, n);
			for (i = 0; i < n; i++, total++)
				FCT_DO(note_once(s, e[i].op_context, 1, seen));
		}
	}
	FCT_TRUE(t, seen[10] == 1);
	FCT_TRUE(t, seen[2] == -1 && seen[3] == -1 && seen[4] == -1);
	FCT_TRUE(t, seen[0] >= seen[1]);
	ret = fct_cq_quiet(t, s->l.rxcq, "after all entries");
out:
	return ret;
}

int fct_cq_mixed(struct fct *t)
{
	struct fct_setup setup = {.caps = FI_MSG, .cq_size = 1024};
	struct fct_conn other = {.ep = NULL};
	struct fi_cq_data_entry e;
	struct cq_side s;
	int ret;

	FCT_DO(fct_cq_up(&s, t, &setup, 5));
	FCT_DO(fct_conn_up(&s.l, &other));
	if (fct_is_server(t)) {
		ret = mixed_server(&s, &other);
		goto out;
	}
	FCT_DO(fct_barrier(t, "all posted"));
	FCT_DO(fct_cq_post_send(&s, 0));
	FCT_DO(fct_comp(t, s.l.txcq, &s.ctx[0], FI_SEND | FI_MSG, &e, "the first send"));
	FCT_DO(fct_cq_post_send(&s, 1));
	FCT_DO(fct_comp(t, s.l.txcq, &s.ctx[1], FI_SEND | FI_MSG, &e, "the second send"));
	FCT_DO(fct_barrier(t, "two sent"));
	FCT_DO(fct_barrier(t, "closed"));
	FCT_POST(t, s.l.txcq, fi_send(other.ep, s.m.buf, CQ_LEN, s.m.desc, 0, &s.ctx[2]));
	FCT_DO(fct_comp(t, s.l.txcq, &s.ctx[2], FI_SEND | FI_MSG, &e, "the third send"));
	ret = fct_barrier(t, "third sent");
out:
	return fct_link_down(&s.l, ret);
}
