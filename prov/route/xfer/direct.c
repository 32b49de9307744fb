/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The bypass, of the end that reads and writes. Where the peer is the other end, a key
 * that is used again and again is asked for, and from then on reads and writes of its
 * region are the lower provider's own, from the program's memory to the other program's.
 * They share its endpoint with the messages, whose order is thereby theirs too: one goes
 * straight only when no message before it can still wait at the target. All else, and
 * whatever the target has to refuse, is a message as through routers.
 *
 * The target recalls a key when its region closes. It is answered when nothing of the
 * bypass is outstanding, so that the region is not touched behind the answer.
 */
#include "ops.h"

/* Regions that are used less often are not worth the messages: many are for one read. */
#define KEY_USES 4u

static struct rte_vc_key *key_place(struct rte_vc *vc, uint64_t key)
{
	return &vc->keys[(key * 0x9e3779b97f4a7c15u) >> 59];
}

_Static_assert(RTE_VC_KEYS == 1u << (64 - 59), "bits of key_place");

static void key_ask(struct rte_vc *vc, struct rte_vc_key *key)
{
	struct rte_tx *tx = rte_tx_get(vc->peer, RTE_RESPONSES, RTE_SMALL_ROOM);
	const struct rte_mr_resolve resolve = {.key = key->key};
	struct rte_packet packet;
	ssize_t len;

	if (!tx)
		return;
	rte_vc_head(vc, &packet, RTE_MR_RESOLVE, 0, false);
	len = rte_mr_resolve_pack(&packet, &resolve, tx->bytes, tx->room);
	assert(len > 0);
	tx->len = (size_t)len;
	key->state = RTE_VC_KEY_ASKED;
	rte_tx_post(tx);
}

/* Known keys stay until they are recalled. */
void rte_vc_key_used(struct rte_vc *vc, uint64_t number)
{
	struct rte_vc_key *key = key_place(vc, number);

	if (key->state != RTE_VC_KEY_COUNTED && key->state != RTE_VC_KEY_BARRED)
		return;
	if (key->key != number)
		*key = (struct rte_vc_key){.key = number};
	if (key->state == RTE_VC_KEY_COUNTED && ++key->uses >= KEY_USES)
		key_ask(vc, key);
}

static bool key_allows(const struct rte_vc_key *key, const struct rte_vc_op *op)
{
	const uint32_t access =
		op->type == RTE_WRITE ? RTE_ACCESS_WRITE : RTE_ACCESS_READ;

	return (key->access & access) && op->addr <= key->length &&
	       op->length <= key->length - op->addr;
}

/* What the lower provider does as it is asked for here. */
static bool op_fits(const struct rte_vc *vc, const struct rte_vc_op *op)
{
	const struct rte_port *port = vc->peer->port;

	if (!op->length || op->has_data || op->begun || op->level == RTE_VC_DURABLE ||
	    op->length > port->lower_rma || op->iov_count > port->lower_iov)
		return false;
	if (op->copy)
		return op->length <= port->lower_inject;
	return !port->mr_local ||
	       (op->type == RTE_WRITE && op->iov_count == 1 && op->desc[0]);
}

/*
 * What was sent before has to have left the target's receives. Writes and reads leave
 * them by themselves, and are worth waiting for: a program that always has some
 * outstanding would have messages for ever.
 */
static enum rte_vc_way target_way(struct rte_vc *vc)
{
	if (vc->framed <= vc->reached)
		return RTE_VC_STRAIGHT;
	if (rte_peer_idle(vc->peer)) {
		vc->framed = vc->received = 0;
		return RTE_VC_STRAIGHT;
	}
	return vc->received <= vc->reached ? RTE_VC_LATER : RTE_VC_FRAMED;
}

static void straight_done(struct rte_tx *tx, int err)
{
	struct rte_vc *vc = tx->user;
	struct rte_vc_op *op = rte_vc_op(vc, tx->number);

	vc->lower--;
	vc->straight--;
	op->lower--;
	if (crn_unlikely(err))
		op->lost = true;
	rte_vc_settle(vc);
}

