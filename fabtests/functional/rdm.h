/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cases of fi_cairn_rdm: reliable datagram endpoints, one at the server and many peers of
 * it at the client. Every case begins with nobody connected to anybody, and all peers act
 * at once.
 */
#ifndef FCT_RDM_H
#define FCT_RDM_H

#include <rdma/fi_tagged.h>

#include "fct_fabric.h"

#define RDM_BURST 3u	 /* operations of a peer */
#define RDM_LEN 20000u	 /* bytes of the longest message: more than layers buffer */
#define RDM_REGION 4096u /* bytes of a peer's part of the server's region */

struct rdm_peer;

/* One operation: what its completion points to. */
struct rdm_op {
	struct fct_ctx ctx;
	struct rdm_peer *peer;
	unsigned int n; /* of the peer's operations */
	bool receives;
	bool done;
};

/* At the client an endpoint, at the server what is known of it. */
struct rdm_peer {
	struct fct_conn c;
	uint32_t number;
	fi_addr_t to; /* the other side, as this side's address vector has it */
	struct fct_target target;
	uint8_t *send, *recv; /* RDM_BURST pieces of RDM_LEN bytes each */
	uint8_t *region;      /* RDM_REGION bytes */
	struct rdm_op out[RDM_BURST], in[RDM_BURST];
	uint64_t result;
};

struct rdm {
	struct fct_link l;
	struct rdm_peer *peers; /* fct_rdm_count */
	struct fct_conn server; /* its endpoint, at the server */
	struct fct_mem buffers, regions;
	unsigned int sent, received; /* completions */
};

/* -n */
extern uint32_t fct_rdm_count;

/* rdm.c */

/* Everything up to and including the addresses of the other side. */
int fct_rdm_up(struct rdm *r, uint64_t caps);
/* The same with another way of progress. */
int fct_rdm_up_by(struct rdm *r, uint64_t caps, enum fi_progress data_progress);
void fct_rdm_end(struct rdm *r);
/* The endpoint that speaks for the peer on this side. */
static inline struct fid_ep *rdm_ep(const struct rdm *r, const struct rdm_peer *p)
{
	return p->c.ep ? p->c.ep : r->server.ep;
}
/* Bytes of a peer's n-th message. */
size_t fct_rdm_len(unsigned int n);
/* What that message has in it when it comes from the client, or from the server. */
uint64_t fct_rdm_seed(const struct rdm_peer *p, unsigned int n, bool from_client);
/*
 * Reads completions until so many operations were sent and received in all. check is
 * called for each; it looks at what the completion says.
 */
int fct_rdm_await(struct rdm *r, unsigned int sent, unsigned int received,
		  int (*check)(struct rdm *r, struct rdm_op *op,
			       const struct fi_cq_tagged_entry *e),
		  const char *what);
/* The server's region and those of the peers become known to the other side. */
int fct_rdm_exchange_targets(struct rdm *r);
/*
 * Posts, driving progress and taking completions (none may fail) while the provider says
 * -FI_EAGAIN; returns -1 as FCT_POST does.
 */
#define RDM_POST(r, check, call)                                     \
	do {                                                         \
		struct fct_wait w_;                                  \
		int ret_;                                            \
                                                                     \
		fct_wait_init(&w_, "room for " #call);               \
		while ((ret_ = (int)(call)) == -FI_EAGAIN) {         \
			FCT_DO(fct_rdm_take(r, check));              \
			FCT_DO(fct_wait_again(&w_));                 \
		}                                                    \
		if (ret_)                                            \
			FCT_FAIL("%s returned %d (%s)", #call, ret_, \
				 fi_strerror(-ret_));                \
	} while (0)
/* Takes what completions there are: how many, or < 0. */
int fct_rdm_take(struct rdm *r, int (*check)(struct rdm *r, struct rdm_op *op,
					     const struct fi_cq_tagged_entry *e));

#endif
