/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <string.h>
#include "cm.h"
#include "keyring.h"

static struct rte_ep *conn_of(struct rte_peer *peer)
{
	return peer->user;
}

static struct rte_ep *conn_of_vc(struct rte_vc *vc)
{
	return crn_container_of(vc, struct rte_ep, vc);
}

void rte_conn_wait(struct rte_ep *ep, uint64_t at)
{
	crn_deadline_add(&ep->device->port->deadlines, &ep->deadline, at);
}

/* ---- the end of it ---- */

/* Nothing is sent or received any more, but for what the peer still has to send. */
static void conn_hang_up(struct rte_ep *ep, int err, uint64_t router)
{
	struct rte_peer *peer = ep->peer;

	crn_deadline_remove(&ep->device->port->deadlines, &ep->deadline);
	ep->state = RTE_EP_DOWN;
	ep->say = RTE_SAY_NOTHING;
	rte_vc_stop(&ep->vc, err, router);
	ep->peer = NULL;
	if (peer)
		rte_peer_close(peer, 0);
}

static bool conn_is_up(const struct rte_ep *ep)
{
	return ep->state == RTE_EP_UP || ep->state == RTE_EP_CLOSING;
}

/* For who looks into the log because of it; the program has an event. */
static void conn_log(const struct rte_ep *ep, const char *what, int err, uint64_t router,
		     const char *why)
{
	const struct in_addr host = {.s_addr = htonl(ep->other.host)};
	char text[INET_ADDRSTRLEN];

	RTE_INFO(FI_LOG_EP_CTRL,
		 "%s %u:%u:%s, port %u: %s%s%s, router %llu; fi_route(7), CONNECTIONS, "
		 "says what to do\n",
		 what, ep->other.as, ep->other.subnet,
		 inet_ntop(AF_INET, &host, text, sizeof(text)), ep->other.port,
		 fi_strerror(err), *why ? ": " : "", why, (unsigned long long)router);
}

void rte_conn_fail(struct rte_ep *ep, const struct rte_failure *failure)
{
	conn_log(ep, "no connection with", failure->err, failure->router, failure->why);
	ep->failure = *failure;
	conn_hang_up(ep, failure->err, failure->router);
	rte_news(ep, RTE_NEWS_FAILED);
}

/* A program that shuts it down itself needs no log. */
static void conn_lost(struct rte_ep *ep, int err, uint64_t router)
{
	if (ep->state != RTE_EP_CLOSING && err)
		conn_log(ep, "lost the connection with", err, router, "");
	conn_hang_up(ep, err, router);
	rte_news(ep, RTE_NEWS_SHUTDOWN);
}

void rte_conn_end(struct rte_ep *ep)
{
	if (ep->peer && (conn_is_up(ep) || ep->state == RTE_EP_ASKING ||
			 ep->state == RTE_EP_ACCEPTING))
		rte_say_shutdown(ep, ep->broken);
	conn_hang_up(ep, FI_ECANCELED, 0);
}

/* By fi_shutdown: both ends are told (fi_cm(3)), whoever called it, or both. */
static void conn_shut_down(struct rte_ep *ep)
{
	rte_conn_end(ep);
	rte_news(ep, RTE_NEWS_SHUTDOWN);
}

int rte_conn_shutdown(struct rte_ep *ep)
{
	if (ep->state != RTE_EP_UP)
		return ep->state == RTE_EP_CLOSING || ep->state == RTE_EP_DOWN
			       ? 0
			       : -FI_ENOTCONN;
	if (rte_vc_unsent(&ep->vc)) {
		ep->state = RTE_EP_CLOSING;
		rte_conn_wait(ep, crn_now_ms() + RTE_LINGER);
	} else {
		conn_shut_down(ep);
	}
	return 0;
}

/* ---- deadlines, and what the data path says: it is still using the peer then ---- */

void rte_conn_broken(struct rte_vc *vc, int err)
{
	struct rte_ep *ep = conn_of_vc(vc);

	ep->broken = err;
	rte_conn_wait(ep, 0);
}

