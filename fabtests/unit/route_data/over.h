/* SPDX-License-Identifier: BSD-2-Clause */
/* A connection over peers of provider tcp, in one process: the data path, and what is
 * below it. */
#ifndef OVER_H
#define OVER_H

#include <cairn/cq.h>
#include "route_peer/pair.h"
#include "xfer/xfer.h"

#define OVER_SIZE 64u	    /* operations, and receives */
#define OVER_MAX (8u << 20) /* bytes of a message */

struct over_end {
	struct rte_vc vc;
	struct fid_domain domain;
	struct fid_fabric fabric;
	struct crn_ep ep;
	struct crn_cq tx_cq, rx_cq;
	struct crn_mr_map map;
	unsigned int sent, received, failed, cancelled; /* completions */
	size_t bytes;					/* of those received */
	int err;					/* of the last that failed */
};

struct over {
	struct pair pair;
	struct over_end end[PAIR_ENDS];
};

/* lands: landing slots of each. */
void over_open(struct over *over, uint32_t lands);
void over_close(struct over *over);
/* Progress of both, and their completions. */
void over_turn(struct over *over);
#define OVER_UNTIL(over, condition)                                                \
	do {                                                                       \
		const uint64_t end_ = crn_now_ms() + 20000;                        \
		bool so_;                                                          \
		while (!(so_ = (condition)) && crn_now_ms() < end_)                \
			over_turn(over);                                           \
		CT_OR_RETURN(ct_truth(__FILE__, __LINE__, #condition, so_, true)); \
	} while (0)

ssize_t over_send(struct over_end *end, const void *buf, size_t len, uint64_t flags);
ssize_t over_recv(struct over_end *end, void *buf, size_t len);
ssize_t over_rma(struct over_end *end, bool reads, void *buf, size_t len, uint64_t addr,
		 uint64_t key);

#endif
