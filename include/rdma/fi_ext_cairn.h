/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Extensions of Cairn's providers to standard libfabric: endpoint options and tables of
 * functions. See fi_pverbs(7) and fi_rpcrdma(7).
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
	/* Send queue entries used: one per operation, two with FI_DELIVERY_COMPLETE and
	 * for a datagram to a group that is copied to another one, one per keep-alive. */
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
	/* Datagrams to multicast groups that nobody has joined: they completed, and were
	 * not sent. */
	uint64_t mc_dropped;
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

/* ---- rpcrdma: see fi_rpcrdma(7) ---- */

/*
 * ep_attr.protocol of rpcrdma's rpc mode, in which each message is a whole RPC message
 * (RFC 5531) from its XID on. Without it, or with FI_RPCRDMA_MODE=wrap, messages of any
 * program travel in RPCs of the provider's own.
 */
#define FI_PROTO_CAIRN_RPC (0x80000000U | 0x4352)

/*
 * Flags of rpc mode. Other providers refuse them.
 *
 * FI_CAIRN_RPC_DDP, fi_sendmsg: bit i of msg.data says that entry i of the iov is a
 * DDP-eligible item of the message (its data alone, without length and XDR pad). The item
 * leaves the message: of a Call as a Read chunk, of a Reply in the next Write chunk that
 * the Call offered. Bits beyond iov_count are -FI_EINVAL. Where the profile allows no
 * further chunk, or the peer offered none, the item travels in the message.
 *
 * FI_CAIRN_RPC_RESULT, fi_recvmsg, before the Call is sent: msg.data is the XID of a
 * Call, and this buffer is its next Write chunk. It completes before the Reply, with the
 * bytes that the responder wrote, 0 for none.
 *
 * FI_CAIRN_RPC_REPLY, fi_recvmsg, before the Call is sent: msg.data is the XID of a Call,
 * and this buffer alone receives its Reply, which may be as large.
 */
#define FI_CAIRN_RPC_DDP (1ULL << 37)
#define FI_CAIRN_RPC_RESULT (1ULL << 38)
#define FI_CAIRN_RPC_REPLY (1ULL << 39)

/*
 * Endpoint options of rpcrdma, level FI_OPT_ENDPOINT. Those of type size_t are to be set
 * before fi_enable, and are -FI_EOPBADSTATE later; all may be read at any time.
 *
 * CALLS, size_t: Calls outstanding at most, for which credits are requested. Default:
 * tx_attr.size.
 * GRANT, size_t: Calls of the peer at a time, which it gets credits for. Default:
 * rx_attr.size. 0: the peer's Calls are dropped and counted.
 * COPY, size_t, bytes: a message up to this is copied when it is too long to be sent
 * inline; a longer one is read from the program's buffer, and needs
 * FI_DELIVERY_COMPLETE in rpc mode.
 * REPLY_SIZE, size_t, bytes: the largest Reply that is expected. Above the inline
 * threshold, each Call offers a Reply chunk of the provider's memory.
 * CHUNKS, int: enum fi_cairn_rpc_chunks.
 * READY, int: 1: the peer is ready for Calls in reverse (RFC 8167 section 6). Set by the
 * program of the end that listened, when its protocol says so; peers with this provider
 * say so when they connect.
 * RECV, int: enum fi_cairn_rpc_recv; which messages the receives take that are posted
 * from now on.
 * SYSTEM_ERR, int: 1: a Call that RDMA_ERROR answers gets a Reply with SYSTEM_ERR
 * (RFC 5531) instead of an error completion.
 * LIMITS, struct fi_cairn_rpc_limits, read only.
 */
#define FI_OPT_CAIRN_RPC_CALLS (-0x43520101)
#define FI_OPT_CAIRN_RPC_GRANT (-0x43520102)
#define FI_OPT_CAIRN_RPC_COPY (-0x43520103)
#define FI_OPT_CAIRN_RPC_REPLY_SIZE (-0x43520104)
#define FI_OPT_CAIRN_RPC_CHUNKS (-0x43520105)
#define FI_OPT_CAIRN_RPC_READY (-0x43520106)
#define FI_OPT_CAIRN_RPC_RECV (-0x43520107)
#define FI_OPT_CAIRN_RPC_SYSTEM_ERR (-0x43520108)
#define FI_OPT_CAIRN_RPC_LIMITS (-0x43520109)

enum fi_cairn_rpc_chunks {
	FI_CAIRN_RPC_CHUNKS_NONE,  /* Short Messages alone, RFC 8167 section 5.3 */
	FI_CAIRN_RPC_CHUNKS_LINUX, /* at most one Read and one Write chunk, none empty */
	FI_CAIRN_RPC_CHUNKS_ANY,
};

enum fi_cairn_rpc_recv {
	FI_CAIRN_RPC_RECV_ANY,
	FI_CAIRN_RPC_RECV_CALLS,
	FI_CAIRN_RPC_RECV_REPLIES,
};

/* What a connection has agreed on; before it is made, what this end asks for. */
struct fi_cairn_rpc_limits {
	size_t send_inline; /* bytes of header and message that may be sent inline */
	size_t recv_inline; /* bytes that the peer may */
	size_t credits;	    /* Calls that the peer grants at the moment */
	size_t calls;	    /* Calls outstanding */
	size_t granted;	    /* Calls that the peer is granted */
	size_t served;	    /* its Calls without a Reply yet */
};

/*
 * fi_open_ops on an rpcrdma endpoint with this name returns a struct
 * fi_cairn_ops_rpc_stats.
 */
#define FI_CAIRN_RPC_STATS "cairn_rpc_stats"

struct fi_cairn_rpc_stats {
	uint64_t calls_sent;
	uint64_t replies_received;
	uint64_t calls_received;
	uint64_t replies_sent;
	uint64_t read_bytes;	/* by RDMA Read, from a peer's chunks */
	uint64_t written_bytes; /* by RDMA Write, into a peer's chunks */
	uint64_t credit_stalls; /* Calls that had to wait for a credit, or -FI_EAGAIN */
	/* Messages of the peer that were dropped. */
	uint64_t drop_short;   /* no header */
	uint64_t drop_reply;   /* a Reply that is malformed */
	uint64_t drop_xid;     /* a Reply or error without a Call */
	uint64_t drop_proc;    /* RDMA_DONE, RDMA_MSGP in a Reply, an unknown one */
	uint64_t drop_unready; /* a Call where none are granted */
	uint64_t zero_grants;  /* of credit 0, which count as 1 */
	uint64_t err_vers_sent;
	uint64_t err_chunk_sent;
	uint64_t err_received; /* RDMA_ERROR that a Call was answered with */
	uint64_t closed; /* connections that a misbehaving peer made this end close */
};

struct fi_cairn_ops_rpc_stats {
	size_t size; /* of this structure */
	/* Fills in the first len bytes of *stats. 0, or -FI_EINVAL for another endpoint.
	 * Thread safe. */
	int (*read)(struct fid_ep *ep, struct fi_cairn_rpc_stats *stats, size_t len);
	/*
	 * Writes the state of the connection as text: its state, sizes and credits, the
	 * counters, each Call, its age, chunks and what it waits for. Returns the bytes
	 * without the final NUL that all of it has, as snprintf(3) does, or -FI_EINVAL.
	 * Thread safe.
	 */
	ssize_t (*dump)(struct fid_ep *ep, char *text, size_t size);
};

#ifdef __cplusplus
}
#endif

#endif