void rte_conn_drained(struct rte_vc *vc)
{
	struct rte_ep *ep = conn_of_vc(vc);

	if (ep->state == RTE_EP_CLOSING)
		rte_conn_wait(ep, 0);
}

static void conn_late(struct rte_ep *ep)
{
	const struct rte_failure failure = {
		.err = FI_ETIMEDOUT,
		.router = rte_hop_router(ep),
		.why = "no answer in time",
	};

	if (ep->state == RTE_EP_CONNECTING) {
		/* Nobody is there to answer, but perhaps at another router. */
		rte_hop_silent(ep);
		if (crn_now_ms() < ep->due) {
			rte_conn_try(ep, &failure);
			return;
		}
	} else if (ep->peer) {
		rte_say_shutdown(ep, FI_ETIMEDOUT);
	}
	rte_conn_fail(ep, &failure);
}

void rte_conn_over(struct crn_deadline *deadline)
{
	struct rte_ep *ep = crn_container_of(deadline, struct rte_ep, deadline);
	const int broken = ep->broken;

	switch (ep->state) {
	case RTE_EP_CONNECTING:
	case RTE_EP_ASKING:
	case RTE_EP_ACCEPTING:
		conn_late(ep);
		break;
	case RTE_EP_UP:
		if (!broken)
			break;
		rte_say_shutdown(ep, broken);
		conn_lost(ep, broken, 0);
		break;
	case RTE_EP_CLOSING:
		conn_shut_down(ep);
		break;
	default:
		break;
	}
}

/* ---- up ---- */

static void conn_start(struct rte_ep *ep)
{
	crn_deadline_remove(&ep->device->port->deadlines, &ep->deadline);
	ep->state = RTE_EP_UP;
	rte_news(ep, RTE_NEWS_CONNECTED);
	rte_vc_start(&ep->vc, ep->peer, &ep->path);
}

void rte_conn_speak(struct rte_ep *ep)
{
	switch (ep->say) {
	case RTE_SAY_CONN_REQ:
		if (rte_say_conn_req(ep))
			ep->say = RTE_SAY_NOTHING;
		break;
	case RTE_SAY_CONN_REP:
		if (!rte_say_conn_rep(ep))
			break;
		ep->say = RTE_SAY_NOTHING;
		ep->param_len = 0;
		break;
	case RTE_SAY_CONN_ACK:
		if (!rte_say_conn_ack(ep))
			break;
		ep->say = RTE_SAY_NOTHING;
		conn_start(ep);
		break;
	default:
		break;
	}
}

static void conn_up(struct rte_peer *peer)
{
	struct rte_ep *ep = conn_of(peer);

	if (ep->state != RTE_EP_CONNECTING)
		return;
	rte_hop_heard(ep);
	ep->state = RTE_EP_ASKING;
	ep->say = RTE_SAY_CONN_REQ;
	rte_conn_wait(ep, ep->due);
	rte_conn_speak(ep);
}

static void conn_ready(struct rte_peer *peer)
{
	struct rte_ep *ep = conn_of(peer);

	if (ep->say != RTE_SAY_NOTHING)
		rte_conn_speak(ep);
	if (conn_is_up(ep))
		rte_vc_ready(&ep->vc);
}

/* ---- attempts ---- */

static void conn_why(struct rte_failure *failure, const struct rte_packet *packet)
{
	if (packet->options.present & 1u << RTE_TLV_WHY)
		strncpy(failure->why, packet->options.text[RTE_TLV_WHY],
			sizeof(failure->why) - 1);
}

