/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading completion queues. */
#include "cq.h"

#define BULK 48u

/* One entry of whatever format, into room for the largest. */
static int next_entry(struct cq_side *s, struct fi_cq_tagged_entry *e)
{
	struct fct_wait w;
	ssize_t n;

	memset(e, 0xCC, sizeof(*e));
	fct_wait_init(&w, "a completion");
	while ((n = fi_cq_read(s->l.rxcq, e, 1)) == -FI_EAGAIN)
		FCT_DO(fct_wait_again(&w));
	FCT_EQ(n, 1);
	return 0;
}

static int format(enum fi_cq_format format, size_t size)
{
	struct fct_setup setup = {.caps = FI_MSG, .cq_data_size = 4};
	uint8_t untouched[sizeof(struct fi_cq_tagged_entry)];
	struct fi_cq_tagged_entry e;
	FCT_AUTO(fct_link_end) struct cq_side s = {0};

	setup.format = format;
	memset(untouched, 0xCC, sizeof(untouched));
	FCT_DO(fct_cq_up(&s, &setup, 1));
	if (fct_is_client())
		FCT_POST(s.l.txcq, fi_senddata(s.l.c.ep, s.m.buf, 48, s.m.desc, 0x1234, 0,
					       &s.ctx[0]));
	FCT_DO(next_entry(&s, &e));
	if (format == FI_CQ_FORMAT_UNSPEC)
		return 0;
	FCT_TRUE(e.op_context == &s.ctx[0]);
	FCT_TRUE(!memcmp((uint8_t *)&e + size, untouched, sizeof(e) - size));
	if (format == FI_CQ_FORMAT_CONTEXT)
		return 0;
	FCT_EQ(e.flags,
	       fct_is_client() ? FI_SEND | FI_MSG : FI_RECV | FI_MSG | FI_REMOTE_CQ_DATA);
	if (fct_is_client())
		return 0;
	FCT_EQ(e.len, 48);
	if (format == FI_CQ_FORMAT_DATA)
		FCT_EQ(e.data, 0x1234);
	return 0;
}

FCT_CASE_CALL(format_msg, "FI_CQ_FORMAT_MSG",
	      format(FI_CQ_FORMAT_MSG, sizeof(struct fi_cq_msg_entry)))

FCT_CASE(readfrom, "fi_cq_readfrom without source addresses")
{
	struct fct_setup setup = {.caps = FI_MSG};
	struct fi_cq_data_entry e;
	fi_addr_t addr = 0;
	FCT_AUTO(fct_link_end) struct cq_side s = {0};
	struct fct_wait w;
	ssize_t n;

	FCT_DO(fct_cq_up(&s, &setup, 1));
	n = fi_cq_readfrom(s.l.rxcq, &e, 1, &addr);
	if (n == -FI_ENOSYS || n == -FI_EOPNOTSUPP)
		return fct_skip("fi_cq_readfrom: %s", fi_strerror((int)-n));
	FCT_ERR(n, -FI_EAGAIN);
	FCT_DO(fct_barrier("supported"));
	if (fct_is_client()) {
		FCT_DO(fct_cq_post_send(&s, 0));
		FCT_DO(fct_comp(s.l.txcq, &s.ctx[0], FI_SEND | FI_MSG, &e, "the send"));
		return 0;
	}
	fct_wait_init(&w, "a receive by fi_cq_readfrom");
	while ((n = fi_cq_readfrom(s.l.rxcq, &e, 1, &addr)) == -FI_EAGAIN)
		FCT_DO(fct_wait_again(&w));
	FCT_EQ(n, 1);
	FCT_TRUE(e.op_context == &s.ctx[0]);
	FCT_TRUE(addr == FI_ADDR_NOTAVAIL);
	return 0;
}

/* Which of the contexts 0 to 4 and 10 has been reported, and how. */
static int note_once(struct cq_side *s, const void *ctx, int how, int *seen)
{
	unsigned int i;

	for (i = 0; i <= 10 && ctx != &s->ctx[i]; i++)
		;
	FCT_TRUE(i < 5 || i == 10);
	FCT_EQ(seen[i], 0);
	seen[i] = how;
	return 0;
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
	int n, i, total = 0, seen[11] = {0};
	struct fct_wait w;

	FCT_POST(s->l.rxcq, fi_recv(other->ep, s->m.buf + 10 * CQ_LEN, CQ_LEN, s->m.desc,
				    0, &s->ctx[10]));
	FCT_DO(fct_barrier("all posted"));
	FCT_DO(fct_barrier("two sent"));
	FCT_DO(fct_conn_close(&s->l, &s->l.c));
	FCT_DO(fct_barrier("closed"));
	FCT_DO(fct_barrier("third sent"));
	fct_wait_init(&w, "all good and all bad completions");
	while (total < 6) {
		n = (int)fi_cq_read(s->l.rxcq, e, 8);
		if (n == -FI_EAGAIN) {
			FCT_DO(fct_wait_again(&w));
		} else if (n == -FI_EAVAIL) {
			memset(&err, 0, sizeof(err));
			FCT_EQ(fi_cq_readerr(s->l.rxcq, &err, 0), 1);
			FCT_DO(note_once(s, err.op_context, -1, seen));
			total++;
		} else {
			FCT_CALL(n);
			for (i = 0; i < n; i++, total++)
				FCT_DO(note_once(s, e[i].op_context, 1, seen));
		}
	}
	FCT_TRUE(seen[10] == 1);
	FCT_TRUE(seen[2] == -1 && seen[3] == -1 && seen[4] == -1);
	FCT_TRUE(seen[0] >= seen[1]);
	return fct_cq_quiet(s->l.rxcq, "after all entries");
}

FCT_CASE(mixed, "good entries before and after an error are all readable")
{
	struct fct_setup setup = {.caps = FI_MSG, .cq_size = 1024};
	struct fct_conn other = {.ep = NULL};
	struct fi_cq_data_entry e;
	FCT_AUTO(fct_link_end) struct cq_side s = {0};

	FCT_DO(fct_cq_up(&s, &setup, 5));
	FCT_DO(fct_conn_up(&s.l, &other));
	if (fct_is_server())
		return mixed_server(&s, &other);
	FCT_DO(fct_barrier("all posted"));
	FCT_DO(fct_cq_post_send(&s, 0));
	FCT_DO(fct_comp(s.l.txcq, &s.ctx[0], FI_SEND | FI_MSG, &e, "the first send"));
	FCT_DO(fct_cq_post_send(&s, 1));
	FCT_DO(fct_comp(s.l.txcq, &s.ctx[1], FI_SEND | FI_MSG, &e, "the second send"));
	FCT_DO(fct_barrier("two sent"));
	FCT_DO(fct_barrier("closed"));
	FCT_POST(s.l.txcq, fi_send(other.ep, s.m.buf, CQ_LEN, s.m.desc, 0, &s.ctx[2]));
	FCT_DO(fct_comp(s.l.txcq, &s.ctx[2], FI_SEND | FI_MSG, &e, "the third send"));
	return fct_barrier("third sent");
}
