/* SPDX-License-Identifier: BSD-2-Clause */
#include "mutants.h"
#include "call/call.h"
#include "wrap.h"

enum mutant {
	CREDIT_TWICE,
	CREDIT_FIRST,
	CREDIT_GRANT,
	CREDIT_CANCEL,
	CREDIT_LATE,
	XID_DIRECTION,
	FENCE,
	RECEIVE_LATE,
	RECEIVE_LEFT,
	RESULT_LATE,
	SEND_EARLY,
	MESSAGE_CREDIT,
	MESSAGE_LOST,
	MESSAGE_FIRST,
	MUTANTS
};

static enum mutant mutant = MUTANTS; /* MUTANTS: none */

struct mutant_state xrp_mutant_state;

static bool is(enum mutant which)
{
	return mutant == which;
}

/* ---- credits ---- */

WRAP(void, rpr_call_reply, struct rpr_call *call, const struct rpr_header *header,
     struct rpr_rx *rx, const uint8_t *bytes, size_t len)
{
	struct rpr_ep *ep = call->send.ep;
	struct rpr_header other = *header;

	if (is(CREDIT_GRANT))
		other.credit = RPR_CREDITS_MAX;
	__real_rpr_call_reply(call, &other, rx, bytes, len);
	if (is(CREDIT_TWICE))
		ep->outstanding--;
}

void xrp_mutant_opened(struct rpr_ep *ep)
{
	if (is(CREDIT_FIRST))
		ep->credit = ep->calls_max;
}

WRAP(bool, rpr_call_cancel, struct rpr_ep *ep, void *context)
{
	const bool cancelled = __real_rpr_call_cancel(ep, context);

	if (is(CREDIT_CANCEL) && cancelled)
		rpr_call_late(ep);
	return cancelled;
}

WRAP(void, rpr_call_late, struct rpr_ep *ep)
{
	if (!is(CREDIT_LATE))
		__real_rpr_call_late(ep);
}

/* ---- XIDs ---- */

static struct rpr_ep *inbound; /* whose message is looked at */

WRAP(void, rpr_inbound, struct rpr_ep *ep, struct rpr_rx *rx)
{
	inbound = ep;
	__real_rpr_inbound(ep, rx);
	inbound = NULL;
}

WRAP(bool, rpr_message_parse, const void *bytes, size_t len, uint32_t *xid,
     enum rpr_direction *direction)
{
	const bool good = __real_rpr_message_parse(bytes, len, xid, direction);

	if (is(XID_DIRECTION) && good && inbound && rpr_call_find(inbound, *xid))
		*direction = RPR_REPLY;
	return good;
}

/* ---- memory ---- */

/* It is closed when the Call's slot is given back. */
WRAP(void, rpr_mem_fence, struct rpr_mem *mem)
{
	if (!is(FENCE))
		__real_rpr_mem_fence(mem);
}

/* ---- receives of the lower provider ---- */

static bool has_call(const struct rpr_rx *rx)
{
	enum rpr_direction direction;
	uint32_t xid;

	return rx->len > RPR_HEADER_MIN &&
	       __real_rpr_message_parse((uint8_t *)rx->buf->data + RPR_HEADER_MIN,
					rx->len - RPR_HEADER_MIN, &xid, &direction) &&
	       direction == RPR_CALL;
}

WRAP(void, rpr_rx_put, struct rpr_rx *rx)
{
	if (is(RECEIVE_LATE) && !xrp_mutant_state.late && has_call(rx))
		xrp_mutant_state.late = rx;
	else
		__real_rpr_rx_put(rx);
}

static bool is_replying(const struct rpr_ep *ep)
{
	for (size_t i = 0; i < ep->serve_slots; i++)
		if (ep->serves[i].state != RPR_SERVE_FREE)
			return true;
	return false;
}

/* The Reply's Send is over. */
WRAP(void, rpr_progress_locked, struct rpr_domain *domain)
{
	struct rpr_rx *late = xrp_mutant_state.late;

	__real_rpr_progress_locked(domain);
	if (!late || late->ep->domain != domain || is_replying(late->ep))
		return;
	xrp_mutant_state.late = NULL;
	__real_rpr_rx_put(late);
}

WRAP(void, rpr_flush, struct rpr_ep *ep)
{
	if (!is(RECEIVE_LEFT))
		__real_rpr_flush(ep);
}

