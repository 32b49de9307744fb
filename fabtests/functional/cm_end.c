/* SPDX-License-Identifier: BSD-2-Clause */
/* How connections end, or never begin. */
#include "cm.h"

#define LOOKS 2000 /* turns of progress in which nothing more may happen */

/* FI_SHUTDOWN for this endpoint, and nothing after it. */
static int one_shutdown(struct fct_link *l, struct fct_conn *c)
{
	struct fct *t = l->t;
	struct fct_event e;
	int i, ret;

	FCT_DO(fct_eq_expect(t, l->eq, FI_SHUTDOWN, &c->ep->fid, &e));
	for (i = 0; i < LOOKS; i++)
		FCT_DO(fct_cm_quiet(t, l->eq, "after FI_SHUTDOWN"));
out:
	return ret;
}

int fct_cm_shutdown(struct fct *t)
{
	struct fct_setup s = {.caps = FI_MSG};
	struct fct_link l;
	int ret;

	FCT_DO(fct_link_up(&l, t, &s));
	FCT_DO(fct_cm_message(&l, &l.c, 1));
	if (fct_is_client(t))
		FCT_CALL(t, fi_shutdown(l.c.ep, 0));
	else
		FCT_DO(one_shutdown(&l, &l.c));
	FCT_DO(fct_barrier(t, "shut down"));
	/* Closing the client's endpoint now is not news to the server. */
	if (fct_is_client(t))
		FCT_DO(fct_conn_close(&l, &l.c));
	FCT_DO(fct_barrier(t, "closed"));
	if (fct_is_server(t))
		FCT_DO(fct_cm_quiet(t, l.eq,
				    "after the peer closed what it had shut down"));
out:
	return fct_link_down(&l, ret);
}

/* Each side may see the other's shutdown, at most once. */
int fct_cm_shutdown_both(struct fct *t)
{
	struct fct_setup s = {.caps = FI_MSG};
	struct fct_event e = {0};
	struct fct_link l;
	int i, seen = 0, ret;
	ssize_t n;

	FCT_DO(fct_link_up(&l, t, &s));
	FCT_DO(fct_cm_message(&l, &l.c, 1));
	ret = fi_shutdown(l.c.ep, 0);
	if (ret && ret != -FI_ENOTCONN && ret != -FI_EOPBADSTATE)
		FCT_FAIL(t, "fi_shutdown returned %d (%s)", ret, fi_strerror(-ret));
	FCT_DO(fct_barrier(t, "shut down"));
	for (i = 0; i < LOOKS; i++) {
		fct_progress(t);
		n = fi_eq_read(l.eq, &e.event, e.room, sizeof(e.room), 0);
		if (n == -FI_EAGAIN)
			continue;
		FCT_CALL(t, n);
		FCT_EQ(t, e.event, FI_SHUTDOWN);
		seen++;
	}
	FCT_TRUE(t, seen <= 1);
	FCT_DO(fct_conn_close(&l, &l.c));
out:
	return fct_link_down(&l, ret);
}

int fct_cm_close(struct fct *t)
{
	struct fct_setup s = {.caps = FI_MSG};
	struct fct_link l;
	int ret;

	FCT_DO(fct_link_up(&l, t, &s));
	FCT_DO(fct_cm_message(&l, &l.c, 1));
	if (fct_is_client(t))
		FCT_DO(fct_conn_close(&l, &l.c));
	else
		FCT_DO(one_shutdown(&l, &l.c));
	FCT_DO(fct_barrier(t, "seen"));
out:
	return fct_link_down(&l, ret);
}

