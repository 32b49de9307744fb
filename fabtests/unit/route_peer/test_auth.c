/* SPDX-License-Identifier: BSD-2-Clause */
/* Who has to prove that it has a key, and what becomes of those who do it badly. */
#include <string.h>
#include <rdma/fi_errno.h>
#include <cairn/wait.h>
#include "cairn_test.h"
#include "front.h"

#define KEY(number, text)                                 \
	{                                                 \
		.id = (number), .len = 16, .secret = text \
	}

static const struct rte_auth_ring
	one = {1, {KEY(1, "the first secret")}},
	two = {1, {KEY(2, "a second secret.")}},
	forged = {1, {KEY(1, "not that secret.")}},
	one_two = {2, {KEY(1, "the first secret"), KEY(2, "a second secret.")}},
	two_one = {2, {KEY(2, "a second secret."), KEY(1, "the first secret")}};

static const struct pair_attr both = {
	.lands = 4,
	.requires = {true, true},
	.keys = {&one, &one},
};

/* B closes what is over, and so A hears of it. */
static bool is_over(struct pair *pair)
{
	struct pair_end *a = &pair->end[PAIR_A], *b = &pair->end[PAIR_B];

	if (b->downs && b->peer) {
		rte_peer_close(b->peer, 0);
		b->peer = NULL;
	}
	return a->downs || (a->ups && b->ups);
}

static void until_over(struct pair *pair)
{
	PAIR_UNTIL(pair, is_over(pair));
}

static void ends(struct pair *pair, int err)
{
	until_over(pair);
	CT_EXPECT_EQ(pair->end[PAIR_A].ups, !err);
	CT_EXPECT_EQ(pair->end[PAIR_A].err, err);
}

static void tried(struct pair *t, const struct pair_attr *attr, int err)
{
	pair_open(t, attr);
	pair_begin(t);
	ends(t, err);
}

/* --- Who has to --- */

CT_FIXTURE(auth, struct pair, NULL, pair_close);

CT_TEST_F(auth, both_prove_themselves)
{
	pair_up(t, &both);
	CT_EXPECT_EQ(t->a->peer->local.flags, RTE_PREAMBLE_AUTH | RTE_PREAMBLE_KEY);
	CT_EXPECT_EQ(t->b->peer->local.flags, RTE_PREAMBLE_AUTH | RTE_PREAMBLE_KEY);
}

CT_TEST_F(auth, of_one_end_is_asked_of_both)
{
	struct pair_attr attr = both;

	attr.requires[PAIR_A] = false;
	tried(t, &attr, 0);
	attr.requires[PAIR_B] = false;
	tried(t, &attr, 0);
	attr.requires[PAIR_A] = true;
	tried(t, &attr, 0);
}

CT_TEST_F(auth, of_nobody_needs_no_keys)
{
	struct pair_attr attr = {.keys = {&one, &forged}};

	tried(t, &attr, 0);
	attr.keys[PAIR_A] = NULL;
	tried(t, &attr, 0);
}

CT_TEST_F(auth, whoever_has_no_key_is_not_let_in)
{
	struct pair_attr attr = both;

	attr.requires[PAIR_A] = false;
	attr.keys[PAIR_A] = NULL;
	pair_open(t, &attr);
	pair_begin(t);
	ends(t, FI_EACCES);
	CT_EXPECT_EQ(t->ret, -FI_EACCES);
	CT_EXPECT_EQ(t->b->denied[RTE_DENIED_NO_PROOF], 1);
	CT_EXPECT_STRSTR(t->a->log, "key_file");
}

CT_TEST_F(auth, whoever_connects_without_a_key_lets_nobody_prove_itself)
{
	struct pair_attr attr = both;

	attr.requires[PAIR_B] = false;
	attr.keys[PAIR_B] = NULL;
	pair_open(t, &attr);
	pair_begin(t);
	ends(t, FI_EACCES);
	CT_EXPECT_EQ(t->ret, -FI_EACCES);
	CT_EXPECT_EQ(t->b->denied[RTE_DENIED_NO_KEY], 1);
}

/* --- Keys --- */

static void denied(struct pair *t, const struct pair_attr *attr, enum rte_denial why)
{
	pair_open(t, attr);
	pair_begin(t);
	ends(t, FI_EACCES);
	CT_EXPECT_EQ(t->b->ups, 0);
	CT_EXPECT_EQ(t->b->err, FI_EACCES);
	CT_EXPECT_EQ(t->b->denied[why], 1);
	CT_EXPECT_STRSTR(t->a->log, "key_id 1");
}

CT_TEST_F(auth, another_secret_is_the_wrong_key)
{
	struct pair_attr attr = both;

	attr.keys[PAIR_A] = &forged;
	denied(t, &attr, RTE_DENIED_KEY);
}

