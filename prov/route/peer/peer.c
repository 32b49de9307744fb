/* SPDX-License-Identifier: BSD-2-Clause */
/* A peer from the first step of its connection to the last one. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <rdma/fi_errno.h>
#include <cairn/wait.h>
#include "inside.h"

/* Receives for each lane at most. */
#define PEER_REQUESTS 12u
#define PEER_RESPONSES 6u
#define PEER_LANDS_DEFAULT 8u
#define PEER_TXS 32u

static const struct rte_peer_ops no_ops;

/* Without keys it need not be one that nobody can tell beforehand, and may not block.
 * With them 0: there is none, and no proof (auth_begins). */
static uint64_t peer_nonce(const struct rte_port *port)
{
	const unsigned int flags = port->attr.keys ? 0 : GRND_NONBLOCK;
	uint64_t nonce;
	ssize_t ret;

	do {
		ret = getrandom(&nonce, sizeof(nonce), flags);
	} while (ret < 0 && errno == EINTR);
	if (ret == sizeof(nonce))
		return nonce ? nonce : 1;
	return port->attr.keys ? 0 : crn_now_ms() | 1;
}

static enum rte_role peer_role(const struct rte_port *port, bool active)
{
	if (port->attr.self.role == RTE_ROUTER)
		return RTE_ROUTER;
	return active ? RTE_CLIENT : RTE_TARGET;
}

struct rte_preamble port_preamble(const struct rte_port *port, enum rte_role role)
{
	return (struct rte_preamble){
		.major = RTE_MAJOR,
		.minor_max = RTE_MINOR,
		.role = (uint8_t)role,
		.flags = auth_flags(port),
		.node = port->attr.self.node,
		.nonce = peer_nonce(port),
		.as = port->attr.self.as ? port->attr.self.as : port->net->device->at.as,
		.subnet = port->net->device->at.subnet,
	};
}

static uint16_t or_default(uint16_t wish, uint32_t preset)
{
	return wish ? wish : (uint16_t)preset;
}

static void peer_numbers(struct rte_peer_inside *in)
{
	static const uint32_t presets[RTE_LANES] = {PEER_REQUESTS, PEER_RESPONSES};
	const struct rte_port_attr *attr = &in->peer.port->attr;
	uint32_t share;
	int lane;

	for (lane = 0; lane < RTE_LANES; lane++) {
		in->inlet[lane].most = or_default(attr->receives[lane], presets[lane]);
		share = or_default(attr->lands[lane], PEER_LANDS_DEFAULT);
		in->inlet[lane].share = CRN_MIN(share, PEER_LANDS);
	}
	/* A message with a slot takes two operations of the lower provider. */
	in->txs_most = (uint32_t)CRN_MIN((size_t)PEER_TXS + PEER_TXS_CONTROL,
					 in->peer.port->net->info->tx_attr->size / 2);
	in->last_class = attr->self.role == RTE_ROUTER ? ARENA_WORDS : ARENA_MESSAGE;
}

static void peer_lists(struct rte_peer_inside *in)
{
	crn_list_init(&in->entry);
	crn_list_init(&in->ready);
	crn_list_init(&in->due);
	crn_list_init(&in->rxs);
	crn_list_init(&in->grown);
	crn_list_init(&in->unposted);
	crn_list_init(&in->late);
	crn_list_init(&in->txs_free);
	crn_list_init(&in->sent);
	crn_list_init(&in->stuck);
	crn_list_init(&in->hunger.entry);
}

static void peer_free(struct rte_peer_inside *in)
{
	struct rte_arena *arena = in->peer.port->arena;

	while (!crn_list_empty(&in->rxs))
		receive_free(crn_container_of(in->rxs.next, struct rte_rx_inside, all));
	if (in->last)
		arena_put(arena, in->last_class, in->last);
	arena_peers(arena, -1);
	send_close(in);
	free(in);
}

static void feed_sender(struct arena_hunger *hunger)
{
	struct rte_peer_inside *in =
		crn_container_of(hunger, struct rte_peer_inside, hunger);

	send_ready(&in->peer, RTE_LANES);
}

/* Who has connected here has one receive until it says HELLO. */
static bool peer_alloc(struct rte_peer_inside *in)
{
	struct rte_peer *peer = &in->peer;
	const uint32_t receives = in->inlet[RTE_REQUESTS].flow.receives +
				  in->inlet[RTE_RESPONSES].flow.receives + PEER_SPARE;

	in->last = arena_get(peer->port->arena, in->last_class);
	return in->last && send_open(in) &&
	       receive_fill(peer, peer->active ? receives : PEER_SPARE);
}

