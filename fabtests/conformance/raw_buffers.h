/* SPDX-License-Identifier: BSD-2-Clause */
/* The buffers of a raw peer, in one region. */
#ifndef CONF_RAW_BUFFERS_H
#define CONF_RAW_BUFFERS_H

#include <stdbool.h>
#include "raw.h"

#define RAW_RECVS 256 /* at most */
#define RAW_SENDS 32

enum raw_kind { RAW_RECV, RAW_SEND, RAW_RMA };

struct raw_op {
	struct fi_context2 context; /* the provider's */
	enum raw_kind kind;
	unsigned int slot;
	unsigned int era; /* of the endpoint it was posted to */
	bool busy;
};

struct raw_buffers {
	unsigned int recvs; /* that the provider takes */
	unsigned int era;
	struct raw_op recv_op[RAW_RECVS];
	struct raw_op send_op[RAW_SENDS];
	struct raw_op rma_op;
	uint8_t recv[RAW_RECVS][RAW_SIZE];
	uint8_t send[RAW_SENDS][RAW_SIZE];
	uint8_t scratch[RAW_SCRATCH]; /* of RDMA Read and Write */
};

void raw_buffers_open(struct raw *raw);
/* For a new endpoint. */
void raw_buffers_reset(struct raw *raw);
void raw_buffers_close(struct raw *raw);

#endif
