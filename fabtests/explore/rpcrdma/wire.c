/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include "world.h"
/* Not of the scripted provider, but it sees what passes through it. */
#include "script/world.h"
#include "objects.h"
#include "program.h"
#include "wrap.h"

static struct scr_ep *lower(unsigned int side)
{
	return crn_container_of(xrp_world_lower(side), struct scr_ep, fid);
}

static unsigned int side_of(const struct scr_ep *ep)
{
	return ep == lower(1);
}

static void note(unsigned int wrong)
{
	xrp_program.wrong |= wrong;
}

/* ---- a message ---- */

enum sort { SORT_CALL, SORT_REPLY, SORT_ERROR, SORT_BAD };

struct message {
	struct rpr_header header;
	uint8_t bytes[2048];
	size_t len;
	enum sort sort;
};

static enum sort sort_of(struct message *message)
{
	struct rpr_header *header = &message->header;
	enum rpr_direction direction;
	uint32_t xid;
	size_t used;

	if (rpr_header_parse(header, message->bytes, message->len, &used))
		return SORT_BAD;
	if (header->proc == RPR_ERROR)
		return SORT_ERROR;
	if (header->proc == RPR_NOMSG)
		return header->read_count ? SORT_CALL : SORT_REPLY;
	if (!rpr_message_parse(message->bytes + used, message->len - used, &xid,
			       &direction) ||
	    xid != header->xid)
		return SORT_BAD;
	return direction == RPR_CALL ? SORT_CALL : SORT_REPLY;
}

static void gather(struct message *message, const struct scr_work *work, size_t len)
{
	size_t part;

	memset(message, 0, sizeof(*message));
	for (size_t i = 0; i < work->iov_count && message->len < len; i++) {
		part = CRN_MIN(work->iov[i].iov_len, len - message->len);
		memcpy(message->bytes + message->len, work->iov[i].iov_base, part);
		message->len += part;
	}
	message->sort = sort_of(message);
}

/* ---- on its way out ---- */

static void keep(struct call_state *call, const struct rpr_seg *seg)
{
	if (call->handles < HANDLES)
		call->handle[call->handles++] = seg->handle;
	else
		note(WRONG_WIRE);
}

static void keep_handles(struct call_state *call, const struct rpr_header *header)
{
	for (uint32_t i = 0; i < header->read_count; i++)
		keep(call, &header->read[i].seg);
	for (uint32_t i = 0; i < header->write_count; i++)
		keep(call, &header->write[i].seg[0]);
	if (header->has_reply)
		keep(call, &header->reply.seg[0]);
}

static void call_posted(unsigned int side, const struct message *message)
{
	const struct plan_side *plan = &xrp_running->side[side];
	struct side_state *state = &xrp_program.side[side];
	const uint32_t asked = plan->credits ? (uint32_t)plan->credits : 1;

	if (message->header.credit != asked)
		note(WRONG_WIRE);
	if (++state->wire.in_flight > CRN_MIN(state->wire.limit, asked))
		note(WRONG_CREDIT);
	if (xrp_program.calling < CALLS && xrp_program.calling_side == side)
		keep_handles(&state->call[xrp_program.calling], &message->header);
}

static void reply_posted(unsigned int side, const struct message *message)
{
	const struct plan_side *plan = &xrp_running->side[side];
	struct wire_side *wire = &xrp_program.side[side].wire;

	if (message->sort == SORT_REPLY &&
	    message->header.credit != (plan->grant ? plan->grant : 1))
		note(WRONG_WIRE);
	if (++wire->answered > wire->taken)
		note(WRONG_WIRE);
}

WRAP(void, scr_work_start, struct scr_work *work)
{
	const unsigned int side = side_of(work->ep);
	struct message message;

	if (work->op == SCR_SEND) {
		gather(&message, work, work->len);
		if (message.sort == SORT_BAD)
			note(WRONG_WIRE);
		else if (message.sort == SORT_CALL)
			call_posted(side, &message);
		else
			reply_posted(side, &message);
	}
	__real_scr_work_start(work);
}

/* ---- on its way in ---- */

static void received(unsigned int side, const struct message *message)
{
	struct wire_side *wire = &xrp_program.side[side].wire;

	if (message->sort == SORT_CALL) {
		wire->taken++;
		return;
	}
	if (!wire->in_flight--)
		note(WRONG_WIRE);
	if (message->sort == SORT_REPLY)
		wire->limit = CRN_MAX(message->header.credit, 1U);
}

/* From here on the layer knows. */
WRAP(void, scr_work_report, struct scr_work *work)
{
	struct message message;

	if (work->op == SCR_RECV && !work->err) {
		gather(&message, work, work->done_len);
		received(side_of(work->ep), &message);
	}
	__real_scr_work_report(work);
}

