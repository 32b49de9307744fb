/* SPDX-License-Identifier: BSD-2-Clause */
/* Bringing up and taking down the objects of a connection. */
#include <netinet/in.h>

#include "fct_fabric.h"

static int skip_if_unsupported(struct fct_link *l, int ret)
{
	struct fct *t = l->t;

	if (!ret)
		return 0;
	if (ret == -FI_ENODATA || ret == -FI_EOPNOTSUPP)
		return fct_skip(t, "no endpoint with what this case needs (caps %s)",
				fi_tostr(&l->s.caps, FI_TYPE_CAPS));
	return fct_fail_at(t, NULL, 0, "fi_getinfo: %s", fi_strerror(-ret));
}

int fct_cq_open(struct fct_link *l, size_t size, enum fi_cq_format format,
		enum fi_wait_obj wait, struct fid_cq **cq)
{
	struct fi_cq_attr attr = {.size = size, .format = format, .wait_obj = wait};
	struct fct *t = l->t;
	int ret;

	FCT_TRUE(t, l->n_cqs < FCT_MAX_CQS);
	FCT_CALL(t, fi_cq_open(l->domain, &attr, cq, l));
	l->cqs[l->n_cqs++] = *cq;
	if (t->n_progress_cq < (int)(sizeof(t->progress_cq) / sizeof(t->progress_cq[0])))
		t->progress_cq[t->n_progress_cq++] = *cq;
out:
	return ret;
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
	struct fct *t = l->t;
	int ret;

	FCT_CALL(t, fi_fabric(l->info->fabric_attr, &l->fabric, l));
	FCT_CALL(t, fi_eq_open(l->fabric, &eq_attr, &l->eq, l));
	t->progress_eq = l->eq;
	FCT_CALL(t, fi_domain(l->fabric, l->info, &l->domain, l));
	ret = open_cqs(l);
out:
	return ret;
}

static int listen_somewhere(struct fct_link *l, struct fct_where *where)
{
	struct sockaddr_storage addr = {0};
	size_t len = sizeof(addr);
	struct fct *t = l->t;
	bool wildcard;
	int ret;

	FCT_CALL(t, fi_passive_ep(l->fabric, l->info, &l->pep, l));
	FCT_CALL(t, fi_pep_bind(l->pep, &l->eq->fid, 0));
	FCT_CALL(t, fi_listen(l->pep));
	FCT_CALL(t, fi_getname(&l->pep->fid, &addr, &len));
	FCT_CALL(t, fct_addr_text(&addr, where->node, sizeof(where->node), where->service,
				  sizeof(where->service), &wildcard));
	if (wildcard)
		where->node[0] = '\0';
	if (!fct_addr_port(&addr))
		FCT_FAIL(t, "fi_getname after fi_listen gives port 0");
out:
	return ret;
}

int fct_where_hear(struct fct *t, struct fct_where *where)
{
	int ret = fct_hear(t, "address", where, sizeof(*where));

	if (!ret && !where->node[0])
		snprintf(where->node, sizeof(where->node), "%s",
			 t->opts.host ? t->opts.host : t->opts.self);
	return ret;
}

static int open_towards(struct fct_link *l, const struct fct_where *where)
{
	int ret = fct_getinfo(l->t, &l->s, where->node, where->service, &l->info);

	if (skip_if_unsupported(l, ret))
		return -1;
	return open_domain(l);
}

static void link_init(struct fct_link *l, struct fct *t, const struct fct_setup *s)
{
	memset(l, 0, sizeof(*l));
	l->t = t;
	l->s = *s;
	if (!l->s.caps)
		l->s.caps = FI_MSG;
	fct_doing(t, "opening fabric, domain and queues");
}

int fct_link_open_alone(struct fct_link *l, struct fct *t, const struct fct_setup *s,
			const struct fct_where *where)
{
	link_init(l, t, s);
	return open_towards(l, where);
}

int fct_link_listen_alone(struct fct_link *l, struct fct *t, const struct fct_setup *s,
			  struct fct_where *where)
{
	int ret;

	link_init(l, t, s);
	FCT_DO(skip_if_unsupported(l, fct_getinfo(t, &l->s, NULL, NULL, &l->info)));
	FCT_DO(open_domain(l));
	ret = listen_somewhere(l, where);
out:
	return ret;
}

int fct_link_open(struct fct_link *l, struct fct *t, const struct fct_setup *s)
{
	struct fct_where where = {.node = ""};
	int ret;

	if (fct_is_server(t)) {
		FCT_DO(fct_link_listen_alone(l, t, s, &where));
		FCT_DO(fct_tell(t, "address", &where, sizeof(where)));
	} else {
		link_init(l, t, s);
		FCT_DO(fct_where_hear(t, &where));
		FCT_DO(open_towards(l, &where));
	}
	memcpy(l->node, where.node, sizeof(l->node));
	memcpy(l->service, where.service, sizeof(l->service));
	if (l->s.open)
		FCT_DO(l->s.open(l));
	/* Only now is it known that neither side skips. */
	ret = fct_barrier(t, "opened");
out:
	return ret;
}

