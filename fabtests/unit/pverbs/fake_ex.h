/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The extended interface of a queue pair, as a library of version 56 has it, longer than
 * the structure of our headers. It remembers what was added between wr_start and
 * wr_complete, and posts it to a fake queue pair, where FLUSH and ATOMIC WRITE are
 * writes.
 */
#ifndef PVB_FAKE_EX_H
#define PVB_FAKE_EX_H

#include "fake_verbs.h"

#define FAKE_EX_MOST 16

struct fake_ex_wr {
	/* S send, s with data, W write, w with data, R read, + fetch and add, ? compare
	 * and swap, F flush, A atomic write */
	char kind;
	uint64_t wr_id, addr, compare_add, swap;
	uint64_t len; /* F: bytes */
	unsigned int flags, type, level;
	uint32_t rkey;
	__be32 imm;
	size_t num_sge;
	struct ibv_sge sge[2];
};

struct fake_ex {
	union {
		struct ibv_qp_ex qp;
		char bytes[sizeof(struct ibv_qp_ex) + 64];
	};
	struct ibv_qp *to; /* NULL: nowhere */
	/* Of the newest call. */
	struct fake_ex_wr wr[FAKE_EX_MOST];
	char kinds[FAKE_EX_MOST + 1];
	unsigned int count;
	unsigned int starts; /* calls */
	int refused;	     /* an errno for what comes */
};

extern struct fake_ex fake_ex;

/* From here on fake_ex.qp posts to that queue pair. */
void fake_ex_reset(struct ibv_qp *to);

#endif
