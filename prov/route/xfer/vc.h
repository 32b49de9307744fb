/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The data path of a routed connection at one of its ends: operations of the program
 * become messages of messages.h, and messages become completions. Over a peer that is up,
 * and knowing neither objects of libfabric nor how connections come about.
 *
 * A struct rte_vc is embedded in its endpoint. All functions are called with the lock of
 * the peer's port held, those with a peer while it has not been closed. Those that post
 * return 0, or
 *	-FI_EAGAIN: the queue, or the completion queue, is full
 *	-FI_ENOTCONN: not started yet, or stopped
 *	-FI_EMSGSIZE, -FI_EINVAL (parts), -FI_EBADFLAGS
 *	-FI_EOPNOTSUPP: FI_COMMIT_COMPLETE of what is no write, over a path that does not
 *		know it, or with FI_FENCE behind a message
 * and nothing is kept of what was refused.
 *
 * In order to be freed:
 *	rte_vc_stop	  nothing is accepted any more, all that can end does
 *	rte_peer_close
 *	rte_port_progress calls back for what the lower provider still had
 *	rte_vc_fini	  once rte_vc_idle
 */
#ifndef RTE_VC_H
#define RTE_VC_H

#include <rdma/fi_endpoint.h>
#include <rdma/fi_rma.h>
#include <cairn/ep.h>
#include <cairn/list.h>
#include <cairn/mr.h>
#include "keys/keys.h"
#include "peer/peer.h"

#define RTE_VC_IOV 4u			   /* parts of a local buffer */
#define RTE_VC_READS 16u		   /* of the other end, in service */
#define RTE_VC_WINDOW 64u		   /* fragments of them outstanding */
#define RTE_VC_MSG_MAX (UINT64_C(1) << 40) /* bytes of an operation */
#define RTE_VC_SIZE_MAX 65536u		   /* operations outstanding */

/* What a call accepts; the bits of RTE_VC_NOT_FOR_READS are to be left out of op_flags
 * for reads. */
#define RTE_VC_SEND_FLAGS                                                        \
	(FI_COMPLETION | FI_INJECT | FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE | \
	 FI_DELIVERY_COMPLETE | FI_REMOTE_CQ_DATA | FI_MORE | FI_FENCE)
#define RTE_VC_WRITE_FLAGS (RTE_VC_SEND_FLAGS | FI_COMMIT_COMPLETE)
#define RTE_VC_NOT_FOR_READS \
	((uint64_t)(FI_INJECT | FI_REMOTE_CQ_DATA | FI_COMMIT_COMPLETE))
#define RTE_VC_RECV_FLAGS (FI_COMPLETION | FI_MORE)

struct rte_vc;

/* A region whose lower key the other end has been told. */
struct rte_vc_loan {
	struct crn_list of_vc, of_mr; /* rte_vc.loans, and the region's */
	struct rte_vc *vc;
	struct rte_mr_info info;
	bool told, recalled; /* MR_INFO, MR_INVAL have gone */
};

struct rte_vc_attr {
	struct crn_ep *ep;	   /* completions and counters; outlives the vc */
	struct crn_mr_map *map;	   /* the program's regions; NULL: it has none */
	uint32_t tx_size, rx_size; /* operations outstanding; not 0 */
	size_t inject_size;	   /* bytes */
	size_t max_msg_size;	   /* bytes; at most RTE_VC_MSG_MAX */
	/*
	 * The target, or a router, refused an operation, which ended with that FI_E*: so
	 * does the connection, as with verbs. What is behind it fails in rte_vc_stop,
	 * which has to follow. Within any function below; rte_vc_stop may be called
	 * there. NULL: nobody listens.
	 */
	void (*broken)(struct rte_vc *vc, int err);
	/* rte_vc_unsent said that there is something; there is nothing any more. Within
	 * any function below, or a callback of the lower provider. NULL: the same. */
	void (*drained)(struct rte_vc *vc);
	/*
	 * Of a region that the other end reads, between crn_mr_begin and crn_mr_end: may
	 * the lower provider read its memory after that, until release? *desc: what it
	 * wants for it. A region that is held is not closed. NULL: its bytes are copied.
	 */
	bool (*hold)(struct rte_vc *vc, struct crn_mr *mr, void **desc);
	void (*release)(struct rte_vc *vc, struct crn_mr *mr);
	/*
	 * Of a region that the other end writes to, between crn_mr_begin and crn_mr_end:
	 * is it known to be persistent memory? Then persist is called for all bytes that
	 * have been placed there, and returns when they are durable. NULL: none is.
	 */
	bool (*persistent)(struct rte_vc *vc, struct crn_mr *mr);
	void (*persist)(struct rte_vc *vc, struct crn_mr *mr, const void *at, size_t len);
	/*
	 * Of a region that the other end is to reach by the lower provider, between
	 * crn_mr_begin and crn_mr_end: fills in info.lower_key and base, and adds of_mr
	 * to what the region's close has to recall. 0, or why it cannot. NULL: no bypass,
	 * in either direction.
	 */
	int (*lend)(struct rte_vc *vc, struct crn_mr *mr, struct rte_vc_loan *loan);
};

