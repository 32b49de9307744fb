/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Choices that need not be tried against others (partial-order reduction). One that is
 * unseen
 *
 *	- stays possible, and does the same, whatever else happens first: requests of a
 *	  queue pair arrive in order, a piece is held by earlier ones only, and nothing
 *but itself takes either away;
 *	- changes neither what another possible choice does nor whether it is possible; it
 *	  only adds some;
 *	- is noticed by no processor, and changes nothing that a power failure spares.
 *
 * So making it at once, and nothing else in that state, leaves out no different outcome:
 * every run has it somewhere before its end, or could go on with it, and moving it to the
 * front changes no state that anybody sees. It always ends: requests only get further.
 *
 * These are
 *
 *	ARRIVE of what is not posted: it completes when it is executed;
 *	ARRIVE of what is posted, if the requester is not told (no completion is wanted,
 *or it came before: weak), and, where arriving spares data (WSP), of no persistent
 *	  memory;
 *	PLACE in a receive that is not persistent: nobody looks before it is delivered.
 *
 * That does not hold where a queue pair ends, which forgets what has not arrived, or
 *waits for a receive: the caller knows.
 */
#include "parts.h"

static bool svb_goes_to_pm(const struct svb_machine *m, const struct svb_request *request)
{
	const struct svb_machine_state *s = m->state;
	const struct svb_piece *piece;

	for (piece = s->piece; piece < s->piece + s->pieces; piece++)
		if (piece->qp == request->qp && piece->seq == request->seq &&
		    piece->space == SVB_SPACE_PM)
			return true;
	return false;
}

bool svb_machine_unseen(const struct svb_machine *m, const struct svb_choice *choice,
			bool silent)
{
	const struct svb_request *request;

	if (choice->kind != SVB_CHOICE_ARRIVE && choice->kind != SVB_CHOICE_PLACE)
		return false;
	request = svb_request_find(m, choice->qp, choice->seq);
	if (choice->kind == SVB_CHOICE_PLACE)
		return request->flags & SVB_REQ_DELIVER && choice->space != SVB_SPACE_PM;
	if (request->kind != SVB_REQ_POSTED)
		return true;
	return (silent || m->config.weak) &&
	       (m->config.domain != SVB_DOMAIN_WSP || !svb_goes_to_pm(m, request));
}