int fct_keep(struct fct_link *l, fid_t fid)
{
	if (l->n_kept == FCT_MAX_KEPT) {
		fi_close(fid);
		return fct_fail_at(l->t, NULL, 0, "a case opens too much");
	}
	l->kept[l->n_kept++] = fid;
	return 0;
}

int fct_ep_open(struct fct_link *l, struct fct_conn *c, struct fi_info *info)
{
	struct fid_cq *txcq = c->txcq ? c->txcq : l->txcq;
	struct fid_cq *rxcq = c->rxcq ? c->rxcq : l->rxcq;
	uint64_t tx = FI_TRANSMIT | l->s.tx_bind, rx = FI_RECV | l->s.rx_bind;
	struct fct *t = l->t;
	int ret;

	FCT_CALL(t, fi_endpoint(l->domain, info, &c->ep, c));
	c->next = l->conns;
	l->conns = c;
	FCT_CALL(t, fi_ep_bind(c->ep, &l->eq->fid, 0));
	if (txcq == rxcq && l->s.tx_bind == l->s.rx_bind) {
		FCT_CALL(t, fi_ep_bind(c->ep, &txcq->fid, tx | rx));
	} else {
		FCT_CALL(t, fi_ep_bind(c->ep, &txcq->fid, tx));
		FCT_CALL(t, fi_ep_bind(c->ep, &rxcq->fid, rx));
	}
	if (l->s.bind)
		FCT_DO(l->s.bind(l, c));
	FCT_CALL(t, fi_enable(c->ep));
out:
	return ret;
}

int fct_conn_open(struct fct_link *l, struct fct_conn *c)
{
	struct fct *t = l->t;
	struct fct_event e;
	int ret;

	if (fct_is_client(t)) {
		c->info = fi_dupinfo(l->info);
		FCT_TRUE(t, c->info);
		FCT_DO(fct_ep_open(l, c, c->info));
		FCT_CALL(t, fi_connect(c->ep, l->info->dest_addr, NULL, 0));
	} else {
		FCT_DO(fct_eq_expect(t, l->eq, FI_CONNREQ, &l->pep->fid, &e));
		c->info = e.cm.info;
		FCT_DO(fct_ep_open(l, c, c->info));
	}
out:
	return ret;
}

int fct_conn_finish(struct fct_link *l, struct fct_conn *c)
{
	struct fct *t = l->t;
	struct fct_event e;
	int ret;

	if (fct_is_server(t))
		FCT_CALL(t, fi_accept(c->ep, NULL, 0));
	ret = fct_eq_expect(t, l->eq, FI_CONNECTED, &c->ep->fid, &e);
out:
	return ret;
}

int fct_conn_up(struct fct_link *l, struct fct_conn *c)
{
	if (fct_conn_open(l, c) || fct_conn_finish(l, c))
		return -1;
	return fct_barrier(l->t, "connected");
}

static int close_fid(struct fct_link *l, fid_t fid, const char *what)
{
	int ret;

	if (!fid)
		return 0;
	fct_doing(l->t, what);
	ret = fi_close(fid);

	if (ret)
		return fct_fail_at(l->t, NULL, 0, "%s returned %d (%s)", what, ret,
				   fi_strerror(-ret));
	return 0;
}

int fct_conn_close(struct fct_link *l, struct fct_conn *c)
{
	int ret = close_fid(l, c->ep ? &c->ep->fid : NULL, "fi_close of the endpoint");
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

	return fct_exchange(l->t, "peer", &mine, &l->peer, sizeof(mine));
}

int fct_link_up(struct fct_link *l, struct fct *t, const struct fct_setup *s)
{
	if (fct_link_open(l, t, s) || fct_conn_up(l, &l->c))
		return -1;
	return exchange_peer(l);
}

int fct_link_down(struct fct_link *l, int ret)
{
	struct fct *t = l->t;

	if (!ret && t->ctl >= 0)
		ret = fct_barrier(t, "closing");
	fct_doing(t, "closing the fabric objects");
	t->n_progress_cq = 0;
	t->progress_eq = NULL;
	while (l->conns)
		if (fct_conn_close(l, l->conns))
			ret = -1;
	fct_conn_close(l, &l->c); /* its info, if the endpoint never came to be */
	while (l->mems)
		if (fct_mem_unreg(l, l->mems))
			ret = -1;
	if (close_fid(l, l->pep ? &l->pep->fid : NULL,
		      "fi_close of the passive endpoint"))
		ret = -1;
	while (l->n_kept)
		if (close_fid(l, l->kept[--l->n_kept], "fi_close of the case's object"))
			ret = -1;
	while (l->n_cqs)
		if (close_fid(l, &l->cqs[--l->n_cqs]->fid, "fi_close of the CQ"))
			ret = -1;
	if (close_fid(l, l->domain ? &l->domain->fid : NULL, "fi_close of the domain") ||
	    close_fid(l, l->eq ? &l->eq->fid : NULL, "fi_close of the EQ") ||
	    close_fid(l, l->fabric ? &l->fabric->fid : NULL, "fi_close of the fabric"))
		ret = -1;
	fi_freeinfo(l->info);
	l->info = NULL;
	return ret;
}
