/* SPDX-License-Identifier: BSD-2-Clause */
/* A router on a WAN that says of itself, and of who wants to connect, whatever it likes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "raw.h"

#define NODE 99u
#define TLV_WHY 5u

/* The text of a TLV in front of the payload; "": there is none. */
static void text_of(const struct raw_bytes *bytes, unsigned int type, char *text,
		    size_t size)
{
	const size_t end = (size_t)bytes->at[4] | (size_t)bytes->at[5] << 8;
	size_t at = 88, len; /* of a CONN_REP */

	*text = 0;
	while (at + 4 <= end && end <= bytes->len) {
		len = (size_t)bytes->at[at + 2] | (size_t)bytes->at[at + 3] << 8;
		if (at + 4 + len > end)
			return;
		if (((unsigned int)bytes->at[at] | (bytes->at[at + 1] & 0x7fu) << 8) ==
		    type) {
			snprintf(text, size, "%.*s", (int)len,
				 (const char *)&bytes->at[at + 4]);
			return;
		}
		at += (4 + len + 7) & ~(size_t)7;
	}
}

static int say_answer(const struct raw_bytes *answer)
{
	char why[256];

	text_of(answer, TLV_WHY, why, sizeof(why));
	printf("verdict %u, status %u, router %llu: %s\n", answer->at[44],
	       get32(answer->at + 40), (unsigned long long)get64(answer->at + 48), why);
	return 0;
}

int raw_border(struct raw_prover *prover)
{
	struct raw_conn *conn = raw_let_in(prover);
	struct raw_bytes bytes, *answer;
	int ret;

	if (!conn) {
		printf("not greeted\n");
		return 1;
	}
	raw_conn_req(&bytes, conn->id, &prover->claims, &prover->to);
	raw_send(conn, &bytes);
	answer = raw_await(conn, CONN_REP, RAW_WAIT);
	ret = answer ? say_answer(answer) : 1;
	free(answer);
	raw_end(conn);
	return ret;
}

/* Begins an adjacency, and tells of a router that there is not. */
int raw_intrude(struct raw_prover *prover)
{
	struct raw_conn *conn = raw_let_in(prover);
	struct raw_bytes bytes;
	bool ended = true;

	if (conn) {
		raw_lsa(&bytes, prover->from.as, NODE, 1, 1);
		raw_send(conn, &bytes);
		ended = raw_await_end(conn, RAW_WAIT);
		raw_end(conn);
	}
	printf("%s\n", ended ? "it is hung up" : "it stays");
	return 0;
}
