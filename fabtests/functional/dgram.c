/* SPDX-License-Identifier: BSD-2-Clause */
/* Two datagram endpoints: opened, introduced, used. */
#include "dgram.h"

static size_t slot_len(const struct dgram *d)
{
	return d->prefix + d->max;
}

int dgram_ep_open(struct dgram *d, struct fct_conn *c)
{
	struct fct_link *l = &d->l;

	c->info = fi_dupinfo(l->info);
	FCT_TRUE(c->info);
	FCT_CALL(fi_endpoint(l->domain, c->info, &c->ep, d));
	c->next = l->conns;
	l->conns = c;
	FCT_CALL(fi_ep_bind(c->ep, &d->av->fid, 0));
	FCT_CALL(fi_ep_bind(c->ep, &l->txcq->fid, FI_TRANSMIT));
	FCT_CALL(fi_ep_bind(c->ep, &l->rxcq->fid, FI_RECV | l->s.rx_bind));
	if (d->srx)
		FCT_CALL(fi_ep_bind(c->ep, &d->srx->fid, 0));
	FCT_CALL(fi_enable(c->ep));
	return 0;
}

/* With an event queue where insertions are reported. */
static int open_av(struct dgram *d, const struct fi_av_attr *wanted)
{
	struct fi_eq_attr eq = {.wait_obj = FI_WAIT_UNSPEC};
	struct fi_av_attr av = *wanted;
	struct fct_link *l = &d->l;
	int ret;

	if (av.type == FI_AV_UNSPEC)
		av.type = FI_AV_TABLE;
	ret = fi_av_open(l->domain, &av, &d->av, NULL);
	if (ret == -FI_ENOSYS || ret == -FI_EOPNOTSUPP)
		return fct_skip("fi_av_open: %s", fi_strerror(-ret));
	FCT_CALL(ret);
	FCT_DO(fct_keep(l, &d->av->fid));
	if (!(av.flags & FI_EVENT))
		return 0;
	FCT_CALL(fi_eq_open(l->fabric, &eq, &l->eq, NULL));
	/* fi_av_bind is deprecated in libfabric 2.x. */
	FCT_CALL(d->av->fid.ops->bind(&d->av->fid, &l->eq->fid, 0));
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

static int open_objects(struct dgram *d, const struct dgram_how *how)
{
	const enum fi_cq_format format = how->s.format;
	struct fct_link *l = &d->l;

	FCT_CALL(fi_fabric(l->info->fabric_attr, &l->fabric, l));
	FCT_CALL(fi_domain(l->fabric, l->info, &l->domain, l));
	FCT_DO(open_av(d, &how->av));
	FCT_DO(fct_cq_open(l, 4 * DGRAM_SLOTS, FI_CQ_FORMAT_DATA, FI_WAIT_NONE,
			   &l->txcq));
	FCT_DO(fct_cq_open(l, 4 * DGRAM_SLOTS, format ? format : FI_CQ_FORMAT_DATA,
			   FI_WAIT_NONE, &l->rxcq));
	if (how->s.shared_rx)
		FCT_DO(open_shared(d));
	return dgram_ep_open(d, &d->c);
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
		FCT_EQ(fi_av_insert(d->av, d->name, 1, &d->peer, 0, NULL), 1);
		return 0;
	}
	FCT_ERR(fi_av_insert(d->av, d->name, 1, &d->peer, 0, &d->name), 0);
	FCT_DO(fct_eq_expect(d->l.eq, FI_AV_COMPLETE, &d->av->fid, &e));
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
	struct fct_setup *s = &d->l.s;
	int ret;

	memset(d, 0, sizeof(*d));
	*s = how->s;
	s->mode |= FI_MSG_PREFIX | FI_RX_CQ_DATA;
	ret = fct_getinfo(s, NULL, NULL, &d->l.info);
	if (ret == -FI_ENODATA)
		ret = fct_skip("no endpoint with what this case needs (caps %s)",
			       fi_tostr(&s->caps, FI_TYPE_CAPS));
	else
		FCT_CALL(ret);
	FCT_DO(ret);
	FCT_DO(fct_barrier("offered"));
	if (d->l.info->mode & FI_MSG_PREFIX)
		d->prefix = d->l.info->ep_attr->msg_prefix_size;
	FCT_DO(open_objects(d, how));
	FCT_DO(introduce(d, how->stranger));
	FCT_DO(fct_mem_alloc(&d->l, &d->tx, d->max, FI_SEND));
	FCT_DO(fct_mem_alloc(&d->l, &d->rx, DGRAM_SLOTS * slot_len(d), FI_RECV));
	return fct_barrier("introduced");
}

void dgram_end(struct dgram *d)
{
	fct_link_down(&d->l, fct_ret());
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

int dgram_send(struct dgram *d, size_t len, uint64_t seed)
{
	struct fi_cq_data_entry e;

	fct_fill(d->tx.buf, len, seed);
	FCT_POST(d->l.txcq,
		 fi_send(d->c.ep, d->tx.buf, len, d->tx.desc, d->peer, &d->tx_ctx));
	return fct_comp(d->l.txcq, &d->tx_ctx, FI_SEND | FI_MSG, &e, "a send");
}

FCT_PROGRAM(.name = "fi_cairn_dgram", .what = "Datagram endpoints.",
	    .ep_type = FI_EP_DGRAM)
