/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of this folder share. */
#ifndef FRT_DEVICE_INSIDE_H
#define FRT_DEVICE_INSIDE_H

#include "device.h"

/* --- Those who have connected and said nothing yet (guest.c) --- */

struct frt_guest {
	struct crn_list entry; /* of port->guests */
	struct frt_port *port;
	struct rte_peer *peer;
	union crn_addr address;
	bool neighbour;		   /* a router that does not say that it passes on */
	uint64_t began;		   /* ms */
	struct frt_client *client; /* NULL: a router */
	struct crn_deadline deadline;
};

/* Somebody connects. context: the device. */
void frt_guest_request(struct rte_request *request, void *context);
/* Closes those who have said nothing yet. */
void frt_guests_close(struct frt_device *device, int status);
/* One that has had its time. */
void frt_guest_close(struct frt_guest *guest, int status);
/* A router, of which an adjacency may follow: the main thread's. */
bool frt_guest_neighbour(const struct rte_preamble *preamble);

/* --- TCP connections that send nothing (mute.c) --- */

/* The device listens, or does no longer. */
void frt_mute_start(struct frt_device *device);
void frt_mute_stop(struct frt_device *device);

/* --- How many of them there may be (crowd.c) --- */

/*
 * NULL: there is room for another one who comes over that port, if need be because one
 * that has said nothing for longer was closed. Or why not. With all workers held.
 */
const char *frt_crowded(struct frt_port *port, const struct rte_request *request);

#endif
