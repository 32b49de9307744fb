/* SPDX-License-Identifier: BSD-2-Clause */
/* Addresses in the answers of fi_getinfo. */
#include <arpa/inet.h>
#include <netinet/in.h>

#include "gi.h"

#define SERVICE "47593"
#define SERVICE_PORT 47593

static int check_ip(struct fct *t, const struct fi_info *info, const void *addr,
		    size_t len, const char *what)
{
	const struct sockaddr *sa = addr;
	size_t want;
	int ret = 0;

	if (!addr || !len)
		FCT_FAIL(t, "%s is not set (provider %s, domain %s)", what,
			 info->fabric_attr->prov_name, info->domain_attr->name);
	if (info->addr_format == FI_SOCKADDR_IN)
		FCT_EQ(t, sa->sa_family, AF_INET);
	else if (info->addr_format == FI_SOCKADDR_IN6)
		FCT_EQ(t, sa->sa_family, AF_INET6);
	else if (info->addr_format != FI_SOCKADDR)
		goto out;
	want = sa->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
					 : sizeof(struct sockaddr_in);
	if (len < want)
		FCT_FAIL(t, "%s has %zu bytes, its family needs %zu", what, len, want);
out:
	return ret;
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

/* A provider that answers only who names it. */
static bool opt_in(const struct fct *t)
{
	return t->opts.lower || (t->opts.prov && !strcmp(t->opts.prov, "route"));
}

int fct_gi_destination(struct fct *t)
{
	struct fi_info *hints = fct_gi_hints(t, FI_MSG), *list = NULL, *info;
	char node[64], back[64], service[16];
	bool wildcard;
	int ret;

	FCT_DO(fct_gi_address(t, node, sizeof(node)));
	FCT_CALL(t, fi_getinfo(FCT_API, node, SERVICE, 0, hints, &list));
	for (info = list; info; info = info->next) {
		FCT_DO(check_ip(t, info, info->dest_addr, info->dest_addrlen,
				"dest_addr"));
		FCT_EQ(t, fct_addr_port(info->dest_addr), SERVICE_PORT);
		FCT_CALL(t, fct_addr_text(info->dest_addr, back, sizeof(back), service,
					  sizeof(service), &wildcard));
		if (!same_host(node, back))
			FCT_FAIL(t, "asked for destination %s, got %s", node, back);
		FCT_DO(check_ip(t, info, info->src_addr, info->src_addrlen, "src_addr"));
	}
out:
	fi_freeinfo(list);
	fi_freeinfo(hints);
	return ret;
}

static void *copy(const void *p, size_t len)
{
	void *c = malloc(len);

	if (c)
		memcpy(c, p, len);
	return c;
}

/* The way rxm and others ask: addresses in the hints, no node. */
int fct_gi_hint_addresses(struct fct *t)
{
	struct fi_info *hints = fct_gi_hints(t, FI_MSG), *list = NULL, *again = NULL,
		       *info;
	char node[64];
	int ret;

	FCT_DO(fct_gi_address(t, node, sizeof(node)));
	FCT_CALL(t, fi_getinfo(FCT_API, node, SERVICE, 0, hints, &list));
	hints->addr_format = list->addr_format;
	hints->dest_addr = copy(list->dest_addr, list->dest_addrlen);
	hints->dest_addrlen = list->dest_addrlen;
	hints->src_addr = copy(list->src_addr, list->src_addrlen);
	hints->src_addrlen = list->src_addrlen;
	FCT_TRUE(t, hints->dest_addr && hints->src_addr);
	FCT_CALL(t, fi_getinfo(FCT_API, NULL, NULL, 0, hints, &again));
	for (info = again; info; info = info->next) {
		FCT_EQ(t, info->dest_addrlen, list->dest_addrlen);
		FCT_TRUE(t, info->dest_addr && !memcmp(info->dest_addr, list->dest_addr,
						       list->dest_addrlen));
		FCT_TRUE(t, info->src_addr);
	}
out:
	fi_freeinfo(again);
	fi_freeinfo(list);
	fi_freeinfo(hints);
	return ret;
}

static int one_format(struct fct *t, uint32_t format, bool *any)
{
	struct fi_info *hints = fct_gi_hints(t, FI_MSG), *list = NULL, *info;
	int ret;

	hints->addr_format = format;
	ret = fct_gi_ask(hints, &list);
	if (ret == -FI_ENODATA) {
		fct_note(t, "%s: none", fi_tostr(&format, FI_TYPE_ADDR_FORMAT));
		return 0;
	}
	FCT_CALL(t, ret);
	*any = true;
	for (info = list; info; info = info->next) {
		if (format != FI_SOCKADDR)
			FCT_EQ(t, info->addr_format, format);
		FCT_DO(check_ip(t, info, info->src_addr, info->src_addrlen, "src_addr"));
	}
out:
	fi_freeinfo(list);
	return ret;
}

int fct_gi_format_ip(struct fct *t)
{
	bool any = false;
	int ret;

	FCT_DO(one_format(t, FI_SOCKADDR_IN, &any));
	FCT_DO(one_format(t, FI_SOCKADDR_IN6, &any));
	if (!any)
		ret = fct_skip(t, "no FI_SOCKADDR_IN and no FI_SOCKADDR_IN6");
out:
	return ret;
}
