/* SPDX-License-Identifier: BSD-2-Clause */
/* Whom to ask for a connection: the target itself where it is on the device's subnet,
 * or one of the device's routers. */
#include <errno.h>
#include <stdlib.h>
#include "cm.h"

/* ms that a name is remembered: what another router could not do then it can again. */
#define HOP_REMEMBERED 30000u
/* Times that one router may name another. */
#define HOP_REDIRECTS 3u
/* ms that a router is asked last for which said nothing when it was asked. */
#define HOP_SHUNNED 10000u
/* ms: with less the next router could not answer. */
#define HOP_TIME_LEAST 50u
#define HOP_NONE UINT32_MAX

_Static_assert(RTE_CONFIG_ROUTERS_MAX <= 64, "rte_ep.asked");

static struct rte_redirect *hop_known(struct rte_ep *ep)
{
	struct rte_device *device = ep->device;
	const uint64_t now = crn_now_ms();
	uint32_t i;

	for (i = 0; i < RTE_REDIRECTS; i++) {
		if (device->redirect[i].until > now &&
		    device->redirect[i].as == ep->other.as &&
		    device->redirect[i].subnet == ep->other.subnet)
			return &device->redirect[i];
	}
	return NULL;
}

static void hop_remember(struct rte_ep *ep, const struct rte_uri *uri)
{
	struct rte_device *device = ep->device;
	struct rte_redirect *redirect = hop_known(ep);

	if (!redirect)
		redirect = &device->redirect[device->redirects++ % RTE_REDIRECTS];
	redirect->until = crn_now_ms() + HOP_REMEMBERED;
	redirect->as = ep->other.as;
	redirect->subnet = ep->other.subnet;
	redirect->uri = *uri;
}

static int hop_set(struct rte_ep *ep, const struct rte_uri *uri)
{
	if (!ep->uri)
		ep->uri = malloc(sizeof(*ep->uri));
	if (!ep->uri)
		return -FI_ENOMEM;
	*ep->uri = *uri;
	return 0;
}

int rte_hop_redirect(struct rte_ep *ep, const char *text)
{
	struct rte_uri uri;
	const char *why;
	int ret;

	if (ep->redirected++ >= HOP_REDIRECTS)
		return -ELOOP;
	/* Routers tell each other numbers. To look a name up that somebody has made up
	 * would hold this program up. */
	if (rte_uri_parse(text, &uri, &why) || uri.kind == RTE_HOST_NAME)
		return -EPROTO;
	ret = hop_set(ep, &uri);
	if (!ret)
		hop_remember(ep, &uri);
	return ret;
}

/* It may be one of the configuration. */
static uint32_t hop_asks(const struct rte_ep *ep)
{
	const struct rte_config_device *config = ep->device->config;
	uint32_t i;

	for (i = 0; i < config->routers; i++)
		if (rte_uri_same(&config->router[i].uri, ep->uri))
			return i + 1;
	return 0;
}

/* The one that was named, once: if it cannot help, the configured ones are asked. */
static int hop_named(struct rte_ep *ep, union crn_addr *addr)
{
	int ret = rte_net_resolve(ep->device->net, ep->uri, addr);

	ep->asks = hop_asks(ep);
	free(ep->uri);
	ep->uri = NULL;
	return ret;
}

static void hop_forget(struct rte_ep *ep)
{
	struct rte_redirect *redirect = hop_known(ep);

	if (redirect)
		redirect->until = 0;
}

static struct rte_avoided *hop_avoided(const struct rte_ep *ep, uint32_t router)
{
	struct rte_device *device = ep->device;
	const uint64_t now = crn_now_ms();
	uint32_t i;

	for (i = 0; i < RTE_AVOIDED; i++)
		if (device->avoided[i].until > now &&
		    device->avoided[i].router == router &&
		    device->avoided[i].as == ep->other.as &&
		    device->avoided[i].subnet == ep->other.subnet)
			return &device->avoided[i];
	return NULL;
}

