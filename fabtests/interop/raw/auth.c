/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is done to a router that lets in only those who prove that they have a key: by one
 * that has it, and by those who have not. The proof is put together here, from the table
 * of prov/route/auth/auth.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include "raw.h"

#define NODE 0x7777u
#define OWN 1u /* the router's id */

enum { NEEDS = 1, HAS = 8 }; /* flags of a preamble: AUTH and KEY */

#define AT_PROOF 32

/* --- The steps of a good conversation --- */

struct talk {
	struct raw_prover *prover;
	struct raw_conn *conn;
	uint8_t preamble[32];
	struct raw_bytes hello, ack, proof;
};

static void sum(const struct raw_bytes *bytes, uint8_t *to)
{
	EVP_Digest(bytes->at, bytes->len, to, NULL, EVP_sha256(), NULL);
}

static void hmac(const struct talk *talk, unsigned int step, uint8_t to[32])
{
	const struct raw_prover *prover = talk->prover;
	uint8_t bytes[152] = "cairn route auth";

	bytes[16] = (uint8_t)step;
	put32(bytes + 20, prover->id);
	memcpy(bytes + 24, talk->preamble, 32);
	memcpy(bytes + 56, talk->conn->preamble, 32);
	sum(&talk->hello, bytes + 88);
	sum(&talk->ack, bytes + 120);
	HMAC(EVP_sha256(), prover->key, (int)prover->key_len, bytes, sizeof(bytes), to,
	     NULL);
}

static void prove(struct talk *talk)
{
	raw_head(&talk->proof, AUTH, 0);
	put32(talk->proof.at + 24, talk->prover->id);
	talk->proof.at[28] = 1;
	hmac(talk, 1, talk->proof.at + AT_PROOF);
}

/* As far as that it could prove itself. False: it was refused. */
static bool greet(struct talk *talk)
{
	struct raw_prover *prover = talk->prover;
	struct raw_bytes *answer;

	talk->conn = raw_connect(&prover->raw, &prover->at, talk->preamble, 32, true);
	if (!talk->conn)
		return false;
	raw_send(talk->conn, &talk->hello);
	answer = raw_await(talk->conn, HELLO_ACK, RAW_WAIT);
	if (answer)
		talk->ack = *answer;
	free(answer);
	if (answer)
		return true;
	raw_end(talk->conn);
	talk->conn = NULL;
	return false;
}

static void begin(struct raw_prover *prover, struct talk *talk)
{
	memset(talk, 0, sizeof(*talk));
	talk->prover = prover;
	raw_preamble(talk->preamble, prover->role, NODE, &prover->from);
	talk->preamble[7] = NEEDS | HAS;
	raw_hello(&talk->hello, HELLO);
}

/* It proves itself as well. */
static bool proven(struct talk *talk)
{
	struct raw_bytes *answer = raw_await(talk->conn, AUTH, RAW_WAIT);
	uint8_t right[32];
	bool good = false;

	if (answer && answer->len == 64) {
		hmac(talk, 2, right);
		good = answer->at[28] == 2 && !memcmp(answer->at + AT_PROOF, right, 32);
	}
	free(answer);
	return good;
}

struct raw_conn *raw_let_in(struct raw_prover *prover)
{
	struct talk talk;

	begin(prover, &talk);
	talk.preamble[7] = prover->key_len ? NEEDS | HAS : 0;
	if (!greet(&talk))
		return NULL;
	if (!prover->key_len)
		return talk.conn;
	prove(&talk);
	if (raw_send(talk.conn, &talk.proof) && proven(&talk))
		return talk.conn;
	raw_end(talk.conn);
	return NULL;
}

/* A request is answered: it has been let in. */
static bool heard_for(struct talk *talk, int ms)
{
	const struct raw_prover *prover = talk->prover;
	struct raw_bytes bytes, *answer;

	raw_conn_req(&bytes, talk->conn->id, &prover->claims, &prover->to);
	if (!raw_send(talk->conn, &bytes))
		return false;
	answer = raw_await(talk->conn, CONN_REP, ms);
	free(answer);
	return answer;
}

static bool heard(struct talk *talk)
{
	return heard_for(talk, RAW_WAIT);
}

static void finish(struct talk *talk)
{
	if (talk->conn)
		raw_end(talk->conn);
	talk->conn = NULL;
}

/* Sends what is said to be its proof, and more. True: nothing came of it, and the other
 * end has said FI_EACCES or ended it. */
static bool kept_out(struct talk *talk)
{
	struct raw_bytes *bye;
	bool out;

	raw_send(talk->conn, &talk->proof);
	bye = raw_await(talk->conn, BYE, RAW_WAIT);
	out = !heard_for(talk, bye ? 20 : RAW_WAIT);
	if (bye && get32(bye->at + 24) != FI_EACCES)
		out = false;
	if (!bye && !talk->conn->over)
		out = false;
	free(bye);
	finish(talk);
	return out;
}

