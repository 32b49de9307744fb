/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls before, or after, their time. */
#include <netinet/in.h>
#include <stdlib.h>

#include "cm.h"

int fct_cm_pep_address(struct fct *t)
{
	struct fct_setup s = {.caps = FI_MSG};
	struct sockaddr_storage addr;
	size_t len, small = 1;
	struct fct_link l;
	int ret;

	FCT_DO(fct_link_open(&l, t, &s));
	if (fct_is_server(t)) {
		len = sizeof(addr);
		FCT_CALL(t, fi_getname(&l.pep->fid, &addr, &len));
		FCT_TRUE(t, len <= sizeof(addr));
		FCT_TRUE(t, fct_addr_port(&addr));
		FCT_ERR(t, fi_getname(&l.pep->fid, &addr, &small), -FI_ETOOSMALL);
		FCT_EQ(t, small, len);
	}
out:
	return fct_link_down(&l, ret);
}

static void set_port(struct sockaddr_storage *addr, uint16_t port)
{
	if (addr->ss_family == AF_INET6)
		((struct sockaddr_in6 *)addr)->sin6_port = htons(port);
	else
		((struct sockaddr_in *)addr)->sin_port = htons(port);
}

/*
 * A second passive endpoint, moved to a port that was free a moment ago; the client
 * connects there.
 */
static int renamed(struct fct *t, bool nameless)
{
	struct fct_setup s = {.caps = FI_MSG};
	struct sockaddr_storage addr = {0}, got;
	struct fi_info *info = NULL;
	struct fid_pep *pep = NULL;
	struct fct_link l;
	size_t len = sizeof(addr);
	uint16_t port = 0;
	int ret;

	FCT_DO(fct_link_open(&l, t, &s));
	if (fct_is_server(t)) {
		FCT_CALL(t, fi_getname(&l.pep->fid, &addr, &len));
		port = fct_addr_port(&addr);
		info = fi_dupinfo(l.info);
		FCT_TRUE(t, info);
		if (nameless) {
			free(info->src_addr);
			info->src_addr = NULL;
			info->src_addrlen = 0;
		}
		FCT_CALL(t, fi_passive_ep(l.fabric, info, &pep, &l));
		/* A neighbouring port: the listening one is taken. */
		port = port < 60000 ? port + 1 : port - 1;
		set_port(&addr, port);
		ret = fi_setname(&pep->fid, &addr, len);
		if (ret == -FI_ENOSYS || ret == -FI_EOPNOTSUPP) {
			ret = fct_skip(t, "fi_setname: %s", fi_strerror(-ret));
			goto out;
		}
		FCT_CALL(t, ret);
		FCT_CALL(t, fi_pep_bind(pep, &l.eq->fid, 0));
		FCT_CALL(t, fi_listen(pep));
		len = sizeof(got);
		FCT_CALL(t, fi_getname(&pep->fid, &got, &len));
		FCT_EQ(t, fct_addr_port(&got), port);
		FCT_CALL(t, fi_close(&l.pep->fid));
		l.pep = pep;
		pep = NULL;
		FCT_DO(fct_tell(t, "port", &port, sizeof(port)));
	} else {
		FCT_DO(fct_hear(t, "port", &port, sizeof(port)));
		set_port(l.info->dest_addr, port);
	}
	FCT_DO(fct_conn_up(&l, &l.c));
	ret = fct_cm_message(&l, &l.c, 1);
out:
	if (pep)
		fi_close(&pep->fid);
	fi_freeinfo(info);
	return fct_link_down(&l, ret);
}

int fct_cm_setname(struct fct *t)
{
	return renamed(t, false);
}

int fct_cm_setname_first(struct fct *t)
{
	return renamed(t, true);
}

