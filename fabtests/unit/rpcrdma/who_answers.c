/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * who_answers NAME|- rpc|-: asks fi_getinfo(3) for FI_EP_MSG of the provider NAME, with
 * or without the protocol of rpc mode, and prints the provider and protocol of each
 * answer.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <rdma/fabric.h>
#include <rdma/fi_ext_cairn.h>

static const char *protocol_name(uint32_t protocol)
{
	return protocol == FI_PROTO_CAIRN_RPC ? "rpc" : "own";
}

int main(int argc, char **argv)
{
	struct fi_info *hints = fi_allocinfo(), *answers = NULL, *one;

	if (argc != 3 || !hints)
		return 2;
	hints->caps = FI_MSG;
	hints->ep_attr->type = FI_EP_MSG;
	if (strcmp(argv[1], "-") != 0)
		hints->fabric_attr->prov_name = strdup(argv[1]);
	if (!strcmp(argv[2], "rpc"))
		hints->ep_attr->protocol = FI_PROTO_CAIRN_RPC;
	hints->domain_attr->mr_mode =
		FI_MR_LOCAL | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_VIRT_ADDR;
	fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &answers);
	for (one = answers; one; one = one->next)
		printf("%s:%s\n", one->fabric_attr->prov_name,
		       protocol_name(one->ep_attr->protocol));
	if (answers)
		fi_freeinfo(answers);
	fi_freeinfo(hints);
	return 0;
}
