/* SPDX-License-Identifier: BSD-2-Clause */
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <cairn/compat.h>
#include <rdma/fi_domain.h>
#include "lower.h"

/*
 * Who sends more than there are receives for loses the connection, and does not wait. As
 * many credits as a row asks for.
 */
__attribute__((constructor)) static void parameters(void)
{
	setenv("FI_PVERBS_RNR_RETRY_COUNT", "0", 1);
	setenv("FI_RPCRDMA_CREDITS", "64", 1);
}

static const char *setting(const char *name, const char *usual)
{
	const char *value = getenv(name);

	return value && *value ? value : usual;
}

const char *lower_name(void)
{
	return setting("RPC_LOWER", "tcp");
}

const char *lower_address(void)
{
	return setting("RPC_ADDRESS", "127.0.0.1");
}

struct fi_info *lower_hints(const char *stack, uint64_t caps)
{
	struct fi_info *hints = fi_allocinfo();

	hints->caps = caps;
	hints->mode = FI_CONTEXT | FI_CONTEXT2;
	hints->addr_format = FI_SOCKADDR_IN;
	hints->ep_attr->type = FI_EP_MSG;
	hints->domain_attr->mr_mode =
		FI_MR_LOCAL | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_VIRT_ADDR;
	hints->fabric_attr->prov_name = strdup(stack);
	return hints;
}

struct fi_info *lower_info_to(const struct fi_info *info, const void *addr)
{
	struct fi_info *to = fi_dupinfo(info);

	free(to->src_addr);
	free(to->dest_addr);
	to->src_addr = NULL;
	to->src_addrlen = 0;
	to->dest_addrlen = sizeof(struct sockaddr_in);
	to->dest_addr = malloc(to->dest_addrlen);
	memcpy(to->dest_addr, addr, to->dest_addrlen);
	return to;
}
