/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A back channel on TCP: messages with record marking (RFC 5531 section 11), one
 * BIND_CONN_TO_SESSION, and then the server's Calls. libtirpc's clients over TCP take no
 * Calls on their connection. Bad messages end the connection.
 */
#ifndef NFS_TCP_H
#define NFS_TCP_H

#include <stdbool.h>
#include "callback.h"

struct nfs_tcp {
	int fd;
	unsigned int served; /* Calls of the server */
};

/* False: nobody listens. */
bool nfs_tcp_open(struct nfs_tcp *tcp, const char *host, const char *port);
/* *got: CDFS4_*, of the server's answer. */
bool nfs_tcp_bind(struct nfs_tcp *tcp, const sessionid4 session, uint32_t dir,
		  uint32_t *got);
/* One Call of the server, if it comes within that time. -1: the connection has ended. */
int nfs_tcp_serve(struct nfs_tcp *tcp, struct nfc_callbacks *callbacks, int ms);

#endif
