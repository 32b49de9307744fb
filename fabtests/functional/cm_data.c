/* SPDX-License-Identifier: BSD-2-Clause */
/* Connection data of requests and answers. */
#include <netinet/in.h>

#include "cm.h"

static int data_limit(struct fct *t, fid_t fid, size_t *limit)
{
	size_t len = sizeof(*limit);
	int ret;

	*limit = 0;
	FCT_CALL(t, fi_getopt(fid, FI_OPT_ENDPOINT, FI_OPT_CM_DATA_SIZE, limit, &len));
	FCT_EQ(t, len, sizeof(*limit));
	FCT_TRUE(t, *limit <= FCT_CM_DATA_MAX);
out:
	return ret;
}

/*
 * fi_eq(3): the length received may include protocol padding, so it may be larger than
 * what was sent.
 */
static int check_data(struct fct *t, const void *data, size_t len, size_t sent,
		      uint64_t seed, const char *what)
{
	if (len < sent)
		return fct_fail_at(t, NULL, 0, "%s: sent %zu bytes, %zu arrived", what,
				   sent, len);
	if (len > sent)
		fct_note(t, "%s: %zu bytes of padding", what, len - sent);
	return fct_compare(t, data, sent, seed, 0, what);
}

static int client_with_data(struct fct_link *l, size_t size, uint64_t seed)
{
	uint8_t data[FCT_CM_DATA_MAX];
	struct fct *t = l->t;
	struct fct_event e;
	int ret;

	fct_fill(data, size, seed);
	FCT_CALL(t, fi_connect(l->c.ep, l->info->dest_addr, size ? data : NULL, size));
	FCT_DO(fct_eq_expect(t, l->eq, FI_CONNECTED, &l->c.ep->fid, &e));
	ret = check_data(t, e.cm.data, e.len, size, seed + 1, "the data of fi_accept");
out:
	return ret;
}

static int server_with_data(struct fct_link *l, size_t size, uint64_t seed)
{
	uint8_t data[FCT_CM_DATA_MAX];
	struct fct *t = l->t;
	struct fct_event e;
	int ret;

	FCT_DO(fct_eq_expect(t, l->eq, FI_CONNREQ, &l->pep->fid, &e));
	l->c.info = e.cm.info;
	FCT_DO(check_data(t, e.cm.data, e.len, size, seed, "the data of fi_connect"));
	FCT_DO(fct_ep_open(l, &l->c, l->c.info));
	fct_fill(data, size, seed + 1);
	FCT_CALL(t, fi_accept(l->c.ep, size ? data : NULL, size));
	FCT_DO(fct_eq_expect(t, l->eq, FI_CONNECTED, &l->c.ep->fid, &e));
out:
	return ret;
}

/*
 * The client's limit is asked of an endpoint, the server's of the passive endpoint; the
 * smaller counts.
 */
static int agree_limit(struct fct_link *l, size_t *limit)
{
	struct fct *t = l->t;
	uint64_t mine, theirs;
	struct fct_conn c = {0};
	int ret;

	if (fct_is_client(t)) {
		FCT_DO(fct_ep_open(l, &c, l->info));
		FCT_DO(data_limit(t, &c.ep->fid, limit));
		FCT_DO(fct_conn_close(l, &c));
	} else {
		FCT_DO(data_limit(t, &l->pep->fid, limit));
	}
	mine = *limit;
	FCT_DO(fct_exchange(t, "limit", &mine, &theirs, sizeof(mine)));
	if (theirs < *limit)
		*limit = theirs;
	fct_note(t, "FI_OPT_CM_DATA_SIZE here %llu, there %llu", (unsigned long long)mine,
		 (unsigned long long)theirs);
out:
	return ret;
}

