/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include <arpa/inet.h>
#include "cm.h"
#include "keyring.h"

static struct rte_incoming *incoming_of(struct rte_peer *peer)
{
	return peer->user;
}

static void incoming_free(struct rte_incoming *incoming)
{
	crn_deadline_remove(&incoming->device->port->deadlines, &incoming->deadline);
	crn_list_del(&incoming->entry);
	if (incoming->pep)
		incoming->pep->waiting--;
	free(incoming);
}

static void incoming_hang_up(struct rte_incoming *incoming, int status)
{
	if (incoming->peer)
		rte_peer_close(incoming->peer, status);
	incoming->peer = NULL;
}

void rte_incoming_refuse(struct rte_incoming *incoming, enum rte_verdict verdict,
			 int status, const void *param, size_t len)
{
	const struct rte_refusal refusal = {verdict, status, param, len};
	struct rte_peer *peer = incoming->peer;

	if (peer && incoming->state == RTE_INCOMING_ASKED)
		rte_say_refusal(peer, incoming->req.id, &refusal);
	incoming_free(incoming);
	if (peer)
		rte_peer_close(peer, 0);
}

void rte_incoming_taken(struct rte_incoming *incoming)
{
	incoming->peer = NULL;
	incoming_free(incoming);
}

struct rte_incoming *rte_incoming_find(struct rte_device *device, fid_t handle)
{
	struct rte_incoming *incoming;
	struct crn_list *entry;

	crn_list_for_each (entry, &device->incoming) {
		incoming = crn_container_of(entry, struct rte_incoming, entry);
		if (&incoming->handle == handle)
			return incoming;
	}
	return NULL;
}

/* An endpoint may have it, though the program has only peeked at its event. */
static bool incoming_unread(const struct rte_incoming *incoming)
{
	if (incoming->taken)
		return false;
	return incoming->state == RTE_INCOMING_NEW || !incoming->pep->eq ||
	       crn_eq_has_request(&incoming->pep->eq->eq, &incoming->handle);
}

static struct rte_incoming *first_unread(const struct rte_pep *pep)
{
	struct rte_incoming *incoming;
	struct crn_list *entry;

	crn_list_for_each (entry, &pep->device->incoming) {
		incoming = crn_container_of(entry, struct rte_incoming, entry);
		if (incoming->pep == pep && incoming_unread(incoming))
			return incoming;
	}
	return NULL;
}

/* To refuse one makes progress, in which others may leave: from the first one again. */
void rte_incoming_unlisten(struct rte_pep *pep)
{
	struct rte_incoming *incoming;
	struct crn_list *entry;

	while ((incoming = first_unread(pep)))
		rte_incoming_refuse(incoming, RTE_REJECTED, FI_ECONNREFUSED, NULL, 0);
	crn_list_for_each (entry, &pep->device->incoming) {
		incoming = crn_container_of(entry, struct rte_incoming, entry);
		if (incoming->pep == pep)
			incoming->pep = NULL;
	}
}

void rte_incoming_drop_all(struct rte_device *device)
{
	struct crn_list *incoming = &device->incoming;

	while (!crn_list_empty(incoming))
		rte_incoming_refuse(crn_container_of(incoming->next, struct rte_incoming,
						     entry),
				    RTE_REJECTED, FI_ECONNREFUSED, NULL, 0);
}

/* ---- CONN_REQ ---- */

static int incoming_addr(const struct rte_end *end, void **addr, size_t *len)
{
	struct sockaddr_in6 *in6 = malloc(sizeof(*in6));

	if (!in6)
		return -FI_ENOMEM;
	rte_addr_pack(end, in6);
	free(*addr);
	*addr = in6;
	*len = sizeof(*in6);
	return 0;
}

static struct fi_info *incoming_info(struct rte_incoming *incoming)
{
	struct rte_pep *pep = incoming->pep;
	struct fi_info *info = fi_dupinfo(pep->info);

	if (!info)
		return NULL;
	info->handle = &incoming->handle;
	if (!incoming_addr(&pep->name, &info->src_addr, &info->src_addrlen) &&
	    !incoming_addr(&incoming->req.source, &info->dest_addr, &info->dest_addrlen))
		return info;
	fi_freeinfo(info);
	return NULL;
}

