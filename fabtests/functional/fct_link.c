/* SPDX-License-Identifier: BSD-2-Clause */
/* Bringing up and taking down the objects of a connection. */
#include <netinet/in.h>
#include <stdlib.h>

#include "fct_fabric.h"

static int skip_if_unsupported(struct fct_link *l, int ret)
{
	if (!ret)
		return 0;
	if (ret == -FI_ENODATA || ret == -FI_EOPNOTSUPP)
		return fct_skip("no endpoint with what this case needs (caps %s)",
				fi_tostr(&l->s.caps, FI_TYPE_CAPS));
	return fct_fail("fi_getinfo: %s", fi_strerror(-ret));
}

int fct_cq_open(struct fct_link *l, size_t size, enum fi_cq_format format,
		enum fi_wait_obj wait, struct fid_cq **cq)
{
	struct fi_cq_attr attr = {.size = size, .format = format, .wait_obj = wait};

	FCT_TRUE(l->n_cqs < FCT_MAX_CQS);
	FCT_CALL(fi_cq_open(l->domain, &attr, cq, l));
	l->cqs[l->n_cqs++] = *cq;
	if (fct.n_progress_cq <
	    (int)(sizeof(fct.progress_cq) / sizeof(fct.progress_cq[0])))
		fct.progress_cq[fct.n_progress_cq++] = *cq;
	return 0;
}

static int open_cqs(struct fct_link *l)
{
	enum fi_cq_format format = l->s.format ? l->s.format : FI_CQ_FORMAT_DATA;
	enum fi_wait_obj wait = l->s.cq_wait ? l->s.cq_wait : FI_WAIT_NONE;
	size_t tx = l->info->tx_attr->size, rx = l->info->rx_attr->size;

	if (fct_cq_open(l,
			l->s.cq_size	? l->s.cq_size
			: l->s.split_cq ? tx
					: tx + rx,
			format, wait, &l->txcq))
		return -1;
	if (!l->s.split_cq) {
		l->rxcq = l->txcq;
		return 0;
	}
	return fct_cq_open(l, l->s.cq_size ? l->s.cq_size : rx, format, wait, &l->rxcq);
}

static int open_domain(struct fct_link *l)
{
	struct fi_eq_attr eq_attr = {.size = 64, .wait_obj = FI_WAIT_UNSPEC};

	FCT_CALL(fi_fabric(l->info->fabric_attr, &l->fabric, l));
	FCT_CALL(fi_eq_open(l->fabric, &eq_attr, &l->eq, l));
	fct.progress_eq = l->eq;
	FCT_CALL(fi_domain(l->fabric, l->info, &l->domain, l));
	return open_cqs(l);
}

int fct_listen(struct fct_link *l, struct fct_where *where)
{
	struct sockaddr_storage addr = {0};
	size_t len = sizeof(addr);
	bool wildcard;

	FCT_CALL(fi_passive_ep(l->fabric, l->info, &l->pep, l));
	FCT_CALL(fi_pep_bind(l->pep, &l->eq->fid, 0));
	FCT_CALL(fi_listen(l->pep));
	FCT_CALL(fi_getname(&l->pep->fid, &addr, &len));
	FCT_CALL(fct_addr_text(&addr, where->node, sizeof(where->node), where->service,
			       sizeof(where->service), &wildcard));
	if (wildcard)
		where->node[0] = '\0';
	if (!fct_addr_port(&addr))
		FCT_FAIL("fi_getname after fi_listen gives port 0");
	return 0;
}

int fct_where_hear(struct fct_where *where)
{
	int ret = fct_hear("address", where, sizeof(*where));

	if (!ret && !where->node[0])
		snprintf(where->node, sizeof(where->node), "%s",
			 fct.opts.host ? fct.opts.host : fct.opts.self);
	return ret;
}

static int open_towards(struct fct_link *l, const struct fct_where *where)
{
	int ret = fct_getinfo(&l->s, where->node, where->service, &l->info);

	if (skip_if_unsupported(l, ret))
		return -1;
	return open_domain(l);
}

static void link_init(struct fct_link *l, const struct fct_setup *s)
{
	memset(l, 0, sizeof(*l));
	if (s)
		l->s = *s;
	if (!l->s.caps)
		l->s.caps = FI_MSG;
	fct_doing("opening fabric, domain and queues");
}

int fct_link_open_alone(struct fct_link *l, const struct fct_setup *s,
			const struct fct_where *where)
{
	link_init(l, s);
	return open_towards(l, where);
}

int fct_link_listen_alone(struct fct_link *l, const struct fct_setup *s,
			  struct fct_where *where)
{
	link_init(l, s);
	FCT_DO(skip_if_unsupported(l, fct_getinfo(&l->s, NULL, NULL, &l->info)));
	FCT_DO(open_domain(l));
	return fct_listen(l, where);
}

