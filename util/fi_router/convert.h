/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages of the exchange (sync.h) as those of the wire (wire.h), and back. */
#ifndef FRT_CONVERT_H
#define FRT_CONVERT_H

#include "sync/sync.h"
#include "wire/wire.h"

/* What heartbeats carry beside a hash, by which both ends know the round trip. */
struct frt_stamps {
	uint64_t theirs;    /* the newest stamp of the peer; 0: none */
	uint64_t theirs_at; /* ns: when it came */
	uint64_t trip;	    /* ns; 0: unknown */
};

/*
 * Packs a message into as many of at most room bytes as it takes, and hands each to put.
 * now: ns. 0; what put returned, which ends it; -FI_EINVAL, -FI_ETOOSMALL: it cannot be
 * packed; -FI_ENOMEM. A BYE is the peer's own (rte_peer_close): -FI_EINVAL.
 */
int frt_say(const struct rte_sync_message *message, const struct frt_stamps *stamps,
	    uint64_t now, size_t room,
	    int (*put)(void *context, const void *bytes, size_t len), void *context);

/* A message that was heard, and memory for what it points to. */
struct frt_heard {
	struct rte_sync_message message;
	struct rte_sync_entry entry[RTE_SYNC_ENTRIES_MAX];
	struct rte_sync_reach reach[RTE_SYNC_REACH_MAX];
	struct rte_lsa_room lsa;
};

/*
 * RTE_OK: heard->message is there, and what it points to is valid until packet or the
 * join change; RTE_MORE: a piece of an LSA; else what is wrong with it. Pieces are joined
 * in memory that grows with the list, and is freed by frt_join_end.
 */
enum rte_bad frt_hear(struct frt_heard *heard, struct rte_join *join,
		      struct frt_stamps *stamps, uint64_t now,
		      const struct rte_packet *packet);
void frt_join_end(struct rte_join *join);

#endif
