/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Probes: a CONN_REQ that connects nobody. Routers hand it on as they would any, and the
 * one whose answer is wanted gives it. Here: those that this router begins itself.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <rdma/fi_errno.h>
#include <cairn/compat.h>
#include <cairn/wait.h>

#include "inside.h"
#include "route/route.h"

#define ROOM (RTE_HEAD_ROOM + RTE_PARAM_MAX)

struct frt_probe {
	struct crn_list entry; /* of transits->probes */
	struct frt_node *node;
	struct frt_probe_attr attr;
	struct rte_conn_req req;
	struct frt_answer answer; /* of frt_route_own */
	struct rte_peer *peer;
	struct crn_deadline deadline;
	bool waits;		   /* to be sent */
	uint64_t sent;		   /* ns */
	char target[RTE_URI_SIZE]; /* TLV TARGET; "": none */
};

/* --- How this router is --- */

static void add_queued(const struct frt_transit *transit, void *context)
{
	uint32_t *queued = context;
	enum frt_from from;
	enum rte_lane lane;

	for (from = 0; from < FRT_SIDES; from++)
		for (lane = 0; lane < RTE_LANES; lane++)
			*queued += transit->side[from].lane[lane].queued;
}

uint32_t frt_transits_queued(const struct frt_node *node)
{
	uint32_t queued = 0;

	frt_transit_each(node, add_queued, &queued);
	return queued;
}

static void add_worker(struct rte_probe *probe, const struct frt_worker *worker)
{
	struct rte_arena_use use = {0};

	if (worker->arena)
		rte_arena_use(worker->arena, &use);
	frt_worker_each(worker, add_queued, &probe->queued);
	probe->connections += frt_transits_of(worker)->count;
	probe->arena += use.bytes_taken;
}

/* The main thread holds all, and each worker has its own. */
static struct rte_probe probe_self(const struct frt_worker *worker)
{
	const struct frt_node *node = worker->node;
	struct rte_probe probe = {0};
	uint32_t i;

	if (worker->index)
		add_worker(&probe, worker);
	for (i = 0; i < node->workers && !worker->index; i++)
		add_worker(&probe, node->worker[i]);
	return probe;
}

void frt_probe_set(struct rte_options *options, const struct frt_worker *worker)
{
	options->present |= 1u << RTE_TLV_PROBE;
	options->probe = probe_self(worker);
}

/* --- The end of one --- */

static void probe_free(struct frt_probe *probe)
{
	struct rte_peer *peer = probe->peer;

	crn_deadline_remove(&probe->node->deadlines, &probe->deadline);
	crn_list_del(&probe->entry);
	free(probe);
	if (peer)
		rte_peer_close(peer, 0);
}

void frt_probe_cancel(struct frt_probe *probe)
{
	if (probe)
		probe_free(probe);
}

static void over(struct frt_probe *probe, const struct frt_probed *probed)
{
	probe->attr.done(probe->attr.context, probed);
	probe_free(probe);
}

/* Nobody has answered: router, or what leads to it, is why. */
static void fails(struct frt_probe *probe, int status, const char *why)
{
	const struct frt_probed probed = {
		.status = status,
		.router = probe->answer.router,
		.why = why,
		.hops = probe->answer.hops,
		.path = probe->answer.path,
	};

	over(probe, &probed);
}

/* device: NULL: any. */
static struct frt_probe *find(const struct frt_transits *transits,
			      const struct frt_device *device)
{
	struct frt_probe *probe;
	struct crn_list *entry;

	crn_list_for_each (entry, &transits->probes) {
		probe = crn_container_of(entry, struct frt_probe, entry);
		if (!device || probe->answer.device == device)
			return probe;
	}
	return NULL;
}

/* To close a peer makes progress, in which others may end: from the first one again. */
void frt_probes_end(struct frt_node *node, const struct frt_device *device)
{
	const struct frt_transits *transits = frt_transits_of(node->worker[0]);
	struct frt_probe *probe;

	while ((probe = find(transits, device)))
		fails(probe, FI_ESHUTDOWN, "the device is closed");
}

static void expired(struct crn_deadline *deadline)
{
	struct frt_probe *probe = crn_container_of(deadline, struct frt_probe, deadline);

	fails(probe, FI_ETIMEDOUT, "no answer in time");
}

/* --- What is sent --- */

static void send_request(struct frt_probe *probe)
{
	struct rte_packet packet = {.head.type = RTE_CONN_REQ};
	struct rte_tx *tx = rte_tx_get(probe->peer, RTE_LANES, ROOM);
	ssize_t len;

	probe->waits = !tx;
	if (!tx)
		return;
	packet.options.present = 1u << RTE_TLV_PATH;
	packet.options.hops = probe->answer.hops;
	memcpy(packet.options.hop, probe->answer.path, sizeof(probe->answer.path));
	if (*probe->target) {
		packet.options.present |= 1u << RTE_TLV_TARGET;
		packet.options.text[RTE_TLV_TARGET] = probe->target;
	}
	len = rte_conn_req_pack(&packet, &probe->req, tx->bytes, tx->room);
	if (len < 0) {
		rte_tx_drop(tx);
		fails(probe, (int)-len, "the request cannot be packed");
		return;
	}
	tx->len = (size_t)len;
	tx->data_len = 0;
	tx->done = NULL;
	probe->sent = frt_now_ns();
	rte_tx_post(tx);
}

/* --- What the next router says --- */

static void peer_up(struct rte_peer *peer)
{
	struct frt_probe *probe = peer->user;

	if (peer->remote.role != RTE_ROUTER || peer->remote.node != probe->answer.router)
		fails(probe, FI_EHOSTUNREACH, "at its address is somebody else");
	else
		send_request(probe);
}

