/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * In front of an endpoint of the lower provider: sees what a peer sends, before it does,
 * and answers in the lower provider's place when the test says so.
 */
#ifndef RTE_TEST_FRONT_H
#define RTE_TEST_FRONT_H

#include "pair.h"
#include "peer/inside.h"

struct front {
	/* 0: the lower provider does. A code: it is the answer. */
	ssize_t send, write, recv;
	bool swallow; /* nothing is sent, and the answer is 0 */
	/* Of Sends, those that are refused too; may change the bytes. NULL: nobody looks.
	 */
	void (*see)(struct front *front, uint8_t *bytes, size_t len);
	unsigned int sends, writes; /* calls */
	unsigned int injects;	    /* of sends: fi_inject */
	unsigned int recvs;
	/* What see counts and remembers. */
	unsigned int seen;
	uint64_t value;
	uint8_t type; /* of the messages that it looks for */
	/* front.c's */
	struct pair_end *end;
	struct fi_ops_msg msg;
	struct fi_ops_rma rma;
};

/* Until pair_close, or front_remove, which comes before the endpoint is closed. */
void front_put(struct front *front, struct rte_peer *peer);
void front_remove(struct front *front);

/* Offsets in a message (wire.h). */
#define FRONT_TYPE 2
#define FRONT_CREDIT 6

#endif
