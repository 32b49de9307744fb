/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What Cairn's providers offer beyond standard libfabric. Programs that need none of it
 * need not include it. See fi_pverbs(7).
 */
#ifndef FI_EXT_CAIRN_H
#define FI_EXT_CAIRN_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <rdma/fi_endpoint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Endpoint option (fi_setopt, level FI_OPT_ENDPOINT, int, default 0) of pverbs endpoints
 * and passive endpoints, before fi_connect, fi_listen or fi_accept: with 1 the connection
 * data is put into the rdma_cm private data byte for byte, without libfabric's length
 * byte, and what a peer sent is given whole. It is for peers that are not libfabric
 * programs. FI_OPT_CM_DATA_SIZE then is 56, the bytes that rdma_cm carries in a request.
 */
#define FI_OPT_CAIRN_RAW_CM_DATA (-0x43520001)

/*
 * Endpoint option (fi_setopt, level FI_OPT_ENDPOINT, struct fid_mr *) of pverbs
 * endpoints, after fi_endpoint and before fi_connect or fi_accept: all receives of the
 * endpoint lie in this region, which was registered with FI_RMA_PMEM, and after a power
 * failure the program applies the messages that it finds in them. Peers then need no more
 * for a durable send than that it is in the buffer. Receives elsewhere give -FI_EINVAL
 * from then on. A buffer must not be posted again before what it held is durable
 * elsewhere.
 */
#define FI_OPT_CAIRN_REPLAY (-0x43520002)

/*
 * Messages that can be found again: fi_open_ops of a pverbs domain with this name gives a
 * struct fi_cairn_ops_replay. A message is a header of FI_CAIRN_REPLAY_HEADER
 * bytes (persist/target/replay_format.h describes it) and the payload right behind it.
 */
#define FI_CAIRN_REPLAY "cairn_replay"
#define FI_CAIRN_REPLAY_HEADER 32

struct fi_cairn_replay_message {
	uint64_t number;
	const void *payload;
	size_t len; /* bytes */
};

struct fi_cairn_ops_replay {
	size_t size; /* of this structure */
	/*
	 * The sender: writes the header of a payload of len bytes, at most INT_MAX.
	 * Numbers of a receiver's messages follow each other. 0 or -FI_EINVAL.
	 */
	int (*write_header)(void *header, const void *payload, size_t len,
			    uint64_t number);
	/*
	 * The receiver's recovery: looks into count buffers of stride bytes each from buf
	 * on, and calls apply for the whole messages among them in the order of their
	 * numbers, beginning with first, each once, up to the first that is missing.
	 * Returns how many were applied, or what apply returned other than 0, -FI_EINVAL
	 * or -FI_ENOMEM.
	 */
	ssize_t (*replay)(const void *buf, size_t stride, size_t count, uint64_t first,
			  int (*apply)(void *ctx,
				       const struct fi_cairn_replay_message *message),
			  void *ctx);
};

/*
 * What happened on an endpoint so far, for operators and tests: fi_open_ops of a pverbs
 * endpoint with this name gives a struct fi_cairn_ops_stats.
 */
#define FI_CAIRN_STATS "cairn_stats"

struct fi_cairn_stats {
	/* Entries of the send queue used: one an operation, two with
	 * FI_DELIVERY_COMPLETE, one a keep-alive. */
	uint64_t tx_entries;
	uint64_t tx_stalls;  /* calls that gave -FI_EAGAIN because the queue was full */
	uint64_t rx_entries; /* receives posted to this endpoint, not to a shared context
			      */
	uint64_t rx_stalls;
	uint64_t keepalives; /* asked of the peer because the connection was silent */
	/* Operations with FI_COMMIT_COMPLETE by what made them durable. */
	uint64_t commit_arrived; /* nothing more than their completion */
	uint64_t commit_read;	 /* a read behind them */
	uint64_t commit_flush;	 /* a native FLUSH behind them */
	uint64_t commit_request; /* the target's processor, asked over a queue pair of its
				  * own */
	uint64_t commit_message; /* the target's processor, for a message it received */
	uint64_t commit_later;	 /* a fenced one behind them, for nobody wants to hear */
	/* Upgrades: flushes that durable operations shared, or that a fenced one needed
	 * for what was written before. */
	uint64_t commit_upgrades;
};

struct fi_cairn_ops_stats {
	size_t size; /* of this structure */
	/*
	 * Fills in the first len bytes, sizeof(struct fi_cairn_stats) of the program's
	 * header. 0, or -FI_EINVAL when ep is not the endpoint this came from. Thread
	 * safe as a posting call is. Right as long as fewer than 2^32 entries are used
	 * between two calls.
	 */
	int (*read)(struct fid_ep *ep, struct fi_cairn_stats *stats, size_t len);
};

#ifdef __cplusplus
}
#endif

#endif
