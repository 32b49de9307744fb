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
	struct fct *t = d->l.t;
	int ret = 0;

	FCT_TRUE(t, e->context.op_context == &d->ctx[0]);
	if (format >= FI_CQ_FORMAT_MSG) {
		FCT_EQ(t, e->msg.flags, FI_RECV | FI_MSG | FI_REMOTE_CQ_DATA);
		FCT_EQ(t, e->msg.len, d->prefix + LEN);
	}
	if (format >= FI_CQ_FORMAT_DATA)
		FCT_EQ(t, e->data.data, 0x1234);
	FCT_DATA(t, dgram_received(d, 0), LEN, format);
out:
	return ret;
}

static int exchange_data(struct dgram *d, enum fi_cq_format format)
{
	union any_entry entry[2];
	struct fi_cq_data_entry sent;
	struct fct *t = d->l.t;
	struct fct_wait w;
	ssize_t n;
	int ret;

	FCT_DO(dgram_post(d, 0));
	FCT_DO(fct_barrier(t, "posted"));
	fct_fill(d->tx.buf, LEN, format);
	FCT_POST(t, d->l.txcq,
		 fi_senddata(d->c.ep, d->tx.buf, LEN, d->tx.desc, 0x1234, d->peer,
			     &d->tx_ctx));
	FCT_DO(fct_comp(t, d->l.txcq, &d->tx_ctx, FI_SEND | FI_MSG, &sent, "a send"));
	/* What an entry has not is not written, nor is the one behind it. */
	memset(entry, 0x5a, sizeof(entry));
	fct_wait_init(&w, t, "a datagram");
	while ((n = fi_cq_read(d->l.rxcq, entry, 1)) == -FI_EAGAIN)
		FCT_DO(fct_wait_again(&w));
	FCT_EQ(t, n, 1);
	FCT_TRUE(t, fct_all(&entry[1], sizeof(entry[1]), 0x5a));
	if (format == FI_CQ_FORMAT_CONTEXT)
		FCT_TRUE(t, fct_all(&entry[0].context + 1, sizeof(void *), 0x5a));
	ret = check_entry(d, format, &entry[0]);
out:
	return ret;
}

/* There is nothing tagged in datagrams: who has no such entries says so. */
static int open_tagged(struct dgram *d)
{
	struct fi_cq_attr attr = {.format = FI_CQ_FORMAT_TAGGED};
	struct fct *t = d->l.t;
	struct fid_cq *cq;
	int ret;

	ret = fi_cq_open(d->l.domain, &attr, &cq, NULL);
	if (!ret)
		FCT_CALL(t, fi_close(&cq->fid));
	else
		FCT_ERR(t, ret, -FI_ENOSYS);
out:
	return ret;
}

int fct_dgram_formats(struct fct *t)
{
	enum fi_cq_format format;
	struct dgram d;
	int ret = 0;

	for (format = FI_CQ_FORMAT_CONTEXT; !ret && format <= FI_CQ_FORMAT_DATA;
	     format++) {
		const struct dgram_how how = {.s.caps = FI_MSG, .s.format = format};

		ret = dgram_up_as(&d, t, &how);
		if (!ret)
			ret = exchange_data(&d, format);
		if (!ret)
			ret = open_tagged(&d);
		ret = dgram_down(&d, ret);
	}
	return ret;
}

/* One datagram there and back, to an address that is inserted again meanwhile. */
static int exchange_one(struct fct *t, const struct fi_av_attr *av)
{
	const struct dgram_how how = {.s.caps = FI_MSG, .av = *av};
	struct dgram d;
	int ret;

	FCT_DO(dgram_up_as(&d, t, &how));
	FCT_DO(dgram_post(&d, 0));
	FCT_DO(dgram_post(&d, 1));
	FCT_DO(fct_barrier(t, "posted"));
	FCT_DO(dgram_send(&d, LEN, 1));
	FCT_DO(dgram_expect(&d, 0, LEN, 1, 0, 0));
	FCT_CALL(t, fi_av_remove(d.av, &d.peer, 1, 0));
	FCT_DO(dgram_insert_peer(&d));
	FCT_DO(dgram_send(&d, LEN, 2));
	FCT_DO(dgram_expect(&d, 1, LEN, 2, 0, 0));
out:
	return dgram_down(&d, ret);
}

