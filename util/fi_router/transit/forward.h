/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The data path of a connection that is passed on: what one peer has sent goes to the
 * other, lane by lane. What is received stays where it is until it has been sent on, so
 * receives and landing slots bound it; there is no other queue, and no allocation.
 */
#ifndef FRT_FORWARD_H
#define FRT_FORWARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cairn/list.h>
#include "peer/peer.h"

struct frt_transit;

/* Bytes of a payload that are copied, so that its receive is free at once. */
#define FRT_COPY 512u
/* A peer that takes less in a Send is no use: one landing slot would become too many
 * messages. */
#define FRT_EAGER_MIN 256u

/* The body of any message of a lane. Those with a payload begin alike: slot, crc, length
 * and offset are msg's for each of them. */
union frt_body {
	struct rte_msg msg;
	struct rte_write write;
	struct rte_read_frag read_frag;
	struct rte_read_req read_req;
	struct rte_ack ack;
	struct rte_nack nack;
	struct rte_mr_resolve mr_resolve;
	struct rte_mr_info mr_info;
	struct rte_mr_inval mr_inval;
};

/* What one peer has sent in one lane, and the other has not been sent yet. */
struct frt_lane {
	struct crn_list queue; /* of struct rte_rx */
	uint32_t queued;
	/* Of the first one. */
	bool parsed;
	union frt_body body;
	uint32_t gone; /* bytes of its payload that have been sent on, in pieces */
	/* Counters. */
	uint64_t messages; /* that came */
	uint64_t pieces;   /* that went on */
	uint64_t placed;   /* of them, into the end's region (lasthop.h) */
	uint64_t bytes;	   /* of payload, the same */
	uint64_t stalls;   /* times that the other peer gave no credit */
	uint64_t stall_ns; /* how long, but for the one now */
	uint64_t stall_at; /* ns: since when; 0: it has not stalled */
};

/* --- Acknowledgement of one peer's requests (ack.c) --- */

/*
 * This is the last router before an end: it acknowledges messages that ask for no more
 * than to be sent there, as soon as they have been. The end acknowledges the others. Who
 * asked knows which are whose, so an ACK of one says nothing of the other's, and neither
 * is lost in a higher one.
 */
struct frt_ack {
	uint64_t sent; /* the last request that has been sent and is to be acknowledged */
	uint64_t told; /* and has been */
	uint32_t flying; /* those that the lower provider has */
};

/* Is it this router that acknowledges that request? */
bool frt_ack_mine(const struct rte_head *head);
/* Its last piece has been given to the lower provider, or, if sent, is on its way. */
void frt_ack_flies(struct frt_ack *ack);
void frt_ack_landed(struct frt_ack *ack, uint64_t request, bool sent);
/* What the peer can be told, and has not been told; 0: nothing. */
uint64_t frt_ack_due(const struct frt_ack *ack);
/*
 * May that message, which goes to the peer, or to a router before it, tell? Not if
 * somebody has said something else with it, or if it may have to wait for receives of the
 * application, which may be posted only once this is known.
 */
bool frt_ack_rides(const struct rte_packet *packet, bool to_end);

/* --- Messages (repack.c) --- */

/* RTE_BAD_TYPE: it has no lane, or is the peers' own. */
enum rte_bad frt_body_parse(union frt_body *body, const struct rte_packet *packet);
ssize_t frt_body_pack(const union frt_body *body, const struct rte_packet *packet,
		      void *bytes, size_t size);
/* Has it a payload? */
bool frt_has_payload(uint8_t type);

/* How a message, or the next piece of it, goes on. */
struct frt_piece {
	uint32_t gone; /* bytes of the payload before it */
	uint32_t len;
	uint8_t flags;
	bool slot;    /* in a landing slot */
	uint64_t ack; /* TLV of our own; 0: none */
};

/* The header of a piece of a message whose body is that one. */
ssize_t frt_piece_pack(const struct frt_piece *piece, const struct rte_packet *packet,
		       const union frt_body *body, void *bytes, size_t size);

/* --- Lanes (forward.c); from: the peer that has sent it --- */

enum frt_from { FRT_IN, FRT_OUT, FRT_SIDES };

void frt_lane_open(struct frt_lane *lane);
/* What is queued is given up. */
void frt_lane_drop(struct frt_lane *lane);
/* ns that it has been waiting, the stall that is now among them. */
uint64_t frt_lane_stalled(const struct frt_lane *lane, uint64_t now);

/* rx->user is how many need it: the queue, and what is posted with its payload. */
void frt_rx_let_go(struct rte_rx *rx);
/* A message of this router's own, without a payload. len: what packing it returned. */
void frt_own_post(struct rte_tx *tx, ssize_t len);

/* Takes rx over. */
void frt_forward_message(struct frt_transit *transit, enum frt_from from,
			 struct rte_rx *rx);
/*
 * Sends on what can be sent. RTE_OK, or what is wrong with a message of that peer, of
 * which nothing more is sent.
 */
enum rte_bad frt_forward(struct frt_transit *transit, enum frt_from from);
/* Nothing of that peer is queued any more. */
bool frt_forward_empty(const struct frt_transit *transit, enum frt_from from);
/* Tells the peer at once what can be acknowledged of its requests. */
void frt_forward_ack(struct frt_transit *transit, enum frt_from from);

#endif
