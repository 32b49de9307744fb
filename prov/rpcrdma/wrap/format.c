/* SPDX-License-Identifier: BSD-2-Clause */
/* RPC messages of wrap mode (RFC 5531 section 9). */
#include "wrap.h"

#define RPC_VERSION 2
#define WRAP_VERSION 1

/* The words of a Call and of a Reply; those that are not named are 0, as AUTH_NONE is. */
enum { XID, DIRECTION, CALL_RPC_VERSION, CALL_PROGRAM, CALL_VERSION, CALL_PROC };
#define CALL_WORDS (WRAP_CALL_LEN / 4)
#define REPLY_WORDS (WRAP_REPLY_LEN / 4)

static void pack_words(struct crn_pack *pack, const uint32_t *words, size_t len)
{
	uint8_t *at = crn_pack_room(pack, len);

	if (at)
		memcpy(at, words, len);
}

void rpr_wrap_pack_call(struct crn_pack *pack, uint32_t xid, uint32_t proc)
{
	const uint32_t words[CALL_WORDS] = {
		[XID] = htobe32(xid),
		[DIRECTION] = htobe32(RPR_CALL),
		[CALL_RPC_VERSION] = htobe32(RPC_VERSION),
		[CALL_PROGRAM] = htobe32(WRAP_PROGRAM),
		[CALL_VERSION] = htobe32(WRAP_VERSION),
		[CALL_PROC] = htobe32(proc),
	};

	pack_words(pack, words, sizeof(words));
}

/* Accepted, AUTH_NONE, success: all of them 0. */
void rpr_wrap_pack_reply(struct crn_pack *pack, uint32_t xid)
{
	const uint32_t words[REPLY_WORDS] = {
		[XID] = htobe32(xid),
		[DIRECTION] = htobe32(RPR_REPLY),
	};

	pack_words(pack, words, sizeof(words));
}

/* XID and direction have been looked at. */
static bool unpack_call(struct crn_unpack *in, uint32_t *proc)
{
	const uint8_t *at = crn_unpack_ref(in, WRAP_CALL_LEN);
	uint32_t words[CALL_WORDS];

	if (!at)
		return false;
	memcpy(words, at, sizeof(words));
	*proc = be32toh(words[CALL_PROC]);
	return words[CALL_RPC_VERSION] == htobe32(RPC_VERSION) &&
	       words[CALL_PROGRAM] == htobe32(WRAP_PROGRAM) &&
	       words[CALL_VERSION] == htobe32(WRAP_VERSION) &&
	       !(words[6] | words[7] | words[8] | words[9]);
}

/* An opaque whose length is next; what follows may be in a chunk. */
static bool unpack_message(struct rpr_arrival *arrival, struct crn_unpack *in)
{
	const size_t len = crn_unpack_be32(in);

	if (in->failed)
		return false;
	arrival->skip = arrival->inline_len - in->left;
	if (len > arrival->len - arrival->skip)
		return false;
	arrival->len = len;
	return true;
}

bool rpr_wrap_parse_call(struct rpr_serve *serve)
{
	struct rpr_arrival *arrival = &serve->arrival;
	struct crn_unpack in;
	uint32_t proc;

	crn_unpack_init(&in, arrival->bytes, arrival->inline_len);
	if (!arrival->bytes || !unpack_call(&in, &proc))
		return false;
	serve->urgent = (proc & WRAP_URGENT) || arrival->layout;
	proc &= ~(uint32_t)WRAP_URGENT;
	if (proc == WRAP_SEND)
		return unpack_message(arrival, &in);
	arrival->data = crn_unpack_be64(&in);
	if (proc == WRAP_SEND_DATA) {
		arrival->flags |= FI_REMOTE_CQ_DATA;
		return unpack_message(arrival, &in);
	}
	arrival->flags = FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA;
	arrival->len = crn_unpack_be32(&in);
	return proc == WRAP_WRITE_DATA && crn_unpack_done(&in) && !arrival->layout;
}

enum rpr_taken rpr_wrap_parse_reply(struct rpr_arrival *arrival)
{
	uint32_t words[REPLY_WORDS];
	struct crn_unpack in;
	const uint8_t *at;

	crn_unpack_init(&in, arrival->bytes, arrival->inline_len);
	at = crn_unpack_ref(&in, sizeof(words));
	if (!at)
		return RPR_DROPPED;
	memcpy(words, at, sizeof(words));
	if (words[2] | words[3] | words[4] | words[5])
		return RPR_DROPPED;
	if (!in.left)
		return RPR_EMPTY;
	return unpack_message(arrival, &in) ? RPR_TAKEN : RPR_DROPPED;
}