int fct_cm_reconnect(struct fct *t)
{
	struct fct_setup s = {.caps = FI_MSG};
	struct fct_link l;
	int i, ret;

	FCT_DO(fct_link_up(&l, t, &s));
	for (i = 0; i < 3; i++) {
		FCT_DO(fct_cm_message(&l, &l.c, (uint64_t)i));
		/* The sides take turns at ending it. */
		if (fct_is_client(t) == (i % 2 == 0))
			FCT_CALL(t, fi_shutdown(l.c.ep, 0));
		else
			FCT_DO(one_shutdown(&l, &l.c));
		FCT_DO(fct_barrier(t, "shut down"));
		FCT_DO(fct_conn_close(&l, &l.c));
		FCT_DO(fct_barrier(t, "closed"));
		FCT_DO(fct_cm_quiet(t, l.eq, "after closing the endpoint"));
		FCT_DO(fct_barrier(t, "quiet"));
		FCT_DO(fct_conn_up(&l, &l.c));
	}
	ret = fct_cm_message(&l, &l.c, 9);
out:
	return fct_link_down(&l, ret);
}

/* The server stops listening first, so the port is one that nobody has. */
int fct_cm_nobody(struct fct *t)
{
	struct fct_setup s = {.caps = FI_MSG};
	struct fct_conn c = {0};
	struct fct_link l;
	struct fct_event e;
	int ret;

	FCT_DO(fct_link_open(&l, t, &s));
	if (fct_is_server(t)) {
		FCT_CALL(t, fi_close(&l.pep->fid));
		l.pep = NULL;
	}
	FCT_DO(fct_barrier(t, "nobody listens"));
	if (fct_is_client(t)) {
		c.info = fi_dupinfo(l.info);
		FCT_DO(fct_ep_open(&l, &c, c.info));
		ret = fi_connect(c.ep, l.info->dest_addr, NULL, 0);
		if (ret) {
			fct_note(t, "fi_connect itself says %s", fi_strerror(-ret));
			ret = 0;
		} else {
			FCT_DO(fct_eq_expect_err(t, l.eq, &c.ep->fid, &e));
			FCT_EQ(t, e.err.err, FI_ECONNREFUSED);
		}
		FCT_DO(fct_conn_close(&l, &c));
	}
out:
	return fct_link_down(&l, ret);
}

/* The request is there, and nobody has taken it. */
static int await_request(struct fct_link *l)
{
	struct fct_event e = {0};
	struct fct *t = l->t;
	struct fct_wait w;
	ssize_t n;
	int ret;

	fct_wait_init(&w, t, "FI_CONNREQ to be seen by FI_PEEK");
	while ((n = fi_eq_read(l->eq, &e.event, e.room, sizeof(e.room), FI_PEEK)) ==
	       -FI_EAGAIN)
		FCT_DO(fct_wait_again(&w));
	FCT_CALL(t, n);
	FCT_EQ(t, e.event, FI_CONNREQ);
out:
	return ret;
}

static int ask_and_give_up(struct fct_link *l, bool shutdown)
{
	struct fct_conn c = {0};
	struct fct *t = l->t;
	int ret;

	c.info = fi_dupinfo(l->info);
	FCT_DO(fct_ep_open(l, &c, c.info));
	FCT_CALL(t, fi_connect(c.ep, l->info->dest_addr, NULL, 0));
	FCT_DO(fct_barrier(t, "asked"));
	/* There is no connection to shut down: what that says is the provider's matter.
	 */
	if (shutdown)
		fct_note(t, "fi_shutdown says %d", fi_shutdown(c.ep, 0));
	FCT_DO(fct_conn_close(l, &c));
	ret = fct_cm_quiet(t, l->eq, "after giving up");
out:
	return ret;
}

int fct_cm_give_up(struct fct *t)
{
	struct fct_setup s = {.caps = FI_MSG};
	struct fct_conn c = {0};
	struct fct_link l;
	struct fct_event e;
	int i, ret;

	FCT_DO(fct_link_open(&l, t, &s));
	for (i = 0; i < 4; i++) {
		if (fct_is_client(t)) {
			FCT_DO(ask_and_give_up(&l, i % 2));
		} else {
			FCT_DO(await_request(&l));
			FCT_DO(fct_barrier(t, "asked"));
		}
		FCT_DO(fct_barrier(t, "given up"));
		if (fct_is_server(t)) {
			FCT_DO(fct_eq_expect(t, l.eq, FI_CONNREQ, &l.pep->fid, &e));
			/* The rejection is not reported. */
			fi_reject(l.pep, e.cm.info->handle, NULL, 0);
			fi_freeinfo(e.cm.info);
			FCT_DO(fct_cm_quiet(t, l.eq, "after the answer"));
		}
		FCT_DO(fct_barrier(t, "answered"));
		FCT_DO(fct_conn_up(&l, &c));
		FCT_DO(fct_cm_message(&l, &c, (uint64_t)i));
		FCT_DO(fct_cm_end(&l, &c));
	}
out:
	return fct_link_down(&l, ret);
}

