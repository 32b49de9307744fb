/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two ends of a connection, back to back over a peer that is memory: credits, landing
 * slots, what arrives when, and when the lower provider is done, are the test's to say.
 * What the lower provider is given to send it reads when it delivers, not before.
 */
#ifndef FAKE_H
#define FAKE_H

#include <cairn/cntr.h>
#include <cairn/cq.h>
#include "xfer/xfer.h"

#define FAKE_TX 8u	    /* operations outstanding */
#define FAKE_RX 8u	    /* receives */
#define FAKE_INJECT 64u	    /* bytes */
#define FAKE_EAGER 1024u    /* of the path */
#define FAKE_FRAG 8192u	    /* the same */
#define FAKE_MAX 1000000u   /* bytes of a message */
#define FAKE_POOL 64u	    /* messages that were taken at one end */
#define FAKE_SLOTS 4u	    /* landing slots of a lane at most */
#define FAKE_SLOT_LEN 4096u /* bytes of one */
#define FAKE_LOG 256u	    /* messages that are remembered */
#define FAKE_CREDITS 8u	    /* of a lane */
#define FAKE_BASE 0x500u    /* lower address of a region that is lent */
#define FAKE_INJECTS 16u    /* bytes that the lower provider injects */

struct fake_end;

struct rte_tx_inside {
	struct rte_tx tx;
	uint8_t bytes[RTE_SEND_ROOM];
	uint32_t slot; /* RTE_SLOT_NONE: none */
	bool taken, posted;
	int err; /* of done */
	/* Of the bypass. */
	bool straight, reads;
	uint64_t flags;
	struct fi_rma_iov range;
	struct iovec iov[RTE_VC_IOV];
	size_t iov_count;
};

struct rte_rx_inside {
	struct rte_rx rx;
	uint8_t bytes[RTE_SEND_ROOM];
	struct fake_end *from; /* who gets the credit back; NULL: nobody */
	uint32_t slot;
	bool taken;
};

/* A message that was delivered. */
struct fake_seen {
	uint8_t type, flags;
	uint32_t plen;
	bool slotted, rode; /* in a slot; with an ACK */
	uint64_t seq, request;
};

struct fake_end {
	struct rte_vc vc;
	struct rte_peer peer;
	struct rte_port port;
	struct fake_end *other;
	struct fid_domain domain;
	struct fid_fabric fabric;
	struct crn_ep ep;
	struct crn_cq tx_cq, rx_cq;
	struct crn_cntr cntr; /* of whatever the test binds it to */
	struct crn_mr_map map;

	uint32_t credits[RTE_LANES];
	uint32_t slots[RTE_LANES]; /* that are granted: a mask */
	bool hold_done;		   /* the lower provider keeps what it was given */
	bool done_first;	   /* it is done before the other end has it */
	bool hungry;		   /* ready is to be called */
	struct rte_tx_inside tx[FAKE_POOL];
	struct rte_rx_inside rx[FAKE_POOL];
	struct rte_tx_inside *out[FAKE_POOL]; /* posted, oldest first */
	uint32_t out_count;
	struct rte_tx_inside *dones[FAKE_POOL]; /* delivered, oldest first */
	uint32_t done_count;
	uint8_t landing[RTE_LANES][FAKE_SLOTS][FAKE_SLOT_LEN];

	const char *bad; /* what rte_peer_bad was told */
	uint64_t expected;
	bool refuses;		   /* to hold a region */
	unsigned int holds;	   /* of regions */
	const struct crn_mr *pmem; /* the region that is persistent memory */
	size_t persisted;	   /* bytes of it that were made durable, and ... */
	unsigned int persists;	   /* ... in how many parts */
	void (*on_persist)(struct fake_end *end, const uint8_t *at, size_t len);
	int broken;
	unsigned int drained;
	struct fake_seen seen[FAKE_LOG]; /* that this end has sent */
	uint32_t seen_count;

	bool lends;	       /* once: what the peer was told */
	struct crn_mr *lent;   /* the region; its lower key is its number */
	struct crn_list loans; /* of it */
	uint32_t straight;     /* operations of the bypass that were delivered */
	bool no_memory;	       /* rte_tx_get has none, though there are credits */
	bool no_direct;	       /* nor has rte_tx_direct */
	bool rma_again;	       /* rte_tx_rma: -FI_EAGAIN */
};

struct fake {
	bool open;
	struct fake_end a, b;
	bool direct;
	bool forgets;	  /* a path that does not know RTE_COMMIT */
	bool router_acks; /* a router between them does, which is right if !direct */
	bool bypass;	  /* both ends have it */
};

/* selective: FI_SELECTIVE_COMPLETION on both sides of both ends. Closes the ends that are
 * open. */
void fake_open(struct fake *fake, bool direct, bool selective);
/* Counters are bound before the connection is there. */
void fake_count(struct fake_end *end, uint64_t flags);
void fake_start(struct fake *fake);
/* Stops and frees what has not been, regions included, and checks that nothing was lost.
 */
void fake_close(struct fake *fake);
/* Tear-down of a fixture. */
void fake_tear_down(struct fake **t);

/* Delivers the oldest message of that end. False: there is none. */
bool fake_deliver(struct fake *fake, struct fake_end *from);
/* Calls done for what was delivered. */
void fake_done(struct fake_end *end);
/* All that there is to do, until nothing is left. */
void fake_run(struct fake *fake);
/* Puts a message in front of the end, as if the other one had sent it. payload: plen
 * bytes, of data only. */
void fake_inject(struct fake_end *to, const uint8_t *bytes, size_t len);
uint32_t fake_rx_kept(const struct fake_end *end);
/* Those of a type that the end sent. */
uint32_t fake_sent(const struct fake_end *end, uint8_t type);

/* A completion that is there: of a success; of an error, err. */
void fake_expect(struct crn_cq *cq, const void *context, uint64_t flags, size_t len);
void fake_expect_data(struct crn_cq *cq, const void *context, uint64_t flags, size_t len,
		      uint64_t data);
void fake_expect_err(struct crn_cq *cq, const void *context, uint64_t flags, int err);
void fake_expect_none(struct crn_cq *cq);

/* Calls of one part, with flags. */
ssize_t fake_send(struct fake_end *end, const void *buf, size_t len, void *context,
		  uint64_t flags);
ssize_t fake_recv(struct fake_end *end, void *buf, size_t len, void *context);
ssize_t fake_write(struct fake_end *end, const void *buf, size_t len, uint64_t addr,
		   uint64_t key, void *context, uint64_t flags);
ssize_t fake_read(struct fake_end *end, void *buf, size_t len, uint64_t addr,
		  uint64_t key, void *context);
/* A region of that end. */
void fake_region(struct fake_end *end, struct crn_mr *mr, void *buf, size_t len,
		 uint64_t key, uint64_t access);

/* Bytes that say where they are. */
void fake_pattern(uint8_t *bytes, size_t len, unsigned int seed);

#endif
