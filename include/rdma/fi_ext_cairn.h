/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Extensions of Cairn's providers to standard libfabric: endpoint options and tables of
 * functions. See fi_pverbs(7).
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
 * Endpoint option of pverbs endpoints and passive endpoints: level FI_OPT_ENDPOINT, type
 * int, default 0. Set it before fi_connect, fi_listen or fi_accept. The value 1 selects
 * raw connection data: the data is the rdma_cm private data, without the length byte that
 * libfabric's verbs provider puts first, and all bytes from a peer are returned. Use it
 * with peers that are not libfabric programs. FI_OPT_CM_DATA_SIZE is then 56 bytes, the
 * private data of an rdma_cm request.
 */
#define FI_OPT_CAIRN_RAW_CM_DATA (-0x43520001)

/*
 * Endpoint option of pverbs endpoints: level FI_OPT_ENDPOINT, type struct fid_mr *. Set
 * it after fi_endpoint and before fi_connect or fi_accept. The program declares that it
 * posts all receives of the endpoint in this region, registered with FI_RMA_PMEM, and
 * that after a power failure it applies the messages found there. A peer's durable send
 * is then complete as soon as the message is durable in the receive buffer. Posting a
 * receive outside the region returns -FI_EINVAL. The program must not post a buffer again
 * before its message is durable elsewhere. The region must stay open until the endpoint
 * is closed. fi_setopt returns -FI_EDOMAIN for a region of another domain, -FI_EOPNOTSUPP
 * if the region is not persistent memory, the endpoint has a shared receive context, or
 * durable connections are off (FI_PVERBS_DURABLE), and -FI_EOPBADSTATE if a receive was
 * posted or connecting has begun.
 */
#define FI_OPT_CAIRN_REPLAY (-0x43520002)

/*
 * Replay format: fi_open_ops on a pverbs domain with this name returns a struct
 * fi_cairn_ops_replay. A message in this format is a header of FI_CAIRN_REPLAY_HEADER
 * bytes (layout: prov/pverbs/persist/target/replay_format.h), directly followed by the
 * payload. Both functions are thread safe.
 */
#define FI_CAIRN_REPLAY "cairn_replay"
#define FI_CAIRN_REPLAY_HEADER 32 /* bytes */

struct fi_cairn_replay_message {
	uint64_t number;
	const void *payload; /* in the caller's buffer */
	size_t len;	     /* bytes */
};

struct fi_cairn_ops_replay {
	size_t size; /* of this structure */
	/*
	 * Sender: writes the header for a payload of len bytes, at most INT_MAX. The
	 * messages to one receiver have consecutive numbers. Returns 0 or -FI_EINVAL.
	 */
	int (*write_header)(void *header, const void *payload, size_t len,
			    uint64_t number);
	/*
	 * Recovery of the receiver: scans count buffers of stride bytes each, starting at
	 * buf, and calls apply for each complete message once, in the order of the
	 * numbers, from first up to the first number that is missing. Returns the number
	 * of messages applied; the value of apply if it is not 0, which ends the scan;
	 * -FI_EINVAL or -FI_ENOMEM.
	 */
	ssize_t (*replay)(const void *buf, size_t stride, size_t count, uint64_t first,
			  int (*apply)(void *ctx,
				       const struct fi_cairn_replay_message *message),
			  void *ctx);
};

/*
 * Statistics of an endpoint: fi_open_ops on a pverbs endpoint with this name returns a
 * struct fi_cairn_ops_stats.
 */
#define FI_CAIRN_STATS "cairn_stats"

struct fi_cairn_stats {
	/* Send queue entries used: one per operation, two with FI_DELIVERY_COMPLETE, one
	 * per keep-alive. */
	uint64_t tx_entries;
	uint64_t tx_stalls;  /* calls that returned -FI_EAGAIN: send queue full */
	uint64_t rx_entries; /* receives posted to this endpoint, not to a shared context
			      */
	uint64_t rx_stalls;  /* calls that returned -FI_EAGAIN: receive queue full */
	uint64_t keepalives; /* keep-alives sent on a silent connection */
	/* Operations with FI_COMMIT_COMPLETE, by the method that made them durable. */
	uint64_t commit_arrived; /* their completion alone */
	uint64_t commit_read;	 /* a read posted behind them */
	uint64_t commit_flush;	 /* a native FLUSH posted behind them */
	uint64_t commit_request; /* the target's processor, on a request over the control
				  * queue pair */
	uint64_t commit_message; /* the target's processor, when the message arrived */
	uint64_t commit_later;	 /* a later fenced operation: they had no completion */
	/* Upgrades: flushes shared by several durable operations, or posted ahead of a
	 * fenced operation for earlier writes. */
	uint64_t commit_upgrades;
};

struct fi_cairn_ops_stats {
	size_t size; /* of this structure */
	/*
	 * Fills in the first len bytes of *stats; pass sizeof(struct fi_cairn_stats).
	 * Returns 0, or -FI_EINVAL if ep is not the endpoint that the table was opened
	 * on. As thread safe as posting. Entries are counted correctly if fewer than 2^32
	 * are used between two calls.
	 */
	int (*read)(struct fid_ep *ep, struct fi_cairn_stats *stats, size_t len);
};

#ifdef __cplusplus
}
#endif

#endif
