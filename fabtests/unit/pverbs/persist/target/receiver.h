/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The target of durable sends and writes with data, on fake devices: a region of
 * persistent memory, and a peer whose messages and entries of the message ring come when
 * a test says so.
 */
#ifndef PVB_TEST_RECEIVER_H
#define PVB_TEST_RECEIVER_H

#include "../durable.h"

#define RECEIVER_MOST (256u << 10)
#define RECEIVER_RKEY 9u /* of the region, in which the peer may write */
/* Flags of completions. */
#define RECEIVER_MESSAGE (FI_RECV | FI_MSG)
#define RECEIVER_WRITTEN (FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA)

extern struct receiver {
	struct durable d;
	_Alignas(64) uint8_t mem[RECEIVER_MOST]; /* the first bytes are persistent */
	uint8_t plain[256];			 /* not */
	struct pvb_pmem_region region;
	uint32_t messages, entries; /* of the peer's */
} receiver;

/* Connected, with so many persistent bytes; nobody but the test makes progress. */
bool receiver_open(size_t len);
bool receiver_open_with(size_t len, const struct world_opts *opts);
/* The same whose endpoint has a shared receive context, or a counter bound with flags;
 * the test closes it after the endpoint. */
bool receiver_open_shared(size_t len, struct fid_ep **srx);
bool receiver_open_counted(size_t len, uint64_t flags, struct fid_cntr **cntr);
void receiver_close(void);
ssize_t receiver_post(struct fid_ep *ep, void *buf, size_t len, uintptr_t number);
/* The peer writes this entry where its number belongs. */
void receiver_put(const struct pvb_wire_entry *entry);
/* The peer's next message is a durable one; where it wrote, if it is a write with data.
 */
void receiver_announce(uint64_t from, uint64_t len, uint32_t rkey);
/* A message of len bytes, a write of 8 bytes with data 5. */
void receiver_message(uint32_t len);
void receiver_written(void);
/* The newest answer, which is to the entry of that number: its status. */
uint16_t receiver_answered(uint32_t number);

#endif