void rte_hop_unreached(struct rte_ep *ep)
{
	struct rte_device *device = ep->device;
	struct rte_avoided *avoided;

	if (!ep->asks)
		return;
	avoided = hop_avoided(ep, ep->asks - 1);
	if (!avoided)
		avoided = &device->avoided[device->avoids++ % RTE_AVOIDED];
	*avoided = (struct rte_avoided){
		.router = ep->asks - 1,
		.as = ep->other.as,
		.subnet = ep->other.subnet,
		.until = crn_now_ms() + HOP_SHUNNED,
	};
}

void rte_hop_reached(struct rte_ep *ep)
{
	struct rte_avoided *avoided = ep->asks ? hop_avoided(ep, ep->asks - 1) : NULL;

	if (avoided)
		avoided->until = 0;
}

bool rte_hop_time(const struct rte_ep *ep)
{
	return crn_now_ms() + HOP_TIME_LEAST < ep->due;
}

/* The next that was not asked in this turn: there is one. Those that said nothing lately,
 * or could not reach the target's subnet, come last. */
static uint32_t hop_choose(const struct rte_ep *ep)
{
	const uint32_t routers = ep->device->config->routers;
	const uint64_t now = crn_now_ms();
	uint32_t i, at, shunned = HOP_NONE;

	for (i = 0; i < routers; i++) {
		at = (ep->router + i) % routers;
		if (ep->asked & UINT64_C(1) << at)
			continue;
		if (ep->device->router[at].shunned <= now && !hop_avoided(ep, at))
			return at;
		if (shunned == HOP_NONE)
			shunned = at;
	}
	return shunned;
}

/* Each router once, then the second address of those that are names with several, ... */
static int hop_configured(struct rte_ep *ep, union crn_addr *addr)
{
	const struct rte_config_device *config = ep->device->config;
	uint32_t without = 0, turn, i;

	while (without < config->routers && ep->tried < config->routers * RTE_NET_TURNS) {
		turn = ep->tried / config->routers;
		if (!(ep->tried++ % config->routers))
			ep->asked = 0;
		i = hop_choose(ep);
		ep->asked |= UINT64_C(1) << i;
		ep->asks = i + 1;
		if (!rte_net_resolve_turn(ep->device->net, &config->router[i].uri, turn,
					  addr))
			return 0;
		without++;
		if (!turn)
			RTE_INFO(FI_LOG_EP_CTRL,
				 "router %s has no address: is the name right?\n",
				 config->router[i].text);
	}
	return -FI_EHOSTUNREACH;
}

int rte_hop_next(struct rte_ep *ep, union crn_addr *addr)
{
	struct rte_redirect *known;

	ep->asks = 0;
	if (rte_addr_near(&ep->other, &ep->device->view.own)) {
		if (ep->tried++)
			return -FI_EHOSTUNREACH;
		rte_addr_lower(&ep->other, addr);
		return 0;
	}
	known = !ep->tried && !ep->redirected ? hop_known(ep) : NULL;
	if (known && !ep->uri && !hop_set(ep, &known->uri))
		ep->redirected++;
	if (ep->uri && !hop_named(ep, addr))
		return 0;
	hop_forget(ep);
	return hop_configured(ep, addr);
}

void rte_hop_silent(struct rte_ep *ep)
{
	if (ep->asks)
		ep->device->router[ep->asks - 1].shunned = crn_now_ms() + HOP_SHUNNED;
}

void rte_hop_heard(struct rte_ep *ep)
{
	if (!ep->asks)
		return;
	ep->device->router[ep->asks - 1].id = ep->peer->remote.node;
	ep->device->router[ep->asks - 1].shunned = 0;
}

uint64_t rte_hop_router(const struct rte_ep *ep)
{
	const struct rte_preamble *remote = ep->peer ? &ep->peer->remote : NULL;

	if (remote && remote->role == RTE_ROUTER)
		return remote->node;
	return ep->asks ? ep->device->router[ep->asks - 1].id : 0;
}

uint64_t rte_hop_due(const struct rte_ep *ep)
{
	const uint32_t routers = ep->device->config->routers;
	const uint64_t now = crn_now_ms();
	uint32_t i, left = 0;

	if (ep->due <= now || rte_addr_near(&ep->other, &ep->device->view.own))
		return ep->due;
	for (i = 0; i < routers; i++)
		left += !(ep->asked & UINT64_C(1) << i);
	return now + (ep->due - now) / (left + 1);
}