int fct_cm_data(struct fct *t)
{
	struct fct_setup s = {.caps = FI_MSG};
	struct fct_link l;
	size_t limit, sizes[5];
	unsigned int i;
	int ret;

	FCT_DO(fct_link_open(&l, t, &s));
	FCT_DO(agree_limit(&l, &limit));
	if (!limit) {
		ret = fct_skip(t, "FI_OPT_CM_DATA_SIZE is 0");
		goto out;
	}
	sizes[0] = 0;
	sizes[1] = 1;
	sizes[2] = limit / 2;
	sizes[3] = limit - 1;
	sizes[4] = limit;
	for (i = 0; i < 5; i++) {
		fct_note(t, "%zu bytes", sizes[i]);
		if (fct_is_client(t)) {
			l.c.info = fi_dupinfo(l.info);
			FCT_DO(fct_ep_open(&l, &l.c, l.c.info));
			FCT_DO(client_with_data(&l, sizes[i], 10 * i));
		} else {
			FCT_DO(server_with_data(&l, sizes[i], 10 * i));
		}
		FCT_DO(fct_cm_message(&l, &l.c, i));
		FCT_DO(fct_cm_end(&l, &l.c));
	}
out:
	return fct_link_down(&l, ret);
}

static int server_rejects(struct fct_link *l, size_t size)
{
	uint8_t data[FCT_CM_DATA_MAX];
	struct fct *t = l->t;
	struct fct_event e;
	int ret;

	FCT_DO(fct_eq_expect(t, l->eq, FI_CONNREQ, &l->pep->fid, &e));
	fct_fill(data, size, 77);
	ret = fi_reject(l->pep, e.cm.info->handle, size ? data : NULL, size);
	fi_freeinfo(e.cm.info);
	FCT_CALL(t, ret);
out:
	return ret;
}

static int client_rejected(struct fct_link *l, size_t size)
{
	struct fct_conn c = {.info = fi_dupinfo(l->info)};
	struct fct *t = l->t;
	struct fct_event e;
	int ret;

	FCT_DO(fct_ep_open(l, &c, c.info));
	FCT_CALL(t, fi_connect(c.ep, l->info->dest_addr, NULL, 0));
	FCT_DO(fct_eq_expect_err(t, l->eq, &c.ep->fid, &e));
	FCT_EQ(t, e.err.err, FI_ECONNREFUSED);
	if (size)
		FCT_DO(check_data(t, e.err.err_data, e.err.err_data_size, size, 77,
				  "the data of fi_reject"));
out:
	if (fct_conn_close(l, &c))
		ret = -1;
	return ret;
}

static int reject(struct fct *t, bool with_data)
{
	struct fct_setup s = {.caps = FI_MSG};
	size_t size = 0;
	struct fct_link l;
	int ret;

	FCT_DO(fct_link_open(&l, t, &s));
	if (with_data)
		FCT_DO(agree_limit(&l, &size));
	if (with_data && !size) {
		ret = fct_skip(t, "FI_OPT_CM_DATA_SIZE is 0");
		goto out;
	}
	FCT_DO(fct_is_client(t) ? client_rejected(&l, size) : server_rejects(&l, size));
	FCT_DO(fct_barrier(t, "rejected"));
	FCT_DO(fct_conn_up(&l, &l.c));
	ret = fct_cm_message(&l, &l.c, 1);
out:
	return fct_link_down(&l, ret);
}

int fct_cm_reject(struct fct *t)
{
	return reject(t, false);
}

int fct_cm_reject_data(struct fct *t)
{
	return reject(t, true);
}

/* fi_cm(3): what does not fit is cut. An error is as good; harm is not. */
static int excess_client(struct fct_link *l, bool *refused)
{
	uint8_t data[FCT_CM_DATA_MAX + 1];
	struct fct_conn c = {.info = fi_dupinfo(l->info)};
	struct fct *t = l->t;
	struct fct_event e;
	int ret;

	fct_fill(data, sizeof(data), 77);
	FCT_DO(fct_ep_open(l, &c, c.info));
	ret = fi_connect(c.ep, l->info->dest_addr, data, sizeof(data));
	fct_note(t, "fi_connect with %zu bytes returned %d", sizeof(data), ret);
	*refused = ret < 0;
	FCT_DO(fct_tell(t, "refused", refused, sizeof(*refused)));
	if (!*refused)
		FCT_DO(fct_eq_expect_err(t, l->eq, &c.ep->fid, &e));
out:
	if (fct_conn_close(l, &c))
		ret = -1;
	return ret;
}

