/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An rdma_cm of which the kernel's part is played by the test: calls are recorded, events
 * come when the test sends them. Interfaces and routes of the machine are made up too.
 */
#ifndef FAKE_CM_H
#define FAKE_CM_H

#include <stdint.h>
#include <rdma/rdma_cma.h>
#include <cairn/addr.h>
#include <cairn/list.h>
#include "fake_verbs.h"

/* The newest call that sends something to a peer, or asks for a path to it. */
struct fake_message {
	enum fake_call call;
	struct rdma_conn_param param; /* of FAKE_CONNECT and FAKE_ACCEPT */
	uint8_t data[UINT8_MAX];
	size_t len;
	union crn_addr src, dest; /* of FAKE_RESOLVE_ADDR; src 0: none given */
	int timeout_ms;		  /* of FAKE_RESOLVE_* */
	int backlog;		  /* of FAKE_LISTEN */
};
extern struct fake_message fake_message;
/* The newest FAKE_CONNECT. */
extern struct fake_message fake_connect;
/* The newest FAKE_JOIN. */
struct fake_join {
	struct rdma_cm_id *id;
	struct sockaddr_storage addr;
	uint32_t flags; /* enum rdma_cm_mc_join_flags */
};
extern struct fake_join fake_join;
/* The type of service last set; -1: none. */
extern int fake_tos;

/* No addresses, no routes, nothing recorded. */
void fake_cm_reset(void);

/* Adds an interface address that leads to a port of a device; NULL: to none. flags as in
 * struct ifaddrs: IFF_UP and so on. Both text forms are inet_pton's. */
void fake_add_addr(const char *text, struct fake_device *device, uint8_t port,
		   unsigned int flags);
/* The kernel reaches dest from source. */
void fake_add_route(const char *dest, const char *source);
/* The address as text, with a port. */
union crn_addr fake_addr(const char *text, uint16_t port);

/* The id now is on that device, as it is when its address was bound or resolved. */
void fake_id_device(struct rdma_cm_id *id, struct fake_device *device);

/* Queues an event about id; data may be NULL. */
void fake_event(struct rdma_cm_id *id, enum rdma_cm_event_type type, int status,
		const void *data, size_t len);

/* The id has joined a group: GID, MLID and Q_Key. */
void fake_join_event(struct rdma_cm_id *id, const uint8_t gid[16], uint16_t lid,
		     uint32_t qkey);

/* A connection request that arrived at a listener, with the path it came on. */
struct fake_request {
	struct fake_device *device; /* NULL: rdma_cm gave none */
	union crn_addr src, peer;
	uint8_t responder_resources, initiator_depth;
	const void *data;
	size_t len;
};
struct rdma_cm_id *fake_request(struct rdma_cm_id *listen_id,
				const struct fake_request *request);

#endif