CT_TEST_F(auth, another_number_is_no_key)
{
	struct pair_attr attr = both;

	attr.keys[PAIR_B] = &two;
	denied(t, &attr, RTE_DENIED_KEY_ID);
}

/* All steps from one key to the next one, in the order of fi_route(7). */
CT_TEST_F(auth, keys_change_one_host_after_the_other)
{
	static const struct rte_auth_ring *const steps[] = {&one, &one_two, &two_one,
							    &two};
	struct pair_attr attr = both;
	int i;

	for (i = 0; i < 3; i++) {
		attr.keys[PAIR_A] = steps[i];
		attr.keys[PAIR_B] = steps[i + 1];
		tried(t, &attr, 0);
		attr.keys[PAIR_A] = steps[i + 1];
		attr.keys[PAIR_B] = steps[i];
		tried(t, &attr, 0);
	}
}

/* Who is up stays, who is not goes on with the new ones. */
CT_TEST_F(auth, new_keys_are_for_new_connections)
{
	const struct pair_message message = {
		.seq = 1, .data = "abc", .len = 3, .piece = 3};

	pair_up(t, &both);
	t->a->port->attr.keys = t->b->port->attr.keys = &two;
	CT_EXPECT_TRUE(pair_send(t->a, &message, NULL, NULL));
	PAIR_UNTIL(t, t->b->messages);
}

/* --- Somebody between the two --- */

static void strip_auth(struct rte_request *request)
{
	request->preamble.flags &= (uint8_t)~RTE_PREAMBLE_AUTH;
	request->said[7] &= (uint8_t)~RTE_PREAMBLE_AUTH;
}

static void strip_key(struct rte_request *request)
{
	request->preamble.flags = 0;
	request->said[7] = 0;
}

static void other_minor(struct rte_request *request)
{
	request->preamble.minor_max++;
	request->said[5]++;
}

static void other_node(struct rte_request *request)
{
	request->preamble.node++;
	request->said[8]++;
}

static void other_as(struct rte_request *request)
{
	request->preamble.as++;
	request->said[24]++;
}

static void other_role(struct rte_request *request)
{
	request->preamble.role = request->said[6] = RTE_ROUTER;
}

CT_TEST_F(auth, what_was_changed_in_a_preamble_is_noticed)
{
	static void (*const ways[])(struct rte_request *) = {
		strip_auth, other_minor, other_node, other_as, other_role,
	};
	size_t i;

	for (i = 0; i < CRN_COUNT(ways); i++) {
		pair_open(t, &both);
		t->meddle = ways[i];
		pair_begin(t);
		ends(t, FI_EACCES);
		CT_EXPECT_EQ(t->b->ups, 0);
		CT_EXPECT_EQ(t->b->denied[RTE_DENIED_KEY], 1);
	}
}

/* An open end lets in whoever does not ask: the one that asks does not. */
CT_TEST_F(auth, whoever_asks_does_not_forget_it)
{
	struct pair_attr attr = both;

	attr.requires[PAIR_B] = false;
	pair_open(t, &attr);
	t->meddle = strip_key;
	pair_begin(t);
	ends(t, FI_ECONNABORTED);
	CT_EXPECT_EQ(t->b->err, FI_EIO);
}

static void flip(struct front *front, uint8_t *bytes, size_t len)
{
	if (bytes[FRONT_TYPE] != front->type)
		return;
	front->seen++;
	bytes[front->value / 8 % len] ^= (uint8_t)(1 << front->value % 8);
}

/* One that connects, as far as that there are two peers, with a front before one. */
static void fronted(struct pair *pair, const struct pair_attr *attr, struct front *front,
		    int which)
{
	pair_open(pair, attr);
	pair_begin(pair);
	while (!pair->end[which].peer)
		pair_turn(pair);
	front_put(front, pair->end[which].peer);
}

CT_TEST_F(auth, what_was_changed_in_a_HELLO_is_noticed)
{
	struct front front = {.see = flip, .type = RTE_HELLO, .value = 24 * 8 + 3};

	fronted(t, &both, &front, PAIR_A);
	ends(t, FI_EACCES);
	CT_EXPECT_EQ(front.seen, 1);
	CT_EXPECT_EQ(t->b->denied[RTE_DENIED_KEY], 1);
}

CT_TEST_F(auth, what_was_changed_in_a_HELLO_ACK_is_noticed)
{
	struct front front = {.see = flip, .type = RTE_HELLO_ACK, .value = 24 * 8 + 3};

	fronted(t, &both, &front, PAIR_B);
	ends(t, FI_EACCES);
	CT_EXPECT_EQ(front.seen, 1);
	CT_EXPECT_EQ(t->b->denied[RTE_DENIED_KEY], 1);
}

