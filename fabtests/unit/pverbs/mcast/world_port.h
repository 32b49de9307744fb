/* SPDX-License-Identifier: BSD-2-Clause */
/* Endpoints on port "fake0" 1 of an IPoIB link, whose groups are those of the subnet
 * administrator of fake_sa.h. */
#ifndef PVB_TEST_WORLD_PORT_H
#define PVB_TEST_WORLD_PORT_H

#include "fake_sa.h"
#include "world_mcast.h"

#define PORT_QKEY 0xb1bu
#define PORT_GROUP "239.1.1.1"
#define PORT_MGID "ff12:401b:ffff::f01:101"

struct port_world {
	struct mcast_world m;
	struct fake_qp *qp; /* of endpoint 0 */
};

struct port_opts {
	int copy, mtu;	   /* as parameters say */
	int timeout;	   /* the same; 0: the default */
	size_t qkey;	   /* the same */
	size_t link_qkey;  /* 0: PORT_QKEY */
	bool silent;	   /* the administrator, while the domain is opened */
	bool absent;	   /* no port can be opened */
	bool reports_used; /* by somebody else */
	bool kernel;	   /* has an interface on the link */
	bool draft;	   /* profile, instead of rfc */
	bool large;	   /* the port has an MTU of 2048 bytes */
};

/* With the usual parameters. Closes what w, which is zeroed otherwise, has open. */
bool port_open(struct port_world *w);
bool port_open_with(struct port_world *w, const struct port_opts *with);
void port_close(struct port_world *w);
/* For CT_FIXTURE, whose tear-down is port_close: port_open. */
void port_start(struct port_world *w);
/* Endpoint i joins the group of an IPv4 or IPv6 address; NULL after a failure. */
struct fid_mc *port_join_text(struct port_world *w, int i, const char *ip,
			      uint64_t flags);
/* Endpoint i joins PORT_GROUP: FI_JOIN_COMPLETE is the only event. */
struct fid_mc *port_join(struct port_world *w, int i, uint64_t flags);
/* Everything that has come is looked at. */
void port_settle(struct port_world *w);
/* The same, and then FI_JOIN_COMPLETE is the only event. */
void port_settled_joined(struct port_world *w, struct fid_mc *mc);
/* The LID that a datagram of endpoint 0 leaves for; 0: none does. */
uint16_t port_sent_to(struct port_world *w, struct fid_mc *mc);
/* Datagrams of endpoint 0 that were for nobody. */
uint64_t port_dropped(struct port_world *w);

#endif
