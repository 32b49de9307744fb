/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The short way of the bypass does what the long one does: the same program runs twice,
 * the second time with buffers of two parts, which the short way leaves to the long one.
 */
#include <rdma/fi_errno.h>
#include "cairn_test.h"
#include "fake.h"

#define KEY 0x77
#define LEN 2000 /* half of it is one fragment */
#define STEPS 600

struct note {
	void *context;
	uint64_t flags;
	int err;
};

/* What the program sees of one run. */
struct run {
	ssize_t rets[STEPS];
	struct note notes[2 * STEPS];
	unsigned int posted, noted, quick[2]; /* of those: RMA, and messages */
	uint32_t straight, writes, reads;
	uint8_t memory[LEN];
};

static struct fake fake;
static struct run runs[2];
static uint8_t from[LEN], into[LEN], received[LEN];
static int contexts[STEPS];
static struct crn_mr mr;
static bool messages; /* there are some among the operations */
static uint64_t state;

static unsigned int random_below(unsigned int limit)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned int)(state % limit);
}

static const uint64_t levels[] = {0,
				  FI_COMPLETION,
				  FI_DELIVERY_COMPLETE,
				  FI_INJECT_COMPLETE,
				  FI_TRANSMIT_COMPLETE | FI_COMPLETION,
				  FI_FENCE,
				  FI_MORE,
				  FI_INJECT,
				  FI_RECV};

/* Of one part, or of two with the same bytes. */
static ssize_t post(uint32_t parts, bool reads, size_t len, uint64_t at, uint64_t flags,
		    void *context)
{
	uint8_t *buf = reads ? into + at % LEN : from + at % LEN;
	const struct iovec iov[2] = {{buf, parts == 1 ? len : len / 2},
				     {buf + len / 2, len - len / 2}};
	const struct fi_rma_iov range = {at, len, KEY};
	const struct fi_msg_rma msg = {
		.msg_iov = iov,
		.iov_count = parts,
		.rma_iov = &range,
		.rma_iov_count = 1,
		.context = context,
	};

	return reads ? rte_vc_read(&fake.a.vc, &msg, flags)
		     : rte_vc_write(&fake.a.vc, &msg, flags);
}

static ssize_t post_message(uint32_t parts, size_t len, uint64_t flags, void *context)
{
	const struct iovec iov[2] = {{from, parts == 1 ? len : len / 2},
				     {from + len / 2, len - len / 2}};
	const struct fi_msg msg = {.msg_iov = iov,
				   .iov_count = parts,
				   .context = context};

	return rte_vc_send(&fake.a.vc, &msg, flags);
}

static void step_post(struct run *run, uint32_t parts, bool message)
{
	const uint64_t flags = levels[random_below(CRN_COUNT(levels))];
	const bool reads = random_below(2);
	const size_t len = random_below(random_below(2) ? 20 : LEN / 2);
	const uint64_t at = random_below(LEN / 2), seq = fake.a.vc.tail;
	const struct rte_vc_op *op = &fake.a.vc.ops[seq & fake.a.vc.mask];
	int *context = &contexts[run->posted];
	const ssize_t ret = message ? post_message(parts, len, flags, context)
				    : post(parts, reads, len, at, flags, context);

	/* The short way has no use for the operation's own copy of the buffer. */
	run->quick[message] += !ret && op->begun && !op->iov_count;
	run->rets[run->posted++] = ret;
}

static void take(struct run *run, struct crn_cq *cq)
{
	struct note *note = &run->notes[run->noted];
	struct fi_cq_err_entry err = {0};
	struct fi_cq_data_entry entry;
	const ssize_t ret = fi_cq_read(&cq->fid, &entry, 1);

	if (ret == -FI_EAGAIN)
		return;
	*note = (struct note){entry.op_context, entry.flags, 0};
	if (ret == -FI_EAVAIL) {
		CT_EXPECT_EQ(fi_cq_readerr(&cq->fid, &err, 0), 1);
		*note = (struct note){err.op_context, err.flags, err.err};
	}
	run->noted++;
}