/* ---- regions ---- */

#define REMOTE (FI_REMOTE_READ | FI_REMOTE_WRITE)

static bool is_open(const struct scr_domain *domain, uint32_t handle)
{
	struct crn_list *pos;
	struct scr_mr *mr;

	crn_list_for_each (pos, &scr_objects) {
		if (crn_container_of(pos, struct scr_object, entry)->fid->fclass !=
		    FI_CLASS_MR)
			continue;
		mr = crn_container_of(pos, struct scr_mr, object.entry);
		if (mr->domain == domain && (uint32_t)mr->fid.key == handle)
			return true;
	}
	return false;
}

static void check_fence(unsigned int side, const struct call_state *call)
{
	for (unsigned int i = 0; i < call->handles; i++)
		if (is_open(lower(side)->domain, call->handle[i]))
			note(WRONG_FENCE);
}

/* Of a Reply that is there, by its third word from the end of the header on: the call's
 * number. */
static struct call_state *answered_call(struct side_state *state, const uint8_t *reply,
					unsigned int side)
{
	enum rpr_direction direction;
	uint32_t xid;

	if (xrp_running->wrap || !rpr_message_parse(reply, 8, &xid, &direction) ||
	    direction != RPR_REPLY)
		return NULL;
	for (unsigned int i = 0; i < CALLS; i++)
		if (xrp_running->side[side].call[i].xid == xid &&
		    state->call[i].accepted && !state->call[i].answers)
			return &state->call[i];
	return NULL;
}

/* The completion says that the peer reaches nothing of the Call any more. */
static void reports(unsigned int side, const void *context, const void *buf, bool failed,
		    uint64_t data)
{
	struct side_state *state = &xrp_program.side[side];
	const unsigned int number = context_number(context);
	const struct call_state *call = NULL;

	switch (context_kind(context)) {
	case CONTEXT_CALL:
		if (failed || xrp_running->side[side].call[number].delivery)
			call = &state->call[number];
		break;
	case CONTEXT_RESULT:
	case CONTEXT_REPLY_AT:
		call = &state->call[number];
		break;
	case CONTEXT_RECEIVE:
		if (!failed)
			call = answered_call(state, buf, side);
		for (unsigned int i = 0; failed && data && i < CALLS; i++)
			if (xrp_running->side[side].call[i].xid == data &&
			    state->call[i].accepted && !state->call[i].answers)
				call = &state->call[i];
		break;
	case CONTEXT_REPLY:
		break;
	}
	if (call)
		check_fence(side, call);
}

static unsigned int side_of_cq(const struct crn_cq *cq)
{
	unsigned int side;

	for (side = 0; side < SIDES && &cq->fid != xrp_world.end[side].cq; side++)
		;
	return side;
}

WRAP(void, crn_cq_write, struct crn_cq *cq, const struct crn_cq_comp *comp)
{
	const unsigned int side = side_of_cq(cq);

	if (side < SIDES)
		reports(side, comp->entry.op_context, comp->entry.buf, false, 0);
	__real_crn_cq_write(cq, comp);
}

WRAP(void, crn_cq_write_err, struct crn_cq *cq, const struct fi_cq_err_entry *err,
     fi_addr_t src_addr)
{
	const unsigned int side = side_of_cq(cq);

	if (side < SIDES)
		reports(side, err->op_context, err->buf, true, err->data);
	__real_crn_cq_write_err(cq, err, src_addr);
}

/* ---- for the model ---- */

void xrp_wire_begin(const struct scenario *scenario)
{
	for (unsigned int side = 0; side < SIDES; side++)
		xrp_program.side[side].wire.limit = 1;
	xrp_program.calling = CALLS;
}

void xrp_wire_calls(unsigned int side, unsigned int call)
{
	xrp_program.calling_side = (uint8_t)side;
	xrp_program.calling = (uint8_t)call;
}

unsigned int xrp_wire_check(void)
{
	for (unsigned int side = 0; side < SIDES; side++)
		if (!crn_list_empty(&lower(side)->incoming))
			return WRONG_RECEIVE;
	return 0;
}

unsigned int xrp_wire_regions(void)
{
	struct crn_list *pos;
	struct scr_mr *mr;

	crn_list_for_each (pos, &scr_objects) {
		if (crn_container_of(pos, struct scr_object, entry)->fid->fclass !=
		    FI_CLASS_MR)
			continue;
		mr = crn_container_of(pos, struct scr_mr, object.entry);
		if (mr->mr.access & REMOTE)
			return WRONG_MEMORY;
	}
	return 0;
}