static void peer_ready(struct rte_peer *peer)
{
	struct frt_probe *probe = peer->user;

	if (probe->waits)
		send_request(probe);
}

static void peer_down(struct rte_peer *peer, int err)
{
	fails(peer->user, err == FI_ETIMEDOUT ? err : FI_EHOSTUNREACH, fi_strerror(err));
}

static void answered(struct frt_probe *probe, const struct rte_conn_rep *rep,
		     const struct rte_options *options)
{
	struct frt_probed probed = {
		.status = (int)rep->status,
		.router = rep->router,
		.why = "",
		.ns = frt_now_ns() - probe->sent,
		.has_probe = options->present >> RTE_TLV_PROBE & 1,
		.probe = options->probe,
	};

	if (options->present & 1u << RTE_TLV_WHY)
		probed.why = options->text[RTE_TLV_WHY];
	if (options->present & 1u << RTE_TLV_PATH) {
		probed.hops = options->hops;
		probed.path = options->hop;
	}
	over(probe, &probed);
}

static void peer_message(struct rte_peer *peer, struct rte_rx *rx)
{
	struct frt_probe *probe = peer->user;
	struct rte_conn_rep rep;

	if (rx->packet.head.type != RTE_CONN_REP || !probe->sent ||
	    rte_conn_rep_parse(&rep, &rx->packet) != RTE_OK ||
	    memcmp(rep.id, probe->req.id, sizeof(rep.id)) != 0)
		fails(probe, EPROTO, "the next router's answer is none");
	else
		answered(probe, &rep, &rx->packet.options);
	rte_rx_put(rx);
}

static const struct rte_peer_ops ops = {
	.up = peer_up,
	.message = peer_message,
	.ready = peer_ready,
	.down = peer_down,
};

/* --- The beginning --- */

static void set_request(struct frt_probe *probe)
{
	const struct rte_uri *target = &probe->attr.target;
	struct rte_uri host = *target;

	probe->req = (struct rte_conn_req){
		.target = {.as = target->as, .subnet = target->subnet},
		.ttl = (uint8_t)probe->attr.ttl,
		.frag = RTE_FRAG_MIN,
		.eager = RTE_EAGER,
		.timeout = probe->attr.timeout,
		.features = RTE_FEATURE_PROBE,
	};
	/* Without randomness an answer may be taken for that of another. */
	if (getrandom(probe->req.id, sizeof(probe->req.id), GRND_NONBLOCK) < 0)
		memcpy(probe->req.id, &probe, sizeof(probe));
	if (target->kind == RTE_HOST_IN) {
		probe->req.target.host = (uint32_t)target->addr[0] << 24 |
					 (uint32_t)target->addr[1] << 16 |
					 (uint32_t)target->addr[2] << 8 | target->addr[3];
		return;
	}
	host.routed = false;
	host.transport = RTE_TRANSPORT_TCP;
	rte_uri_print(&host, probe->target);
}

/* This router is the one that answers, or there is no way. */
static void answer_self(struct frt_probe *probe)
{
	const struct frt_answer *answer = &probe->answer;
	const bool refused = answer->what == FRT_REFUSE;
	const struct frt_probed probed = {
		.status = refused			? answer->status
			  : answer->what == FRT_DELIVER ? 0
							: ETIME,
		.router = frt_config(probe->node)->router.id,
		.why = answer->text,
		.hops = answer->hops,
		.path = answer->path,
		.has_probe = true,
		.probe = probe_self(probe->node->worker[0]),
	};

	over(probe, &probed);
}

/* 0, or -FI_E*. */
static int reach(struct frt_probe *probe)
{
	const struct frt_transits *transits = frt_transits_of(probe->node->worker[0]);
	const struct frt_device *out = probe->answer.device;

	if (!frt_device_port(out) || out == transits->gone)
		return -FI_ENODEV;
	probe->req.ttl--;
	probe->req.source = probe->answer.source;
	probe->req.rate = out->rate;
	probe->req.latency = out->config->latency;
	return rte_peer_connect(frt_device_port(out), &probe->answer.address.sa, 0, &ops,
				probe, &probe->peer);
}

static struct frt_probe *probe_new(struct frt_node *node,
				   const struct frt_probe_attr *attr)
{
	struct frt_transits *transits = frt_transits_of(node->worker[0]);
	struct frt_probe *probe = calloc(1, sizeof(*probe));

	if (!probe)
		return NULL;
	probe->node = node;
	probe->attr = *attr;
	probe->deadline.expired = expired;
	crn_list_add_tail(&transits->probes, &probe->entry);
	set_request(probe);
	return probe;
}

struct frt_probe *frt_probe_begin(struct frt_node *node,
				  const struct frt_probe_attr *attr)
{
	struct frt_probe *probe = probe_new(node, attr);
	int ret;

	if (!probe) {
		attr->done(attr->context,
			   &(struct frt_probed){.status = FI_ENOMEM, .why = "no memory"});
		return NULL;
	}
	/* That this router is asked with ttl 0 is no reason to refuse it. */
	probe->req.ttl = (uint8_t)CRN_MAX(attr->ttl, 1u);
	frt_route_own(node, &probe->req, &probe->answer);
	if (!attr->ttl || probe->answer.what != FRT_FORWARD) {
		answer_self(probe);
		return NULL;
	}
	ret = reach(probe);
	if (ret) {
		probe->peer = NULL;
		fails(probe, FI_EHOSTUNREACH, fi_strerror(-ret));
		return NULL;
	}
	crn_deadline_add(&node->deadlines, &probe->deadline,
			 crn_now_ms() + attr->timeout);
	return probe;
}