/* A port that is free at the moment. */
static int free_port(struct fct_link *l, struct sockaddr_storage *addr, size_t *len)
{
	struct fid_pep *pep = NULL;
	struct fct *t = l->t;
	int ret;

	FCT_CALL(t, fi_passive_ep(l->fabric, l->info, &pep, l));
	FCT_CALL(t, fi_pep_bind(pep, &l->eq->fid, 0));
	FCT_CALL(t, fi_listen(pep));
	FCT_CALL(t, fi_getname(&pep->fid, addr, len));
out:
	if (pep && fi_close(&pep->fid) && !ret)
		ret = fct_fail_at(t, __FILE__, __LINE__,
				  "fi_close of the passive endpoint failed");
	return ret;
}

/*
 * As with a socket: the client names a passive endpoint first and decides then that it is
 * the one to connect (fi_endpoint(3)).
 */
static int connect_named(struct fct_link *l)
{
	struct sockaddr_storage addr = {0}, got;
	size_t len = sizeof(addr), got_len = sizeof(got);
	struct fi_info *info = fi_dupinfo(l->info);
	struct fid_pep *pep = NULL;
	struct fct *t = l->t;
	int ret;

	FCT_TRUE(t, info);
	FCT_DO(free_port(l, &addr, &len));
	FCT_CALL(t, fi_passive_ep(l->fabric, info, &pep, l));
	FCT_CALL(t, fi_setname(&pep->fid, &addr, len));
	info->handle = &pep->fid;
	FCT_DO(fct_ep_open(l, &l->c, info));
	FCT_CALL(t, fi_close(&pep->fid));
	pep = NULL;
	FCT_CALL(t, fi_getname(&l->c.ep->fid, &got, &got_len));
	FCT_EQ(t, fct_addr_port(&got), fct_addr_port(&addr));
	FCT_CALL(t, fi_connect(l->c.ep, l->info->dest_addr, NULL, 0));
	FCT_DO(fct_conn_finish(l, &l->c));
	got_len = sizeof(got);
	FCT_CALL(t, fi_getname(&l->c.ep->fid, &got, &got_len));
	FCT_EQ(t, fct_addr_port(&got), fct_addr_port(&addr));
out:
	if (pep)
		fi_close(&pep->fid);
	fi_freeinfo(info);
	return ret;
}

int fct_cm_pep_connects(struct fct *t)
{
	struct fct_setup s = {.caps = FI_MSG};
	struct fct_link l;
	int ret;

	FCT_DO(fct_link_open(&l, t, &s));
	if (fct_is_server(t)) {
		FCT_DO(fct_conn_open(&l, &l.c));
		FCT_DO(fct_conn_finish(&l, &l.c));
	} else {
		FCT_DO(connect_named(&l));
	}
	FCT_DO(fct_barrier(t, "connected"));
	ret = fct_cm_message(&l, &l.c, 1);
out:
	return fct_link_down(&l, ret);
}

int fct_cm_listen_unbound(struct fct *t)
{
	struct fct_setup s = {.caps = FI_MSG};
	struct fid_pep *pep = NULL;
	struct fct_link l;
	int ret;

	FCT_DO(fct_link_open(&l, t, &s));
	if (fct_is_server(t)) {
		FCT_CALL(t, fi_passive_ep(l.fabric, l.info, &pep, &l));
		FCT_REFUSED(t, fi_listen(pep));
	}
out:
	if (pep)
		fi_close(&pep->fid);
	return fct_link_down(&l, ret);
}

/*
 * Both sides post receives as early as the API allows and send as soon as they are
 * connected.
 */