int fct_link_open(struct fct_link *l, const struct fct_setup *s)
{
	struct fct_where where = {.node = ""};

	if (fct_is_server()) {
		FCT_DO(fct_link_listen_alone(l, s, &where));
		FCT_DO(fct_tell("address", &where, sizeof(where)));
	} else {
		link_init(l, s);
		FCT_DO(fct_where_hear(&where));
		FCT_DO(open_towards(l, &where));
	}
	memcpy(l->node, where.node, sizeof(l->node));
	memcpy(l->service, where.service, sizeof(l->service));
	if (l->s.open)
		FCT_DO(l->s.open(l));
	/* Only now is it known that neither side skips. */
	return fct_barrier("opened");
}

static int open_av(struct fct_link *l, struct fi_av_attr av)
{
	int ret;

	if (av.type == FI_AV_UNSPEC)
		av.type = FI_AV_TABLE;
	ret = fi_av_open(l->domain, &av, &l->av, NULL);
	if (ret == -FI_ENOSYS || ret == -FI_EOPNOTSUPP)
		return fct_skip("fi_av_open: %s", fi_strerror(-ret));
	FCT_CALL(ret);
	FCT_DO(fct_keep(l, &l->av->fid));
	/* fi_av_bind is deprecated in libfabric 2.x. */
	if (av.flags & FI_EVENT)
		FCT_CALL(l->av->fid.ops->bind(&l->av->fid, &l->eq->fid, 0));
	return 0;
}

int fct_plain_open(struct fct_link *l, const struct fct_setup *s, const char *node,
		   const struct fi_av_attr *av)
{
	struct fi_eq_attr eq = {.wait_obj = FI_WAIT_UNSPEC};

	link_init(l, s);
	FCT_DO(skip_if_unsupported(l, fct_getinfo(&l->s, node, NULL, &l->info)));
	if (fct.ctl >= 0)
		FCT_DO(fct_barrier("offered"));
	FCT_CALL(fi_fabric(l->info->fabric_attr, &l->fabric, l));
	if ((av->flags & FI_EVENT) || (s->caps & FI_MULTICAST))
		FCT_CALL(fi_eq_open(l->fabric, &eq, &l->eq, NULL));
	FCT_CALL(fi_domain(l->fabric, l->info, &l->domain, l));
	FCT_DO(open_av(l, *av));
	return open_cqs(l);
}

int fct_keep(struct fct_link *l, fid_t fid)
{
	if (l->n_kept == FCT_MAX_KEPT) {
		fi_close(fid);
		return fct_fail("a case opens too much");
	}
	l->kept[l->n_kept++] = fid;
	return 0;
}

int fct_ep_open(struct fct_link *l, struct fct_conn *c, struct fi_info *info)
{
	struct fid_cq *txcq = c->txcq ? c->txcq : l->txcq;
	struct fid_cq *rxcq = c->rxcq ? c->rxcq : l->rxcq;
	uint64_t tx = FI_TRANSMIT | l->s.tx_bind, rx = FI_RECV | l->s.rx_bind;

	FCT_CALL(fi_endpoint(l->domain, info, &c->ep, c));
	c->next = l->conns;
	l->conns = c;
	if (l->eq)
		FCT_CALL(fi_ep_bind(c->ep, &l->eq->fid, 0));
	if (l->av)
		FCT_CALL(fi_ep_bind(c->ep, &l->av->fid, 0));
	if (txcq == rxcq && l->s.tx_bind == l->s.rx_bind) {
		FCT_CALL(fi_ep_bind(c->ep, &txcq->fid, tx | rx));
	} else {
		FCT_CALL(fi_ep_bind(c->ep, &txcq->fid, tx));
		FCT_CALL(fi_ep_bind(c->ep, &rxcq->fid, rx));
	}
	if (l->s.bind)
		FCT_DO(l->s.bind(l, c));
	FCT_CALL(fi_enable(c->ep));
	return 0;
}

int fct_ep_new(struct fct_link *l, struct fct_conn *c)
{
	c->info = fi_dupinfo(l->info);
	FCT_TRUE(c->info);
	return fct_ep_open(l, c, c->info);
}

int fct_conn_ask(struct fct_link *l, struct fct_conn *c, const void *data, size_t len)
{
	FCT_DO(fct_ep_new(l, c));
	FCT_CALL(fi_connect(c->ep, l->info->dest_addr, data, len));
	return 0;
}

int fct_conn_take(struct fct_link *l, struct fct_conn *c, struct fi_info *info)
{
	c->info = info;
	return fct_ep_open(l, c, info);
}

int fct_conn_open(struct fct_link *l, struct fct_conn *c)
{
	struct fct_event e;

	if (fct_is_client())
		return fct_conn_ask(l, c, NULL, 0);
	FCT_DO(fct_eq_expect(l->eq, FI_CONNREQ, &l->pep->fid, &e));
	return fct_conn_take(l, c, e.cm.info);
}

int fct_conn_finish(struct fct_link *l, struct fct_conn *c)
{
	struct fct_event e;

	if (fct_is_server())
		FCT_CALL(fi_accept(c->ep, NULL, 0));
	return fct_eq_expect(l->eq, FI_CONNECTED, &c->ep->fid, &e);
}

