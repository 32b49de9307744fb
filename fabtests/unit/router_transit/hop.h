/* SPDX-License-Identifier: BSD-2-Clause */
/* Ends between which a router executes writes: a target that lends a region, and writes
 * of 10 bytes, or of two pieces of 10 bytes, to its beginning. */
#ifndef TRANSIT_HOP_H
#define TRANSIT_HOP_H

#include "world.h"

#define HOP_WHOLE (RTE_FIRST | RTE_LAST)
#define HOP_ASKS (HOP_WHOLE | RTE_ACKREQ)
#define HOP_DELIVERS (HOP_ASKS | RTE_DELIVER)

#define HOP_KEY 7u
#define HOP_BESIDE 41u /* a key that is remembered in the same place */
#define HOP_LOWER 0x1007u
#define HOP_BASE 0x40000u
#define HOP_REGION 5000u
#define HOP_EPOCH 3u

/* seq of the first write after hop_learn. */
#define HOP_NEXT 9u

/* Each ends the connection that is there. lower: bytes of the lower providers' own
 * operations at most. */
void hop_open_with(uint32_t frag, size_t lower, enum rte_role in, enum rte_role out);
void hop_open_roles(enum rte_role in, enum rte_role out);
void hop_open(void);
/* hop_open, then hop_learn. */
void hop_learned(void);
void hop_set_up(struct world **t);
/* A whole write of 10 bytes. */
struct piece hop_write(uint64_t seq, uint8_t flags);
void hop_say(uint8_t type, uint64_t seq, uint8_t flags);
void hop_expect_framed(uint8_t type, uint64_t seq, uint8_t flags);
/* Behind the region's first byte. */
void hop_expect_placed(void);
/* The first piece of a write of two. */
void hop_say_first(uint64_t seq);
void hop_say_second(uint64_t seq);
/* It goes as a message. */
void hop_expect_first_framed(uint64_t seq);
void hop_expect_first(void);
/* Sent by the client, and forwarded as a message or executed: a whole write, and the
 * first piece of one of two. */
void hop_framed(uint8_t type, uint64_t seq, uint8_t flags);
void hop_placed(uint64_t seq);
void hop_first_framed(uint64_t seq);
void hop_first_placed(uint64_t seq);
/* A whole write to a region of another key; forwarded as a message. */
void hop_say_key(uint64_t seq, uint64_t key);
void hop_pass_key(uint64_t seq, uint64_t key);
/* MR_INFO of HOP_REGION bytes; MR_INVAL. */
void hop_info_key(struct rte_peer *peer, uint64_t key, int status, uint32_t access);
void hop_info(struct rte_peer *peer, int status, uint32_t access);
void hop_inval_flags(uint64_t epoch, uint8_t flags);
void hop_inval(uint64_t epoch);
void hop_expect_returned(void);
/* Writes 1 to 4 go as messages, the last of them with a question, and are acknowledged.
 */
void hop_ask(void);
/* And the key is told; then writes come one by one, until one goes straight: the next. */
void hop_learn(void);
/* A write that goes as a message, and is acknowledged. */
void hop_acked(uint64_t seq, uint64_t key, uint32_t len);

#endif