static bool straight_post(struct rte_vc *vc, struct rte_vc_op *op, uint64_t seq,
			  const struct rte_vc_key *key)
{
	const struct fi_rma_iov range = {
		.addr = key->base + op->addr,
		.len = (size_t)op->length,
		.key = key->lower,
	};
	struct rte_tx *tx = rte_tx_direct(vc->peer);
	const struct fi_msg_rma msg = {
		.msg_iov = op->iov,
		.desc = op->desc,
		.iov_count = op->iov_count,
		.rma_iov = &range,
		.rma_iov_count = 1,
	};

	if (!tx)
		return false;
	tx->user = vc;
	tx->number = seq;
	tx->done = straight_done;
	tx->data_len = op->copy ? 0 : (size_t)op->length;
	return !rte_tx_rma(tx, &msg, op->type == RTE_READ_REQ,
			   (op->copy ? FI_INJECT : 0) |
				   (op->deliver ? FI_DELIVERY_COMPLETE : 0));
}

enum rte_vc_way rte_vc_direct(struct rte_vc *vc, struct rte_vc_op *op, uint64_t seq)
{
	struct rte_vc_key *key;
	enum rte_vc_way way;

	if (seq < vc->plain || !op_fits(vc, op))
		return RTE_VC_FRAMED;
	key = key_place(vc, op->key);
	if (key->key != op->key || key->state != RTE_VC_KEY_KNOWN || vc->recalled ||
	    !key_allows(key, op))
		return RTE_VC_FRAMED;
	way = target_way(vc);
	if (way != RTE_VC_STRAIGHT)
		return way;
	if (!straight_post(vc, op, seq, key))
		return RTE_VC_FRAMED;
	vc->wrote |= op->type == RTE_WRITE;
	op->level = RTE_VC_SENT;
	op->begun = true;
	op->lower++;
	vc->lower++;
	vc->straight++;
	vc->next++;
	return RTE_VC_STRAIGHT;
}

/* --- What the target says of its keys --- */

const char *rte_vc_informed(struct rte_vc *vc, const struct rte_mr_info *info)
{
	struct rte_vc_key *key = key_place(vc, info->key);

	if (key->key != info->key || key->state != RTE_VC_KEY_ASKED)
		return "MR_INFO of what was not asked for";
	key->state = info->status ? RTE_VC_KEY_BARRED : RTE_VC_KEY_KNOWN;
	key->access = info->access;
	key->lower = info->lower_key;
	key->base = info->base;
	key->length = info->length;
	key->epoch = info->epoch;
	return NULL;
}

/* Nothing more of the bypass is posted until it is answered. */
const char *rte_vc_recalled(struct rte_vc *vc, const struct rte_mr_inval *inval)
{
	struct rte_vc_key *key = key_place(vc, inval->key);

	if (key->key != inval->key || key->state != RTE_VC_KEY_KNOWN ||
	    key->epoch != inval->epoch)
		return "MR_INVAL of what is not known";
	key->state = RTE_VC_KEY_RECALLED;
	vc->recalled++;
	return NULL;
}

static bool key_return(struct rte_vc *vc, struct rte_vc_key *key)
{
	const struct rte_mr_inval inval = {.key = key->key, .epoch = key->epoch};

	if (!rte_vc_inval_post(vc, &inval, 0))
		return false;
	*key = (struct rte_vc_key){0};
	vc->recalled--;
	return true;
}

void rte_vc_return(struct rte_vc *vc)
{
	uint32_t i;

	if (vc->straight)
		return;
	for (i = 0; i < RTE_VC_KEYS; i++) {
		if (vc->keys[i].state == RTE_VC_KEY_RECALLED &&
		    !key_return(vc, &vc->keys[i]))
			return;
	}
}
