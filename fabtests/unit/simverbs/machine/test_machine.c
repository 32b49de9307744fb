/* SPDX-License-Identifier: BSD-2-Clause */
/* The rules of the machine model one by one (machine/machine.h). */
#include "cairn_test.h"
#include "machine/machine.h"

#define SIZE 512u
#define DRAM 1u

static struct {
	struct svb_machine m;
	struct svb_machine_state state;
	uint8_t visible[SIZE], medium[SIZE], dram[SIZE];
	uint32_t executed, delivered, seq;
} bench;

static void on_place(void *ctx, uint64_t space, uint64_t at, const void *data, size_t len)
{
	memcpy(bench.dram + at, data, len);
}

static void on_execute(void *ctx, const struct svb_request *request)
{
	bench.executed++;
}

static void on_deliver(void *ctx, const struct svb_request *request)
{
	bench.delivered++;
}

static const struct svb_machine_ops ops = {on_place, on_execute, on_deliver, NULL};

static void begin(enum svb_domain domain, bool ddio)
{
	memset(&bench, 0, sizeof(bench));
	bench.m = (struct svb_machine){.config = {.domain = domain, .ddio = ddio},
				       .ops = &ops,
				       .state = &bench.state,
				       .visible = bench.visible,
				       .medium = bench.medium,
				       .size = SIZE};
}

/* Hands over a write of len bytes of a value. */
static uint32_t write_to(uint64_t at, uint64_t len, uint8_t value)
{
	struct svb_request request = {.qp = 1, .seq = ++bench.seq, .region = 1};
	struct svb_target target = {SVB_SPACE_PM, at, len};
	uint8_t data[SIZE];

	memset(data, value, sizeof(data));
	CT_EXPECT_TRUE(svb_machine_post(&bench.m, &request, &target, 1, data));
	return request.seq;
}

static uint32_t post(enum svb_request_kind kind, uint32_t flags, uint64_t at,
		     uint64_t len)
{
	struct svb_request request = {.qp = 1,
				      .seq = ++bench.seq,
				      .kind = kind,
				      .flags = flags,
				      .region = 1,
				      .at = at,
				      .len = len};

	CT_EXPECT_TRUE(svb_machine_post(&bench.m, &request, NULL, 0, NULL));
	return request.seq;
}

/* Makes the first choice of a kind. False: there is none. */
static bool make(enum svb_choice_kind kind)
{
	struct svb_choice choices[64];
	uint32_t count = svb_machine_enabled(&bench.m, choices, 64), i;

	for (i = 0; i < count; i++)
		if (choices[i].kind == kind) {
			svb_machine_apply(&bench.m, &choices[i]);
			return true;
		}
	return false;
}

/* How far a write got when the power fails, and where that spares it. */
CT_TEST(machine, each_domain_spares_its_stages)
{
	static const struct {
		uint32_t steps; /* of arrive, place, drain */
		bool dmp, mhp, wsp;
	} cases[] = {
		{0, false, false, false},
		{1, false, false, true},
		{2, false, true, true},
		{3, true, true, true},
	};
	bool want;

	for (uint32_t i = 0; i < 4; i++)
		for (uint32_t domain = SVB_DOMAIN_DMP; domain <= SVB_DOMAIN_WSP;
		     domain++) {
			begin((enum svb_domain)domain, true);
			write_to(64, 8, 7);
			for (uint32_t step = 0; step < cases[i].steps; step++)
				CT_EXPECT_TRUE(
					make(step == 2 ? SVB_CHOICE_DRAIN
						       : (enum svb_choice_kind)step));
			svb_machine_fail(&bench.m);
			want = domain == SVB_DOMAIN_DMP	  ? cases[i].dmp
			       : domain == SVB_DOMAIN_MHP ? cases[i].mhp
							  : cases[i].wsp;
			CT_EXPECT_EQ(bench.medium[64], want ? 7 : 0);
			CT_EXPECT_EQ(bench.visible[64], bench.medium[64]);
			CT_EXPECT_EQ(bench.medium[72], 0);
		}
}

/* What a power failure leaves under DMP of a write after which everything settled but
 * nothing drained. */
