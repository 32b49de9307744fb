/* SPDX-License-Identifier: BSD-2-Clause */
/* Addresses in the answers of fi_getinfo. */
#include <arpa/inet.h>
#include <netinet/in.h>

#include "gi.h"

#define SERVICE "47593"
#define SERVICE_PORT 47593

static int check_ip(const struct fi_info *info, const void *addr, size_t len,
		    const char *what)
{
	const struct sockaddr *sa = addr;
	size_t want;

	if (!addr || !len)
		FCT_FAIL("%s is not set (provider %s, domain %s)", what,
			 info->fabric_attr->prov_name, info->domain_attr->name);
	if (info->addr_format == FI_SOCKADDR_IN)
		FCT_EQ(sa->sa_family, AF_INET);
	else if (info->addr_format == FI_SOCKADDR_IN6)
		FCT_EQ(sa->sa_family, AF_INET6);
	else if (info->addr_format != FI_SOCKADDR)
		return 0;
	want = sa->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
					 : sizeof(struct sockaddr_in);
	if (len < want)
		FCT_FAIL("%s has %zu bytes, its family needs %zu", what, len, want);
	return 0;
}

/* Route's addresses are IPv6, and end with the IPv4 address that was asked for. */
static bool same_host(const char *asked, const char *got)
{
	struct in6_addr in6;
	struct in_addr in;

	if (!strcmp(asked, got))
		return true;
	return inet_pton(AF_INET, asked, &in) == 1 &&
	       inet_pton(AF_INET6, got, &in6) == 1 && in6.s6_addr[0] == 0xfd &&
	       !memcmp(in6.s6_addr + 12, &in, sizeof(in));
}

FCT_CASE(destination, "node and service set dest_addr, and src_addr too")
{
	FCT_AUTO(fct_info_end) struct fi_info *hints = fct_gi_hints(FI_MSG);
	FCT_AUTO(fct_info_end) struct fi_info *list = NULL;
	struct fi_info *info;
	char node[64], back[64], service[16];
	bool wildcard;

	FCT_DO(fct_gi_address(node, sizeof(node)));
	FCT_CALL(fi_getinfo(FCT_API, node, SERVICE, 0, hints, &list));
	for (info = list; info; info = info->next) {
		FCT_DO(check_ip(info, info->dest_addr, info->dest_addrlen, "dest_addr"));
		FCT_EQ(fct_addr_port(info->dest_addr), SERVICE_PORT);
		FCT_CALL(fct_addr_text(info->dest_addr, back, sizeof(back), service,
				       sizeof(service), &wildcard));
		if (!same_host(node, back))
			FCT_FAIL("asked for destination %s, got %s", node, back);
		FCT_DO(check_ip(info, info->src_addr, info->src_addrlen, "src_addr"));
	}
	return 0;
}

static void *copy(const void *p, size_t len)
{
	void *c = malloc(len);

	if (c)
		memcpy(c, p, len);
	return c;
}

/* The way rxm and others ask: addresses in the hints, no node. */
FCT_CASE(hint_addresses, "addresses in the hints are used and returned")
{
	FCT_AUTO(fct_info_end) struct fi_info *hints = fct_gi_hints(FI_MSG);
	FCT_AUTO(fct_info_end) struct fi_info *list = NULL;
	FCT_AUTO(fct_info_end) struct fi_info *again = NULL;
	struct fi_info *info;
	char node[64];

	FCT_DO(fct_gi_address(node, sizeof(node)));
	FCT_CALL(fi_getinfo(FCT_API, node, SERVICE, 0, hints, &list));
	hints->addr_format = list->addr_format;
	hints->dest_addr = copy(list->dest_addr, list->dest_addrlen);
	hints->dest_addrlen = list->dest_addrlen;
	hints->src_addr = copy(list->src_addr, list->src_addrlen);
	hints->src_addrlen = list->src_addrlen;
	FCT_TRUE(hints->dest_addr && hints->src_addr);
	FCT_CALL(fi_getinfo(FCT_API, NULL, NULL, 0, hints, &again));
	for (info = again; info; info = info->next) {
		FCT_EQ(info->dest_addrlen, list->dest_addrlen);
		FCT_TRUE(info->dest_addr &&
			 !memcmp(info->dest_addr, list->dest_addr, list->dest_addrlen));
		FCT_TRUE(info->src_addr);
	}
	return 0;
}

static int one_format(uint32_t format, bool *any)
{
	FCT_AUTO(fct_info_end) struct fi_info *list = NULL;
	struct fi_info *hints = fct_gi_hints(FI_MSG), *info;
	int ret;

	hints->addr_format = format;
	ret = fct_gi_ask(hints, &list);
	if (ret == -FI_ENODATA) {
		fct_note("%s: none", fi_tostr(&format, FI_TYPE_ADDR_FORMAT));
		return 0;
	}
	FCT_CALL(ret);
	*any = true;
	for (info = list; info; info = info->next) {
		if (format != FI_SOCKADDR)
			FCT_EQ(info->addr_format, format);
		FCT_DO(check_ip(info, info->src_addr, info->src_addrlen, "src_addr"));
	}
	return 0;
}

FCT_CASE(format_ip, "FI_SOCKADDR_IN and FI_SOCKADDR_IN6 give only that format")
{
	bool any = false;

	FCT_DO(one_format(FI_SOCKADDR_IN, &any));
	FCT_DO(one_format(FI_SOCKADDR_IN6, &any));
	return any ? 0 : fct_skip("no FI_SOCKADDR_IN and no FI_SOCKADDR_IN6");
}
