/* SPDX-License-Identifier: BSD-2-Clause */
/* Other queues, vectors and receives than most cases have. */
#include "dgram.h"

#define LEN 77

union any_entry {
	struct fi_cq_entry context;
	struct fi_cq_msg_entry msg;
	struct fi_cq_data_entry data;
};

static int check_entry(struct dgram *d, enum fi_cq_format format,
		       const union any_entry *e)
{
	FCT_TRUE(e->context.op_context == &d->ctx[0]);
	if (format >= FI_CQ_FORMAT_MSG) {
		FCT_EQ(e->msg.flags, FI_RECV | FI_MSG | FI_REMOTE_CQ_DATA);
		FCT_EQ(e->msg.len, d->prefix + LEN);
	}
	if (format >= FI_CQ_FORMAT_DATA)
		FCT_EQ(e->data.data, 0x1234);
	FCT_DATA(dgram_received(d, 0), LEN, format);
	return 0;
}

static int exchange_data(struct dgram *d, enum fi_cq_format format)
{
	union any_entry entry[2];
	struct fct_wait w;
	ssize_t n;

	FCT_DO(dgram_post(d, 0));
	FCT_DO(fct_barrier("posted"));
	FCT_DO(dgram_send_as(d, FCT_SENDDATA, LEN, format, 0x1234));
	/* What an entry has not is not written, nor is the one behind it. */
	memset(entry, 0x5a, sizeof(entry));
	fct_wait_init(&w, "a datagram");
	while ((n = fi_cq_read(d->l.rxcq, entry, 1)) == -FI_EAGAIN)
		FCT_DO(fct_wait_again(&w));
	FCT_EQ(n, 1);
	FCT_TRUE(fct_all(&entry[1], sizeof(entry[1]), 0x5a));
	if (format == FI_CQ_FORMAT_CONTEXT)
		FCT_TRUE(fct_all(&entry[0].context + 1, sizeof(void *), 0x5a));
	return check_entry(d, format, &entry[0]);
}

/* There is nothing tagged in datagrams: who has no such entries says so. */
static int open_tagged(struct dgram *d)
{
	struct fi_cq_attr attr = {.format = FI_CQ_FORMAT_TAGGED};
	struct fid_cq *cq;
	int ret;

	ret = fi_cq_open(d->l.domain, &attr, &cq, NULL);
	if (!ret)
		FCT_CALL(fi_close(&cq->fid));
	else
		FCT_ERR(ret, -FI_ENOSYS);
	return 0;
}

static int one_format(enum fi_cq_format format)
{
	const struct dgram_how how = {.s.caps = FI_MSG, .s.format = format};
	FCT_AUTO(fct_link_end) struct dgram d = {0};

	FCT_DO(dgram_up_as(&d, &how));
	FCT_DO(exchange_data(&d, format));
	return open_tagged(&d);
}

FCT_CASE(formats, "every format of a completion queue")
{
	enum fi_cq_format format;

	for (format = FI_CQ_FORMAT_CONTEXT; format <= FI_CQ_FORMAT_DATA; format++)
		FCT_DO(one_format(format));
	return fct_ret();
}

/* One datagram there and back, to an address that is inserted again meanwhile. */
static int exchange_one(const struct fi_av_attr *av)
{
	const struct dgram_how how = {.s.caps = FI_MSG, .av = *av};
	FCT_AUTO(fct_link_end) struct dgram d = {0};

	FCT_DO(dgram_up_as(&d, &how));
	FCT_DO(dgram_post(&d, 0));
	FCT_DO(dgram_post(&d, 1));
	FCT_DO(fct_barrier("posted"));
	FCT_DO(dgram_send(&d, LEN, 1));
	FCT_DO(dgram_expect(&d, 0, LEN, 1, 0, 0));
	FCT_CALL(fi_av_remove(d.l.av, &d.peer, 1, 0));
	FCT_DO(dgram_insert_peer(&d));
	FCT_DO(dgram_send(&d, LEN, 2));
	FCT_DO(dgram_expect(&d, 1, LEN, 2, 0, 0));
	return 0;
}

