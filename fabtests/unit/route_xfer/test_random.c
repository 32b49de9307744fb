/* SPDX-License-Identifier: BSD-2-Clause */
/* Both ends do all that there is, in any order, with as little as a peer may have. */
#include <rdma/fi_errno.h>
#include "cairn_test.h"
#include "fake.h"

#define KEY 0x99
#define LEN 9000
#define STEPS 400
#define OPS 2000

/* An operation; its context. */
struct op {
	enum kind { SEND, INJECT, WRITE, READ } kind;
	bool fails; /* its key is wrong */
	size_t len;
	unsigned int seed;
	uint8_t bytes[LEN];
};

struct recv {
	uint8_t bytes[LEN];
};

struct side {
	struct fake_end *end;
	struct op ops[OPS];
	unsigned int posted, reported; /* of ops; an injected one is not reported */
	struct recv recvs[FAKE_RX];
	unsigned int recv_posted, recv_done;
	unsigned int message; /* of the other side's ops: the next that arrives */
	uint8_t memory[LEN];
	struct crn_mr mr;
	bool stopped;
	unsigned int broken;
};

static struct fake fake;
static struct side sides[2];
static bool refusals; /* now and then the key is wrong */
static uint64_t state;

static unsigned int random_below(unsigned int limit)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned int)(state % limit);
}

static void side_open(struct side *side, struct fake_end *end)
{
	memset(side, 0, sizeof(*side));
	side->end = end;
	fake_region(end, &side->mr, side->memory, LEN, KEY,
		    FI_REMOTE_READ | FI_REMOTE_WRITE);
	fake_pattern(side->memory, LEN, 200);
	end->credits[RTE_REQUESTS] = 1 + random_below(4);
	end->credits[RTE_RESPONSES] = 1 + random_below(4);
	end->slots[RTE_REQUESTS] = random_below(1u << FAKE_SLOTS);
	end->done_first = random_below(2);
}

static size_t random_len(void)
{
	static const size_t ranges[] = {2, 60, FAKE_EAGER + 2, LEN};

	return random_below((unsigned int)ranges[random_below(4)]);
}

static const uint64_t levels[] = {0, FI_DELIVERY_COMPLETE, FI_INJECT_COMPLETE,
				  FI_TRANSMIT_COMPLETE, FI_FENCE};

static void side_post(struct side *side)
{
	struct op *op = &side->ops[side->posted];
	uint64_t flags = levels[random_below(CRN_COUNT(levels))];
	ssize_t ret = 0;

	if (side->posted == OPS)
		return;
	op->kind = (enum kind)random_below(4);
	op->len = random_len();
	op->seed = side->posted;
	op->fails = refusals && op->kind > INJECT && op->len && !random_below(30);
	fake_pattern(op->bytes, LEN, op->kind == READ ? 99 : op->seed);
	switch (op->kind) {
	case SEND:
		ret = fake_send(side->end, op->bytes, op->len, op, flags);
		break;
	case INJECT:
		op->len %= FAKE_INJECT + 1;
		ret = rte_vc_inject(&side->end->vc, op->bytes, op->len, 0, 0);
		memset(op->bytes, 0, FAKE_INJECT);
		break;
	case WRITE:
		/* What is written is what is there: reads at the same time see no
		 * difference. */
		fake_pattern(op->bytes, LEN, 200);
		ret = fake_write(side->end, op->bytes, op->len, 0, KEY + op->fails, op,
				 flags);
		break;
	case READ:
		ret = fake_read(side->end, op->bytes, op->len, 0, KEY + op->fails, op);
		break;
	}
	CT_EXPECT_TRUE(ret == 0 || ret == -FI_EAGAIN ||
		       (ret == -FI_ENOTCONN && side->stopped));
	if (!ret)
		side->posted++;
}

static void side_recv(struct side *side)
{
	struct recv *recv = &side->recvs[side->recv_posted % FAKE_RX];

	if (!fake_recv(side->end, recv->bytes, LEN, recv))
		side->recv_posted++;
}

static void op_check(struct side *side, struct op *op, int err, uint8_t *expected)
{
	struct op *next = &side->ops[side->reported];

	while (next->kind == INJECT)
		next++;
	CT_EXPECT_EQ(op, next);
	side->reported = (unsigned int)(next - side->ops) + 1;
	if (side->stopped && (err == FI_ECONNABORTED || err == FI_ECANCELED))
		return;
	CT_EXPECT_EQ(err, op->fails ? FI_EKEYREJECTED : 0);
	if (op->kind == READ && !err) {
		fake_pattern(expected, LEN, 200);
		CT_EXPECT_MEMEQ(op->bytes, expected, op->len);
	}
}

