/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls before, or after, their time. */
#include <netinet/in.h>
#include <stdlib.h>

#include "cm.h"

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
static int renamed(bool nameless)
{
	FCT_AUTO(fct_link_end) struct fct_link l = {0};
	FCT_AUTO(fct_info_end) struct fi_info *info = NULL;
	FCT_AUTO(fct_fid_end) struct fid_pep *pep = NULL;
	struct fct_setup s = {.caps = FI_MSG};
	struct sockaddr_storage addr = {0}, got;
	size_t len = sizeof(addr);
	uint16_t port = 0;
	int ret;

	FCT_DO(fct_link_open(&l, &s));
	if (fct_is_server()) {
		FCT_CALL(fi_getname(&l.pep->fid, &addr, &len));
		port = fct_addr_port(&addr);
		info = fi_dupinfo(l.info);
		FCT_TRUE(info);
		if (nameless) {
			free(info->src_addr);
			info->src_addr = NULL;
			info->src_addrlen = 0;
		}
		FCT_CALL(fi_passive_ep(l.fabric, info, &pep, &l));
		/* A neighbouring port: the listening one is taken. */
		port = port < 60000 ? port + 1 : port - 1;
		set_port(&addr, port);
		ret = fi_setname(&pep->fid, &addr, len);
		if (ret == -FI_ENOSYS || ret == -FI_EOPNOTSUPP)
			return fct_skip("fi_setname: %s", fi_strerror(-ret));
		FCT_CALL(ret);
		FCT_CALL(fi_pep_bind(pep, &l.eq->fid, 0));
		FCT_CALL(fi_listen(pep));
		len = sizeof(got);
		FCT_CALL(fi_getname(&pep->fid, &got, &len));
		FCT_EQ(fct_addr_port(&got), port);
		FCT_CALL(fi_close(&l.pep->fid));
		l.pep = pep;
		pep = NULL;
		FCT_DO(fct_tell("port", &port, sizeof(port)));
	} else {
		FCT_DO(fct_hear("port", &port, sizeof(port)));
		set_port(l.info->dest_addr, port);
	}
	FCT_DO(fct_conn_up(&l, &l.c));
	return fct_conn_message(&l, &l.c, 1);
}

FCT_CASE_CALL(setname, "fi_setname gives a passive endpoint its port", renamed(false))

FCT_CASE_CALL(setname_first, "and its only name", renamed(true))

/* A port that is free at the moment. */
static int free_port(struct fct_link *l, struct sockaddr_storage *addr, size_t *len)
{
	FCT_AUTO(fct_fid_end) struct fid_pep *pep = NULL;

	FCT_CALL(fi_passive_ep(l->fabric, l->info, &pep, l));
	FCT_CALL(fi_pep_bind(pep, &l->eq->fid, 0));
	FCT_CALL(fi_listen(pep));
	FCT_CALL(fi_getname(&pep->fid, addr, len));
	return 0;
}

/*
 * As with a socket: the client names a passive endpoint first and decides then that it is
 * the one to connect (fi_endpoint(3)).
 */
static int connect_named(struct fct_link *l)
{
	FCT_AUTO(fct_info_end) struct fi_info *info = fi_dupinfo(l->info);
	FCT_AUTO(fct_fid_end) struct fid_pep *pep = NULL;
	struct sockaddr_storage addr = {0}, got;
	size_t len = sizeof(addr), got_len = sizeof(got);

	FCT_TRUE(info);
	FCT_DO(free_port(l, &addr, &len));
	FCT_CALL(fi_passive_ep(l->fabric, info, &pep, l));
	FCT_CALL(fi_setname(&pep->fid, &addr, len));
	info->handle = &pep->fid;
	FCT_DO(fct_ep_open(l, &l->c, info));
	FCT_CALL(fi_close(&pep->fid));
	pep = NULL;
	FCT_CALL(fi_getname(&l->c.ep->fid, &got, &got_len));
	FCT_EQ(fct_addr_port(&got), fct_addr_port(&addr));
	FCT_CALL(fi_connect(l->c.ep, l->info->dest_addr, NULL, 0));
	FCT_DO(fct_conn_finish(l, &l->c));
	got_len = sizeof(got);
	FCT_CALL(fi_getname(&l->c.ep->fid, &got, &got_len));
	FCT_EQ(fct_addr_port(&got), fct_addr_port(&addr));
	return 0;
}