/* FI_CONNREQ; -FI_EAGAIN: the program does not read its events. */
static int incoming_report(struct rte_incoming *incoming, const struct rte_packet *packet)
{
	uint8_t room[sizeof(struct fi_eq_cm_entry) + RTE_PARAM_MAX];
	struct fi_eq_cm_entry entry = {
		.fid = &incoming->pep->fid.fid,
		.info = incoming_info(incoming),
	};
	int ret;

	if (!entry.info)
		return -FI_ENOMEM;
	memcpy(room, &entry, sizeof(entry));
	if (packet->head.plen)
		memcpy(room + sizeof(entry), packet->payload, packet->head.plen);
	ret = crn_eq_insert(&incoming->pep->eq->eq, FI_CONNREQ, entry.fid, room,
			    sizeof(entry) + packet->head.plen);
	if (ret)
		fi_freeinfo(entry.info);
	return ret;
}

/* A client speaks for itself: the lower provider knows who it is. */
static void incoming_source(struct rte_incoming *incoming)
{
	const struct rte_peer *peer = incoming->peer;
	struct rte_end *source = &incoming->req.source;

	if (peer->remote.role != RTE_CLIENT || peer->address.sa.sa_family != AF_INET)
		return;
	source->as = incoming->device->view.own.as;
	source->subnet = incoming->device->view.own.subnet;
	source->host = ntohl(peer->address.in.sin_addr.s_addr);
}

static void incoming_asked(struct rte_incoming *incoming, const struct rte_packet *packet)
{
	int status = 0;

	incoming->state = RTE_INCOMING_ASKED;
	crn_deadline_remove(&incoming->device->port->deadlines, &incoming->deadline);
	incoming_source(incoming);
	if (!rte_addr_near(&incoming->req.target, &incoming->device->view.own))
		status = FI_ENETUNREACH;
	else if (incoming->pep->waiting > incoming->pep->backlog ||
		 incoming_report(incoming, packet))
		status = FI_ENOBUFS;
	if (status)
		rte_incoming_refuse(incoming, RTE_FAILED, status, NULL, 0);
}

static void incoming_message(struct rte_peer *peer, struct rte_rx *rx)
{
	struct rte_incoming *incoming = incoming_of(peer);

	if (rx->packet.head.type != RTE_CONN_REQ || incoming->state != RTE_INCOMING_NEW ||
	    rte_conn_req_parse(&incoming->req, &rx->packet) != RTE_OK ||
	    !incoming->req.eager)
		rte_peer_bad(peer, "CONN_REQ was to come");
	else
		incoming_asked(incoming, &rx->packet);
	rte_rx_put(rx);
}

/* What the program has been told of stays until it answers. */
static void incoming_down(struct rte_peer *peer, int err)
{
	struct rte_incoming *incoming = incoming_of(peer);

	incoming_hang_up(incoming, 0);
	if (incoming->state == RTE_INCOMING_NEW)
		incoming_free(incoming);
}

static const struct rte_peer_ops incoming_ops = {
	.message = incoming_message,
	.down = incoming_down,
};

static void incoming_late(struct crn_deadline *deadline)
{
	struct rte_incoming *incoming =
		crn_container_of(deadline, struct rte_incoming, deadline);

	RTE_INFO(FI_LOG_EP_CTRL,
		 "%s connected and did not say to whom: it is hung up on\n",
		 incoming->peer ? incoming->peer->text : "somebody");
	incoming_hang_up(incoming, FI_ETIMEDOUT);
	incoming_free(incoming);
}

/* ---- somebody connects ---- */

void rte_incoming_request(struct rte_request *request, void *context)
{
	struct rte_pep *pep = context;
	struct rte_device *device = pep->device;
	struct rte_incoming *incoming = NULL;

	rte_keyring_look(device);
	if (pep->waiting < pep->backlog + RTE_BACKLOG_MORE &&
	    request->preamble.role != RTE_TARGET && rte_trusts(device, request))
		incoming = calloc(1, sizeof(*incoming));
	if (!incoming) {
		rte_request_reject(request);
		return;
	}
	incoming->handle.fclass = FI_CLASS_CONNREQ;
	incoming->device = device;
	incoming->pep = pep;
	incoming->deadline.expired = incoming_late;
	crn_list_add_tail(&device->incoming, &incoming->entry);
	pep->waiting++;
	if (rte_peer_accept(device->port, request, &incoming_ops, incoming,
			    &incoming->peer)) {
		incoming_free(incoming);
		return;
	}
	crn_deadline_add(&device->port->deadlines, &incoming->deadline,
			 crn_now_ms() + device->fabric->config->routing.connect_timeout);
}