int fct_cm_data_excess(struct fct *t)
{
	struct fct_setup s = {.caps = FI_MSG};
	struct fct_event e;
	bool refused = true;
	struct fct_link l;
	size_t limit;
	int ret;

	FCT_DO(fct_link_open(&l, t, &s));
	FCT_DO(agree_limit(&l, &limit));
	if (fct_is_client(t))
		FCT_DO(excess_client(&l, &refused));
	else
		FCT_DO(fct_hear(t, "refused", &refused, sizeof(refused)));
	if (fct_is_server(t) && !refused) {
		FCT_DO(fct_eq_expect(t, l.eq, FI_CONNREQ, &l.pep->fid, &e));
		ret = fi_reject(l.pep, e.cm.info->handle, NULL, 0);
		fi_freeinfo(e.cm.info);
		FCT_CALL(t, ret);
		FCT_DO(check_data(t, e.cm.data, e.len, limit, 77,
				  "the data of fi_connect"));
	}
	FCT_DO(fct_conn_up(&l, &l.c));
	ret = fct_cm_message(&l, &l.c, 1);
out:
	return fct_link_down(&l, ret);
}

int fct_cm_request(struct fct *t)
{
	struct fct_setup s = {.caps = FI_MSG};
	struct fct_link l;
	struct fct_event e;
	int ret;

	FCT_DO(fct_link_open(&l, t, &s));
	if (fct_is_client(t)) {
		FCT_DO(fct_conn_up(&l, &l.c));
	} else {
		FCT_DO(fct_eq_expect(t, l.eq, FI_CONNREQ, &l.pep->fid, &e));
		l.c.info = e.cm.info;
		FCT_TRUE(t, e.cm.info);
		FCT_TRUE(t, e.cm.info->handle);
		FCT_EQ(t, e.cm.info->ep_attr->type, FI_EP_MSG);
		FCT_TRUE(t, e.cm.info->caps & FI_MSG);
		FCT_EQ(t, e.cm.info->addr_format, l.info->addr_format);
		FCT_TRUE(t, e.cm.info->dest_addr && e.cm.info->dest_addrlen);
		FCT_TRUE(t, fct_addr_port(e.cm.info->dest_addr));
		FCT_TRUE(t, !strcmp(e.cm.info->fabric_attr->name,
				    l.info->fabric_attr->name));
		FCT_DO(fct_ep_open(&l, &l.c, l.c.info));
		FCT_DO(fct_conn_finish(&l, &l.c));
		FCT_DO(fct_barrier(t, "connected"));
	}
	ret = fct_cm_message(&l, &l.c, 1);
out:
	return fct_link_down(&l, ret);
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

int fct_cm_names(struct fct *t)
{
	struct fct_setup s = {.caps = FI_MSG};
	struct pair mine = {.name = {0}}, theirs;
	uint8_t small[2];
	struct fct_link l;
	size_t len;
	int ret;

	FCT_DO(fct_link_up(&l, t, &s));
	len = sizeof(mine.name);
	FCT_CALL(t, fi_getname(&l.c.ep->fid, &mine.name, &len));
	FCT_TRUE(t, len >= sizeof(struct sockaddr_in) && len <= sizeof(mine.name));
	len = sizeof(mine.peer);
	FCT_CALL(t, fi_getpeer(l.c.ep, &mine.peer, &len));
	FCT_DO(fct_exchange(t, "names", &mine, &theirs, sizeof(mine)));
	FCT_TRUE(t, same_address(&mine.name, &theirs.peer));
	FCT_TRUE(t, same_address(&mine.peer, &theirs.name));
	/*
	 * Only the server's port is the same seen from both sides with every connection
	 * manager.
	 */
	if (fct_is_client(t))
		FCT_EQ(t, fct_addr_port(&mine.peer), fct_addr_port(&theirs.name));
	len = sizeof(small);
	FCT_ERR(t, fi_getname(&l.c.ep->fid, small, &len), -FI_ETOOSMALL);
	FCT_TRUE(t, len >= sizeof(struct sockaddr_in));
	len = sizeof(small);
	FCT_ERR(t, fi_getpeer(l.c.ep, small, &len), -FI_ETOOSMALL);
	FCT_TRUE(t, len >= sizeof(struct sockaddr_in));
out:
	return fct_link_down(&l, ret);
}