static void step(struct run *run, uint32_t parts)
{
	switch (random_below(9)) {
	case 0:
	case 1:
	case 2:
		step_post(run, parts, messages && !random_below(3));
		break;
	case 3:
		take(run, &fake.b.rx_cq);
		break;
	case 4:
		fake_recv(&fake.b, received, LEN, &contexts[1]);
		break;
	case 5:
		fake.a.rma_again = !random_below(3);
		fake.a.no_direct = !random_below(4);
		fake.a.no_memory = !random_below(8);
		break;
	case 6:
		take(run, &fake.a.tx_cq);
		break;
	case 7:
		if (!random_below(10) && !crn_list_empty(&fake.b.loans))
			rte_vc_recall(crn_container_of(fake.b.loans.next,
						       struct rte_vc_loan, of_mr));
		break;
	default:
		fake_run(&fake);
		break;
	}
}

static void run_all(struct run *run, uint32_t parts, uint64_t seed)
{
	static uint8_t memory[LEN];
	unsigned int i;

	memset(run, 0, sizeof(*run));
	memset(memory, 0, LEN);
	memset(into, 0, LEN);
	state = seed * 0x9e3779b97f4a7c15u + 1;
	fake_pattern(from, LEN, 5);
	messages = random_below(2);
	fake_open(&fake, random_below(4), random_below(2));
	fake.bypass = fake.direct;
	fake_region(&fake.b, &mr, memory, LEN, KEY, FI_REMOTE_WRITE | FI_REMOTE_READ);
	if (!random_below(4))
		fake_count(&fake.a, FI_WRITE);
	fake_start(&fake);
	for (i = 0; i < STEPS; i++)
		step(run, parts);
	fake.a.rma_again = fake.a.no_direct = fake.a.no_memory = false;
	fake.a.hungry = true;
	for (i = 0; i < 2 * FAKE_RX; i++) {
		fake_recv(&fake.b, received, LEN, &contexts[1]);
		fake_run(&fake);
		take(run, &fake.b.rx_cq);
		take(run, &fake.a.tx_cq);
	}
	run->straight = fake.a.straight;
	run->writes = fake_sent(&fake.a, RTE_WRITE);
	run->reads = fake_sent(&fake.a, RTE_READ_REQ);
	memcpy(run->memory, memory, LEN);
}

static void set_up(struct fake **t)
{
	*t = &fake;
	fake_open(&fake, true, false);
	fake_region(&fake.b, &mr, received, LEN, KEY, FI_REMOTE_WRITE);
	fake_start(&fake);
}

CT_FIXTURE(quick, struct fake *, set_up, fake_tear_down);

CT_TEST_F(quick, does_what_the_long_way_does)
{
	static uint8_t seen[LEN];
	const unsigned int seeds = ct_rounds(400);
	unsigned int seed, quick[2] = {0};

	for (seed = 1; seed <= seeds && !ct_failed(); seed++) {
		CT_NOTE("seed %u", seed);
		run_all(&runs[0], 1, seed);
		memcpy(seen, into, LEN);
		run_all(&runs[1], 2, seed);
		quick[0] += runs[0].quick[0];
		quick[1] += runs[0].quick[1];
		CT_EXPECT_EQ(runs[1].quick[0] + runs[1].quick[1], 0);
		memset(runs[0].quick, 0, sizeof(runs[0].quick));
		CT_EXPECT_MEMEQ(&runs[0], &runs[1], sizeof(runs[0]));
		CT_EXPECT_MEMEQ(into, seen, LEN);
	}
	CT_EXPECT_GT(quick[0], seeds);
	CT_EXPECT_GT(quick[1], seeds);
}

CT_TEST_F(quick, a_message_is_one_that_a_durable_write_cannot_speak_of)
{
	const uint64_t durable = FI_COMMIT_COMPLETE | FI_FENCE;

	CT_EXPECT_EQ(fake_recv(&fake.b, into, 8, &contexts[1]), 0);
	CT_EXPECT_EQ(fake_send(&fake.a, from, 8, &contexts[0], 0), 0);
	CT_EXPECT_EQ(fake_write(&fake.a, from, 8, 0, KEY, &contexts[2], durable),
		     -FI_EOPNOTSUPP);
	fake_run(&fake);
	fake_expect(&fake.a.tx_cq, &contexts[0], FI_SEND | FI_MSG, 0);
}

