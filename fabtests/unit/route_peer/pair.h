/* SPDX-License-Identifier: BSD-2-Clause */
/* Two ports over provider tcp in one process, and a connection between them. */
#ifndef RTE_TEST_PAIR_H
#define RTE_TEST_PAIR_H

#include "peer/peer.h"

enum { PAIR_A, PAIR_B, PAIR_ENDS }; /* A connects, B listens */

struct pair_end {
	struct rte_config *config;
	struct rte_net *net;
	struct rte_arena *arena;
	struct rte_port *port;
	struct rte_peer *peer;
	unsigned int ups, downs, readies;
	int err; /* of ops->down */
	/* What arrived and was not put. */
	struct crn_list rxs;
	unsigned int messages;
	char log[512]; /* the last line */
	unsigned int lines;
	unsigned int denied[RTE_DENIALS];
	/* The endpoint that has something in front of it, and its own functions; NULL. */
	struct fid_ep *ep;
	struct fi_ops_msg *msg;
	struct fi_ops_rma *rma;
};

struct pair {
	struct pair_end end[PAIR_ENDS], *a, *b;
	struct rte_listener *listener;
	union crn_addr address;
	bool refuse, full, crowded;
	int ret;      /* of rte_peer_accept */
	int dones[2]; /* for a test: messages that ended well, and with an error */
	/* What somebody between the two does to A's preamble. NULL: nothing. */
	void (*meddle)(struct rte_request *request);
};

struct pair_attr {
	enum rte_role role[PAIR_ENDS]; /* 0: CLIENT and TARGET */
	uint32_t lands;		       /* of each arena; 0: none */
	uint32_t messages;	       /* 0: enough */
	bool crowded;		       /* B has no memory for a peer */
	unsigned int heartbeat;	       /* ms; 0: 1 s */
	bool requires[PAIR_ENDS];      /* auth = required */
	const struct rte_auth_ring *keys[PAIR_ENDS];
	uint16_t receives[RTE_LANES]; /* 0: 12 and 6, which stay */
	bool elastic[PAIR_ENDS];      /* as many as it needs */
};

/* Ports and a listener; ends the test if there are none. A pair that is open is closed
 * first. */
void pair_open(struct pair *pair, const struct pair_attr *attr);
/* A connects. */
void pair_begin(struct pair *pair);
/* And both are up. */
void pair_connect(struct pair *pair);
/* pair_open and pair_connect. */
void pair_up(struct pair *pair, const struct pair_attr *attr);
/* One round of progress of both. */
void pair_turn(struct pair *pair);
/* Rounds until it is so, for at most 10 s. */
#define PAIR_UNTIL(pair, condition)                                                \
	do {                                                                       \
		const uint64_t end_ = crn_now_ms() + 10000;                        \
		bool so_;                                                          \
		while (!(so_ = (condition)) && crn_now_ms() < end_)                \
			pair_turn(pair);                                           \
		CT_OR_RETURN(ct_truth(__FILE__, __LINE__, #condition, so_, true)); \
	} while (0)
/* Everything that arrived is put. */
void pair_put_all(struct pair_end *end);
/* Its connection ended with err, and one line of the log names the peer. */
void pair_expect_left(const struct pair_end *end, int err);
/* Closes the peers of both ends. */
void pair_part(struct pair *pair);
/* Closes what is open, and checks that all memory was returned. */
void pair_close(struct pair *pair);
/* Removes what is in front of the endpoint. */
void pair_end_bare(struct pair_end *end);

/* piece bytes at offset of a message of len bytes of data. */
struct pair_message {
	uint64_t seq;
	const void *data;
	size_t len, offset, piece;
	bool slot; /* through a landing slot */
};

/* False: not now. */
bool pair_send(struct pair_end *end, const struct pair_message *message,
	       void (*done)(struct rte_tx *tx, int err), void *user);

#endif
