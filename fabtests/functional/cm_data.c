/* SPDX-License-Identifier: BSD-2-Clause */
/* Connection data of requests and answers. */
#include <netinet/in.h>

#include "cm.h"

static int data_limit(fid_t fid, size_t *limit)
{
	size_t len = sizeof(*limit);

	*limit = 0;
	FCT_CALL(fi_getopt(fid, FI_OPT_ENDPOINT, FI_OPT_CM_DATA_SIZE, limit, &len));
	FCT_EQ(len, sizeof(*limit));
	FCT_TRUE(*limit <= FCT_CM_DATA_MAX);
	return 0;
}

/*
 * fi_eq(3): the length received may include protocol padding, so it may be larger than
 * what was sent.
 */
static int check_data(const void *data, size_t len, size_t sent, uint64_t seed,
		      const char *what)
{
	if (len < sent)
		return fct_fail("%s: sent %zu bytes, %zu arrived", what, sent, len);
	if (len > sent)
		fct_note("%s: %zu bytes of padding", what, len - sent);
	return fct_compare(data, sent, seed, 0, what);
}

/* Each side sends so much, the server with the next seed. */
static int connect_with_data(struct fct_link *l, size_t size, uint64_t seed)
{
	uint8_t data[FCT_CM_DATA_MAX];
	struct fct_event e;

	fct_fill(data, size, seed + fct_is_server());
	if (fct_is_client()) {
		FCT_DO(fct_conn_ask(l, &l->c, size ? data : NULL, size));
		FCT_DO(fct_eq_expect(l->eq, FI_CONNECTED, &l->c.ep->fid, &e));
		return check_data(e.cm.data, e.len, size, seed + 1,
				  "the data of fi_accept");
	}
	FCT_DO(fct_eq_expect(l->eq, FI_CONNREQ, &l->pep->fid, &e));
	FCT_DO(check_data(e.cm.data, e.len, size, seed, "the data of fi_connect"));
	FCT_DO(fct_conn_take(l, &l->c, e.cm.info));
	FCT_CALL(fi_accept(l->c.ep, size ? data : NULL, size));
	return fct_eq_expect(l->eq, FI_CONNECTED, &l->c.ep->fid, &e);
}

/*
 * The client's limit is asked of an endpoint, the server's of the passive endpoint; the
 * smaller counts.
 */
static int agree_limit(struct fct_link *l, size_t *limit)
{
	uint64_t mine, theirs;

	if (fct_is_client()) {
		FCT_DO(fct_ep_new(l, &l->c));
		FCT_DO(data_limit(&l->c.ep->fid, limit));
		FCT_DO(fct_conn_close(l, &l->c));
	} else {
		FCT_DO(data_limit(&l->pep->fid, limit));
	}
	mine = *limit;
	FCT_DO(fct_exchange("limit", &mine, &theirs, sizeof(mine)));
	if (theirs < *limit)
		*limit = theirs;
	fct_note("FI_OPT_CM_DATA_SIZE here %llu, there %llu", (unsigned long long)mine,
		 (unsigned long long)theirs);
	return 0;
}

FCT_CASE(cm_data, "data of fi_connect and fi_accept, 0 bytes to the limit")
{
	FCT_AUTO(fct_link_end) struct fct_link l = {0};
	size_t limit, sizes[5] = {0, 1};
	unsigned int i;

	FCT_DO(fct_link_open(&l, NULL));
	FCT_DO(agree_limit(&l, &limit));
	if (!limit)
		return fct_skip("FI_OPT_CM_DATA_SIZE is 0");
	sizes[2] = limit / 2;
	sizes[3] = limit - 1;
	sizes[4] = limit;
	for (i = 0; i < 5; i++) {
		fct_note("%zu bytes", sizes[i]);
		FCT_DO(connect_with_data(&l, sizes[i], 10 * i));
		FCT_DO(fct_conn_message(&l, &l.c, i));
		FCT_DO(fct_cm_end(&l, &l.c));
	}
	return 0;
}

static int server_rejects(struct fct_link *l, size_t size, struct fct_event *e)
{
	uint8_t data[FCT_CM_DATA_MAX];
	int ret;

	FCT_DO(fct_eq_expect(l->eq, FI_CONNREQ, &l->pep->fid, e));
	fct_fill(data, size, 77);
	ret = fi_reject(l->pep, e->cm.info->handle, size ? data : NULL, size);
	fi_freeinfo(e->cm.info);
	FCT_CALL(ret);
	return 0;
}

static int client_rejected(struct fct_link *l, size_t size)
{
	struct fct_conn *c = &l->c;
	struct fct_event e;

	FCT_DO(fct_conn_ask(l, c, NULL, 0));
	FCT_DO(fct_eq_expect_err(l->eq, &c->ep->fid, &e));
	FCT_EQ(e.err.err, FI_ECONNREFUSED);
	if (size)
		FCT_DO(check_data(e.err.err_data, e.err.err_data_size, size, 77,
				  "the data of fi_reject"));
	return fct_conn_close(l, c);
}

static int reject(bool with_data)
{
	size_t size = 0;
	FCT_AUTO(fct_link_end) struct fct_link l = {0};
	struct fct_event e;

	FCT_DO(fct_link_open(&l, NULL));
	if (with_data)
		FCT_DO(agree_limit(&l, &size));
	if (with_data && !size)
		return fct_skip("FI_OPT_CM_DATA_SIZE is 0");
	FCT_DO(fct_is_client() ? client_rejected(&l, size)
			       : server_rejects(&l, size, &e));
	FCT_DO(fct_barrier("rejected"));
	FCT_DO(fct_conn_up(&l, &l.c));
	return fct_conn_message(&l, &l.c, 1);
}

