/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of the machine model ask of each other. */
#ifndef SVB_MACHINE_PARTS_H
#define SVB_MACHINE_PARTS_H

#include "machine.h"

/* machine.c: NULL when it is over. */
struct svb_request *svb_request_find(const struct svb_machine *m, uint32_t qp,
				     uint32_t seq);

/* choice.c: the first thing but draining that can happen to a queue pair (0: to
 * any). False: nothing. */
bool svb_settle_next(struct svb_machine *m, uint32_t qp, struct svb_choice *choice);

/* memory.c: which visible words are not in the medium. */

/* Makes words of a piece visible. */
void svb_piece_place(struct svb_machine *m, const struct svb_piece *piece, uint8_t words);

/* Notes who wrote a range of persistent memory, and as which region. qp 0: the processor.
 */
void svb_dirty_add(struct svb_machine *m, uint64_t at, uint64_t len, uint32_t qp,
		   uint32_t region);
/* Forgets words that are equal in both images. */
void svb_dirty_prune(struct svb_machine *m);
/* All dirty words of the line that entry i, the first of it, is about. */
uint32_t svb_dirty_words(const struct svb_machine *m, uint32_t i);
/* Words of a line reach the medium, whoever wrote them. */
void svb_dirty_drain(struct svb_machine *m, uint64_t line, uint32_t words);
/* What a FLUSH with persistent placement drains. */
void svb_dirty_flush_range(struct svb_machine *m, const struct svb_request *flush);
/* What a read or FLUSH pushes out of the I/O controller. */
void svb_dirty_push(struct svb_machine *m, const struct svb_request *request);

/* maybe.c: the same with svb_machine.maybes. */

/* A queue pair wrote words of a line; 0: the processor did. */
void svb_maybe_wrote(struct svb_machine *m, uint64_t line, uint32_t words, uint32_t qp,
		     uint32_t region);
/* What its queue pair wrote drains; ranged: in the request's range; regional: as the
 * request's region. */
void svb_maybe_push(struct svb_machine *m, const struct svb_request *request, bool ranged,
		    bool regional);
/* The processor writes a line back. */
void svb_maybe_flush(struct svb_machine *m, uint64_t line);
/* A step is over: adds what draining can make of it. */
void svb_maybe_close(struct svb_machine *m);
/* The medium is one of all that it may be. */
void svb_maybe_fail(struct svb_machine *m);

#endif
