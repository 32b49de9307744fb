/* SPDX-License-Identifier: BSD-2-Clause */
/* What model.c and hand.c share. */
#ifndef SVB_MODEL_HAND_H
#define SVB_MODEL_HAND_H

#include "engine/engine.h"
#include "model.h"

/* Contents of struct svb_request.note: the process that responds, and what the
 * receiver's completion needs. */
struct svb_note {
	uint32_t responder; /* index */
	uint32_t rqp;	    /* slot */
	uint32_t rq_next; /* own queue: the receive's counter; shared: SVB_NOTE_SHARED */
	uint32_t solicited;
	struct ibv_wc wc;
};
#define SVB_NOTE_SHARED UINT32_MAX
_Static_assert(sizeof(struct svb_note) <= sizeof(((struct svb_request *)0)->note),
	       "note");

/* Result of handing over a request: a status, SVB_STAYS, or one of these. */
#define SVB_HANDED 0x200 /* the machine has it */
#define SVB_DIRECT 0x201 /* the engine executes it, after what is before it */

/* Hands the queue's next request over to the machine. Locks of both held. */
int svb_hand(struct svb_medium *medium, struct svb_seg *seg, struct svb_qp_sh *qp);

#endif