/* What the connection's way can do, as CONN_REP says. */
struct rte_vc_path {
	uint32_t frag;	/* bytes of a payload in a landing slot, at most */
	uint32_t eager; /* bytes of a payload in a Send, at most; not 0 */
	bool direct;	/* the peer is the other end */
	bool commit;	/* all on it know RTE_COMMIT */
	/* The bypass: operations of RMA may go by the lower provider's own, with keys
	 * that the other end tells; and the other end does. */
	bool bypass, bypassed;
};

/* What has to be known before an operation has ended well. */
enum rte_vc_level {
	RTE_VC_HANDED,	 /* its buffer is the program's again */
	RTE_VC_SENT,	 /* the lower provider has sent the last of it */
	RTE_VC_ROUTED,	 /* the last router has said so of its own */
	RTE_VC_REACHED,	 /* the target has said so */
	RTE_VC_DURABLE,	 /* the target has said that it is persistent */
	RTE_VC_ANSWERED, /* a read: its data are here */
};

/* An operation of the program. */
struct rte_vc_op {
	uint8_t type;  /* RTE_MSG, RTE_WRITE, RTE_READ_REQ */
	uint8_t level; /* enum rte_vc_level */
	bool silent;   /* fi_inject: never has an entry */
	bool report;   /* has one if it ends well */
	bool fence;
	bool deliver; /* a write: somebody waits until it is in its place */

	bool has_data;	 /* cq_data */
	bool copy;	 /* FI_INJECT: its buffers are the program's after the call */
	bool begun;	 /* a fragment of it has been posted */
	bool lost;	 /* the lower provider failed to send; rte_vc_stop follows */
	uint32_t lower;	 /* messages with the lower provider that it waits for */
	int err;	 /* FI_E*: it has failed; 0: not that we know */
	uint64_t router; /* where; 0: not at a router */
	uint64_t cq_data;
	uint64_t addr, key; /* of the target's region */
	uint64_t offset;    /* bytes that are sent, or of a read have come */
	/* The part of the local buffer where offset is, and the bytes of it before. */
	uint32_t iov_count, iov_at;
	size_t iov_offset;

	/* All operations have these, so that they are not zeroed before (op.h). */
	uint64_t flags;	 /* of the completion */
	void *context;	 /* the same */
	uint64_t length; /* bytes */
	struct iovec iov[RTE_VC_IOV];
	void *desc[RTE_VC_IOV];
};

/* A receive of the program. */
struct rte_vc_recv {
	struct crn_list entry; /* of posted or free */
	void *context;
	uint64_t flags;
	size_t len;
	uint32_t iov_count;
	struct iovec iov[RTE_VC_IOV];
};

/* A read of the other end. */
struct rte_vc_serve {
	uint64_t seq;
	uint64_t addr, key, length;
	uint64_t region; /* crn_mr.number, once something has been answered */
	uint64_t offset; /* answered so far */
	uint32_t window, frag;
};

enum rte_vc_state { RTE_VC_NEW, RTE_VC_UP, RTE_VC_STOPPED };

struct rte_vc {
	struct rte_vc_attr attr;
	struct rte_vc_path path;
	struct rte_peer *peer;
	enum rte_vc_state state;
	bool pumping;	 /* operations are being sent: not begun again inside */
	bool watched;	 /* rte_vc_unsent said true */
	bool refused;	 /* an operation was: nothing is sent any more */
	bool failed;	 /* its completion was written: those behind it fail */
	bool deaf;	 /* one of the other end was: nothing behind it is taken */
	bool messages;	 /* some with data have been posted */
	bool ordinary;	 /* the other end's data went to memory that is not persistent */
	int broken;	 /* FI_E* for attr.broken; 0: nothing */
	int err;	 /* of rte_vc_stop */
	uint64_t router; /* the same */

	/* Operations by seq, the number that they have on the wire: those from head up
	 * to tail - 1 are outstanding, those from next on have not been sent whole. */
	struct rte_vc_op *ops;
	uint32_t mask;
	uint64_t head, next, tail;
	uint64_t routed;  /* the newest ACK of a router, ... */
	uint64_t reached; /* ... and of the target */

