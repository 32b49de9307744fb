/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes that the last router executes itself: from where their data were received to the
 * end's region, by the lower provider's own writes (lasthop.c). Of the end that has the
 * regions.
 */
#ifndef FRT_LASTHOP_H
#define FRT_LASTHOP_H

#include <stdbool.h>
#include <stdint.h>
#include "keys/keys.h"
#include "peer/peer.h"

struct frt_side;
union frt_body;

struct frt_lasthop {
	bool lends;    /* the end tells the keys of its regions */
	bool open;     /* more pieces of the newest message or write are to come */
	bool straight; /* it is one that is executed here */
	bool several;  /* and the one that was last had several pieces */
	bool failed;   /* one of them was lost: none is acknowledged any more */
	/* The rest of a write cannot be placed: it was refused, and what follows goes
	 * nowhere. */
	bool deaf;
	uint64_t refused; /* its seq, while that has not been told; 0: nothing */

	/* Requests to the end, by seq: the newest, the newest message or write that went
	 * to it, those of them that may wait for a receive, that it acknowledges, and
	 * that it has acknowledged. */
	uint64_t seq, framed, received, asked, reached;

	uint32_t
		alone; /* the newest writes of one piece that found nothing outstanding */
	/* The write that is executed. */
	uint64_t addr, key, length, offset;

	struct rte_keys keys;
};

/* How the first message of a lane of requests goes on. */
enum frt_way {
	FRT_WAY_FRAMED,	  /* as a message to the end */
	FRT_WAY_STRAIGHT, /* it has been posted */
	FRT_WAY_LATER,	  /* when the end has acknowledged what is before it, or there is
			   * room */
	FRT_WAY_NOWHERE,  /* it was refused, or is behind what was */
	FRT_WAY_BAD,	  /* it is not what comes next */
};

/* The end, behind the port of this side, offers that; may this router use it? */
bool frt_lasthop_may(const struct frt_side *side, uint64_t features);

/* to: of the end. A way other than STRAIGHT leaves rx as it is. */
enum frt_way frt_lasthop_send(struct frt_side *from, struct frt_side *to,
			      struct rte_rx *rx, const union frt_body *body);
/* The whole of that request has gone as a message. */
void frt_lasthop_framed(struct frt_side *to, const struct rte_packet *packet,
			const union frt_body *body);
/* The end has said that. True: it was this router's, and rx is. */
bool frt_lasthop_hears(struct frt_side *to, struct rte_rx *rx);
/* Says what is to be said to either end, as far as there is room. */
void frt_lasthop_tell(struct frt_side *from, struct frt_side *to);

#endif