CT_TEST_F(auth, whoever_accepts_proves_itself_as_well)
{
	struct front front = {.see = flip, .type = RTE_AUTH, .value = 40 * 8};

	fronted(t, &both, &front, PAIR_B);
	PAIR_UNTIL(t, t->a->downs);
	CT_EXPECT_EQ(t->a->ups, 0);
	CT_EXPECT_EQ(t->a->err, FI_EACCES);
	CT_EXPECT_EQ(t->a->denied[RTE_DENIED_KEY], 1);
}

/* --- Proofs of others --- */

static uint8_t heard[128];
static size_t heard_len;

static void listen_in(struct front *front, uint8_t *bytes, size_t len)
{
	if (bytes[FRONT_TYPE] != RTE_AUTH)
		return;
	front->seen++;
	heard_len = len;
	memcpy(heard, bytes, CRN_MIN(len, sizeof(heard)));
}

static void say_again(struct front *front, uint8_t *bytes, size_t len)
{
	if (bytes[FRONT_TYPE] != RTE_AUTH)
		return;
	front->seen++;
	CT_EXPECT_EQ(len, heard_len);
	memcpy(bytes + 32, heard + 32, RTE_HMAC_LEN);
}

CT_TEST_F(auth, a_proof_that_was_heard_is_none)
{
	struct front first = {.see = listen_in}, again = {.see = say_again};

	fronted(t, &both, &first, PAIR_A);
	ends(t, 0);
	CT_EXPECT_EQ(first.seen, 1);
	front_remove(&first);
	rte_peer_close(t->a->peer, 0);
	t->a->peer = NULL;
	PAIR_UNTIL(t, is_over(t) && !t->b->peer);
	t->a->ups = t->b->ups = t->b->downs = 0;
	pair_begin(t);
	front_put(&again, t->a->peer);
	ends(t, FI_EACCES);
	CT_EXPECT_EQ(again.seen, 1);
	CT_EXPECT_EQ(t->b->denied[RTE_DENIED_REPLAY], 1);
}

/* Each worker of a router has a port of its own. */
CT_TEST_F(auth, a_proof_that_was_heard_at_another_port_is_none)
{
	struct front first = {.see = listen_in}, again = {.see = say_again};
	struct rte_auth_heard shared = {0};

	fronted(t, &both, &first, PAIR_A);
	t->b->port->attr.heard = &shared;
	ends(t, 0);
	fronted(t, &both, &again, PAIR_A);
	t->b->port->attr.heard = &shared;
	ends(t, FI_EACCES);
	CT_EXPECT_EQ(again.seen, 1);
	CT_EXPECT_EQ(t->b->denied[RTE_DENIED_REPLAY], 1);
}

/* Who accepts answers with what it was told. */
CT_TEST_F(auth, its_own_proof_is_not_that_of_the_other)
{
	struct front out = {.see = listen_in}, back = {.see = say_again};

	fronted(t, &both, &out, PAIR_A);
	while (!t->b->peer)
		pair_turn(t);
	front_put(&back, t->b->peer);
	ends(t, FI_EACCES);
	CT_EXPECT_EQ(t->a->denied[RTE_DENIED_REPLAY], 1);
}

/* --- Out of turn --- */

CT_TEST_F(auth, twice_ends_it)
{
	struct rte_auth_proof proof = {.key_id = 1, .step = 1};
	struct rte_packet packet = {.head.type = RTE_AUTH};
	struct rte_tx *tx;

	pair_up(t, &both);
	tx = send_control(t->a->peer);
	tx->len = (size_t)rte_auth_proof_pack(&packet, &proof, tx->bytes, tx->room);
	rte_tx_post(tx);
	PAIR_UNTIL(t, t->b->downs);
	CT_EXPECT_EQ(t->b->err, FI_EIO);
}

CT_TEST_F(auth, of_another_step_or_key_ends_it)
{
	static const struct {
		unsigned int at;
		int err;
		enum rte_denial why;
	} rows[] = {{24, FI_EACCES, RTE_DENIED_KEY_ID},
		    {28, FI_ECONNABORTED, RTE_DENIALS}};
	struct front front = {.see = flip, .type = RTE_AUTH};
	size_t i;

	for (i = 0; i < CRN_COUNT(rows); i++) {
		front.value = rows[i].at * 8 + 1;
		fronted(t, &both, &front, PAIR_A);
		PAIR_UNTIL(t, t->b->downs);
		CT_EXPECT_EQ(t->b->ups, 0);
		if (rows[i].why != RTE_DENIALS)
			CT_EXPECT_EQ(t->b->denied[rows[i].why], 1);
		else
			CT_EXPECT_EQ(t->b->err, FI_EIO);
	}
}