static struct rte_peer_inside *peer_make(struct rte_port *port, bool active,
					 const struct rte_peer_ops *ops, void *user)
{
	struct rte_peer_inside *in = calloc(1, sizeof(*in));
	struct rte_peer *peer;

	if (!in)
		return NULL;
	peer = &in->peer;
	peer->in = in;
	peer->port = port;
	peer->ops = ops;
	peer->user = user;
	peer->active = active;
	in->kind = INSIDE_PEER;
	in->hunger.feed = feed_sender;
	peer->local = port_preamble(port, peer_role(port, peer->active));
	peer_lists(in);
	peer_numbers(in);
	elastic_open(peer);
	arena_peers(port->arena, 1);
	if (!peer_alloc(in)) {
		peer_free(in);
		return NULL;
	}
	grant_open(peer);
	return in;
}

static int peer_endpoint(struct rte_peer_inside *in, struct fi_info *info)
{
	struct rte_port *port = in->peer.port;
	int ret = fi_endpoint(port->domain, info, &in->ep, in);

	if (ret) {
		in->ep = NULL;
		return ret;
	}
	ret = fi_ep_bind(in->ep, &port->eq->fid, 0);
	if (!ret)
		ret = fi_ep_bind(in->ep, &port->cq->fid,
				 FI_TRANSMIT | FI_SELECTIVE_COMPLETION);
	if (!ret)
		ret = fi_ep_bind(in->ep, &port->cq->fid, FI_RECV);
	if (!ret)
		ret = fi_enable(in->ep);
	return ret ? ret : receive_start(&in->peer);
}

/* It never was. Its endpoint goes with the next progress, for that takes what has
 * completed meanwhile, of others too: not within one of their callbacks. */
static void peer_undo(struct rte_peer_inside *in)
{
	struct rte_port *port = in->peer.port;

	in->closed = true;
	in->peer.ops = &no_ops;
	in->peer.state = RTE_PEER_DOWN;
	crn_list_add_tail(&port->zombies, &in->entry);
	port_kick(port);
}

static void peer_joins(struct rte_peer_inside *in)
{
	crn_list_add_tail(&in->peer.port->peers, &in->entry);
	in->unsettled = true;
	in->peer.port->unsettled++;
	life_wait(&in->peer);
}

static struct fi_info *peer_info(const struct rte_port *port, const struct sockaddr *addr)
{
	struct fi_info *info = fi_dupinfo(port->net->info);

	if (!info)
		return NULL;
	info->dest_addr = crn_addr_dup(addr);
	info->dest_addrlen = crn_addr_len(addr);
	info->addr_format = crn_addr_format(addr);
	if (info->dest_addr)
		return info;
	fi_freeinfo(info);
	return NULL;
}

static void peer_address(struct rte_peer *peer, const struct sockaddr *addr)
{
	char text[CRN_ADDR_STRLEN];

	memcpy(&peer->address, addr, crn_addr_len(addr));
	snprintf(peer->text, sizeof(peer->text), "%s", crn_addr_str(addr, text));
}

int rte_peer_connect(struct rte_port *port, const struct sockaddr *addr, uint8_t flags,
		     const struct rte_peer_ops *ops, void *user, struct rte_peer **peer)
{
	struct rte_peer_inside *in = peer_make(port, true, ops, user);
	uint8_t *preamble;
	struct fi_info *info;
	int ret;

	if (!in)
		return -FI_ENOMEM;
	peer_address(&in->peer, addr);
	info = peer_info(port, addr);
	ret = info ? peer_endpoint(in, info) : -FI_ENOMEM;
	fi_freeinfo(info);
	if (!ret) {
		in->peer.local.flags |= flags;
		preamble = in->talk.preamble[0];
		rte_preamble_pack(&in->peer.local, preamble);
		ret = fi_connect(in->ep, addr, preamble, RTE_PREAMBLE_LEN);
	}
	if (ret) {
		peer_undo(in);
		return ret;
	}
	peer_joins(in);
	*peer = &in->peer;
	return 0;
}

static bool peer_knows(struct rte_peer *peer, const struct rte_preamble *remote)
{
	if (remote->major != RTE_MAJOR)
		return false;
	peer->remote = *remote;
	peer->minor = rte_preamble_minor(remote, RTE_MINOR);
	return true;
}

