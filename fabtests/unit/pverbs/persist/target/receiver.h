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

/* The object of a fixture, zeroed at first; its tear-down is receiver_close. */
struct receiver {
	struct durable d;
	struct pvb_control *control;
	_Alignas(64) uint8_t mem[RECEIVER_MOST]; /* the first bytes are persistent */
	uint8_t plain[256];			 /* not */
	struct pvb_pmem_region region;
	struct fid_ep *srx;		      /* of receiver_open_shared */
	struct fid_cntr *cntr;		      /* of receiver_open_counted */
	uint32_t messages, entries, requests; /* of the peer's */
};

/* Connected, with so many persistent bytes; nobody but the test makes progress. Closes
 * what t has open first. */
bool receiver_open(struct receiver *t, size_t len);
bool receiver_open_with(struct receiver *t, size_t len, const struct world_opts *opts);
/* The same whose endpoint has a shared receive context, or a counter bound with flags. */
bool receiver_open_shared(struct receiver *t, size_t len);
bool receiver_open_counted(struct receiver *t, size_t len, uint64_t flags);
void receiver_close(struct receiver *t);
/* The start routine of a thread that closes the endpoint of t. */
void *receiver_close_connection(void *t);
/* The region as the provider makes progress so. */
void receiver_progress(struct receiver *t, enum fi_progress progress);
/* The region is closed. */
void receiver_hide(struct receiver *t);
ssize_t receiver_post(struct fid_ep *ep, void *buf, size_t len, uintptr_t number);
/* The peer writes this entry where its number belongs. */
void receiver_put(struct receiver *t, const struct pvb_wire_entry *entry);
/* The peer's next message is a durable one; where it wrote, if it is a write with data.
 */
void receiver_announce(struct receiver *t, uint64_t from, uint64_t len, uint32_t rkey);
/* A message of len bytes, a write of 8 bytes with data 5. */
void receiver_message(struct receiver *t, uint32_t len);
void receiver_written(struct receiver *t);
/* A durable message, and before it a receive, with room for more unless buf is NULL. */
void receiver_durable(struct receiver *t, void *buf, uint32_t len, uintptr_t number);
/* The peer's next request: that these bytes become durable. */
struct pvb_wire_message receiver_request(struct receiver *t, uint64_t from, uint64_t len,
					 uint32_t rkey);
/* The newest answer, which is to the entry, or the request, of that number: its status.
 */
uint16_t receiver_answered(struct receiver *t, uint32_t number);
uint16_t receiver_answered_request(struct receiver *t, uint32_t number);

#endif
