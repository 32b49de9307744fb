/* SPDX-License-Identifier: BSD-2-Clause */
/* Whom to ask for a connection: the target itself where it is on the device's subnet,
 * or one of the device's routers. */
#include <errno.h>
#include <stdlib.h>
#include "cm.h"

/* Times that one router may name another. */
#define HOP_REDIRECTS 3u

static struct rte_redirect *hop_known(struct rte_ep *ep)
{
	struct rte_device *device = ep->device;
	uint32_t i;

	for (i = 0; i < RTE_REDIRECTS; i++) {
		if (device->redirect[i].used && device->redirect[i].as == ep->other.as &&
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
	redirect->used = true;
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
	if (rte_uri_parse(text, &uri, &why))
		return -EPROTO;
	ret = hop_set(ep, &uri);
	if (!ret)
		hop_remember(ep, &uri);
	return ret;
}

/* The one that was named, once: if it cannot help, the configured ones are asked. */
static int hop_named(struct rte_ep *ep, union crn_addr *addr)
{
	int ret = rte_net_resolve(ep->device->net, ep->uri, addr);

	free(ep->uri);
	ep->uri = NULL;
	return ret;
}

static void hop_forget(struct rte_ep *ep)
{
	struct rte_redirect *redirect = hop_known(ep);

	if (redirect)
		redirect->used = false;
}

static int hop_configured(struct rte_ep *ep, union crn_addr *addr)
{
	const struct rte_config_device *config = ep->device->config;
	uint32_t i;

	while (ep->tried < config->routers) {
		i = (ep->router + ep->tried++) % config->routers;
		if (!rte_net_resolve(ep->device->net, &config->router[i].uri, addr))
			return 0;
		RTE_INFO(FI_LOG_EP_CTRL, "router %s has no address\n",
			 config->router[i].text);
	}
	return -FI_EHOSTUNREACH;
}

int rte_hop_next(struct rte_ep *ep, union crn_addr *addr)
{
	struct rte_redirect *known;

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
