/* SPDX-License-Identifier: BSD-2-Clause */
/* RECEIVES of a client whose numbers are those of nobody's receives, at any time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "raw.h"

#define RECEIVES 0x3bu
#define FEATURES 24u /* of HELLO */
#define ELASTIC 128u
#define MOST 4096u /* receives of a lane */

enum { GREETS, GREETED, ASKED, OPEN, MOMENTS };

struct numbers {
	uint8_t lane, given;
	uint16_t more, asked;
};

/* Each of them ends the connection, whatever that has. */
static const struct numbers wrong[] = {
	{0, 1, 0, 0},		{1, 1, 0, 0},	   {2, 0, 1, 0},
	{255, 0, 0, 0},		{0, 2, 0, 0},	   {0, 255, 1, 1},
	{0, 0, MOST + 1, 0},	{0, 0, 0xffff, 0}, {0, 0, MOST, 0},
	{1, 0, MOST, MOST},	{0, 0, 0, MOST},   {0, 0, 0, 0xffff},
	{0, 0, 0, 12},		{1, 0, 0, 1},	   {0, 1, MOST - 1, MOST - 1},
	{1, 0, 0xffff, 0xffff},
};

static void fill(struct raw_bytes *bytes, const struct numbers *numbers)
{
	raw_head(bytes, RECEIVES, 0);
	bytes->at[24] = numbers->lane;
	bytes->at[25] = numbers->given;
	bytes->at[26] = (uint8_t)numbers->more;
	bytes->at[27] = (uint8_t)(numbers->more >> 8);
	bytes->at[28] = (uint8_t)numbers->asked;
	bytes->at[29] = (uint8_t)(numbers->asked >> 8);
}

/* NULL: it was refused. features: of its HELLO besides. */
static struct raw_conn *come_to(struct raw_attack *attack, int moment,
				unsigned int features)
{
	struct raw_bytes bytes;
	struct raw_conn *conn;
	uint8_t preamble[32];

	raw_preamble(preamble, RAW_CLIENT, 0x7777, &attack->from);
	conn = raw_connect(&attack->raw, &attack->at, preamble, sizeof(preamble), true);
	if (!conn || moment == GREETS)
		return conn;
	raw_hello(&bytes, HELLO);
	put64(bytes.at + FEATURES, get64(bytes.at + FEATURES) | features);
	raw_send(conn, &bytes);
	free(raw_await(conn, HELLO_ACK, RAW_WAIT));
	if (moment == GREETED)
		return conn;
	raw_conn_req(&bytes, conn->id, &attack->from, &attack->to);
	raw_send(conn, &bytes);
	if (moment == ASKED)
		return conn;
	free(raw_await(conn, CONN_REP, RAW_WAIT));
	raw_named(&bytes, CONN_ACK, conn->id);
	raw_send(conn, &bytes);
	return conn;
}

static bool ends(struct raw_attack *attack, int moment, unsigned int features,
		 const struct numbers *numbers)
{
	struct raw_conn *conn = come_to(attack, moment, features);
	struct raw_bytes bytes;
	bool over;

	if (!conn)
		return true;
	fill(&bytes, numbers);
	raw_send(conn, &bytes);
	raw_flush(conn);
	over = raw_await_end(conn, RAW_WAIT);
	raw_end(conn);
	return over;
}

static void say_once(struct raw_attack *attack, int moment, unsigned int features,
		     const struct numbers *numbers)
{
	if (!ends(attack, moment, features, numbers))
		snprintf(attack->complaint, sizeof(attack->complaint),
			 "RECEIVES {%u, %u, %u, %u} is taken (moment %d, features %u)",
			 numbers->lane, numbers->given, numbers->more, numbers->asked,
			 moment, features);
}

/* One by one up to the most, all asked back, and with what comes of it. */
static void up_and_down(struct raw_attack *attack, uint8_t lane)
{
	const struct numbers more = {lane, 0, 64, 0}, asked = {lane, 0, 0, 63};
	struct raw_conn *conn = come_to(attack, OPEN, ELASTIC);
	struct raw_bytes bytes;
	unsigned int i;

	for (i = 0; conn && i < 200; i++) {
		fill(&bytes, i % 2 ? &asked : &more);
		if (!raw_send(conn, &bytes))
			break;
		free(raw_await(conn, 0, 1));
	}
	if (conn)
		raw_end(conn);
}

/* What is random, between messages that make receives come. */
static void mixed(struct raw_attack *attack)
{
	struct raw_conn *conn = come_to(attack, OPEN, ELASTIC);
	struct raw_bytes bytes;
	struct numbers numbers;
	unsigned int i;

	for (i = 1; conn && i < 60 && !conn->over; i++) {
		raw_part(&bytes, MSG, i, 8, 0, 8);
		if (raw_below(3)) {
			numbers = (struct numbers){(uint8_t)raw_below(2), !raw_below(6),
						   (uint16_t)raw_below(4),
						   (uint16_t)raw_below(2)};
			fill(&bytes, &numbers);
		}
		/* Some credits, which may be right. */
		bytes.at[6] = !raw_below(3);
		bytes.at[7] = !raw_below(3);
		raw_send(conn, &bytes);
		free(raw_await(conn, 0, (int)raw_below(2)));
	}
	if (conn)
		raw_end(conn);
}

void raw_receives(struct raw_attack *attack)
{
	unsigned int i;
	int moment;

	for (moment = 0; moment < MOMENTS; moment++)
		for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
			say_once(attack, moment, ELASTIC, &wrong[i]);
			say_once(attack, moment, 0, &wrong[i]);
		}
	up_and_down(attack, 0);
	up_and_down(attack, 1);
	for (i = 0; i < attack->rounds; i++)
		mixed(attack);
}
