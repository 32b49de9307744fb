/* SPDX-License-Identifier: BSD-2-Clause */
/* Where a socket of TCP listens: "9470", "192.0.2.1:9470", "[2001:db8::1]:9470". */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rdma/fi_errno.h>
#include "keys.h"

static int port_parse(const char *text, uint16_t *port)
{
	unsigned long value;
	char *end;

	if (*text < '0' || *text > '9')
		return -FI_EINVAL;
	value = strtoul(text, &end, 10);
	if (*end || !value || value > UINT16_MAX)
		return -FI_EINVAL;
	*port = htons((uint16_t)value);
	return 0;
}

/* The host before the colon, without brackets. */
static int host_parse(const char *host, struct sockaddr_storage *addr)
{
	struct sockaddr_in *in = (struct sockaddr_in *)addr;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)addr;
	const size_t len = strlen(host);
	char text[INET6_ADDRSTRLEN];

	if (inet_pton(AF_INET, host, &in->sin_addr) == 1) {
		in->sin_family = AF_INET;
		return 0;
	}
	if (len < 2 || len - 2 >= sizeof(text) || *host != '[' || host[len - 1] != ']')
		return -FI_EINVAL;
	memcpy(text, host + 1, len - 2);
	text[len - 2] = 0;
	if (inet_pton(AF_INET6, text, &in6->sin6_addr) != 1)
		return -FI_EINVAL;
	in6->sin6_family = AF_INET6;
	return 0;
}

int rte_listen_parse(const char *text, struct sockaddr_storage *addr)
{
	const char *colon = strrchr(text, ':');
	char host[INET6_ADDRSTRLEN + 2] = "127.0.0.1";
	uint16_t port;
	int ret = port_parse(colon ? colon + 1 : text, &port);

	if (!ret && colon && (size_t)(colon - text) >= sizeof(host))
		ret = -FI_EINVAL;
	if (ret)
		return ret;
	if (colon)
		snprintf(host, sizeof(host), "%.*s", (int)(colon - text), text);
	memset(addr, 0, sizeof(*addr));
	ret = host_parse(host, addr);
	if (addr->ss_family == AF_INET6)
		((struct sockaddr_in6 *)addr)->sin6_port = port;
	else
		((struct sockaddr_in *)addr)->sin_port = port;
	return ret;
}

static int type_listen_parse(const struct rte_key *key, const char *text, void *at,
			     char wanted[RTE_WANTED_SIZE])
{
	struct sockaddr_storage addr;

	if (!rte_listen_parse(text, &addr))
		return rte_text_set(at, text);
	snprintf(wanted, RTE_WANTED_SIZE,
		 "a port, or ADDRESS:PORT as in 192.0.2.1:9470 or [2001:db8::1]:9470");
	return -FI_EINVAL;
}

static void type_listen_print(const struct rte_key *key, const void *at, FILE *out)
{
	fputs(*(char *const *)at, out);
}

static bool type_listen_is_set(const struct rte_key *key, const void *at)
{
	return *(char *const *)at;
}

const struct rte_type rte_type_listen = {
	.parse = type_listen_parse,
	.print = type_listen_print,
	.release = rte_text_release,
	.is_set = type_listen_is_set,
};