int fct_conn_up(struct fct_link *l, struct fct_conn *c)
{
	if (fct_conn_open(l, c) || fct_conn_finish(l, c))
		return -1;
	return fct_barrier("connected");
}

static int close_fid(fid_t fid, const char *what)
{
	int ret;

	if (!fid)
		return 0;
	fct_doing(what);
	ret = fi_close(fid);

	if (ret)
		return fct_fail("%s returned %d (%s)", what, ret, fi_strerror(-ret));
	return 0;
}

int fct_conn_close(struct fct_link *l, struct fct_conn *c)
{
	int ret = close_fid(c->ep ? &c->ep->fid : NULL, "fi_close of the endpoint");
	struct fct_conn **p;

	for (p = &l->conns; *p && *p != c; p = &(*p)->next)
		;
	if (*p)
		*p = c->next;
	fi_freeinfo(c->info);
	c->ep = NULL;
	c->info = NULL;
	return ret;
}

struct fct_conn *fct_conn_of(struct fct_link *l, fid_t fid)
{
	struct fct_conn *c;

	for (c = l->conns; c && (!c->ep || &c->ep->fid != fid); c = c->next)
		;
	return c;
}

int fct_conn_message(struct fct_link *l, struct fct_conn *c, uint64_t seed)
{
	struct fid_cq *txcq = c->txcq ? c->txcq : l->txcq,
		      *rxcq = c->rxcq ? c->rxcq : l->rxcq;
	struct fct_mem *m = &l->message;
	struct fi_cq_data_entry e;
	struct fct_ctx ctx;

	FCT_DO(fct_mem_alloc(l, m, 256, FI_SEND | FI_RECV));
	if (fct_is_server())
		FCT_POST(rxcq, fi_recv(c->ep, m->buf, m->len, m->desc, 0, &ctx));
	FCT_DO(fct_barrier("receive posted"));
	if (fct_is_client()) {
		fct_fill(m->buf, m->len, seed);
		FCT_POST(txcq, fi_send(c->ep, m->buf, m->len, m->desc, 0, &ctx));
		FCT_DO(fct_comp(txcq, &ctx, FI_SEND | FI_MSG, &e,
				"the send of a test message"));
	} else {
		FCT_DO(fct_comp(rxcq, &ctx, FI_RECV | FI_MSG, &e,
				"the receive of a test message"));
		FCT_DATA(m->buf, m->len, seed);
	}
	FCT_DO(fct_barrier("message done"));
	return fct_mem_unreg(l, m);
}

static int exchange_peer(struct fct_link *l)
{
	const struct fi_info *i = l->info;
	struct fct_peer mine = {
		.caps = i->caps,
		.mode = i->mode,
		.rx_mode = i->mode | i->rx_attr->mode,
		.max_msg_size = i->ep_attr->max_msg_size,
		.cq_data_size = i->domain_attr->cq_data_size,
		.tx_size = i->tx_attr->size,
		.rx_size = i->rx_attr->size,
		.iov_limit = i->rx_attr->iov_limit,
		.msg_order = i->tx_attr->msg_order,
		.data_progress = i->domain_attr->data_progress,
	};

	return fct_exchange("peer", &mine, &l->peer, sizeof(mine));
}

int fct_link_up(struct fct_link *l, const struct fct_setup *s)
{
	if (fct_link_open(l, s) || fct_conn_up(l, &l->c))
		return -1;
	return exchange_peer(l);
}

int fct_link_down(struct fct_link *l, int ret)
{
	if (!ret && fct.ctl >= 0)
		ret = fct_barrier("closing");
	fct_doing("closing the fabric objects");
	fct.n_progress_cq = 0;
	fct.progress_eq = NULL;
	while (l->conns)
		if (fct_conn_close(l, l->conns))
			ret = -1;
	fct_conn_close(l, &l->c); /* its info, if the endpoint never came to be */
	while (l->mems)
		if (fct_mem_unreg(l, l->mems))
			ret = -1;
	if (close_fid(l->pep ? &l->pep->fid : NULL, "fi_close of the passive endpoint"))
		ret = -1;
	while (l->n_kept)
		if (close_fid(l->kept[--l->n_kept], "fi_close of the case's object"))
			ret = -1;
	while (l->n_cqs)
		if (close_fid(&l->cqs[--l->n_cqs]->fid, "fi_close of the CQ"))
			ret = -1;
	if (close_fid(l->domain ? &l->domain->fid : NULL, "fi_close of the domain") ||
	    close_fid(l->eq ? &l->eq->fid : NULL, "fi_close of the EQ") ||
	    close_fid(l->fabric ? &l->fabric->fid : NULL, "fi_close of the fabric"))
		ret = -1;
	fi_freeinfo(l->info);
	l->info = NULL;
	return ret;
}

void fct_link_end(void *link)
{
	fct_link_down(link, fct_ret());
}

void fct_fid_end(void *at)
{
	struct fid *const *fid = at;

	if (*fid)
		close_fid(*fid, "fi_close of an object of the case");
}

void fct_info_end(struct fi_info **info)
{
	fi_freeinfo(*info);
}

void fct_free_end(void *at)
{
	free(*(void **)at);
}
