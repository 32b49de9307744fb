/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A raw peer: an endpoint of the lower provider that sends the bytes it is told to, and
 * shows what came. It keeps no rule of RPC-over-RDMA by itself.
 */
#ifndef CONF_RAW_H
#define CONF_RAW_H

#include <rdma/fi_rma.h>
#include "lower.h"
#include "prov/rpcrdma/wire/wire.h"

#define RAW_SIZE 16384	       /* bytes of a receive; a layer that sends more is wrong */
#define RAW_SCRATCH (4U << 20) /* bytes that one RDMA Read or Write may move */

struct raw_message {
	struct raw_message *next;
	enum rpr_bad bad; /* of the header */
	struct rpr_header header;
	size_t len; /* all of it */
	const uint8_t *payload;
	size_t payload_len;
	uint8_t bytes[];
};

struct raw_region;
struct raw_buffers;

struct raw {
	struct side side;
	bool dead;	      /* it was shut down, or its receives were flushed */
	unsigned int arrived; /* messages */
	unsigned int failed;  /* Sends */
	struct raw_message *first, **last; /* messages that nobody has taken */
	struct raw_message *taken;
	/* The RDMA operation that was posted last. */
	bool rma_done;
	int rma_err;
	unsigned int keys; /* chosen so far, where the provider does not */
	struct raw_region *regions;
	struct raw_buffers *buffers;
	struct fid_mr *mr;
};

/*
 * Opens fabric, domain and queues of the lower provider. Checks report what fails, here
 * and below; nothing needs to be looked at for that.
 */
void raw_open(struct raw *raw);
/* With everything that is open. */
void raw_close(struct raw *raw);

/* ---- connections ---- */

void raw_listen(struct raw *raw);
/* An endpoint asks for a connection, with this private data. */
void raw_connect(struct raw *raw, const void *addr, const void *data, size_t len);
/* An endpoint accepts the request that came. */
void raw_accept(struct raw *raw, const void *data, size_t len);
/* Closes the endpoint alone, and forgets what came. */
void raw_drop(struct raw *raw);

/* ---- messages ---- */

/* Receives the peer is offered at a time are as many as the provider has, up to 256. */
void raw_send(struct raw *raw, const void *bytes, size_t len);
/* A header, and payload behind it. */
void raw_say(struct raw *raw, const struct rpr_header *header, const void *payload,
	     size_t len);
/* The next message; waits for it. Valid until the next call. Never NULL. */
const struct raw_message *raw_take(struct raw *raw);

/* ---- memory ---- */

/* Makes it accessible to the peer, as a segment of a chunk, until raw_close. */
struct rpr_seg raw_expose(struct raw *raw, void *buf, size_t len);
/* No longer: its handle is nobody's any more. */
void raw_hide(struct raw *raw, const struct rpr_seg *seg);
/* RDMA Read and Write of a segment that the peer offered: 0, or the provider's error. */
int raw_read(struct raw *raw, const struct rpr_seg *seg, void *buf);
int raw_write(struct raw *raw, const struct rpr_seg *seg, const void *buf);

#endif