/* --- Who has the key --- */

static bool good(struct raw_prover *prover)
{
	struct talk talk;
	bool in;

	begin(prover, &talk);
	if (!greet(&talk))
		return false;
	prove(&talk);
	raw_send(talk.conn, &talk.proof);
	in = proven(&talk) && (prover->role != RAW_CLIENT || heard(&talk));
	finish(&talk);
	return in;
}

/* An older client of an open device knows nothing of proofs. */
static bool no_key(struct raw_prover *prover)
{
	struct talk talk;
	unsigned int flags;
	bool out = true;

	for (flags = 0; flags < 8; flags++) {
		begin(prover, &talk);
		talk.preamble[7] = (uint8_t)flags;
		out = out && !greet(&talk);
		finish(&talk);
	}
	return out;
}

/* --- Who has not --- */

static bool wrong_key(struct raw_prover *prover)
{
	struct talk talk;

	begin(prover, &talk);
	prover->key[0] ^= 1;
	if (greet(&talk))
		prove(&talk);
	prover->key[0] ^= 1;
	return talk.conn && kept_out(&talk);
}

static bool unknown_key(struct raw_prover *prover)
{
	struct talk talk;
	bool in;

	begin(prover, &talk);
	prover->id += 1000;
	in = greet(&talk);
	if (in)
		prove(&talk);
	prover->id -= 1000;
	return in && kept_out(&talk);
}

/* Somebody between the two has changed what the one who has the key has said. */
static bool changed(struct raw_prover *prover)
{
	static const struct {
		int at;
		uint8_t bits;
	} bytes[] = {{5, 1},  {7, NEEDS}, {7, 4},  {8, 1},  {15, 128},
		     {16, 1}, {23, 1},	  {24, 1}, {40, 1}, {60, 1}};
	struct talk talk;
	bool out = true;
	size_t i;

	for (i = 0; i < sizeof(bytes) / sizeof(bytes[0]) && out; i++) {
		begin(prover, &talk);
		if (!greet(&talk))
			return false;
		if (bytes[i].at < 32)
			talk.preamble[bytes[i].at] ^= bytes[i].bits;
		else
			talk.hello.at[bytes[i].at - 16] ^= bytes[i].bits;
		prove(&talk);
		out = kept_out(&talk);
	}
	return out;
}

/* All of a good one once more, and what the router has said as one's own. */
static bool replayed(struct raw_prover *prover)
{
	struct raw_bytes proof, *answer;
	struct talk talk;
	bool out;

	begin(prover, &talk);
	if (!greet(&talk))
		return false;
	prove(&talk);
	proof = talk.proof;
	raw_send(talk.conn, &talk.proof);
	answer = raw_await(talk.conn, AUTH, RAW_WAIT);
	finish(&talk);
	if (!answer || !greet(&talk)) {
		free(answer);
		return false;
	}
	talk.proof = proof;
	out = kept_out(&talk);
	if (!greet(&talk)) {
		free(answer);
		return false;
	}
	talk.proof = *answer;
	talk.proof.at[28] = 1;
	free(answer);
	return kept_out(&talk) && out;
}

static bool garbage(struct raw_prover *prover)
{
	struct talk talk;
	bool out = true;
	unsigned int i, k;

	for (i = 0; i < 24 && out; i++) {
		begin(prover, &talk);
		if (!greet(&talk))
			return false;
		prove(&talk);
		if (i < 4)
			talk.proof.at[28] = (uint8_t)(i == 1 ? 255 : i);
		for (k = i < 4 ? 64 : 24; k < 64; k++)
			talk.proof.at[k] = (uint8_t)raw_random();
		if (i > 12)
			talk.proof.len = 1 + raw_below(64);
		raw_send(talk.conn, &talk.proof);
		out = i == 1 || !heard(&talk);
		finish(&talk);
	}
	return out;
}

/* --- Out of turn --- */

static bool twice(struct raw_prover *prover)
{
	struct talk talk;
	bool over;

	begin(prover, &talk);
	if (!greet(&talk))
		return false;
	prove(&talk);
	raw_send(talk.conn, &talk.proof);
	over = proven(&talk) && raw_send(talk.conn, &talk.proof) &&
	       raw_await_end(talk.conn, RAW_WAIT);
	finish(&talk);
	return over;
}