CT_TEST_F(quick, nothing_is_sent_once_an_operation_was_refused)
{
	const struct rte_nack nack = {.request = 2, .status = FI_EKEYREJECTED};
	const struct rte_packet packet = {.head = {.type = RTE_NACK, .flags = RTE_ERR}};
	uint8_t bytes[64];
	ssize_t len;

	CT_EXPECT_EQ(fake_write(&fake.a, from, 8, 0, KEY, &contexts[0], 0), 0);
	CT_EXPECT_EQ(fake_write(&fake.a, from, 8, 0, KEY + 1, &contexts[1], 0), 0);
	CT_ASSERT_EQ(fake.a.out_count, 2);
	len = rte_nack_pack(&packet, &nack, bytes, sizeof(bytes));
	fake_inject(&fake.a, bytes, (size_t)len);
	CT_EXPECT_EQ(fake_send(&fake.a, from, 8, &contexts[2], 0), 0);
	CT_EXPECT_EQ(fake.a.out_count, 2);
	rte_vc_stop(&fake.a.vc, FI_ECONNABORTED, 0);
	fake_run(&fake);
	fake_expect_err(&fake.a.tx_cq, &contexts[0], FI_RMA | FI_WRITE, FI_ECONNABORTED);
	fake_expect_err(&fake.a.tx_cq, &contexts[1], FI_RMA | FI_WRITE, FI_EKEYREJECTED);
	fake_expect_err(&fake.a.tx_cq, &contexts[2], FI_SEND | FI_MSG, FI_ECONNABORTED);
}

/* --- Whatever is refused, by the codes of fi_route(7) --- */

/* A write of LEN / 2 bytes, and what is wrong with it. */
struct wrong {
	size_t parts, len, ranges, range;
	uint64_t addr, flags;
	ssize_t ret;
};

static ssize_t post_wrong(const struct wrong *wrong, bool reads)
{
	const struct iovec iov[RTE_VC_IOV + 1] = {{from, wrong->len}};
	const struct fi_rma_iov range[2] = {{wrong->addr, wrong->range, KEY}};
	const struct fi_msg_rma msg = {
		.msg_iov = wrong->parts ? iov : NULL,
		.iov_count = wrong->parts,
		.rma_iov = range,
		.rma_iov_count = wrong->ranges,
		.context = &contexts[0],
	};

	return reads ? rte_vc_read(&fake.a.vc, &msg, wrong->flags)
		     : rte_vc_write(&fake.a.vc, &msg, wrong->flags);
}

/* Of a region and a lower provider that would take more than there may be. */
static void open_known(void)
{
	unsigned int i;

	fake_open(&fake, true, false);
	fake.bypass = true;
	fake.a.port.lower_rma = 2 * FAKE_MAX;
	fake_region(&fake.b, &mr, received, 2 * FAKE_MAX, KEY,
		    FI_REMOTE_WRITE | FI_REMOTE_READ);
	fake_start(&fake);
	for (i = 0; i < 5; i++) {
		CT_EXPECT_EQ(fake_write(&fake.a, from, 8, 0, KEY, &contexts[0], 0), 0);
		fake_run(&fake);
		fake_expect(&fake.a.tx_cq, &contexts[0], FI_RMA | FI_WRITE, 0);
	}
	CT_EXPECT_EQ(fake.a.straight, 1);
}