FCT_CASE_CALL(reject,
	      "fi_reject is FI_ECONNREFUSED for the client; the next request succeeds",
	      reject(false))

FCT_CASE_CALL(reject_data, "data of fi_reject arrives as err_data", reject(true))

/* fi_cm(3): what does not fit is cut. An error is as good; harm is not. */
static int excess_client(struct fct_link *l, bool *refused)
{
	uint8_t data[FCT_CM_DATA_MAX + 1];
	struct fct_conn *c = &l->c;
	struct fct_event e;
	int ret;

	fct_fill(data, sizeof(data), 77);
	FCT_DO(fct_ep_new(l, c));
	ret = fi_connect(c->ep, l->info->dest_addr, data, sizeof(data));
	fct_note("fi_connect with %zu bytes returned %d", sizeof(data), ret);
	*refused = ret < 0;
	FCT_DO(fct_tell("refused", refused, sizeof(*refused)));
	if (!*refused)
		FCT_DO(fct_eq_expect_err(l->eq, &c->ep->fid, &e));
	return fct_conn_close(l, c);
}

FCT_CASE(data_excess, "more data than fits is cut or refused")
{
	struct fct_event e;
	bool refused = true;
	FCT_AUTO(fct_link_end) struct fct_link l = {0};
	size_t limit;

	FCT_DO(fct_link_open(&l, NULL));
	FCT_DO(agree_limit(&l, &limit));
	if (fct_is_client())
		FCT_DO(excess_client(&l, &refused));
	else
		FCT_DO(fct_hear("refused", &refused, sizeof(refused)));
	if (fct_is_server() && !refused) {
		FCT_DO(server_rejects(&l, 0, &e));
		FCT_DO(check_data(e.cm.data, e.len, limit, 77, "the data of fi_connect"));
	}
	FCT_DO(fct_conn_up(&l, &l.c));
	return fct_conn_message(&l, &l.c, 1);
}

FCT_CASE(request, "what a FI_CONNREQ event holds")
{
	FCT_AUTO(fct_link_end) struct fct_link l = {0};
	struct fct_event e;

	FCT_DO(fct_link_open(&l, NULL));
	if (fct_is_client()) {
		FCT_DO(fct_conn_up(&l, &l.c));
	} else {
		FCT_DO(fct_eq_expect(l.eq, FI_CONNREQ, &l.pep->fid, &e));
		FCT_TRUE(e.cm.info);
		FCT_TRUE(e.cm.info->handle);
		FCT_EQ(e.cm.info->ep_attr->type, FI_EP_MSG);
		FCT_TRUE(e.cm.info->caps & FI_MSG);
		FCT_EQ(e.cm.info->addr_format, l.info->addr_format);
		FCT_TRUE(e.cm.info->dest_addr && e.cm.info->dest_addrlen);
		FCT_TRUE(fct_addr_port(e.cm.info->dest_addr));
		FCT_TRUE(
			!strcmp(e.cm.info->fabric_attr->name, l.info->fabric_attr->name));
		FCT_DO(fct_conn_take(&l, &l.c, e.cm.info));
		FCT_DO(fct_conn_finish(&l, &l.c));
		FCT_DO(fct_barrier("connected"));
	}
	return fct_conn_message(&l, &l.c, 1);
}

struct pair {
	struct sockaddr_storage name, peer;
};

static bool same_address(const struct sockaddr_storage *a,
			 const struct sockaddr_storage *b)
{
	char na[64], nb[64], sa[16], sb[16];
	bool w;

	if (fct_addr_text(a, na, sizeof(na), sa, sizeof(sa), &w) ||
	    fct_addr_text(b, nb, sizeof(nb), sb, sizeof(sb), &w))
		return false;
	return !strcmp(na, nb);
}

FCT_CASE(names, "fi_getname and fi_getpeer agree on both sides")
{
	struct pair mine = {.name = {0}}, theirs;
	uint8_t small[2];
	FCT_AUTO(fct_link_end) struct fct_link l = {0};
	size_t len;

	FCT_DO(fct_link_up(&l, NULL));
	len = sizeof(mine.name);
	FCT_CALL(fi_getname(&l.c.ep->fid, &mine.name, &len));
	FCT_TRUE(len >= sizeof(struct sockaddr_in) && len <= sizeof(mine.name));
	len = sizeof(mine.peer);
	FCT_CALL(fi_getpeer(l.c.ep, &mine.peer, &len));
	FCT_DO(fct_exchange("names", &mine, &theirs, sizeof(mine)));
	FCT_TRUE(same_address(&mine.name, &theirs.peer));
	FCT_TRUE(same_address(&mine.peer, &theirs.name));
	/*
	 * Only the server's port is the same seen from both sides with every connection
	 * manager.
	 */
	if (fct_is_client())
		FCT_EQ(fct_addr_port(&mine.peer), fct_addr_port(&theirs.name));
	len = sizeof(small);
	FCT_ERR(fi_getname(&l.c.ep->fid, small, &len), -FI_ETOOSMALL);
	FCT_TRUE(len >= sizeof(struct sockaddr_in));
	len = sizeof(small);
	FCT_ERR(fi_getpeer(l.c.ep, small, &len), -FI_ETOOSMALL);
	FCT_TRUE(len >= sizeof(struct sockaddr_in));
	len = 1;
	if (fct_is_server()) {
		FCT_ERR(fi_getname(&l.pep->fid, small, &len), -FI_ETOOSMALL);
		FCT_TRUE(len >= sizeof(struct sockaddr_in));
	}
	return 0;
}