void rte_conn_try(struct rte_ep *ep, const struct rte_failure *failure)
{
	struct rte_peer *peer = ep->peer;
	struct rte_failure last = *failure;
	union crn_addr addr;
	int ret;

	ep->state = RTE_EP_CONNECTING;
	ep->say = RTE_SAY_NOTHING;
	ep->peer = NULL;
	if (peer)
		rte_peer_close(peer, 0);
	rte_keyring_look(ep->device);
	while (!rte_hop_next(ep, &addr)) {
		ret = rte_peer_connect(ep->device->port, &addr.sa, 0, &rte_conn_ops, ep,
				       &ep->peer);
		if (!ret) {
			rte_conn_wait(ep, rte_hop_due(ep));
			return;
		}
		ep->peer = NULL;
		last = (struct rte_failure){.err = -ret, .why = "cannot connect"};
	}
	rte_conn_fail(ep, &last);
}

/* Nobody listens: where the target itself was asked, that is the program's word. */
static int conn_unreached(const struct rte_ep *ep, int err)
{
	return err == FI_ECONNREFUSED && !rte_addr_near(&ep->other, &ep->device->view.own)
		       ? FI_EHOSTUNREACH
		       : err;
}

static void conn_down(struct rte_peer *peer, int err)
{
	struct rte_ep *ep = conn_of(peer);
	struct rte_failure failure = {
		.err = conn_unreached(ep, err),
		.router = rte_hop_router(ep),
	};

	switch (ep->state) {
	case RTE_EP_CONNECTING:
	case RTE_EP_ASKING:
		snprintf(failure.why, sizeof(failure.why), "%s%s", peer->text,
			 err == FI_ENOBUFS ? " has no room for it" : "");
		rte_conn_try(ep, &failure);
		break;
	case RTE_EP_ACCEPTING:
		rte_conn_fail(ep, &failure);
		break;
	default:
		if (err == FI_ETIMEDOUT)
			rte_hop_silent(ep);
		conn_lost(ep, err, failure.router);
		break;
	}
}

/* ---- messages ---- */

/* What another router may be able to do. */
static bool conn_may_help(const struct rte_ep *ep, const struct rte_conn_rep *rep)
{
	return rep->router && rep->router == ep->peer->remote.node && rte_hop_time(ep) &&
	       (rep->status == FI_EHOSTUNREACH || rep->status == FI_ENETUNREACH ||
		rep->status == FI_ETIMEDOUT || rep->status == FI_ENOBUFS);
}

/* Its next hop has not answered, or is not there. */
static bool conn_unreached_by(const struct rte_conn_rep *rep)
{
	return rep->status == FI_EHOSTUNREACH || rep->status == FI_ETIMEDOUT;
}

static void conn_refused(struct rte_ep *ep, const struct rte_conn_rep *rep,
			 const struct rte_packet *packet)
{
	struct rte_failure failure = {
		.err = (int)rep->status,
		.router = rep->router,
		.by_program = rep->verdict == RTE_REJECTED,
	};

	conn_why(&failure, packet);
	if (failure.by_program) {
		ep->param_len = packet->head.plen;
		memcpy(ep->param, packet->payload, packet->head.plen);
		rte_conn_fail(ep, &failure);
	} else if (conn_may_help(ep, rep)) {
		if (conn_unreached_by(rep))
			rte_hop_unreached(ep);
		rte_conn_try(ep, &failure);
	} else {
		rte_conn_fail(ep, &failure);
	}
}

static void conn_redirected(struct rte_ep *ep, const struct rte_conn_rep *rep,
			    const struct rte_packet *packet)
{
	struct rte_failure failure = {.err = FI_EHOSTUNREACH, .router = rep->router};
	int ret = rte_hop_redirect(ep, packet->options.text[RTE_TLV_URI]);

	if (ret) {
		failure.err = -ret;
		rte_conn_fail(ep, &failure);
	} else {
		rte_conn_try(ep, &failure);
	}
}

void rte_conn_bypass(struct rte_ep *ep, uint64_t features)
{
	const bool able = features & RTE_FEATURE_BYPASS;
	const bool router = features & RTE_FEATURE_LASTHOP;

	ep->path.bypass = ep->path.direct && able && ep->vc.attr.lend;
	ep->path.bypassed = (ep->path.direct || router) && rte_vc_lends(&ep->vc);
}