int fct_cm_pep_close(struct fct *t)
{
	struct fct_setup s = {.caps = FI_MSG};
	struct fct_conn c = {0};
	struct fct_event e = {0};
	struct fct_link l;
	int ret;

	FCT_DO(fct_link_open(&l, t, &s));
	if (fct_is_client(t)) {
		c.info = fi_dupinfo(l.info);
		FCT_DO(fct_ep_open(&l, &c, c.info));
		FCT_CALL(t, fi_connect(c.ep, l.info->dest_addr, NULL, 0));
		FCT_DO(fct_eq_expect_err(t, l.eq, &c.ep->fid, &e));
		fct_note(t, "the pending request ended with %d (%s)", e.err.err,
			 fi_strerror(e.err.err));
		FCT_DO(fct_conn_close(&l, &c));
	} else {
		FCT_DO(await_request(&l));
		FCT_CALL(t, fi_close(&l.pep->fid));
		l.pep = NULL;
		FCT_DO(fct_cm_quiet(t, l.eq, "after closing the passive endpoint"));
	}
	ret = fct_barrier(t, "ended");
out:
	return fct_link_down(&l, ret);
}

/* The server's side up to a request of which only the info is left. */
static int take_and_stop_listening(struct fct_link *l, struct fi_info **info)
{
	struct fct *t = l->t;
	struct fct_event e;
	int ret;

	FCT_DO(fct_eq_expect(t, l->eq, FI_CONNREQ, &l->pep->fid, &e));
	*info = e.cm.info;
	FCT_CALL(t, fi_close(&l->pep->fid));
	l->pep = NULL;
out:
	return ret;
}

int fct_cm_request_outlives(struct fct *t)
{
	struct fct_setup s = {.caps = FI_MSG};
	struct fct_link l;
	struct fct_event e;
	int ret;

	FCT_DO(fct_link_open(&l, t, &s));
	if (fct_is_client(t)) {
		l.c.info = fi_dupinfo(l.info);
		FCT_DO(fct_ep_open(&l, &l.c, l.c.info));
		FCT_CALL(t, fi_connect(l.c.ep, l.info->dest_addr, NULL, 0));
	} else {
		FCT_DO(take_and_stop_listening(&l, &l.c.info));
		FCT_DO(fct_ep_open(&l, &l.c, l.c.info));
		FCT_CALL(t, fi_accept(l.c.ep, NULL, 0));
	}
	FCT_DO(fct_eq_expect(t, l.eq, FI_CONNECTED, &l.c.ep->fid, &e));
	FCT_DO(fct_cm_message(&l, &l.c, 1));
	FCT_DO(fct_cm_end(&l, &l.c));
out:
	return fct_link_down(&l, ret);
}

/* fi_freeinfo is all that the program does with it: every object closes nevertheless. */
int fct_cm_request_unused(struct fct *t)
{
	struct fct_setup s = {.caps = FI_MSG};
	struct fi_info *info = NULL;
	struct fct_conn c = {0};
	struct fct_link l;
	int ret;

	FCT_DO(fct_link_open(&l, t, &s));
	if (fct_is_client(t)) {
		c.info = fi_dupinfo(l.info);
		FCT_DO(fct_ep_open(&l, &c, c.info));
		FCT_CALL(t, fi_connect(c.ep, l.info->dest_addr, NULL, 0));
	} else {
		FCT_DO(take_and_stop_listening(&l, &info));
		fi_freeinfo(info);
	}
	FCT_DO(fct_barrier(t, "read"));
	if (fct_is_client(t))
		FCT_DO(fct_conn_close(&l, &c));
out:
	return fct_link_down(&l, ret);
}
