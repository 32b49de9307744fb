/* SPDX-License-Identifier: BSD-2-Clause */
/* Connections, all with one completion queue. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/fi_ext_cairn.h>
#include "nfd.h"

#define TURN_MS 10
#define BATCH 16

/* What a context points to: a receive, or a Reply that is being sent. */
struct item {
	struct nfd_peer *peer;
	struct item *next;
	bool sends;
	uint8_t *data; /* of a READ */
	size_t len;
	uint8_t bytes[];
};

struct nfd_peer {
	struct nfd_peer *next;
	struct fid_ep *ep; /* NULL: the connection has ended */
	struct item *items;
};

static struct fi_info *info;
static struct fid_fabric *fabric;
static struct fid_domain *domain;
static struct fid_eq *eq;
static struct fid_cq *cq;
static struct fid_pep *pep;
static struct nfd_peer *peers;
static struct {
	struct nfd_peer *peer; /* NULL: none */
	size_t len;
	uint8_t bytes[NFD_CACHED];
} held;

static bool failed(const char *what, ssize_t ret)
{
	if (ret)
		fprintf(stderr, "fi_cairn_nfsd: %s: %s\n", what, fi_strerror((int)-ret));
	return ret != 0;
}

/* ---- messages ---- */

static struct item *new_item(struct nfd_peer *peer, size_t room)
{
	struct item *item = calloc(1, sizeof(*item) + room);

	if (!item)
		abort();
	item->peer = peer;
	item->next = peer->items;
	peer->items = item;
	return item;
}

static void free_item(struct item *item)
{
	struct item **at = &item->peer->items;

	while (*at != item)
		at = &(*at)->next;
	*at = item->next;
	free(item->data);
	free(item);
}

static void post_receive(struct item *item)
{
	if (item->peer->ep)
		fi_recv(item->peer->ep, item->bytes, NFD_MOST, NULL, 0, item);
}

static void send_item(struct item *item, size_t data_len)
{
	const struct iovec iov[] = {{.iov_base = item->bytes, .iov_len = item->len},
				    {.iov_base = item->data, .iov_len = data_len}};
	const struct fi_msg msg = {.msg_iov = iov,
				   .iov_count = data_len ? 2 : 1,
				   .context = item,
				   .data = 1 << 1};
	ssize_t ret = -FI_ENOTCONN;

	item->sends = true;
	if (item->peer->ep)
		ret = fi_sendmsg(item->peer->ep, &msg,
				 FI_COMPLETION | (data_len ? FI_CAIRN_RPC_DDP : 0));
	if (ret && ret != -FI_ENOTCONN)
		failed("cannot send", ret);
	if (ret)
		free_item(item);
}

void nfd_send(struct nfd_peer *peer, const uint8_t *head, size_t len, uint8_t *data,
	      size_t data_len)
{
	struct item *item = new_item(peer, len);

	memcpy(item->bytes, head, len);
	item->len = len;
	item->data = data;
	send_item(item, data_len);
}

void nfd_hold(struct nfd_peer *peer, const uint8_t *head, size_t len)
{
	held.peer = peer;
	held.len = len < sizeof(held.bytes) ? len : sizeof(held.bytes);
	memcpy(held.bytes, head, held.len);
}

void nfd_ready(struct nfd_peer *peer)
{
	const int ready = 1;

	failed("FI_OPT_CAIRN_RPC_READY",
	       fi_setopt(&peer->ep->fid, FI_OPT_ENDPOINT, FI_OPT_CAIRN_RPC_READY, &ready,
			 sizeof(ready)));
}

/* ---- connections ---- */

void nfd_drop(struct nfd_peer *peer)
{
	nfd_sessions_leave(peer);
	if (held.peer == peer)
		held.peer = NULL;
	if (peer->ep) {
		fi_shutdown(peer->ep, 0);
		fi_close(&peer->ep->fid);
	}
	peer->ep = NULL;
}

static void accept_peer(struct fi_info *request)
{
	struct nfd_peer *peer = calloc(1, sizeof(*peer));
	int ret;

	if (!peer)
		abort();
	peer->next = peers;
	peers = peer;
	nfd_counts.connections++;
	ret = fi_endpoint(domain, request, &peer->ep, NULL);
	if (!ret)
		ret = fi_ep_bind(peer->ep, &eq->fid, 0);
	if (!ret)
		ret = fi_ep_bind(peer->ep, &cq->fid, FI_TRANSMIT | FI_RECV);
	if (!ret)
		ret = fi_enable(peer->ep);
	for (int i = 0; !ret && i < (int)NFD_RECEIVES; i++)
		post_receive(new_item(peer, NFD_MOST));
	if (!ret)
		ret = fi_accept(peer->ep, NULL, 0);
	failed("cannot accept", ret);
	fi_freeinfo(request);
}

