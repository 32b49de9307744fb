/* SPDX-License-Identifier: BSD-2-Clause */
/* The steps of a good conversation, up to a connection that is open. */
#include <stdlib.h>
#include "steps.h"

/* flags: of the preamble. */
struct raw_conn *step_connected_with(struct raw_attack *attack, unsigned int role,
				     uint64_t node, unsigned int flags)
{
	uint8_t preamble[32];

	raw_preamble(preamble, role, node, &attack->from);
	preamble[7] = (uint8_t)flags;
	return raw_connect(&attack->raw, &attack->at, preamble, sizeof(preamble), true);
}

struct raw_conn *step_connected_as(struct raw_attack *attack, unsigned int role,
				   uint64_t node)
{
	return step_connected_with(attack, role, node, 0);
}

struct raw_conn *step_greeted_as(struct raw_attack *attack, unsigned int role,
				 uint64_t node)
{
	struct raw_conn *conn = step_connected_as(attack, role, node);
	struct raw_bytes bytes, *answer;

	if (!conn)
		return NULL;
	raw_hello(&bytes, HELLO);
	raw_send(conn, &bytes);
	answer = raw_await(conn, HELLO_ACK, RAW_WAIT);
	free(answer);
	if (answer)
		return conn;
	raw_end(conn);
	return NULL;
}

struct raw_conn *step_greeted(struct raw_attack *attack)
{
	return step_greeted_as(attack, RAW_CLIENT, NODE);
}

void step_ask(struct raw_attack *attack, struct raw_conn *conn)
{
	struct raw_bytes bytes;

	raw_conn_req(&bytes, conn->id, &attack->from, &attack->to);
	raw_send(conn, &bytes);
}

struct raw_conn *step_answered(struct raw_attack *attack)
{
	struct raw_conn *conn = step_greeted(attack);
	struct raw_bytes *answer;

	if (!conn)
		return NULL;
	step_ask(attack, conn);
	answer = raw_await(conn, CONN_REP, RAW_WAIT);
	free(answer);
	return conn;
}

void step_say(struct raw_conn *conn, unsigned int type)
{
	struct raw_bytes bytes;

	raw_named(&bytes, type, conn->id);
	raw_send(conn, &bytes);
}

/* Open; NULL: it did not come about, which the honest ones will notice. */
struct raw_conn *step_opened(struct raw_attack *attack)
{
	struct raw_conn *conn = step_answered(attack);

	if (conn)
		step_say(conn, CONN_ACK);
	return conn;
}

void step_end(struct raw_conn *conn)
{
	if (conn)
		raw_end(conn);
}

/* That message, and what comes of it. */
void step_tell(struct raw_conn *conn, const struct raw_bytes *bytes)
{
	if (!conn)
		return;
	raw_send(conn, bytes);
	raw_flush(conn);
	raw_await_end(conn, 30);
	raw_end(conn);
}
