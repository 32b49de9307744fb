/* SPDX-License-Identifier: BSD-2-Clause */
/* Two datagram endpoints: opened, introduced, used. */
#include "dgram.h"

static size_t slot_len(const struct dgram *d)
{
	return d->prefix + d->max;
}

static int bind_shared(struct fct_link *l, struct fct_conn *c)
{
	const struct dgram *d = (const struct dgram *)l;

	if (d->srx)
		FCT_CALL(fi_ep_bind(c->ep, &d->srx->fid, 0));
	return 0;
}

static int open_shared(struct dgram *d)
{
	struct fct_link *l = &d->l;
	int ret;

	ret = fi_srx_context(l->domain, l->info->rx_attr, &d->srx, NULL);
	if (ret == -FI_ENOSYS || ret == -FI_EOPNOTSUPP)
		return fct_skip("fi_srx_context: %s", fi_strerror(-ret));
	FCT_CALL(ret);
	return fct_keep(l, &d->srx->fid);
}

int dgram_names(struct dgram *d, struct fct_conn *c, uint8_t *theirs)
{
	uint8_t name[DGRAM_NAME_LEN] = {0};
	size_t len = sizeof(name);

	FCT_CALL(fi_getname(&c->ep->fid, name, &len));
	FCT_EQ(len, 32);
	return fct_exchange("name", name, theirs, sizeof(name));
}

/* fi_av(3): the event says how many were inserted, and then d->peer is one. */
int dgram_insert_peer(struct dgram *d)
{
	struct fct_event e;

	if (!d->l.eq) {
		FCT_EQ(fi_av_insert(d->l.av, d->name, 1, &d->peer, 0, NULL), 1);
		return 0;
	}
	FCT_ERR(fi_av_insert(d->l.av, d->name, 1, &d->peer, 0, &d->name), 0);
	FCT_DO(fct_eq_expect(d->l.eq, FI_AV_COMPLETE, &d->l.av->fid, &e));
	FCT_EQ(e.entry.data, 1);
	FCT_TRUE(e.entry.context == &d->name);
	return 0;
}

static int introduce(struct dgram *d, bool stranger)
{
	uint64_t mine = d->l.info->ep_attr->max_msg_size, theirs;

	FCT_DO(dgram_names(d, &d->c, d->name));
	FCT_DO(fct_exchange("size", &mine, &theirs, sizeof(mine)));
	d->max = mine < theirs ? mine : theirs;
	if (!stranger)
		FCT_DO(dgram_insert_peer(d));
	return 0;
}

int dgram_up(struct dgram *d, uint64_t caps, bool stranger)
{
	const struct dgram_how how = {.s.caps = caps, .stranger = stranger};

	return dgram_up_as(d, &how);
}

int dgram_up_as(struct dgram *d, const struct dgram_how *how)
{
	const enum fi_cq_format format = how->s.format;
	struct fct_setup s = how->s;

	memset(d, 0, sizeof(*d));
	s.mode |= FI_MSG_PREFIX | FI_RX_CQ_DATA;
	s.format = FI_CQ_FORMAT_DATA;
	s.cq_size = 4 * DGRAM_SLOTS;
	s.bind = bind_shared;
	FCT_DO(fct_plain_open(&d->l, &s, NULL, &how->av));
	FCT_DO(fct_cq_open(&d->l, s.cq_size, format ? format : FI_CQ_FORMAT_DATA,
			   FI_WAIT_NONE, &d->l.rxcq));
	if (d->l.info->mode & FI_MSG_PREFIX)
		d->prefix = d->l.info->ep_attr->msg_prefix_size;
	if (s.shared_rx)
		FCT_DO(open_shared(d));
	FCT_DO(fct_ep_new(&d->l, &d->c));
	FCT_DO(introduce(d, how->stranger));
	FCT_DO(fct_mem_alloc(&d->l, &d->tx, d->max, FI_SEND));
	FCT_DO(fct_mem_alloc(&d->l, &d->rx, DGRAM_SLOTS * slot_len(d), FI_RECV));
	return fct_barrier("introduced");
}

uint8_t *dgram_received(struct dgram *d, unsigned int n)
{
	return d->rx.buf + n * slot_len(d) + d->prefix;
}

int dgram_post(struct dgram *d, unsigned int n)
{
	FCT_POST(d->l.rxcq,
		 fi_recv(d->srx ? d->srx : d->c.ep, d->rx.buf + n * slot_len(d),
			 slot_len(d), d->rx.desc, FI_ADDR_UNSPEC, &d->ctx[n]));
	return 0;
}

int dgram_expect(struct dgram *d, unsigned int n, size_t len, uint64_t seed,
		 uint64_t flags, uint64_t data)
{
	struct fi_cq_data_entry e;

	FCT_DO(fct_comp(d->l.rxcq, &d->ctx[n], FI_RECV | FI_MSG | flags, &e,
			"a datagram"));
	FCT_EQ(e.len, d->prefix + len);
	if (flags & FI_REMOTE_CQ_DATA)
		FCT_EQ(e.data, data);
	FCT_DATA(dgram_received(d, n), len, seed);
	return 0;
}

int dgram_send_as(struct dgram *d, enum fct_form form, size_t len, uint64_t seed,
		  uint64_t data)
{
	const struct fct_op op = {
		.form = form,
		.buf = d->tx.buf,
		.len = len,
		.desc = d->tx.desc,
		.pieces = 2,
		.to = d->peer,
		.data = data,
		.flags = FI_COMPLETION | (data ? FI_REMOTE_CQ_DATA : 0),
		.ctx = &d->tx_ctx,
	};

	fct_fill(d->tx.buf, len, seed);
	return fct_op_do(d->c.ep, d->l.txcq, &op);
}

int dgram_send(struct dgram *d, size_t len, uint64_t seed)
{
	return dgram_send_as(d, FCT_SEND, len, seed, 0);
}

FCT_PROGRAM(.name = "fi_cairn_dgram", .what = "Datagram endpoints.",
	    .ep_type = FI_EP_DGRAM)
