/* SPDX-License-Identifier: BSD-2-Clause */
/* RPC messages of wrap mode (RFC 5531 section 9). */
#include "wrap.h"

#define RPC_VERSION 2
#define WRAP_VERSION 1
#define RPC_MSG_ACCEPTED 0
#define RPC_SUCCESS 0

static void pack_auth_none(struct crn_pack *pack)
{
	crn_pack_be32(pack, 0);
	crn_pack_be32(pack, 0);
}

static bool unpack_auth_none(struct crn_unpack *in)
{
	return !crn_unpack_be32(in) & !crn_unpack_be32(in);
}

void rpr_wrap_pack_call(struct crn_pack *pack, uint32_t xid, uint32_t proc)
{
	crn_pack_be32(pack, xid);
	crn_pack_be32(pack, RPR_CALL);
	crn_pack_be32(pack, RPC_VERSION);
	crn_pack_be32(pack, WRAP_PROGRAM);
	crn_pack_be32(pack, WRAP_VERSION);
	crn_pack_be32(pack, proc);
	pack_auth_none(pack);
	pack_auth_none(pack);
}

void rpr_wrap_pack_reply(struct crn_pack *pack, uint32_t xid)
{
	crn_pack_be32(pack, xid);
	crn_pack_be32(pack, RPR_REPLY);
	crn_pack_be32(pack, RPC_MSG_ACCEPTED);
	pack_auth_none(pack);
	crn_pack_be32(pack, RPC_SUCCESS);
}

/* XID and direction have been looked at. */
static bool unpack_call(struct crn_unpack *in, uint32_t *proc)
{
	bool good;

	crn_unpack_ref(in, 8);
	good = crn_unpack_be32(in) == RPC_VERSION;
	good &= crn_unpack_be32(in) == WRAP_PROGRAM;
	good &= crn_unpack_be32(in) == WRAP_VERSION;
	*proc = crn_unpack_be32(in);
	good &= unpack_auth_none(in);
	good &= unpack_auth_none(in);
	return good && !in->failed;
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
	struct crn_unpack in;
	bool good;

	crn_unpack_init(&in, arrival->bytes, arrival->inline_len);
	crn_unpack_ref(&in, 8);
	good = crn_unpack_be32(&in) == RPC_MSG_ACCEPTED;
	good &= unpack_auth_none(&in);
	good &= crn_unpack_be32(&in) == RPC_SUCCESS;
	if (!good || in.failed)
		return RPR_DROPPED;
	if (!in.left)
		return RPR_EMPTY;
	return unpack_message(arrival, &in) ? RPR_TAKEN : RPR_DROPPED;
}