static bool before(struct raw_prover *prover)
{
	static const unsigned int types[] = {DIGEST,   LSREQ,	 LSA,	   HEARTBEAT,
					     CONN_REQ, CONN_ACK, MSG,	   WRITE,
					     GRANT,    ACK,	 SHUTDOWN, HELLO,
					     KEEPALIVE};
	struct raw_bytes bytes;
	struct talk talk;
	bool out = true;
	size_t i;

	for (i = 0; i < sizeof(types) / sizeof(types[0]) && out; i++) {
		begin(prover, &talk);
		if (!greet(&talk))
			return false;
		if (types[i] == CONN_REQ)
			raw_conn_req(&bytes, talk.conn->id, &prover->from, &prover->to);
		else if (types[i] == HELLO)
			raw_hello(&bytes, HELLO);
		else
			raw_head(&bytes, types[i], 0);
		raw_send(talk.conn, &bytes);
		prove(&talk);
		raw_send(talk.conn, &talk.proof);
		out = !heard(&talk);
		finish(&talk);
	}
	return out;
}

/* Those who say nothing, many at once, are not waited for for ever. */
static bool slow(struct raw_prover *prover)
{
	static struct talk talk[50];
	const uint64_t end = raw_now() + 20000;
	bool over = true;
	int i;

	for (i = 0; i < 50; i++) {
		begin(prover, &talk[i]);
		if (!greet(&talk[i]))
			over = false;
	}
	over = over && good(prover);
	for (i = 0; i < 50; i++) {
		if (talk[i].conn && raw_now() < end)
			over = raw_await_end(talk[i].conn, (int)(end - raw_now())) &&
			       over;
		finish(&talk[i]);
	}
	return over;
}

/* --- Somebody else --- */

static bool unknown_as(struct raw_prover *prover)
{
	struct talk talk;
	bool out;

	begin(prover, &talk);
	put32(talk.preamble + 24, 77);
	out = !greet(&talk);
	finish(&talk);
	begin(prover, &talk);
	put32(talk.preamble + 24, 77);
	talk.preamble[6] = RAW_ROUTER;
	out = !greet(&talk) && out;
	finish(&talk);
	return out;
}

/* Another router by its name, which a key does not give it: it has no adjacency. */
static bool stolen(struct raw_prover *prover)
{
	struct raw_bytes bytes;
	struct talk talk;
	bool over;

	begin(prover, &talk);
	talk.preamble[6] = RAW_ROUTER;
	put64(talk.preamble + 8, OWN);
	if (!greet(&talk))
		return true;
	prove(&talk);
	raw_send(talk.conn, &talk.proof);
	raw_head(&bytes, DIGEST, LAST);
	raw_send(talk.conn, &bytes);
	over = raw_await_end(talk.conn, RAW_WAIT);
	finish(&talk);
	return over;
}

/* What a client says of itself counts for nothing: an acl names where it really is. */
static bool source(struct raw_prover *prover)
{
	struct raw_bytes bytes, *answer;
	struct talk talk;
	bool in = false;

	begin(prover, &talk);
	if (!greet(&talk))
		return false;
	prove(&talk);
	raw_send(talk.conn, &talk.proof);
	raw_conn_req(&bytes, talk.conn->id, &prover->to, &prover->to);
	raw_send(talk.conn, &bytes);
	answer = raw_await(talk.conn, CONN_REP, RAW_WAIT);
	/* 1: accepted. */
	if (answer)
		in = answer->at[44] == 1;
	free(answer);
	finish(&talk);
	return in;
}

/* --- Anything --- */

static bool mutated(struct raw_prover *prover)
{
	struct raw_bytes hello;
	struct talk talk;
	unsigned int i;
	bool out = true;

	for (i = 0; i < prover->rounds && out; i++) {
		begin(prover, &talk);
		hello = talk.hello;
		while (i % 2 && talk.hello.len == hello.len &&
		       !memcmp(talk.hello.at, hello.at, hello.len))
			raw_mutate(&talk.hello);
		if (!greet(&talk))
			continue;
		if (i % 2)
			talk.hello = hello;
		prove(&talk);
		if (!(i % 2))
			talk.proof.at[AT_PROOF + raw_below(32)] ^= 1u << raw_below(8);
		raw_send(talk.conn, &talk.proof);
		if (raw_below(2))
			raw_mutate(&talk.proof);
		raw_send(talk.conn, &talk.proof);
		out = !heard_for(&talk, 20);
		finish(&talk);
	}
	return out;
}

const struct raw_proof raw_proofs[] = {
	{"good", good},
	{"no_key", no_key},
	{"wrong_key", wrong_key},
	{"unknown_key", unknown_key},
	{"changed", changed},
	{"replayed", replayed},
	{"garbage", garbage},
	{"twice", twice},
	{"before", before},
	{"slow", slow},
	{"unknown_as", unknown_as},
	{"stolen", stolen},
	{"source", source},
	{"mutated", mutated},
	{"still_good", good},
};
const size_t raw_proofs_count = sizeof(raw_proofs) / sizeof(raw_proofs[0]);