int rte_peer_accept(struct rte_port *port, struct rte_request *request,
		    const struct rte_peer_ops *ops, void *user, struct rte_peer **peer)
{
	struct rte_peer_inside *in;
	int ret;

	if (rte_request_denied(request))
		return -FI_EACCES;
	in = peer_make(port, false, ops, user);
	if (!in) {
		rte_request_full(request);
		return -FI_ENOMEM;
	}
	peer_address(&in->peer, &request->address.sa);
	peer_knows(&in->peer, &request->preamble);
	memcpy(in->talk.preamble[0], request->said, RTE_PREAMBLE_LEN);
	rte_preamble_pack(&in->peer.local, in->talk.preamble[1]);
	ret = peer_endpoint(in, request->info);
	if (!ret)
		ret = fi_accept(in->ep, in->talk.preamble[1], RTE_PREAMBLE_LEN);
	if (ret)
		goto undo;
	peer_joins(in);
	*peer = &in->peer;
	fi_freeinfo(request->info);
	free(request);
	return 0;
undo:
	/* With an endpoint the request is that one's. */
	if (in->ep) {
		peer_undo(in);
		fi_freeinfo(request->info);
		free(request);
		return ret;
	}
	peer_undo(in);
	rte_request_reject(request);
	return ret;
}

void peer_connected(struct rte_peer *peer, const void *data, size_t len)
{
	struct rte_preamble remote;
	enum rte_bad bad;

	if (peer->state != RTE_PEER_CONNECTING)
		return;
	if (peer->active) {
		bad = rte_preamble_parse(&remote, data, len);
		if (bad != RTE_OK || !peer_knows(peer, &remote)) {
			rte_peer_bad(peer, rte_bad_text(bad));
			return;
		}
		memcpy(peer->in->talk.preamble[1], data, RTE_PREAMBLE_LEN);
		if (auth_hopeless(peer->port, peer->local.flags, &remote,
				  &peer->address)) {
			peer_fail(peer, FI_EACCES);
			return;
		}
	}
	peer->state = RTE_PEER_GREETING;
	if (peer->active)
		hello_send(peer, RTE_HELLO, 0);
}

void peer_settled(struct rte_peer_inside *in)
{
	if (in->unsettled)
		in->peer.port->unsettled--;
	in->unsettled = false;
}

void peer_up(struct rte_peer *peer)
{
	peer->state = RTE_PEER_UP;
	peer_settled(peer->in);
	life_begin(peer);
	if (peer->ops->up)
		peer->ops->up(peer);
}

/* --- The end --- */

void peer_parted(struct rte_peer *peer, const struct rte_packet *packet)
{
	struct rte_bye bye;

	if (rte_bye_parse(&bye, packet) != RTE_OK)
		bye.status = 0;
	if (peer->state != RTE_PEER_UP && bye.status == FI_EACCES)
		auth_unheard(peer);
	else
		/* A router is refused for its id; else why it has ended is its own. */
		peer_fail(peer,
			  bye.status == FI_EADDRINUSE ? FI_EADDRINUSE : FI_ECONNABORTED);
}

void peer_refused(struct rte_peer *peer, int err, const void *data, size_t len)
{
	struct rte_preamble remote;

	if (!peer->active || peer->state != RTE_PEER_CONNECTING ||
	    rte_preamble_parse(&remote, data, len) != RTE_OK) {
		peer_fail(peer, err);
	} else if (remote.flags & RTE_PREAMBLE_FULL) {
		peer->remote = remote;
		peer_fail(peer, FI_ENOBUFS);
	} else if (remote.flags & RTE_PREAMBLE_DENIED) {
		peer->remote = remote;
		auth_unheard(peer);
	} else {
		peer_fail(peer, err);
	}
}

void peer_fail(struct rte_peer *peer, int err)
{
	struct rte_peer_inside *in = peer->in;

	if (in->failed || peer->state == RTE_PEER_DOWN || in->closed)
		return;
	in->failed = err;
	peer->state = RTE_PEER_DOWN;
	peer_settled(in);
	crn_deadline_remove(&peer->port->deadlines, &in->deadline);
	if (crn_list_empty(&in->ready))
		crn_list_add_tail(&peer->port->ready, &in->ready);
	port_kick(peer->port);
}