static void look_at_events(void)
{
	struct fi_eq_err_entry error = {0};
	struct fi_eq_cm_entry entry;
	struct nfd_peer *peer;
	uint32_t event;
	ssize_t ret;

	while ((ret = fi_eq_read(eq, &event, &entry, sizeof(entry), 0)) != -FI_EAGAIN) {
		if (ret < 0) {
			fi_eq_readerr(eq, &error, 0);
			continue;
		}
		if (event == FI_CONNREQ)
			accept_peer(entry.info);
		for (peer = peers; peer; peer = peer->next)
			if (event == FI_SHUTDOWN && peer->ep &&
			    entry.fid == &peer->ep->fid)
				nfd_drop(peer);
	}
}

static void recalled(const uint8_t *bytes, size_t len)
{
	nfd_recalled(bytes, len);
	if (held.peer)
		nfd_send(held.peer, held.bytes, held.len, NULL, 0);
	held.peer = NULL;
}

static void completed(struct item *item, size_t len)
{
	uint32_t xid;
	bool call;

	if (item->sends) {
		free_item(item);
		return;
	}
	if (rpm_peek(item->bytes, len, &xid, &call)) {
		if (call)
			nfd_serve(item->peer, item->bytes, len);
		else
			recalled(item->bytes, len);
	}
	post_receive(item);
}

/* False: the queue is broken. */
bool nfd_turn(void)
{
	struct fi_cq_data_entry entries[BATCH];
	struct fi_cq_err_entry error = {0};
	ssize_t i, ret;

	ret = fi_cq_sread(cq, entries, BATCH, NULL, TURN_MS);
	for (i = 0; i < ret; i++)
		completed(entries[i].op_context, entries[i].len);
	if (ret == -FI_EAVAIL)
		fi_cq_readerr(cq, &error, 0);
	else if (ret < 0 && ret != -FI_EAGAIN && ret != -FI_EINTR && ret != -FI_ETIMEDOUT)
		return !failed("fi_cq_sread", ret);
	look_at_events();
	return true;
}

static int find(const char *provider, const char *host, const char *port)
{
	struct fi_info *hints = fi_allocinfo();
	int ret;

	if (!hints)
		return -FI_ENOMEM;
	hints->caps = FI_MSG;
	hints->ep_attr->type = FI_EP_MSG;
	hints->ep_attr->protocol = FI_PROTO_CAIRN_RPC;
	hints->domain_attr->threading = FI_THREAD_DOMAIN;
	hints->domain_attr->mr_mode =
		FI_MR_LOCAL | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_VIRT_ADDR;
	hints->fabric_attr->prov_name = strdup(provider);
	ret = fi_getinfo(fi_version(), host, port, FI_SOURCE, hints, &info);
	fi_freeinfo(hints);
	return ret;
}

static void say_port(void)
{
	struct sockaddr_storage name;
	size_t len = sizeof(name);
	uint16_t port = 0;

	if (!fi_getname(&pep->fid, &name, &len))
		memcpy(&port, (char *)&name + 2, sizeof(port));
	printf("listening on port %u\n", (port & 0xff) << 8 | port >> 8);
	fflush(stdout);
}

bool nfd_listen(const char *provider, const char *host, const char *port)
{
	struct fi_eq_attr eq_attr = {.wait_obj = FI_WAIT_UNSPEC};
	struct fi_cq_attr cq_attr = {.format = FI_CQ_FORMAT_DATA,
				     .wait_obj = FI_WAIT_UNSPEC,
				     .size = 4096};
	int ret = find(provider, host, port);

	if (!ret)
		ret = fi_fabric(info->fabric_attr, &fabric, NULL);
	if (!ret)
		ret = fi_eq_open(fabric, &eq_attr, &eq, NULL);
	if (!ret)
		ret = fi_domain(fabric, info, &domain, NULL);
	if (!ret)
		ret = fi_cq_open(domain, &cq_attr, &cq, NULL);
	if (!ret)
		ret = fi_passive_ep(fabric, info, &pep, NULL);
	if (!ret)
		ret = fi_pep_bind(pep, &eq->fid, 0);
	if (!ret)
		ret = fi_listen(pep);
	if (failed("cannot listen", ret))
		return false;
	say_port();
	return true;
}

static void close_one(void *fid)
{
	if (fid)
		fi_close(fid);
}

void nfd_end(void)
{
	struct nfd_peer *peer;

	while ((peer = peers)) {
		nfd_drop(peer);
		while (peer->items)
			free_item(peer->items);
		peers = peer->next;
		free(peer);
	}
	close_one(pep);
	close_one(cq);
	close_one(domain);
	close_one(eq);
	close_one(fabric);
	fi_freeinfo(info);
}