FCT_CASE(pep_connects, "an endpoint takes the name of a passive one")
{
	FCT_AUTO(fct_link_end) struct fct_link l = {0};

	FCT_DO(fct_link_open(&l, NULL));
	if (fct_is_server()) {
		FCT_DO(fct_conn_open(&l, &l.c));
		FCT_DO(fct_conn_finish(&l, &l.c));
	} else {
		FCT_DO(connect_named(&l));
	}
	FCT_DO(fct_barrier("connected"));
	return fct_conn_message(&l, &l.c, 1);
}

/*
 * Both sides post receives as early as the API allows and send as soon as they are
 * connected.
 */
FCT_CASE(early_receive, "receives posted before fi_connect and fi_accept are honoured")
{
	struct fct_setup s = {.caps = FI_MSG, .split_cq = true};
	struct fct_mem tx, rx;
	struct fct_ctx tx_ctx, rx_ctx;
	struct fi_cq_data_entry e;
	struct fct_event event;
	FCT_AUTO(fct_link_end) struct fct_link l = {0};

	FCT_DO(fct_link_open(&l, &s));
	FCT_DO(fct_mem_alloc(&l, &tx, 512, FI_SEND));
	FCT_DO(fct_mem_alloc(&l, &rx, 512, FI_RECV));
	fct_fill(tx.buf, tx.len, (uint64_t)fct.role);
	if (fct_is_client()) {
		l.c.info = fi_dupinfo(l.info);
	} else {
		FCT_DO(fct_eq_expect(l.eq, FI_CONNREQ, &l.pep->fid, &event));
		l.c.info = event.cm.info;
	}
	FCT_DO(fct_ep_open(&l, &l.c, l.c.info));
	FCT_POST(l.rxcq, fi_recv(l.c.ep, rx.buf, rx.len, rx.desc, 0, &rx_ctx));
	if (fct_is_client())
		FCT_CALL(fi_connect(l.c.ep, l.info->dest_addr, NULL, 0));
	FCT_DO(fct_conn_finish(&l, &l.c));
	FCT_POST(l.txcq, fi_send(l.c.ep, tx.buf, tx.len, tx.desc, 0, &tx_ctx));
	FCT_DO(fct_comp(l.txcq, &tx_ctx, FI_SEND | FI_MSG, &e,
			"a send right after FI_CONNECTED"));
	FCT_DO(fct_comp(l.rxcq, &rx_ctx, FI_RECV | FI_MSG, &e,
			"a receive posted before connecting"));
	FCT_DATA(rx.buf, rx.len, (uint64_t)!fct.role);
	return 0;
}

/* fi_cm(3): fi_connect may be called on an endpoint once in its lifetime. */
FCT_CASE(untimely, "calls before, or after, their time are refused")
{
	FCT_AUTO(fct_link_end) struct fct_link l = {0};
	FCT_AUTO(fct_fid_end) struct fid_pep *pep = NULL;
	FCT_AUTO(fct_fid_end) struct fid_ep *ep = NULL;
	struct fct_conn c = {0};
	struct fct_mem m;
	struct fct_ctx ctx;

	FCT_DO(fct_link_up(&l, NULL));
	FCT_DO(fct_mem_alloc(&l, &m, 64, FI_SEND | FI_RECV));
	if (fct_is_client()) {
		FCT_CALL(fi_endpoint(l.domain, l.info, &ep, NULL));
		FCT_REFUSED(fi_recv(ep, m.buf, m.len, m.desc, 0, &ctx));
		FCT_REFUSED(fi_send(ep, m.buf, m.len, m.desc, 0, &ctx));
		FCT_REFUSED(fi_enable(ep)); /* nothing is bound */
		FCT_DO(fct_ep_open(&l, &c, l.info));
		FCT_REFUSED(fi_send(c.ep, m.buf, m.len, m.desc, 0, &ctx));
		FCT_REFUSED(fi_inject(c.ep, m.buf, 1, 0));
		FCT_DO(fct_conn_close(&l, &c));
		FCT_REFUSED(fi_connect(l.c.ep, l.info->dest_addr, NULL, 0));
	} else {
		FCT_CALL(fi_passive_ep(l.fabric, l.info, &pep, &l));
		FCT_REFUSED(fi_listen(pep)); /* without an EQ */
	}
	return fct_conn_message(&l, &l.c, 1);
}
