/* SPDX-License-Identifier: BSD-2-Clause */
/* How connections end, or never begin. */
#include "cm.h"

#define LOOKS 2000 /* turns of progress in which nothing more may happen */

/* FI_SHUTDOWN for this endpoint, and nothing after it. */
static int one_shutdown(struct fct_link *l, struct fct_conn *c)
{
	struct fct_event e;
	int i;

	FCT_DO(fct_eq_expect(l->eq, FI_SHUTDOWN, &c->ep->fid, &e));
	for (i = 0; i < LOOKS; i++)
		FCT_DO(fct_eq_quiet(l->eq, "after FI_SHUTDOWN"));
	return 0;
}

int fct_cm_end(struct fct_link *l, struct fct_conn *c)
{
	struct fct_event e;

	if (fct_is_server())
		FCT_DO(fct_eq_expect(l->eq, FI_SHUTDOWN, &c->ep->fid, &e));
	FCT_DO(fct_conn_close(l, c));
	return fct_barrier("closed");
}

FCT_CASE(shutdown, "fi_shutdown is seen by the peer exactly once")
{
	FCT_AUTO(fct_link_end) struct fct_link l = {0};

	FCT_DO(fct_link_up(&l, NULL));
	FCT_DO(fct_conn_message(&l, &l.c, 1));
	if (fct_is_client())
		FCT_CALL(fi_shutdown(l.c.ep, 0));
	else
		FCT_DO(one_shutdown(&l, &l.c));
	FCT_DO(fct_barrier("shut down"));
	/* Closing the client's endpoint now is not news to the server. */
	if (fct_is_client())
		FCT_DO(fct_conn_close(&l, &l.c));
	FCT_DO(fct_barrier("closed"));
	if (fct_is_server())
		FCT_DO(fct_eq_quiet(l.eq, "after the peer closed what it had shut down"));
	return 0;
}

/* Each side may see the other's shutdown, at most once. */
FCT_CASE(shutdown_both, "fi_shutdown by both sides at once")
{
	FCT_AUTO(fct_link_end) struct fct_link l = {0};
	struct fct_event e;
	int i, seen = 0, ret;

	FCT_DO(fct_link_up(&l, NULL));
	FCT_DO(fct_conn_message(&l, &l.c, 1));
	ret = fi_shutdown(l.c.ep, 0);
	if (ret && ret != -FI_ENOTCONN && ret != -FI_EOPBADSTATE)
		FCT_FAIL("fi_shutdown returned %d (%s)", ret, fi_strerror(-ret));
	FCT_DO(fct_barrier("shut down"));
	for (i = 0; i < LOOKS; i++) {
		fct_progress();
		ret = fct_eq_look(l.eq, &e);
		if (!ret)
			continue;
		FCT_EQ(ret, 1);
		FCT_EQ(e.event, FI_SHUTDOWN);
		seen++;
	}
	FCT_TRUE(seen <= 1);
	return fct_conn_close(&l, &l.c);
}

FCT_CASE(close, "fi_close without fi_shutdown is seen as a shutdown exactly once")
{
	FCT_AUTO(fct_link_end) struct fct_link l = {0};

	FCT_DO(fct_link_up(&l, NULL));
	FCT_DO(fct_conn_message(&l, &l.c, 1));
	if (fct_is_client())
		FCT_DO(fct_conn_close(&l, &l.c));
	else
		FCT_DO(one_shutdown(&l, &l.c));
	return fct_barrier("seen");
}

FCT_CASE(close_unread, "closing an endpoint removes its events")
{
	FCT_AUTO(fct_link_end) struct fct_link l = {0};
	struct fct_event e;

	FCT_DO(fct_link_up(&l, NULL));
	if (fct_is_server())
		FCT_DO(fct_eq_peek(l.eq, FI_SHUTDOWN, &e));
	FCT_DO(fct_conn_close(&l, &l.c));
	return fct_eq_quiet(l.eq, "after closing the endpoint");
}

FCT_CASE(reconnect, "after a shutdown, again with fresh endpoints")
{
	FCT_AUTO(fct_link_end) struct fct_link l = {0};
	int i;

	FCT_DO(fct_link_up(&l, NULL));
	for (i = 0; i < 3; i++) {
		FCT_DO(fct_conn_message(&l, &l.c, (uint64_t)i));
		/* The sides take turns at ending it. */
		if (fct_is_client() == (i % 2 == 0))
			FCT_CALL(fi_shutdown(l.c.ep, 0));
		else
			FCT_DO(one_shutdown(&l, &l.c));
		FCT_DO(fct_barrier("shut down"));
		FCT_DO(fct_conn_close(&l, &l.c));
		FCT_DO(fct_barrier("closed"));
		FCT_DO(fct_eq_quiet(l.eq, "after closing the endpoint"));
		FCT_DO(fct_barrier("quiet"));
		FCT_DO(fct_conn_up(&l, &l.c));
	}
	return fct_conn_message(&l, &l.c, 9);
}