static void message_check(struct side *side, struct side *other, struct recv *recv,
			  int err, size_t len, uint8_t *expected)
{
	struct op *op = &other->ops[side->message];

	CT_EXPECT_EQ(recv, &side->recvs[side->recv_done++ % FAKE_RX]);
	if (side->stopped && err == FI_ECANCELED)
		return;
	CT_EXPECT_EQ(err, 0);
	while (op->kind > INJECT)
		op++;
	side->message = (unsigned int)(op - other->ops) + 1;
	fake_pattern(expected, LEN, op->seed);
	CT_EXPECT_EQ(len, op->len);
	CT_EXPECT_MEMEQ(recv->bytes, expected, op->len);
}

/* The next entry, of a success or not. False: there is none. */
static bool cq_next(struct crn_cq *cq, struct fi_cq_err_entry *err)
{
	struct fi_cq_data_entry entry;
	const ssize_t ret = fi_cq_read(&cq->fid, &entry, 1);

	memset(err, 0, sizeof(*err));
	if (ret == -FI_EAVAIL)
		return fi_cq_readerr(&cq->fid, err, 0) == 1;
	err->op_context = entry.op_context;
	err->len = entry.len;
	return ret == 1;
}

static void side_check(struct side *side, struct side *other)
{
	static uint8_t expected[LEN];
	struct fi_cq_err_entry entry;

	while (cq_next(&side->end->tx_cq, &entry))
		op_check(side, entry.op_context, entry.err, expected);
	while (cq_next(&side->end->rx_cq, &entry))
		message_check(side, other, entry.op_context, entry.err, entry.len,
			      expected);
}

static void stop_all(void);

static void step(struct side *side, struct side *other)
{
	switch (random_below(6)) {
	case 0:
		side_post(side);
		break;
	case 1:
		side_recv(side);
		break;
	case 2:
	case 3:
		fake_deliver(&fake, side->end);
		break;
	case 4:
		fake_done(side->end);
		break;
	default:
		if (side->end->hungry) {
			side->end->hungry = false;
			rte_vc_ready(&side->end->vc);
		}
	}
	side_check(side, other);
	if ((side->end->broken || other->end->broken) && !side->stopped)
		stop_all();
}

static void finish(void)
{
	int i, j;

	for (i = 0; i < 60; i++) {
		for (j = 0; j < 2; j++)
			side_recv(&sides[j]);
		fake_run(&fake);
		for (j = 0; j < 2; j++)
			side_check(&sides[j], &sides[!j]);
	}
	for (j = 0; j < 2; j++) {
		while (sides[j].reported < sides[j].posted &&
		       sides[j].ops[sides[j].reported].kind == INJECT)
			sides[j].reported++;
		CT_EXPECT_EQ(sides[j].reported, sides[j].posted);
		CT_EXPECT_EQ(sides[j].end->bad, NULL);
	}
}

static void stop_all(void)
{
	int j;

	for (j = 0; j < 2; j++) {
		sides[j].stopped = true;
		rte_vc_stop(&sides[j].end->vc, FI_ECONNABORTED, 7);
	}
}

static void traffic(unsigned int seed, bool stops)
{
	unsigned int i;
	int j;

	state = seed * 0x9e3779b97f4a7c15 + 1;
	CT_NOTE("seed %u", seed);
	refusals = stops && random_below(2);
	fake_open(&fake, random_below(2), false);
	fake.bypass = fake.direct;
	fake_start(&fake);
	for (j = 0; j < 2; j++)
		side_open(&sides[j], j ? &fake.b : &fake.a);
	for (i = 0; i < STEPS; i++) {
		j = (int)random_below(2);
		step(&sides[j], &sides[!j]);
	}
	if (stops && !sides[0].stopped)
		stop_all();
	finish();
	for (j = 0; j < 2; j++) {
		if (stops)
			CT_EXPECT_EQ(sides[j].recv_done, sides[j].recv_posted);
		crn_mr_remove(&sides[j].end->map, &sides[j].mr);
	}
	fake_close(&fake);
}

CT_TEST(random, all_of_it_arrives_in_order)
{
	const unsigned int seeds = ct_rounds(299);
	unsigned int seed;

	for (seed = 1; seed <= seeds && !ct_failed(); seed++)
		traffic(seed, false);
}

CT_TEST(random, a_connection_that_ends_at_any_time)
{
	const unsigned int seeds = ct_rounds(299);
	unsigned int seed;

	for (seed = 1; seed <= seeds && !ct_failed(); seed++)
		traffic(seed, true);
}