int fct_cm_early_receive(struct fct *t)
{
	struct fct_setup s = {.caps = FI_MSG, .split_cq = true};
	struct fct_mem tx, rx;
	struct fct_ctx tx_ctx, rx_ctx;
	struct fi_cq_data_entry e;
	struct fct_event event;
	struct fct_link l;
	int ret;

	FCT_DO(fct_link_open(&l, t, &s));
	FCT_DO(fct_mem_alloc(&l, &tx, 512, FI_SEND));
	FCT_DO(fct_mem_alloc(&l, &rx, 512, FI_RECV));
	fct_fill(tx.buf, tx.len, (uint64_t)t->role);
	if (fct_is_client(t)) {
		l.c.info = fi_dupinfo(l.info);
	} else {
		FCT_DO(fct_eq_expect(t, l.eq, FI_CONNREQ, &l.pep->fid, &event));
		l.c.info = event.cm.info;
	}
	FCT_DO(fct_ep_open(&l, &l.c, l.c.info));
	FCT_POST(t, l.rxcq, fi_recv(l.c.ep, rx.buf, rx.len, rx.desc, 0, &rx_ctx));
	if (fct_is_client(t))
		FCT_CALL(t, fi_connect(l.c.ep, l.info->dest_addr, NULL, 0));
	FCT_DO(fct_conn_finish(&l, &l.c));
	FCT_POST(t, l.txcq, fi_send(l.c.ep, tx.buf, tx.len, tx.desc, 0, &tx_ctx));
	FCT_DO(fct_comp(t, l.txcq, &tx_ctx, FI_SEND | FI_MSG, &e,
			"a send right after FI_CONNECTED"));
	FCT_DO(fct_comp(t, l.rxcq, &rx_ctx, FI_RECV | FI_MSG, &e,
			"a receive posted before connecting"));
	FCT_DATA(t, rx.buf, rx.len, (uint64_t)!t->role);
out:
	return fct_link_down(&l, ret);
}

int fct_cm_not_enabled(struct fct *t)
{
	struct fct_setup s = {.caps = FI_MSG};
	struct fid_ep *ep = NULL;
	struct fct_mem m;
	struct fct_ctx ctx;
	struct fct_link l;
	int ret;

	FCT_DO(fct_link_open(&l, t, &s));
	FCT_DO(fct_mem_alloc(&l, &m, 64, FI_SEND | FI_RECV));
	if (fct_is_client(t)) {
		FCT_CALL(t, fi_endpoint(l.domain, l.info, &ep, NULL));
		FCT_REFUSED(t, fi_recv(ep, m.buf, m.len, m.desc, 0, &ctx));
		FCT_REFUSED(t, fi_send(ep, m.buf, m.len, m.desc, 0, &ctx));
		FCT_REFUSED(t, fi_enable(ep)); /* nothing is bound */
	}
out:
	if (ep)
		fi_close(&ep->fid);
	return fct_link_down(&l, ret);
}

int fct_cm_not_connected(struct fct *t)
{
	struct fct_setup s = {.caps = FI_MSG};
	struct fct_conn c = {0};
	struct fct_mem m;
	struct fct_ctx ctx;
	struct fct_link l;
	int ret;

	FCT_DO(fct_link_open(&l, t, &s));
	FCT_DO(fct_mem_alloc(&l, &m, 64, FI_SEND | FI_RECV));
	if (fct_is_client(t)) {
		FCT_DO(fct_ep_open(&l, &c, l.info));
		FCT_REFUSED(t, fi_send(c.ep, m.buf, m.len, m.desc, 0, &ctx));
		FCT_REFUSED(t, fi_inject(c.ep, m.buf, 1, 0));
		FCT_DO(fct_conn_close(&l, &c));
	}
out:
	return fct_link_down(&l, ret);
}

/* fi_cm(3): fi_connect may be called on an endpoint once in its lifetime. */
int fct_cm_connect_twice(struct fct *t)
{
	struct fct_setup s = {.caps = FI_MSG};
	struct fct_link l;
	int ret;

	FCT_DO(fct_link_up(&l, t, &s));
	if (fct_is_client(t))
		FCT_REFUSED(t, fi_connect(l.c.ep, l.info->dest_addr, NULL, 0));
	ret = fct_cm_message(&l, &l.c, 1);
out:
	return fct_link_down(&l, ret);
}