int fct_dgram_map(struct fct *t)
{
	return exchange_one(t, &(struct fi_av_attr){.type = FI_AV_MAP});
}

int fct_dgram_async_insert(struct fct *t)
{
	return exchange_one(t, &(struct fi_av_attr){.flags = FI_EVENT});
}

/* Datagrams to either endpoint take the next receive; one endpoint goes before the other.
 */
int fct_dgram_shared(struct fct *t)
{
	const struct dgram_how how = {.s.caps = FI_MSG, .s.shared_rx = true};
	struct fct_conn second = {0};
	uint8_t name[DGRAM_NAME_LEN];
	fi_addr_t peer[2];
	struct dgram d;
	unsigned int i;
	int ret;

	FCT_DO(dgram_up_as(&d, t, &how));
	FCT_DO(dgram_ep_open(&d, &second));
	FCT_DO(dgram_names(&d, &second, name));
	peer[0] = d.peer;
	FCT_EQ(t, fi_av_insert(d.av, name, 1, &peer[1], 0, NULL), 1);
	for (i = 0; i < 8; i++)
		FCT_DO(dgram_post(&d, i));
	for (i = 0; i < 6; i++) {
		FCT_DO(fct_barrier(t, "next"));
		d.peer = peer[i % 2];
		FCT_DO(dgram_send(&d, LEN + i, i));
		FCT_DO(dgram_expect(&d, i, LEN + i, i, 0, 0));
	}
	FCT_DO(fct_conn_close(&d.l, &second));
	d.peer = peer[0];
	for (; i < 8; i++) {
		FCT_DO(fct_barrier(t, "one has gone"));
		FCT_DO(dgram_send(&d, LEN + i, i));
		FCT_DO(dgram_expect(&d, i, LEN + i, i, 0, 0));
	}
	ret = fct_cq_quiet(t, d.l.rxcq, "after all datagrams");
out:
	return dgram_down(&d, ret);
}

static ssize_t recv_reported(struct dgram *d, unsigned int n)
{
	struct iovec iov = {.iov_base = dgram_received(d, n) - d->prefix,
			    .iov_len = d->prefix + LEN};
	struct fi_msg msg = {.msg_iov = &iov,
			     .desc = &d->rx.desc,
			     .iov_count = 1,
			     .context = &d->ctx[n]};

	return fi_recvmsg(d->c.ep, &msg, FI_COMPLETION);
}

/* 1, or 0: the provider's endpoints have no other defaults than those of their info. */
static int report_by_default(struct dgram *d)
{
	uint64_t flags = FI_RECV | FI_COMPLETION;
	struct fct *t = d->l.t;
	int ret = fi_control(&d->c.ep->fid, FI_SETOPSFLAG, &flags);

	if (ret == -FI_ENOSYS)
		return 0;
	FCT_CALL(t, ret);
	ret = 1;
out:
	return ret;
}

/* Receives 0 and 2 without flags; only for the second one completions are the default. */
int fct_dgram_selective(struct fct *t)
{
	const struct dgram_how how = {.s.caps = FI_MSG,
				      .s.rx_bind = FI_SELECTIVE_COMPLETION};
	struct dgram d;
	int more, ret;

	FCT_DO(dgram_up_as(&d, t, &how));
	FCT_DO(dgram_post(&d, 0));
	FCT_POST(t, d.l.rxcq, recv_reported(&d, 1));
	ret = more = report_by_default(&d);
	if (more < 0)
		goto out;
	if (more)
		FCT_DO(dgram_post(&d, 2));
	FCT_DO(fct_barrier(t, "posted"));
	FCT_DO(dgram_send(&d, LEN, 0));
	FCT_DO(dgram_send(&d, LEN, 1));
	FCT_DO(dgram_send(&d, LEN, 2));
	FCT_DO(dgram_expect(&d, 1, LEN, 1, 0, 0));
	FCT_DATA(t, dgram_received(&d, 0), LEN, 0);
	if (more)
		FCT_DO(dgram_expect(&d, 2, LEN, 2, 0, 0));
	ret = fct_cq_quiet(t, d.l.rxcq, "after all datagrams");
out:
	return dgram_down(&d, ret);
}
