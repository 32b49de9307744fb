/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A peer of pverbs made of bare verbs: it connects as an initiator of durable operations
 * does, and then says what it likes. Whatever fails ends the program.
 */
#ifndef RAW_PEER_H
#define RAW_PEER_H

#include <stdbool.h>
#include <stdint.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include "wire/message.h"
#include "wire/private_data.h"

#define RAW_CREDITS 16u /* requests that may wait for an answer */

struct raw_peer {
	const char *program;
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id; /* with the connection's queue pair */
	struct ibv_pd *pd;
	struct ibv_cq *cq, *control_cq;
	struct ibv_qp *control;
	struct pvb_cm_data peer; /* what the target told */
	/* Receives, then sends, PVB_WIRE_SIZE each; then what an atomic fetched. */
	uint8_t *buf;
	struct ibv_mr *mr;
	uint32_t asked, answered;
};

/* Connects to an IPv4 address. */
void bench_raw_open(struct raw_peer *p, const char *program, const char *address,
		    uint16_t port);
void bench_raw_close(struct raw_peer *p);
/* Asks for a range to be made durable, once the sequence word shows seq_word. */
void bench_raw_ask(struct raw_peer *p, const struct pvb_wire_range *range,
		   uint32_t seq_word);
/* Waits for the next answer: FI_E*, or -1 when there is none within ms. */
int bench_raw_answer(struct raw_peer *p, int ms);
/* Adds to a word of 8 bytes of the target's over the connection's queue pair. */
enum ibv_wc_status bench_raw_add(struct raw_peer *p, const struct pvb_cm_word *word,
				 uint64_t add);

#endif
