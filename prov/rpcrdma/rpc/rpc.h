/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rpc mode: each message of the program is a whole RPC message, a Call or a Reply. Which
 * it is, and its XID, are its first two words; the layer reads no more of it, but for a
 * Call's flavor.
 */
#ifndef RPR_RPC_H
#define RPR_RPC_H

#include "objects.h"

extern const struct rpr_mode_ops rpr_rpc_mode;
extern struct fi_ops_msg rpr_rpc_msg;

/* A message of the program, with what the functions of the interface come down to. */
struct rpc_message {
	const struct iovec *iov;
	void **desc; /* NULL: of none */
	size_t count;
	uint64_t ddp; /* bit i: entry i is DDP-eligible */
	uint64_t flags;
	void *context;
	bool silent; /* fi_inject: there is no completion */
	uint32_t xid;
	enum rpr_direction direction;
};

/* Bytes of entry i as it is in a message, with its XDR round-up if it is eligible. */
static inline size_t rpc_padded(const struct rpc_message *message, size_t i)
{
	const size_t len = message->iov[i].iov_len;

	return message->ddp & (1ULL << i) ? (len + 3) & ~(size_t)3 : len;
}

/* The entries of mask one after the other, with pads: how many bytes; copying them. */
size_t rpc_body_len(const struct rpc_message *message, uint64_t mask);
void rpc_body_copy(const struct rpc_message *message, uint64_t mask, uint8_t *to);
/* All entries. */
static inline uint64_t rpc_all(const struct rpc_message *message)
{
	return (1ULL << message->count) - 1;
}

/* ---- call.c, reply.c: with the lock; what fi_sendmsg returns ---- */
int rpc_send_call(struct rpr_ep *ep, const struct rpc_message *message);
int rpc_send_reply(struct rpr_ep *ep, const struct rpc_message *message);

/* ---- prepare.c: receives for a Call that is not sent yet ---- */
ssize_t rpc_recvmsg(struct fid_ep *ep, const struct fi_msg *msg, uint64_t flags);

#endif