FCT_CASE_CALL(map, "an address vector that is a map",
	      exchange_one(&(struct fi_av_attr){.type = FI_AV_MAP}))

FCT_CASE_CALL(async_insert, "insertions are events",
	      exchange_one(&(struct fi_av_attr){.flags = FI_EVENT}))

/* Datagrams to either endpoint take the next receive; one endpoint goes before the other.
 */
FCT_CASE(shared, "two endpoints have their receives in common")
{
	const struct dgram_how how = {.s.caps = FI_MSG, .s.shared_rx = true};
	struct fct_conn second = {0};
	uint8_t name[DGRAM_NAME_LEN];
	fi_addr_t peer[2];
	FCT_AUTO(fct_link_end) struct dgram d = {0};
	unsigned int i;

	FCT_DO(dgram_up_as(&d, &how));
	FCT_DO(fct_ep_new(&d.l, &second));
	FCT_DO(dgram_names(&d, &second, name));
	peer[0] = d.peer;
	FCT_EQ(fi_av_insert(d.l.av, name, 1, &peer[1], 0, NULL), 1);
	for (i = 0; i < 8; i++)
		FCT_DO(dgram_post(&d, i));
	for (i = 0; i < 6; i++) {
		FCT_DO(fct_barrier("next"));
		d.peer = peer[i % 2];
		FCT_DO(dgram_send(&d, LEN + i, i));
		FCT_DO(dgram_expect(&d, i, LEN + i, i, 0, 0));
	}
	FCT_DO(fct_conn_close(&d.l, &second));
	d.peer = peer[0];
	for (; i < 8; i++) {
		FCT_DO(fct_barrier("one has gone"));
		FCT_DO(dgram_send(&d, LEN + i, i));
		FCT_DO(dgram_expect(&d, i, LEN + i, i, 0, 0));
	}
	return fct_cq_quiet(d.l.rxcq, "after all datagrams");
}

/* 1, or 0: the provider's endpoints have no other defaults than those of their info. */
static int report_by_default(struct dgram *d)
{
	uint64_t flags = FI_RECV | FI_COMPLETION;
	int ret = fi_control(&d->c.ep->fid, FI_SETOPSFLAG, &flags);

	if (ret == -FI_ENOSYS)
		return 0;
	FCT_CALL(ret);
	return 1;
}

/* Receives 0 and 2 without flags; only for the second one completions are the default. */
FCT_CASE(selective, "FI_SELECTIVE_COMPLETION for receives")
{
	const struct dgram_how how = {.s.caps = FI_MSG,
				      .s.rx_bind = FI_SELECTIVE_COMPLETION};
	FCT_AUTO(fct_link_end) struct dgram d = {0};
	struct fct_op reported;
	int more;

	FCT_DO(dgram_up_as(&d, &how));
	FCT_DO(dgram_post(&d, 0));
	reported = (struct fct_op){.form = FCT_RECVMSG,
				   .buf = dgram_received(&d, 1) - d.prefix,
				   .len = d.prefix + LEN,
				   .desc = d.rx.desc,
				   .flags = FI_COMPLETION,
				   .ctx = &d.ctx[1]};
	FCT_POST(d.l.rxcq, fct_op_post(d.c.ep, &reported));
	FCT_GET(more, report_by_default(&d));
	if (more)
		FCT_DO(dgram_post(&d, 2));
	FCT_DO(fct_barrier("posted"));
	FCT_DO(dgram_send(&d, LEN, 0));
	FCT_DO(dgram_send(&d, LEN, 1));
	FCT_DO(dgram_send(&d, LEN, 2));
	FCT_DO(dgram_expect(&d, 1, LEN, 1, 0, 0));
	FCT_DATA(dgram_received(&d, 0), LEN, 0);
	if (more)
		FCT_DO(dgram_expect(&d, 2, LEN, 2, 0, 0));
	return fct_cq_quiet(d.l.rxcq, "after all datagrams");
}