/* The server stops listening first, so the port is one that nobody has. */
FCT_CASE(nobody, "connecting where nobody listens is an error event")
{
	struct fct_conn c = {0};
	FCT_AUTO(fct_link_end) struct fct_link l = {0};
	struct fct_event e;
	int ret;

	FCT_DO(fct_link_open(&l, NULL));
	if (fct_is_server()) {
		FCT_CALL(fi_close(&l.pep->fid));
		l.pep = NULL;
	}
	FCT_DO(fct_barrier("nobody listens"));
	if (fct_is_client()) {
		c.info = fi_dupinfo(l.info);
		FCT_DO(fct_ep_open(&l, &c, c.info));
		ret = fi_connect(c.ep, l.info->dest_addr, NULL, 0);
		if (ret) {
			fct_note("fi_connect itself says %s", fi_strerror(-ret));
			ret = 0;
		} else {
			FCT_DO(fct_eq_expect_err(l.eq, &c.ep->fid, &e));
			FCT_EQ(e.err.err, FI_ECONNREFUSED);
		}
		FCT_DO(fct_conn_close(&l, &c));
	}
	return 0;
}

static int ask_and_give_up(struct fct_link *l, bool shutdown)
{
	struct fct_conn *c = &l->c;

	FCT_DO(fct_conn_ask(l, c, NULL, 0));
	FCT_DO(fct_barrier("asked"));
	/* There is no connection to shut down: what that says is the provider's matter.
	 */
	if (shutdown)
		fct_note("fi_shutdown says %d", fi_shutdown(c->ep, 0));
	FCT_DO(fct_conn_close(l, c));
	return fct_eq_quiet(l->eq, "after giving up");
}

FCT_CASE(give_up, "who asks and is not answered gives up; the next is served")
{
	struct fct_conn c = {0};
	FCT_AUTO(fct_link_end) struct fct_link l = {0};
	struct fct_event e;
	int i;

	FCT_DO(fct_link_open(&l, NULL));
	for (i = 0; i < 4; i++) {
		if (fct_is_client()) {
			FCT_DO(ask_and_give_up(&l, i % 2));
		} else {
			FCT_DO(fct_eq_peek(l.eq, FI_CONNREQ, &e));
			FCT_DO(fct_barrier("asked"));
		}
		FCT_DO(fct_barrier("given up"));
		if (fct_is_server()) {
			FCT_DO(fct_eq_expect(l.eq, FI_CONNREQ, &l.pep->fid, &e));
			/* The rejection is not reported. */
			fi_reject(l.pep, e.cm.info->handle, NULL, 0);
			fi_freeinfo(e.cm.info);
			FCT_DO(fct_eq_quiet(l.eq, "after the answer"));
		}
		FCT_DO(fct_barrier("answered"));
		FCT_DO(fct_conn_up(&l, &c));
		FCT_DO(fct_conn_message(&l, &c, (uint64_t)i));
		FCT_DO(fct_cm_end(&l, &c));
	}
	return 0;
}

FCT_CASE(pep_close, "closing a passive endpoint ends its pending requests")
{
	struct fct_conn c = {0};
	struct fct_event e = {0};
	FCT_AUTO(fct_link_end) struct fct_link l = {0};

	FCT_DO(fct_link_open(&l, NULL));
	if (fct_is_client()) {
		FCT_DO(fct_conn_ask(&l, &c, NULL, 0));
		FCT_DO(fct_eq_expect_err(l.eq, &c.ep->fid, &e));
		fct_note("the pending request ended with %d (%s)", e.err.err,
			 fi_strerror(e.err.err));
		FCT_DO(fct_conn_close(&l, &c));
	} else {
		FCT_DO(fct_eq_peek(l.eq, FI_CONNREQ, &e));
		FCT_CALL(fi_close(&l.pep->fid));
		l.pep = NULL;
		FCT_DO(fct_eq_quiet(l.eq, "after closing the passive endpoint"));
	}
	return fct_barrier("ended");
}

/* The server's side up to a request of which only the info is left. */
static int take_and_stop_listening(struct fct_link *l, struct fi_info **info)
{
	struct fct_event e;

	FCT_DO(fct_eq_expect(l->eq, FI_CONNREQ, &l->pep->fid, &e));
	*info = e.cm.info;
	FCT_CALL(fi_close(&l->pep->fid));
	l->pep = NULL;
	return 0;
}

FCT_CASE(request_outlives, "a request that was read outlives its passive endpoint")
{
	FCT_AUTO(fct_link_end) struct fct_link l = {0};
	struct fct_event e;

	FCT_DO(fct_link_open(&l, NULL));
	if (fct_is_client()) {
		FCT_DO(fct_conn_ask(&l, &l.c, NULL, 0));
	} else {
		FCT_DO(take_and_stop_listening(&l, &l.c.info));
		FCT_DO(fct_ep_open(&l, &l.c, l.c.info));
		FCT_CALL(fi_accept(l.c.ep, NULL, 0));
	}
	FCT_DO(fct_eq_expect(l.eq, FI_CONNECTED, &l.c.ep->fid, &e));
	FCT_DO(fct_conn_message(&l, &l.c, 1));
	return fct_cm_end(&l, &l.c);
}

/* fi_freeinfo is all that the program does with it: every object closes nevertheless. */
FCT_CASE(request_unused, "a request that nobody uses keeps nothing open")
{
	struct fi_info *info = NULL;
	struct fct_conn c = {0};
	FCT_AUTO(fct_link_end) struct fct_link l = {0};

	FCT_DO(fct_link_open(&l, NULL));
	if (fct_is_client()) {
		FCT_DO(fct_conn_ask(&l, &c, NULL, 0));
	} else {
		FCT_DO(take_and_stop_listening(&l, &info));
		fi_freeinfo(info);
	}
	FCT_DO(fct_barrier("read"));
	if (fct_is_client())
		FCT_DO(fct_conn_close(&l, &c));
	return 0;
}

FCT_PROGRAM(.name = "fi_cairn_cm",
	    .what = "Connection management of FI_EP_MSG endpoints.")