static void conn_accepted(struct rte_ep *ep, const struct rte_conn_rep *rep,
			  const struct rte_packet *packet)
{
	ep->path = (struct rte_vc_path){
		.frag = CRN_MIN(rep->frag, ep->device->config->frag),
		.eager = CRN_MIN(rep->eager, RTE_EAGER),
		.direct = ep->peer->remote.role == RTE_TARGET,
		.commit = rep->features & RTE_FEATURE_COMMIT,
	};
	rte_conn_bypass(ep, rep->features);
	rte_hop_reached(ep);
	ep->param_len = packet->head.plen;
	memcpy(ep->param, packet->payload, packet->head.plen);
	ep->say = RTE_SAY_CONN_ACK;
	rte_conn_speak(ep);
}

/* False: it broke the protocol. */
static bool conn_rep(struct rte_ep *ep, const struct rte_packet *packet)
{
	struct rte_conn_rep rep;

	if (ep->state != RTE_EP_ASKING || ep->say != RTE_SAY_NOTHING ||
	    rte_conn_rep_parse(&rep, packet) != RTE_OK ||
	    memcmp(rep.id, ep->id, sizeof(rep.id)) != 0)
		return false;
	switch (rep.verdict) {
	case RTE_ACCEPTED:
		if (!rep.eager)
			return false;
		conn_accepted(ep, &rep, packet);
		break;
	case RTE_REDIRECT:
		conn_redirected(ep, &rep, packet);
		break;
	default:
		conn_refused(ep, &rep, packet);
		break;
	}
	return true;
}

static bool conn_ack(struct rte_ep *ep, const struct rte_packet *packet)
{
	struct rte_failure failure = {0};
	struct rte_conn_ack ack;

	if (ep->state != RTE_EP_ACCEPTING || ep->say != RTE_SAY_NOTHING ||
	    rte_conn_ack_parse(&ack, packet) != RTE_OK ||
	    memcmp(ack.id, ep->id, sizeof(ack.id)) != 0)
		return false;
	failure.err = (int)ack.status;
	if (failure.err)
		rte_conn_fail(ep, &failure);
	else
		conn_start(ep);
	return true;
}

static bool conn_shutdown(struct rte_ep *ep, const struct rte_packet *packet)
{
	struct rte_failure failure = {0};
	struct rte_shutdown shutdown;

	if (rte_shutdown_parse(&shutdown, packet) != RTE_OK ||
	    memcmp(shutdown.id, ep->id, sizeof(shutdown.id)) != 0)
		return false;
	failure.err = shutdown.status ? (int)shutdown.status : FI_ECONNABORTED;
	failure.router = shutdown.router;
	conn_why(&failure, packet);
	if (conn_is_up(ep))
		conn_lost(ep, failure.err, failure.router);
	else
		rte_conn_fail(ep, &failure);
	return true;
}

static bool conn_is_data(uint8_t type)
{
	return type >= RTE_MSG && type <= RTE_MR_INVAL && type != RTE_GRANT;
}

static void conn_message(struct rte_peer *peer, struct rte_rx *rx)
{
	struct rte_ep *ep = conn_of(peer);
	const uint8_t type = rx->packet.head.type;
	bool good = false;

	if (conn_is_data(type) && conn_is_up(ep)) {
		rte_vc_message(&ep->vc, rx);
		return;
	}
	if (type == RTE_CONN_REP)
		good = conn_rep(ep, &rx->packet);
	else if (type == RTE_CONN_ACK)
		good = conn_ack(ep, &rx->packet);
	else if (type == RTE_SHUTDOWN)
		good = conn_shutdown(ep, &rx->packet);
	if (!good)
		rte_peer_bad(peer, rte_message_name(type));
	rte_rx_put(rx);
}

const struct rte_peer_ops rte_conn_ops = {
	.up = conn_up,
	.message = conn_message,
	.ready = conn_ready,
	.down = conn_down,
};
