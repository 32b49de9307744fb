/* SPDX-License-Identifier: BSD-2-Clause */
/* The steps of a good conversation with who listens, and the attacks that need them. A
 * connection may be NULL where it did not come about. */
#ifndef RAW_STEPS_H
#define RAW_STEPS_H

#include "raw.h"

#define NODE 0x7777u
#define CONN 4u /* flag of a preamble: a connection follows, and no adjacency */

/* --- steps.c --- */

/* flags: of the preamble. */
struct raw_conn *step_connected_with(struct raw_attack *attack, unsigned int role,
				     uint64_t node, unsigned int flags);
struct raw_conn *step_connected_as(struct raw_attack *attack, unsigned int role,
				   uint64_t node);
/* HELLO is answered. */
struct raw_conn *step_greeted_as(struct raw_attack *attack, unsigned int role,
				 uint64_t node);
struct raw_conn *step_greeted(struct raw_attack *attack);
void step_ask(struct raw_attack *attack, struct raw_conn *conn);
/* There is a CONN_REP. */
struct raw_conn *step_answered(struct raw_attack *attack);
void step_say(struct raw_conn *conn, unsigned int type);
/* Open; NULL: it did not come about, which the honest ones will notice. */
struct raw_conn *step_opened(struct raw_attack *attack);
void step_end(struct raw_conn *conn);
/* That message, and what comes of it. */
void step_tell(struct raw_conn *conn, const struct raw_bytes *bytes);

/* --- greeting.c --- */

void raw_tcp_garbage(struct raw_attack *attack);
void raw_half_sent(struct raw_attack *attack);
void raw_preambles(struct raw_attack *attack);
void raw_garbage(struct raw_attack *attack);
void raw_hellos(struct raw_attack *attack);
void raw_flags(struct raw_attack *attack);
void raw_out_of_place(struct raw_attack *attack);
void raw_requests(struct raw_attack *attack);
void raw_paths(struct raw_attack *attack);

/* --- data.c --- */

void raw_credits(struct raw_attack *attack);
void raw_slots(struct raw_attack *attack);
void raw_grants(struct raw_attack *attack);
void raw_fragments(struct raw_attack *attack);
void raw_writes(struct raw_attack *attack);
void raw_reads(struct raw_attack *attack);
void raw_answers(struct raw_attack *attack);

#endif
