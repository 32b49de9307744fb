/* SPDX-License-Identifier: BSD-2-Clause */
/* Listeners of a name that means this host's loopback. */
#ifndef LNK_LOOPBACK_H
#define LNK_LOOPBACK_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <rdma/fabric.h>

/*
 * Whether a listener at info's source address, found for the name host (NULL: any
 * address), is reached from this host alone, and the user did not write so: Debian's
 * /etc/hosts has a host's own name at 127.0.1.1.
 */
static inline bool lnk_name_is_loopback(const struct fi_info *info, const char *host)
{
	const struct sockaddr_in *in = info->src_addr;
	struct in6_addr literal;

	return host && in && info->src_addrlen >= sizeof(*in) &&
	       in->sin_family == AF_INET && ntohl(in->sin_addr.s_addr) >> 24 == 127 &&
	       strcmp(host, "localhost") != 0 && inet_pton(AF_INET, host, &literal) != 1;
}

#endif