	/* The bypass (direct.c, lend.c). */
	struct rte_keys keys;
	uint32_t straight; /* operations of the lower provider's own outstanding */
	bool wrote;	   /* there have been writes among them */
	uint64_t plain; /* those before it are messages: a durable one speaks of them */
	/* The newest request that went as a message, and the newest of those that may
	 * wait for a receive. */
	uint64_t framed, received;
	uint32_t untold;       /* of loans */
	struct crn_list loans; /* of struct rte_vc_loan */

	uint8_t *inject; /* inject_size bytes for each of ops */
	uint32_t lower;	 /* messages whose done has not been called yet */

	/* Receives. */
	struct rte_vc_recv *recvs;
	struct crn_list posted, free;

	/* Requests of the other end: those that have to wait, and where arrival is. */
	struct crn_list waiting; /* of struct rte_rx */
	struct {
		uint64_t seq; /* of the operation that arrived last, or does */
		bool open;    /* more fragments of it are to come */
		uint8_t type; /* RTE_MSG, RTE_WRITE */
		bool has_data;
		uint64_t length, offset;
		uint64_t cq_data, addr, key;
		uint64_t region; /* crn_mr.number, of a write that has begun */
	} in;
	struct rte_vc_recv *recv; /* of the message that is being copied; NULL: none */

	/* What the other end is to be told. */
	uint64_t ack_due;  /* seq; 0: nothing */
	uint64_t nack_due; /* the same, of what was refused */
	int nack_status;
	struct rte_vc_serve serves[RTE_VC_READS];
	uint32_t serve_head, serve_count;
	uint32_t answers; /* READ_FRAGs whose done has not been called yet */
};

/* Takes all the memory that there will be. 0, -FI_ENOMEM, -FI_EINVAL. */
int rte_vc_init(struct rte_vc *vc, const struct rte_vc_attr *attr);
void rte_vc_fini(struct rte_vc *vc);

/* The connection has been established. Receives may be posted before. */
void rte_vc_start(struct rte_vc *vc, struct rte_peer *peer,
		  const struct rte_vc_path *path);
/* MSG, WRITE, READ_REQ, READ_FRAG, ACK, NACK, MR_*; it takes rx over. */
void rte_vc_message(struct rte_vc *vc, struct rte_rx *rx);
/* From rte_peer_ops.ready: sends what waits. */
void rte_vc_ready(struct rte_vc *vc);
/*
 * The connection is over. err: FI_E* of operations outstanding, router: where it failed,
 * or 0. Receives end with FI_ECANCELED, but for those of messages that are here whole:
 * more receives may be posted while there are such messages. An operation whose buffers
 * the lower provider still has ends when it has them no more.
 */
void rte_vc_stop(struct rte_vc *vc, int err, uint64_t router);
/* No message of it is with the lower provider. */
static inline bool rte_vc_idle(const struct rte_vc *vc)
{
	return !vc->lower;
}
/* Before SHUTDOWN: is there something to be sent still, requests or acknowledgements?
 * If so, attr.drained follows, or rte_vc_stop. */
bool rte_vc_unsent(struct rte_vc *vc);

/* May the other end reach regions of this one by the lower provider? Not where a counter
 * is to tell of it. */
bool rte_vc_lends(const struct rte_vc *vc);
/* The region closes: asks for it. Again until the loan is in no list. */
void rte_vc_recall(struct rte_vc_loan *loan);
/* The other end has not answered: the connection ends. */
void rte_vc_overdue(struct rte_vc_loan *loan);

/* flags: of the call, or op_flags of the endpoint for calls without. */
ssize_t rte_vc_send(struct rte_vc *vc, const struct fi_msg *msg, uint64_t flags);
ssize_t rte_vc_write(struct rte_vc *vc, const struct fi_msg_rma *msg, uint64_t flags);
ssize_t rte_vc_read(struct rte_vc *vc, const struct fi_msg_rma *msg, uint64_t flags);
ssize_t rte_vc_recv(struct rte_vc *vc, const struct fi_msg *msg, uint64_t flags);
/* flags: 0 or FI_REMOTE_CQ_DATA. There is no completion. */
ssize_t rte_vc_inject(struct rte_vc *vc, const void *buf, size_t len, uint64_t flags,
		      uint64_t data);
ssize_t rte_vc_inject_write(struct rte_vc *vc, const void *buf, size_t len, uint64_t addr,
			    uint64_t key, uint64_t flags, uint64_t data);
/* fi_cancel of a receive that has not been matched: 0, or -FI_ENOENT. */
int rte_vc_cancel(struct rte_vc *vc, void *context);

/* fi_tx_size_left, fi_rx_size_left. */
static inline uint32_t rte_vc_tx_left(const struct rte_vc *vc)
{
	return vc->attr.tx_size - (uint32_t)(vc->tail - vc->head);
}

#endif
