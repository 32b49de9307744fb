/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A router says who the source is, and is believed: it is one that the device's section
 * names, or it proves that it has a key, which is seen to before its first message.
 */
#include "cm.h"

/* ms that the addresses of a router's name hold: whoever comes must not have it looked up
 * as often as he likes. */
#define TRUST_KEPT 10000u

static void trust_look(struct rte_device *device, uint32_t router)
{
	struct rte_trusted *trusted = &device->router[router].trusted;
	const uint64_t now = crn_now_ms();

	if (now < trusted->until)
		return;
	trusted->count =
		rte_net_resolve_all(device->net, &device->config->router[router].uri,
				    trusted->addr);
	trusted->until = now + TRUST_KEPT;
}

static bool trust_names(struct rte_device *device, const struct sockaddr *from)
{
	const struct rte_trusted *trusted;
	uint32_t i, k;

	for (i = 0; i < device->config->routers; i++) {
		trust_look(device, i);
		trusted = &device->router[i].trusted;
		for (k = 0; k < trusted->count; k++)
			if (crn_addr_same_host(&trusted->addr[k].sa, from))
				return true;
	}
	return false;
}

bool rte_trusts(struct rte_device *device, const struct rte_request *request)
{
	char from[CRN_ADDR_STRLEN];

	if (request->preamble.role != RTE_ROUTER ||
	    device->config->auth == RTE_AUTH_REQUIRED ||
	    (device->keyring.ring && request->preamble.flags & RTE_PREAMBLE_AUTH) ||
	    trust_names(device, &request->address.sa))
		return true;
	crn_addr_str(&request->address.sa, from);
	RTE_WARN(FI_LOG_EP_CTRL,
		 "%s is rejected: a router that section [%s] does not name; router = its "
		 "address, or auth = required\n",
		 from, device->config->name);
	return false;
}
