/* SPDX-License-Identifier: BSD-2-Clause */
/* What two programs do over a connection, and what may go wrong. */
#ifndef XRP_SCENARIO_H
#define XRP_SCENARIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIDES 2u /* 0 connects, 1 listens */
#define CALLS 3u /* of a side, at most */
#define RECEIVES 4u

/* What a Call brings along. In wrap mode each is a message: KIND_SHORT or KIND_LONG. */
enum kind {
	KIND_SHORT,  /* inline, as its Reply */
	KIND_LONG,   /* a Read chunk at position zero */
	KIND_DDP,    /* an item in a Read chunk */
	KIND_RESULT, /* a Write chunk */
	KIND_REPLY,  /* a Reply chunk: a receive for this Reply alone, which is long */
};

struct plan_call {
	uint32_t xid; /* 0: there are no more */
	enum kind kind;
	bool delivery; /* FI_DELIVERY_COMPLETE */
	bool cancel;   /* it may be cancelled */
};

struct plan_side {
	struct plan_call call[CALLS];
	size_t credits;	 /* requested of the peer; 0: 1 */
	size_t grant;	 /* for the peer; 0: 1 */
	size_t receives; /* posted first, and again when they complete */
	size_t late;	 /* of them, those that a step posts */
	bool copies;	 /* the layer copies what is long */
	bool chunkless;	 /* FI_CAIRN_RPC_CHUNKS_NONE */
	bool shuts;	 /* it may shut the connection down */
	/* Wrap mode: it sends when it has received this many messages, and for each one
	 * behind them, before it reads on. 0: it sends whenever it likes. */
	uint8_t answers;
	uint8_t starts; /* of one that answers: messages that it sends before */
};

struct scenario {
	const char *name;
	struct plan_side side[SIDES];
	bool wrap; /* mode; rpc without */
	/* What was posted may be over for a while before its end reads of it, so that
	 * several are read at once. Without, programs read at once. */
	bool reads_late;
	bool is_large; /* too many states for all of them: faults are looked for */
	bool breaks;   /* the network may lose the connection */
	bool may_fail; /* the layer may end the connection: chunks of a cancelled Call */
};

/* By number; NULL: there is none any more. */
const struct scenario *xrp_scenario_at(unsigned int number);

/* What a search finds. */
enum wrong {
	WRONG_STUCK = 1 << 0,	/* an operation does not end */
	WRONG_TWICE = 1 << 1,	/* it ends twice */
	WRONG_LOST = 1 << 2,	/* it ended, and was not reported */
	WRONG_CREDIT = 1 << 3,	/* more Calls than the peer granted */
	WRONG_XID = 1 << 4,	/* a Reply reached another Call */
	WRONG_BYTES = 1 << 5,	/* contents of a message or chunk */
	WRONG_FENCE = 1 << 6,	/* the peer reaches memory of what has ended */
	WRONG_RECEIVE = 1 << 7, /* a message arrived where no receive was posted */
	WRONG_ERROR = 1 << 8,	/* an error that nothing explains */
	WRONG_WIRE = 1 << 9,	/* a message that must not be sent */
	WRONG_ORDER = 1 << 10,	/* wrap mode: messages out of order */
	WRONG_MEMORY = 1 << 11, /* regions are left when all is over */
};

#endif