/* ---- the order of operations ---- */

static struct rpr_item *held_write;

WRAP(void, rpr_serve_write, struct rpr_serve *serve, struct rpr_item *item)
{
	if (is(RESULT_LATE))
		held_write = item;
	else
		__real_rpr_serve_write(serve, item);
}

WRAP(void, rpr_serve_reply, struct rpr_serve *serve)
{
	struct rpr_item *item = held_write;

	__real_rpr_serve_reply(serve);
	held_write = NULL;
	if (item)
		__real_rpr_serve_write(serve, item);
}

WRAP(void, rpr_call_start, struct rpr_call *call)
{
	if (is(SEND_EARLY))
		call->at_reply = false;
	__real_rpr_call_start(call);
}

/* ---- wrap mode: messages in Replies ---- */

/* A Reply without a message does not come here. */
WRAP(void, rpr_call_over, struct rpr_call *call)
{
	if (is(MESSAGE_CREDIT))
		call->send.ep->outstanding--;
	__real_rpr_call_over(call);
}

WRAP(void, rpr_arrive, struct rpr_arrival *arrival)
{
	struct rpr_ep *ep = arrival->ep;

	if (arrival->direction == RPR_REPLY && is(MESSAGE_LOST) &&
	    crn_list_empty(&ep->rxq.posted)) {
		rpr_arrival_drop(arrival);
		__real_rpr_call_over(crn_container_of(arrival, struct rpr_call, arrival));
	} else if (arrival->direction == RPR_REPLY && is(MESSAGE_FIRST) &&
		   !crn_list_empty(&ep->unmatched)) {
		crn_list_add_tail(ep->unmatched.next, &arrival->entry);
		rpr_match(ep);
	} else {
		__real_rpr_arrive(arrival);
	}
}

/* ---- */

static const char *const names[MUTANTS] = {
	[CREDIT_TWICE] = "a Reply gives two credits back",
	[CREDIT_FIRST] = "the first Calls do not wait for a Reply",
	[CREDIT_GRANT] = "what the peer grants is ignored",
	[CREDIT_CANCEL] = "a Call that is cancelled gives its credit back at once",
	[CREDIT_LATE] = "a Call that is cancelled never gives its credit back",
	[XID_DIRECTION] = "the table of XIDs has no direction",
	[FENCE] = "a completion is reported before the fence",
	[RECEIVE_LATE] = "the receive of a Call is posted again behind the Reply",
	[RECEIVE_LEFT] = "receives outlive the connection",
	[RESULT_LATE] = "a Reply is sent before its results",
	[SEND_EARLY] = "FI_DELIVERY_COMPLETE does not wait for the Reply",
	[MESSAGE_CREDIT] = "a message in a Reply gives a credit back beside its Reply",
	[MESSAGE_LOST] = "a message in a Reply does not wait for a receive",
	[MESSAGE_FIRST] = "a message in a Reply goes before one that came in a Call",
};

const char *xrp_mutant_name(unsigned int number)
{
	return number < MUTANTS ? names[number] : NULL;
}

bool xrp_mutant_fits(unsigned int number, const struct scenario *scenario)
{
	const struct plan_call *call = scenario->side[0].call;

	switch ((enum mutant)number) {
	case CREDIT_FIRST:
	case CREDIT_GRANT:
		return scenario->side[0].credits > 1 && !scenario->breaks;
	case CREDIT_CANCEL:
	case CREDIT_LATE:
		return call->cancel;
	case XID_DIRECTION:
		return scenario->side[1].call[0].xid && !scenario->wrap;
	case FENCE:
	case SEND_EARLY:
		return call->kind != KIND_SHORT;
	case RESULT_LATE:
		return call->kind == KIND_RESULT || call->kind == KIND_REPLY;
	case RECEIVE_LEFT:
		return scenario->breaks;
	case RECEIVE_LATE: /* no receive is spare */
		return scenario->side[1].call[0].xid && call[1].xid && !scenario->wrap;
	case MESSAGE_CREDIT:
	case MESSAGE_LOST:
	case MESSAGE_FIRST:
		return scenario->side[1].answers;
	default:
		return call[1].xid && !scenario->wrap;
	}
}

void xrp_mutant_use(unsigned int number)
{
	mutant = (enum mutant)number;
}

void xrp_mutant_end(void)
{
	mutant = MUTANTS;
}
