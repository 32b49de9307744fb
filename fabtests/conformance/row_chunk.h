/* SPDX-License-Identifier: BSD-2-Clause */
/* Chunks in rows. */
#ifndef CONF_ROW_CHUNK_H
#define CONF_ROW_CHUNK_H

#include "row.h"

/* Where the messages below have their item: behind the head of a Call and some arguments,
 * of which the last is its length. */
#define ITEM_AT 64

#define XDR_ROUND(len) (((len) + 3) & ~(size_t)3)

/*
 * The bytes of a message, unreduced, that has an item of item bytes at ITEM_AT, its pad
 * of zeros, and tail bytes behind it. len becomes their number. As row_memory.
 */
uint8_t *item_call(uint32_t xid, size_t item, size_t tail, size_t *len);
uint8_t *item_reply(uint32_t xid, size_t item, size_t tail, size_t *len);

/* ---- the raw peer ---- */

void head_read(struct rpr_header *header, uint32_t position, struct rpr_seg seg);
/* A further Write chunk, the Reply chunk; both empty so far. */
struct rpr_chunk *head_write(struct rpr_header *header);
struct rpr_chunk *head_reply(struct rpr_header *header);
void chunk_add(struct rpr_chunk *chunk, struct rpr_seg seg);
/* Exposes memory of len bytes, in as many segments of the chunk, each a region of its
 * own; returns it. As row_memory. */
uint8_t *chunk_expose(struct rpr_chunk *chunk, size_t len, uint32_t segments);
/* The same for a Read chunk, which has bytes. */
void read_expose(struct rpr_header *header, uint32_t position, const void *bytes,
		 size_t len, uint32_t segments);

/* Sends message without the item that is in a chunk. */
void raw_say_reduced(const struct rpr_header *header, const uint8_t *message, size_t len,
		     size_t item);
/* A whole Call with an item in a Read chunk of so many segments. */
void raw_call_reduced(uint32_t xid, size_t item, size_t tail, uint32_t segments);
/* A Long Call. */
void raw_call_long(uint32_t xid, size_t len, uint32_t segments);
/* A Call that offers a Write or a Reply chunk of len bytes; returns its memory. */
uint8_t *raw_call_offers_write(uint32_t xid, size_t len, uint32_t segments);
uint8_t *raw_call_offers_reply(uint32_t xid, size_t len, uint32_t segments);

uint64_t chunk_length(const struct rpr_chunk *chunk);
/* The chunk is what was offered: handles and offsets, and len bytes in order. */
void chunk_echoes(const struct rpr_chunk *chunk, const struct rpr_chunk *offered,
		  uint64_t len);

/* What it reads of the layer's Read chunk at that position, or of its whole Long Call. */
void raw_reads(const struct rpr_header *header, uint32_t position, void *buf, size_t len);
/* It writes into a chunk that the layer offered, in order. */
void raw_writes(const struct rpr_chunk *chunk, const void *buf, size_t len);
/* An RDMA Read or Write is refused; the connection does not outlive it. */
void raw_read_is_refused(const struct rpr_seg *seg);
void raw_write_is_refused(const struct rpr_seg *seg);

/* ---- the layer ---- */

/* Sends item_call or item_reply, its item marked with FI_CAIRN_RPC_DDP. */
struct op *layer_calls_item(uint32_t xid, size_t item, size_t tail);
struct op *layer_replies_item(uint32_t xid, size_t item, size_t tail);
ssize_t layer_sends_item(uint32_t xid, bool call, size_t item, size_t tail,
			 struct op **used);
/* A buffer for a result, or for the Reply, of a Call to come. */
struct op *layer_result(uint32_t xid, size_t len);
struct op *layer_reply_buffer(uint32_t xid, size_t len);

#endif