CT_TEST(machine, reads_and_flushes_drain_what_they_should)
{
	static const struct {
		enum svb_request_kind kind;
		uint32_t flags;
		uint64_t at, len;
		bool on, off; /* durable with DDIO */
	} cases[] = {
		{SVB_REQ_READ, 0, 64, 1, false, true},
		{SVB_REQ_READ, 0, 0, 1, false, true},
		{SVB_REQ_FLUSH, 0, 64, 64, false, true},
		{SVB_REQ_FLUSH, 0, 0, 64, false, false},
		{SVB_REQ_FLUSH, SVB_REQ_PERSISTENT, 64, 64, true, true},
		{SVB_REQ_FLUSH, SVB_REQ_PERSISTENT, 0, 64, false, false},
		{SVB_REQ_ATOMIC, 0, 0, 8, false, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (int ddio = 0; ddio < 2; ddio++) {
			begin(SVB_DOMAIN_DMP, ddio);
			write_to(64, 64, 7);
			post(cases[i].kind, cases[i].flags, cases[i].at, cases[i].len);
			svb_machine_settle(&bench.m, 0);
			CT_EXPECT_EQ(bench.executed, 1);
			CT_EXPECT_EQ(bench.visible[64], 7);
			svb_machine_fail(&bench.m);
			CT_EXPECT_EQ(bench.medium[64] == 7,
				     ddio ? cases[i].on : cases[i].off);
		}
}

CT_TEST(machine, a_read_through_another_region_pushes_nothing)
{
	struct svb_request read = {
		.qp = 1, .seq = 2, .kind = SVB_REQ_READ, .region = 2, .at = 64, .len = 1};

	begin(SVB_DOMAIN_DMP, false);
	write_to(64, 64, 7);
	bench.seq = 2;
	CT_EXPECT_TRUE(svb_machine_post(&bench.m, &read, NULL, 0, NULL));
	svb_machine_settle(&bench.m, 1);
	CT_EXPECT_EQ(bench.visible[64], 7);
	CT_EXPECT_EQ(bench.medium[64], 0);
}

CT_TEST(machine, completions_mean_arrival_and_on_iwarp_nothing)
{
	uint32_t write, read;

	begin(SVB_DOMAIN_DMP, true);
	write = write_to(0, 8, 1);
	read = post(SVB_REQ_READ, 0, 0, 1);
	CT_EXPECT_FALSE(svb_machine_answered(&bench.m, 1, write));
	bench.m.config.weak = true;
	CT_EXPECT_TRUE(svb_machine_answered(&bench.m, 1, write));
	CT_EXPECT_FALSE(svb_machine_answered(&bench.m, 1, read));
	bench.m.config.weak = false;
	CT_EXPECT_TRUE(make(SVB_CHOICE_ARRIVE));
	CT_EXPECT_TRUE(svb_machine_answered(&bench.m, 1, write));
	CT_EXPECT_TRUE(make(SVB_CHOICE_ARRIVE));
	CT_EXPECT_FALSE(make(SVB_CHOICE_EXECUTE));
	CT_EXPECT_TRUE(make(SVB_CHOICE_PLACE));
	CT_EXPECT_FALSE(svb_machine_answered(&bench.m, 1, read));
	CT_EXPECT_TRUE(make(SVB_CHOICE_EXECUTE));
	CT_EXPECT_TRUE(svb_machine_answered(&bench.m, 1, read));
}

CT_TEST(machine, a_fence_waits_for_reads_and_not_for_flushes)
{
	begin(SVB_DOMAIN_DMP, true);
	post(SVB_REQ_READ, 0, 0, 1);
	post(SVB_REQ_POSTED, SVB_REQ_FENCE, 0, 0);
	CT_EXPECT_TRUE(make(SVB_CHOICE_ARRIVE));
	CT_EXPECT_FALSE(make(SVB_CHOICE_ARRIVE));
	CT_EXPECT_TRUE(make(SVB_CHOICE_EXECUTE));
	CT_EXPECT_TRUE(make(SVB_CHOICE_ARRIVE));
	post(SVB_REQ_FLUSH, 0, 0, 1);
	post(SVB_REQ_POSTED, SVB_REQ_FENCE, 0, 0);
	CT_EXPECT_TRUE(make(SVB_CHOICE_ARRIVE));
	CT_EXPECT_TRUE(make(SVB_CHOICE_ARRIVE));
}

/* A message is seen after everything posted before it, also where order is loose. */
CT_TEST(machine, messages_are_delivered_in_order)
{
	begin(SVB_DOMAIN_DMP, true);
	bench.m.config.loose = true;
	write_to(0, 64, 1);
	post(SVB_REQ_POSTED, SVB_REQ_DELIVER, 0, 0);
	CT_EXPECT_TRUE(make(SVB_CHOICE_ARRIVE));
	CT_EXPECT_TRUE(make(SVB_CHOICE_ARRIVE));
	CT_EXPECT_FALSE(make(SVB_CHOICE_DELIVER));
	CT_EXPECT_TRUE(make(SVB_CHOICE_PLACE));
	CT_EXPECT_TRUE(make(SVB_CHOICE_DELIVER));
	CT_EXPECT_EQ(bench.delivered, 1);
}

/* Bytes that overlap keep their order even where placement is loose. */
CT_TEST(machine, the_last_write_stays)
{
	for (int loose = 0; loose < 2; loose++) {
		begin(SVB_DOMAIN_DMP, true);
		bench.m.config.loose = loose;
		write_to(0, 100, 1);
		write_to(60, 100, 2);
		svb_machine_settle(&bench.m, 0);
		CT_EXPECT_EQ(bench.visible[59], 1);
		CT_EXPECT_EQ(bench.visible[60], 2);
		CT_EXPECT_EQ(bench.visible[159], 2);
		CT_EXPECT_EQ(bench.visible[160], 0);
	}
}

CT_TEST(machine, bytes_between_pieces_stay_as_they_are)
{
	struct svb_request request = {.qp = 1, .seq = 1};
	const struct svb_target targets[] = {{SVB_SPACE_PM, 3, 6},
					     {DRAM, 62, 4},
					     {SVB_SPACE_PM, 130, 1}};
	const uint8_t data[] = "abcdefghijk";

	begin(SVB_DOMAIN_DMP, true);
	memset(bench.visible, '.', SIZE);
	memset(bench.dram, '.', SIZE);
	CT_EXPECT_TRUE(svb_machine_post(&bench.m, &request, targets, 3, data));
	svb_machine_settle(&bench.m, 0);
	CT_EXPECT_MEMEQ(bench.visible, "...abcdef...", 12);
	CT_EXPECT_MEMEQ(bench.dram + 60, "..ghij..", 8);
	CT_EXPECT_MEMEQ(bench.visible + 129, ".k.", 3);
}

CT_TEST(machine, the_processor_stores_and_flushes_lines)
{
	begin(SVB_DOMAIN_DMP, true);
	svb_machine_store(&bench.m, 0, "0123456789abcdef", 16);
	svb_machine_store(&bench.m, 64, "x", 1);
	CT_EXPECT_EQ(bench.visible[15], 'f');
	CT_EXPECT_EQ(bench.medium[0], 0);
	svb_machine_flush(&bench.m, 15, 1);
	CT_EXPECT_MEMEQ(bench.medium, "0123456789abcdef", 16);
	CT_EXPECT_EQ(bench.medium[64], 0);
	/* What is stored through a pointer is found. */
	bench.visible[200] = 9;
	svb_machine_scan(&bench.m);
	CT_EXPECT_TRUE(make(SVB_CHOICE_DRAIN));
	CT_EXPECT_TRUE(make(SVB_CHOICE_DRAIN));
	CT_EXPECT_FALSE(make(SVB_CHOICE_DRAIN));
	CT_EXPECT_EQ(bench.medium[200], 9);
}

CT_TEST(machine, a_sweep_is_decided_by_its_seed)
{
	uint8_t first[SIZE];
	uint32_t seed, drained = 0, differ = 0;

	for (seed = 1; seed < 20; seed++) {
		begin(SVB_DOMAIN_DMP, true);
		memset(bench.visible, 5, SIZE);
		svb_machine_sweep(&bench.m, seed);
		memcpy(first, bench.medium, SIZE);
		memset(bench.medium, 0, SIZE);
		svb_machine_sweep(&bench.m, seed);
		CT_EXPECT_MEMEQ(first, bench.medium, SIZE);
		for (size_t i = 0; i < SIZE; i += 8)
			drained += bench.medium[i] == 5;
		for (size_t i = 0; i < SIZE; i += 64)
			differ += !!memcmp(first + i, first + i + 8, 8);
	}
	CT_EXPECT_GT(drained, 0);
	CT_EXPECT_LT(drained, 19 * SIZE / 8);
	CT_EXPECT_GT(differ, 0);
}

CT_TEST(machine, comes_back_to_a_saved_state)
{
	static uint8_t saved[65536], again[65536];
	size_t size, size_again;

	begin(SVB_DOMAIN_DMP, true);
	write_to(0, 128, 3);
	post(SVB_REQ_READ, 0, 0, 1);
	make(SVB_CHOICE_ARRIVE);
	make(SVB_CHOICE_PLACE);
	size = svb_machine_save(&bench.m, saved, sizeof(saved));
	CT_EXPECT_LT(size, sizeof(saved));
	CT_EXPECT_EQ(svb_machine_save(&bench.m, again, 16), size);
	svb_machine_settle(&bench.m, 0);
	svb_machine_drain(&bench.m);
	CT_EXPECT_EQ(bench.medium[127], 3);
	size_again = svb_machine_save(&bench.m, again, sizeof(again));
	CT_EXPECT_NE(svb_machine_hash(saved, size), svb_machine_hash(again, size_again));
	svb_machine_restore(&bench.m, saved);
	CT_EXPECT_EQ(bench.medium[127], 0);
	CT_EXPECT_EQ(bench.visible[63], 3);
	CT_EXPECT_EQ(svb_machine_save(&bench.m, again, sizeof(again)), size);
	CT_EXPECT_MEMEQ(saved, again, size);
}

/* The same state by two ways is the same bytes: who searches comes to it once. */
CT_TEST(machine, the_way_to_a_state_does_not_matter)
{
	static uint8_t one[65536], two[65536];
	struct svb_request request = {.qp = 2, .seq = 1, .region = 1};
	struct svb_target target = {SVB_SPACE_PM, 192, 8};
	size_t size;

	begin(SVB_DOMAIN_DMP, true);
	write_to(0, 8, 3);
	CT_EXPECT_TRUE(svb_machine_post(&bench.m, &request, &target, 1, "abcdefgh"));
	size = svb_machine_save(&bench.m, one, sizeof(one));
	begin(SVB_DOMAIN_DMP, true);
	CT_EXPECT_TRUE(svb_machine_post(&bench.m, &request, &target, 1, "abcdefgh"));
	write_to(0, 8, 3);
	CT_EXPECT_EQ(svb_machine_save(&bench.m, two, sizeof(two)), size);
	CT_EXPECT_MEMEQ(one, two, size);
}

CT_TEST(machine, a_dead_requester_leaves_what_arrived)
{
	begin(SVB_DOMAIN_DMP, true);
	write_to(0, 8, 1);
	make(SVB_CHOICE_ARRIVE);
	write_to(64, 8, 2);
	svb_machine_forget(&bench.m, 1, false);
	svb_machine_settle(&bench.m, 0);
	CT_EXPECT_EQ(bench.visible[0], 1);
	CT_EXPECT_EQ(bench.visible[64], 0);
	write_to(128, 8, 3);
	svb_machine_forget(&bench.m, 1, true);
	CT_EXPECT_EQ(bench.state.requests, 0);
	CT_EXPECT_EQ(bench.state.pieces, 0);
}

CT_TEST(machine, says_when_a_table_is_full)
{
	struct svb_request request = {.qp = 1};
	uint32_t i;

	begin(SVB_DOMAIN_DMP, true);
	for (i = 0; i < SVB_MACHINE_REQUESTS; i++) {
		request.seq = i;
		CT_EXPECT_TRUE(svb_machine_post(&bench.m, &request, NULL, 0, NULL));
	}
	request.seq = i;
	CT_EXPECT_FALSE(svb_machine_post(&bench.m, &request, NULL, 0, NULL));
	svb_machine_settle(&bench.m, 0);
	CT_EXPECT_TRUE(svb_machine_post(&bench.m, &request, NULL, 0, NULL));
	request.seq++;
	CT_EXPECT_FALSE(svb_machine_post(&bench.m, &request,
					 &(struct svb_target){SVB_SPACE_PM, 0,
							      (SVB_MACHINE_PIECES +
							       1ull) * SVB_CACHE_LINE},
					 1, bench.dram));
}