CT_TEST_F(quick, calls_that_are_wrong_are_refused_as_ever)
{
	static const struct wrong wrongs[] = {
		{RTE_VC_IOV + 1, 8, 1, 8, 0, 0, -FI_EINVAL},
		{1, 8, 2, 8, 0, 0, -FI_EINVAL},
		{1, 8, 0, 8, 0, 0, -FI_EINVAL},
		{1, 8, 1, 9, 0, 0, -FI_EINVAL},
		{1, 8, 1, 7, 0, 0, -FI_EINVAL},
		{1, 8, 1, 8, UINT64_MAX - 7, 0, -FI_EINVAL},
		{0, 0, 1, 8, 0, 0, -FI_EINVAL},
		{1, FAKE_MAX + 1, 1, FAKE_MAX + 1, 0, 0, -FI_EMSGSIZE},
		{1, 8, 1, 8, 0, FI_RMA_EVENT, -FI_EBADFLAGS},
	};
	size_t i;

	open_known();
	for (i = 0; i < CRN_COUNT(wrongs); i++) {
		CT_NOTE("%zu", i);
		CT_EXPECT_EQ(post_wrong(&wrongs[i], false), wrongs[i].ret);
		CT_EXPECT_EQ(post_wrong(&wrongs[i], true), wrongs[i].ret);
	}
	fake.a.vc.attr.max_msg_size = 100;
	CT_EXPECT_EQ(fake_send(&fake.a, from, 101, &contexts[0], 0), -FI_EMSGSIZE);
	CT_EXPECT_EQ(fake.a.out_count, 0);
	fake_expect_none(&fake.a.tx_cq);
}

CT_TEST_F(quick, nothing_is_sent_before_or_after_the_connection)
{
	fake_open(&fake, true, false);
	fake_region(&fake.b, &mr, received, LEN, KEY, FI_REMOTE_WRITE);
	CT_EXPECT_EQ(fake_send(&fake.a, from, 0, &contexts[0], 0), -FI_ENOTCONN);
	CT_EXPECT_EQ(fake_write(&fake.a, from, 8, 0, KEY, &contexts[0], 0), -FI_ENOTCONN);
	fake_start(&fake);
	rte_vc_stop(&fake.a.vc, FI_ECONNABORTED, 0);
	fake.a.vc.peer = NULL; /* is closed now */
	CT_EXPECT_EQ(fake_send(&fake.a, from, 8, &contexts[0], 0), -FI_ENOTCONN);
	CT_EXPECT_EQ(fake_write(&fake.a, from, 8, 0, KEY, &contexts[0], 0), -FI_ENOTCONN);
}

CT_TEST_F(quick, nothing_goes_straight_after_the_connection)
{
	open_known();
	rte_vc_stop(&fake.a.vc, FI_ECONNABORTED, 0);
	fake.a.vc.peer = NULL; /* is closed now */
	CT_EXPECT_EQ(fake_write(&fake.a, from, 8, 0, KEY, &contexts[0], 0), -FI_ENOTCONN);
	CT_EXPECT_EQ(fake_read(&fake.a, from, 8, 0, KEY, &contexts[0]), -FI_ENOTCONN);
}

CT_TEST_F(quick, a_queue_that_is_full_is_no_reason_once_it_has_ended)
{
	int i;

	open_known();
	fake.a.hold_done = true;
	for (i = 0; i < (int)FAKE_TX; i++)
		CT_EXPECT_EQ(fake_write(&fake.a, from, 8, 0, KEY, &contexts[i], 0), 0);
	CT_EXPECT_EQ(fake_write(&fake.a, from, 8, 0, KEY, &contexts[i], 0), -FI_EAGAIN);
	rte_vc_stop(&fake.a.vc, FI_ECONNABORTED, 0);
	CT_EXPECT_EQ(fake_write(&fake.a, from, 8, 0, KEY, &contexts[i], 0), -FI_ENOTCONN);
}

CT_TEST_F(quick, a_message_that_waits_is_counted_once)
{
	fake.a.credits[RTE_REQUESTS] = 0;
	CT_EXPECT_EQ(fake_send(&fake.a, from, 8, &contexts[0], 0), 0);
	CT_EXPECT_EQ(fake.a.peer.stalls[RTE_REQUESTS], 1);
	CT_EXPECT_EQ(fake.a.out_count, 0);
	fake.a.credits[RTE_REQUESTS] = FAKE_CREDITS;
	CT_EXPECT_EQ(fake_recv(&fake.b, into, 8, &contexts[1]), 0);
	fake_run(&fake);
	fake_expect(&fake.a.tx_cq, &contexts[0], FI_SEND | FI_MSG, 0);
}