static void of_the_other_end(struct front *front, uint8_t *bytes, size_t len)
{
	if (bytes[FRONT_TYPE] == RTE_AUTH)
		bytes[28] ^= RTE_AUTH_ACTIVE ^ RTE_AUTH_PASSIVE;
}

/* A proof that is none is answered with FI_EACCES, and counted. */
CT_TEST_F(auth, of_the_other_step_is_none)
{
	struct front front = {.see = of_the_other_end};

	fronted(t, &both, &front, PAIR_A);
	ends(t, FI_EACCES);
	CT_EXPECT_EQ(t->b->ups, 0);
	CT_EXPECT_EQ(t->b->err, FI_EACCES);
	CT_EXPECT_EQ(t->b->denied[RTE_DENIED_NO_PROOF], 1);
}

static void hold_back(struct front *front, uint8_t *bytes, size_t len)
{
	if (bytes[FRONT_TYPE] == RTE_AUTH)
		front->swallow = true;
}

/* It goes on as if it had been let in. */
CT_TEST_F(auth, nothing_is_heard_before_it)
{
	const struct pair_message message = {
		.seq = 1, .data = "abc", .len = 3, .piece = 3};
	struct front front = {.see = hold_back};

	fronted(t, &both, &front, PAIR_A);
	PAIR_UNTIL(t, front.swallow);
	front_remove(&front);
	CT_EXPECT_EQ(t->b->peer->state, RTE_PEER_PROVING);
	t->a->peer->state = RTE_PEER_UP;
	CT_ASSERT_TRUE(pair_send(t->a, &message, NULL, NULL));
	PAIR_UNTIL(t, t->b->downs || t->b->messages);
	CT_EXPECT_EQ(t->b->messages, 0);
	CT_EXPECT_EQ(t->b->err, FI_EACCES);
	CT_EXPECT_EQ(t->b->denied[RTE_DENIED_NO_PROOF], 1);
}

CT_TEST_F(auth, is_not_waited_for_for_ever)
{
	struct front front = {.see = hold_back};

	pair_open(t, &both);
	t->b->config->routing.connect_timeout = 300;
	pair_begin(t);
	front_put(&front, t->a->peer);
	PAIR_UNTIL(t, t->b->downs);
	CT_EXPECT_EQ(t->b->err, FI_ETIMEDOUT);
	CT_EXPECT_EQ(t->b->denied[RTE_DENIED_NO_PROOF], 1);
	PAIR_UNTIL(t, t->a->downs || !t->b->peer);
}

/* --- Anything at all --- */

/* A bit of any message of the greeting: nobody is let in that has heard another one than
 * was said, and nobody who did not prove itself. */
CT_TEST_F(auth, any_bit_that_changes_keeps_them_apart)
{
	static const uint8_t types[] = {RTE_HELLO, RTE_HELLO_ACK, RTE_AUTH, RTE_AUTH};
	struct front front = {.see = flip};
	unsigned int i;

	for (i = 0; i < ct_rounds(200); i++) {
		front.type = types[i % 4];
		/* Of AUTH the proof alone: what is reserved means nothing. */
		front.value = front.type == RTE_AUTH ? 256 + i * 2654435761u % 256
						     : i * 2654435761u;
		fronted(t, &both, &front, i % 2 ? PAIR_B : PAIR_A);
		t->a->config->routing.connect_timeout = 300;
		t->b->config->routing.connect_timeout = 300;
		PAIR_UNTIL(t, t->a->downs || t->b->downs);
		CT_EXPECT_EQ(t->a->ups, 0);
	}
}

CT_TEST_F(auth, without_a_random_number_nobody_is_spoken_with)
{
	pair_open(t, &both);
	pair_begin(t);
	t->a->peer->local.nonce = 0;
	ends(t, FI_EIO);
	CT_EXPECT_STRSTR(t->a->log, "getrandom");
}

/* B has both keys, and answers by the one that was used; A wants the one that it used. */
CT_TEST_F(auth, an_answer_by_another_key_is_none)
{
	static const struct pair_attr attr = {
		.lands = 4,
		.requires = {true, true},
		.keys = {&two_one, &one_two},
	};

	pair_open(t, &attr);
	pair_begin(t);
	PAIR_UNTIL(t, t->a->peer->state == RTE_PEER_PROVING);
	CT_EXPECT_EQ(t->a->peer->in->key_id, 2);
	t->a->peer->in->key_id = 1;
	ends(t, FI_EACCES);
	CT_EXPECT_EQ(t->a->denied[RTE_DENIED_KEY_ID], 1);
}
