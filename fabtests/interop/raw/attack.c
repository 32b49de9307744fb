/* SPDX-License-Identifier: BSD-2-Clause */
/* What is done to who listens: a router's device, or a program's passive endpoint. */
#include <stdlib.h>
#include <unistd.h>
#include "steps.h"

#define HALF_OPEN 900

/* --- Link states --- */

static void link_states(struct raw_attack *attack)
{
	struct raw_bytes bytes;
	struct raw_conn *conn;
	unsigned int i, role;

	for (role = RAW_CLIENT; role <= RAW_ROUTER; role++) {
		/* In its own name, that of the other and those of many others. */
		conn = step_greeted_as(attack, role, NODE);
		for (i = 0; conn && i < 600 && !conn->over; i++) {
			raw_lsa(&bytes, 1, i < 4 ? i : 1000 + i,
				i % 5 ? 5 : UINT64_MAX - 1, i % 7 ? i : UINT64_MAX - 1);
			raw_send(conn, &bytes);
		}
		step_end(conn);
		for (i = 0; i < 60; i++) {
			conn = step_greeted_as(attack, role, i % 6 ? NODE + i : 1);
			raw_lsa(&bytes, i % 3 ? 1 : 2, NODE, i, i);
			if (i % 4 == 1)
				raw_head(&bytes, i % 8 == 1 ? DIGEST : LSREQ, 0);
			if (i % 4 == 2)
				raw_head(&bytes, i % 8 == 2 ? HEARTBEAT : AS_REACH, 0);
			else
				raw_mutate(&bytes);
			step_tell(conn, &bytes);
		}
	}
}

/* --- Ends --- */

static void ends(struct raw_attack *attack)
{
	struct raw_bytes bytes;
	struct raw_conn *conn;
	unsigned int step, how;

	for (step = 0; step < 6; step++) {
		for (how = 0; how < 5; how++) {
			conn = step == 0   ? step_connected_as(attack, RAW_CLIENT, NODE)
			       : step == 1 ? step_greeted(attack)
			       : step == 2 ? step_greeted(attack)
			       : step == 3 ? step_answered(attack)
					   : step_opened(attack);
			if (!conn)
				continue;
			if (step == 2)
				step_ask(attack, conn);
			if (step == 5) {
				raw_part(&bytes, MSG, 1, 1000000, 0, 8000);
				raw_send(conn, &bytes);
			}
			if (how == 1 || how == 3)
				step_say(conn, SHUTDOWN);
			if (how == 2 || how == 3) {
				raw_head(&bytes, BYE, 0);
				raw_send(conn, &bytes);
			}
			if (how == 4) {
				step_say(conn, SHUTDOWN);
				step_say(conn, SHUTDOWN);
				step_say(conn, CONN_ACK);
				raw_flush(conn);
				raw_await_end(conn, 50);
			}
			raw_end(conn);
		}
	}
}

static void half_open(struct raw_attack *attack)
{
	static struct raw_conn *conn[HALF_OPEN];
	struct sockaddr_in at = attack->at;
	int fd[100], i;

	for (i = 0; i < 100; i++) {
		fd[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
		connect(fd[i], (struct sockaddr *)&at, sizeof(at));
	}
	/* Until there is no room for more. */
	for (i = 0; i < HALF_OPEN; i++) {
		conn[i] = step_connected_with(attack, i % 3 ? RAW_CLIENT : RAW_ROUTER,
					      NODE, i % 2 ? CONN : 0);
		if (!conn[i])
			break;
	}
	if (attack->meanwhile)
		attack->meanwhile();
	for (i = 0; i < HALF_OPEN; i++)
		step_end(conn[i]);
	for (i = 0; i < 100; i++)
		close(fd[i]);
}

/* --- A good conversation, parts of which are different --- */

static size_t good(struct raw_attack *attack, const uint8_t id[16],
		   struct raw_bytes steps[12])
{
	size_t n = 0, i;

	raw_hello(&steps[n++], HELLO);
	raw_conn_req(&steps[n++], id, &attack->from, &attack->to);
	raw_named(&steps[n++], CONN_ACK, id);
	raw_part(&steps[n], MSG, 1, 100, 0, 100);
	steps[n++].at[3] |= ACKREQ;
	for (i = 0; i < 2; i++)
		raw_part(&steps[n++], MSG, 2, 12000, i * 6000, 6000);
	raw_part(&steps[n], WRITE, 3, 4000, 0, 4000);
	steps[n++].at[3] |= ACKREQ;
	raw_read(&steps[n++], 4, 0, 20000);
	raw_head(&steps[n], KEEPALIVE, ACKREQ);
	steps[n++].at[7] = 2;
	raw_named(&steps[n++], SHUTDOWN, id);
	raw_head(&steps[n++], BYE, 0);
	return n;
}

static void mutated(struct raw_attack *attack)
{
	static struct raw_bytes steps[12];
	struct raw_conn *conn;
	unsigned int round, rate;
	size_t n, i;

	for (round = 0; round < attack->rounds; round++) {
		conn = step_connected_as(attack, raw_below(8) ? RAW_CLIENT : RAW_ROUTER,
					 NODE);
		if (!conn)
			continue;
		n = good(attack, conn->id, steps);
		rate = 3 + raw_below(12);
		for (i = 0; i < n && !conn->over; i++) {
			if (!raw_below(rate))
				raw_mutate(&steps[i]);
			if (!raw_below(30))
				continue;
			raw_send(conn, &steps[i]);
			if (i == 1)
				free(raw_await(conn, CONN_REP, 20));
			if (!raw_below(30))
				raw_send(conn, &steps[raw_below((uint32_t)n)]);
		}
		raw_await_end(conn, (int)raw_below(5));
		raw_end(conn);
	}
}

const struct raw_case raw_cases[] = {
	{"tcp_garbage", raw_tcp_garbage},
	{"half_sent", raw_half_sent},
	{"preambles", raw_preambles},
	{"garbage", raw_garbage},
	{"hellos", raw_hellos},
	{"flags", raw_flags},
	{"out_of_place", raw_out_of_place},
	{"requests", raw_requests},
	{"paths", raw_paths},
	{"credits", raw_credits},
	{"receives", raw_receives},
	{"slots", raw_slots},
	{"grants", raw_grants},
	{"fragments", raw_fragments},
	{"writes", raw_writes},
	{"reads", raw_reads},
	{"answers", raw_answers},
	{"link_states", link_states},
	{"ends", ends},
	{"half_open", half_open},
	{"mutated", mutated},
};
const size_t raw_cases_count = sizeof(raw_cases) / sizeof(raw_cases[0]);
