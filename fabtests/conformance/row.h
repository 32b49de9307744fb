/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A row of the conformance tables is a test of its name. An rpcrdma endpoint ("the
 * layer") is connected to a raw peer; the test says what each does, and what has to come
 * of it.
 *
 *	ROW_BOTH(B04)
 *	{
 *		raw_reply(7, 1);
 *		EXPECT_SOON(stats().drop_xid == 1);
 *	}
 *
 * ROW_BOTH runs it twice: the layer connects, and it listens. The row begins connected;
 * what is open when it has ended is closed by itself.
 */
#ifndef CONF_ROW_H
#define CONF_ROW_H

#include "end.h"
#include "pump.h"
#include "raw.h"
#include "say.h"

enum row_role { ROW_CONNECTS = 1, ROW_LISTENS = 2 };

#define ROW_CASE(name, roles)               \
	static void row_##name(void);       \
	CT_TEST(rpc, name)                  \
	{                                   \
		row_run(row_##name, roles); \
	}                                   \
	static void row_##name(void)
#define ROW_BOTH(name) ROW_CASE(name, ROW_CONNECTS | ROW_LISTENS)
#define ROW_CLIENT(name) ROW_CASE(name, ROW_CONNECTS) /* the layer connects */
#define ROW_SERVER(name) ROW_CASE(name, ROW_LISTENS)
/* One that is a call. */
#define ROW_BOTH_IS(name, call) \
	ROW_BOTH(name)          \
	{                       \
		call;           \
	}

void row_run(void (*row)(void), int roles);

/* What the row is about; a row that changes it calls RECONNECT(). */
struct row_setup {
	struct end_setup end;
	/* The raw peer's private data: sizes, R, and the marker of a peer of this
	 * provider; or these bytes instead, if len is not 0. */
	struct rpr_private priv;
	bool marker;
	uint8_t data[56];
	size_t len;
	bool silent;	 /* none at all */
	uint32_t credit; /* of raw_call and raw_reply where nothing else is said */
};

struct row_world {
	bool connects; /* the layer's role */
	struct row_setup set;
	struct end end;
	struct raw raw;
};

extern struct row_world w;

/* Connects once more, with new endpoints of both, or ends the row. */
#define RECONNECT() CT_OR_RETURN(reconnect())
bool reconnect(void);
/* Closes the endpoints of both. */
void down(void);

/* The inline thresholds of this connection, from the private data of both ends. */
size_t layer_inline(void); /* of what the layer sends */
size_t raw_inline(void);

/* Memory until the end of the row, zeroed. */
void *row_memory(size_t len);

/* ---- the layer ---- */

/* A Call or a Reply of len bytes; what fi_sendmsg returned. */
ssize_t layer_call(uint32_t xid, size_t len);
ssize_t layer_reply(uint32_t xid, size_t len);
/* The same, which has to succeed; the op, for its completion. */
struct op *layer_calls(uint32_t xid, size_t len);
struct op *layer_replies(uint32_t xid, size_t len);
/* A message with items that are DDP-eligible, as end_sendv has it: it has the bytes of
 * an unreduced message. */
struct op *layer_sends(uint32_t xid, bool call, const size_t *lens, size_t count,
		       uint64_t ddp);
/* The next message that the program got is this one, of len bytes. */
void layer_got_call(uint32_t xid, size_t len);
void layer_got_reply(uint32_t xid, size_t len);
/* It is this error, about that Call; prov_errno 0: any. */
void layer_got_error(uint32_t xid, int err, int prov_errno);
/* The next ones are about so many Calls, of XIDs from first on, in any order. */
void layer_got_errors(uint32_t first, uint32_t count, int err);
/* ... or has these bytes. */
void layer_got_bytes(const void *bytes, size_t len);
struct fi_cairn_rpc_stats stats(void);

/* ---- the raw peer ---- */

struct rpr_header raw_header(uint32_t xid, enum rpr_proc proc);
/* A Short Message of the shortest kind, or of len bytes. */
void raw_call(uint32_t xid);
void raw_call_of(uint32_t xid, size_t len);
void raw_reply(uint32_t xid);
void raw_reply_of(uint32_t xid, size_t len);
void raw_reply_grants(uint32_t xid, uint32_t credit);
void raw_call_asks(uint32_t xid, uint32_t credit);
/* A header, and a Call or Reply of len bytes inline. */
void raw_call_with(const struct rpr_header *header, size_t len);
void raw_reply_with(const struct rpr_header *header, size_t len);
/* The next message that it got is a whole Short Call or Reply. */
const struct raw_message *raw_got_call(uint32_t xid, size_t len);
const struct raw_message *raw_got_reply(uint32_t xid, size_t len);
/* The next one has a good header of that kind. */
const struct raw_message *raw_got(uint32_t xid, enum rpr_proc proc);
void raw_got_err_chunk(uint32_t xid);

/* Words of any kind. */
#define RAW_WORDS(...)                             \
	raw_words((const uint32_t[]){__VA_ARGS__}, \
		  sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))
void raw_words(const uint32_t *words, size_t count);

/* ---- both ---- */

/* The layer has a Call outstanding, and the raw peer has it. */
void layer_asks(uint32_t xid);
/* ... and its Reply comes, which grants that many credits. */
void layer_asks_and_gets(uint32_t xid, uint32_t grant);
/* The Reply to that Call reaches the program. */
void layer_gets(uint32_t xid);
/* The raw peer's Call reaches the program, and is replied to. */
void raw_asks(uint32_t xid);
const struct raw_message *raw_asks_and_gets(uint32_t xid);
/* The raw peer has the Reply to that Call. */
void raw_gets(uint32_t xid);
/* A Call with that header reaches the program. */
void raw_asks_with(const struct rpr_header *header);
/*
 * Nothing that came before has an effect any more that is still to be seen: the layer
 * has handled all that the raw peer sent, and the raw peer has what the layer sent. The
 * connection lives. By Calls of XIDs from 0xff000000 on.
 */
void settle(void);

#endif