void peer_refuses(struct rte_peer *peer, int err)
{
	struct rte_peer_inside *in = peer->in;

	if (err != FI_ESHUTDOWN && err != FI_ENOTCONN) {
		peer_fail(peer, err);
		return;
	}
	if (in->shut)
		return;
	in->shut = err;
	if (!in->failed && !in->closed)
		life_shut(peer);
}

void rte_peer_bad(struct rte_peer *peer, const char *what)
{
	if (!peer->in->failed && !peer->in->closed)
		port_log(peer->port,
			 "%s breaks the protocol and is left: %s; compare versions",
			 peer->text, what);
	peer_fail(peer, FI_EIO);
}

void peer_tell(struct rte_peer *peer)
{
	struct rte_peer_inside *in = peer->in;
	const int err = in->failed;

	if (in->closed)
		return;
	if (!err) {
		if (peer->ops->ready)
			peer->ops->ready(peer);
		return;
	}
	if (peer->ops->down)
		peer->ops->down(peer, err);
}

void rte_peer_lends(struct rte_peer *peer)
{
	peer->in->lends = true;
}

/* Nothing of it reaches the owner any more. True: what is left may still be sent. */
static bool peer_let_go(struct rte_peer_inside *in)
{
	struct rte_tx_inside *tx;
	struct peer_txs *txs;
	bool alone = true;
	uint32_t i;

	for (txs = in->tx; txs; txs = txs->next) {
		for (i = 0; i < txs->count; i++) {
			tx = &txs->tx[i];
			if (!tx->posted)
				continue;
			alone = alone && !tx->tx.data_len;
			if (tx->tx.done)
				tx->tx.done(&tx->tx, FI_ECANCELED);
			tx->tx.done = NULL;
		}
	}
	return alone;
}

static void peer_bye(struct rte_peer *peer, int status)
{
	const struct rte_bye bye = {.status = (uint32_t)status};
	struct rte_packet packet = {
		.head = {.type = RTE_BYE, .flags = status ? RTE_ERR : 0},
	};
	struct rte_tx *tx = send_control(peer);
	ssize_t len;

	if (!tx)
		return;
	len = rte_bye_pack(&packet, &bye, tx->bytes, tx->room);
	tx->len = (size_t)len;
	rte_tx_post(tx);
}

/* The owner is woken, and its progress does the rest. */
static void linger_over(struct crn_deadline *deadline)
{
}

void rte_peer_close(struct rte_peer *peer, int status)
{
	struct rte_peer_inside *in = peer->in;
	struct rte_port *port = peer->port;
	const bool up = peer->state == RTE_PEER_UP;

	peer->ops = &no_ops;
	crn_deadline_remove(&port->deadlines, &in->deadline);
	crn_list_del(&in->ready);
	crn_list_del(&in->hunger.entry);
	if (peer_let_go(in) && (up || in->denied)) {
		peer_bye(peer, in->denied ? FI_EACCES : status);
		in->linger = crn_now_ms() + RTE_PEER_LINGER;
		in->deadline.expired = linger_over;
		crn_deadline_add(&port->deadlines, &in->deadline, in->linger);
	}
	in->closed = true;
	peer->state = RTE_PEER_DOWN;
	peer_settled(in);
	crn_list_del(&in->due);
	crn_list_del(&in->entry);
	crn_list_add_tail(&port->zombies, &in->entry);
	if (port->depth)
		return;
	/* Who closes may never make progress again. */
	rte_port_progress(port);
	port_kick(port);
}

/* The lower endpoint goes, and with it what it had. */
static void peer_end(struct rte_peer_inside *in)
{
	struct rte_port *port = in->peer.port;

	in->ended = true;
	crn_deadline_remove(&port->deadlines, &in->deadline);
	if (in->ep) {
		fi_close(&in->ep->fid);
		port_drain(port);
	}
	send_forget(&in->peer);
	grant_close(&in->peer);
	elastic_close(&in->peer);
}

bool peer_reap(struct rte_peer *peer, bool now)
{
	struct rte_peer_inside *in = peer->in;

	if (!in->ended) {
		/* Who closes with something unread makes TCP throw away what the other
		 * end has not read. */
		if (!now && !in->shut && (in->txs_used || !in->parted) &&
		    crn_now_ms() < in->linger) {
			send_again(peer);
			return false;
		}
		peer_end(in);
	}
	if (in->held)
		return false;
	crn_list_del(&in->entry);
	peer_free(in);
	return true;
}
