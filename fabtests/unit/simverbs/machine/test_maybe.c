/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What spares an explorer states (machine/maybe.c, machine/unseen.c) leaves nothing out:
 * after small programs recovery can find the same as when every line drains by choice and
 * every choice is tried against every other.
 */
#include "cairn_test.h"
#include "machine/machine.h"

#define SIZE 256u
#define DRAM 1u
#define CHOICES 64u
#define ROOM 16384u /* bytes of a state */
#define SETS 8192u  /* twice the states there are, at least */

enum program { OVERWRITTEN, SHARED_LINE, FLUSHED, TOLD, PROGRAMS };

static struct {
	struct svb_machine m;
	struct svb_machine_state state;
	struct svb_maybes maybes;
	uint8_t visible[SIZE], medium[SIZE];
	uint64_t seen[SETS], media[SETS];
	uint32_t states, found, delivered;
	uint64_t sum;
	bool prunes;
} bench;

static void on_place(void *ctx, uint64_t space, uint64_t at, const void *data, size_t len)
{
}

static void on_execute(void *ctx, const struct svb_request *request)
{
	if (request->kind == SVB_REQ_ATOMIC)
		bench.visible[request->at]++;
}

static void on_deliver(void *ctx, const struct svb_request *request)
{
	bench.delivered++;
}

static const struct svb_machine_ops ops = {on_place, on_execute, on_deliver, NULL};

static bool is_new(uint64_t *set, uint64_t hash)
{
	uint32_t i = hash % SETS;

	for (hash |= 1; set[i]; i = (i + 1) % SETS)
		if (set[i] == hash)
			return false;
	set[i] = hash;
	return true;
}

static void post(uint32_t qp, uint32_t seq, enum svb_request_kind kind, uint32_t flags,
		 uint64_t space, uint64_t at, uint64_t len)
{
	struct svb_request request = {.qp = qp,
				      .seq = seq,
				      .kind = kind,
				      .flags = flags,
				      .region = qp,
				      .at = at,
				      .len = len};
	struct svb_target target = {space, at, len};
	uint8_t data[SIZE];

	memset(data, (int)(16 * qp + seq), sizeof(data));
	CT_EXPECT_TRUE(svb_machine_post(&bench.m, &request, &target,
					kind == SVB_REQ_POSTED, data));
}

static void begin(enum program program)
{
	switch (program) {
	case OVERWRITTEN:
		post(1, 1, SVB_REQ_POSTED, 0, SVB_SPACE_PM, 56, 16);
		post(1, 2, SVB_REQ_POSTED, 0, SVB_SPACE_PM, 56, 8);
		post(1, 3, SVB_REQ_READ, 0, SVB_SPACE_PM, 63, 1);
		break;
	case SHARED_LINE:
		post(1, 1, SVB_REQ_POSTED, 0, SVB_SPACE_PM, 0, 16);
		post(1, 2, SVB_REQ_READ, 0, SVB_SPACE_PM, 15, 1);
		post(2, 1, SVB_REQ_POSTED, 0, SVB_SPACE_PM, 8, 8);
		post(2, 2, SVB_REQ_READ, 0, SVB_SPACE_PM, 15, 1);
		break;
	case FLUSHED:
		post(1, 1, SVB_REQ_POSTED, 0, SVB_SPACE_PM, 0, 16);
		post(1, 2, SVB_REQ_FLUSH, SVB_REQ_PERSISTENT, SVB_SPACE_PM, 0, 16);
		post(1, 3, SVB_REQ_ATOMIC, SVB_REQ_FENCE, SVB_SPACE_PM, 8, 8);
		post(2, 1, SVB_REQ_POSTED, 0, SVB_SPACE_PM, 8, 8);
		break;
	default:
		post(1, 1, SVB_REQ_POSTED, 0, SVB_SPACE_PM, 0, 8);
		post(1, 2, SVB_REQ_POSTED, SVB_REQ_DELIVER, DRAM, 56, 16);
		post(2, 1, SVB_REQ_ATOMIC, 0, SVB_SPACE_PM, 64, 8);
		break;
	}
}

/* The processor writes the first line back when it has been told. */
static void write_back(void)
{
	if (bench.delivered)
		svb_machine_flush(&bench.m, 0, 64);
}

/* What is noticed of a state: what is under way and was not seen to end, and what a power
 * failure leaves. */
static void note_media(void)
{
	uint64_t told = bench.delivered;

	for (uint32_t seq = 1; seq < 4; seq++)
		told = told * 4 + svb_machine_answered(&bench.m, 1, seq) * 2 +
		       svb_machine_answered(&bench.m, 2, seq);
	svb_machine_fail(&bench.m);
	do {
		told = told * 4096 + svb_machine_hash(bench.medium, SIZE) % 4093;
		if (is_new(bench.media, svb_machine_hash(bench.medium, SIZE) + told)) {
			bench.found++;
			bench.sum += svb_machine_hash(bench.medium, SIZE) + told;
		}
		told /= 4096;
	} while (svb_machine_fail_next(&bench.m));
}

/* The first that is unseen, or count. No requester here is told of what is posted. */
static uint32_t unseen(const struct svb_choice *choices, uint32_t count)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		if (bench.prunes && choices[i].qp &&
		    svb_machine_unseen(&bench.m, &choices[i], false))
			break;
	return i;
}

static void visit(void)
{
	struct svb_choice choices[CHOICES];
	uint8_t state[ROOM];
	const uint32_t delivered = bench.delivered;
	uint32_t count, first;
	size_t size;

	svb_machine_scan(&bench.m);
	count = svb_machine_enabled(&bench.m, choices, CHOICES);
	size = svb_machine_save(&bench.m, state, sizeof(state));
	CT_EXPECT_TRUE(size <= sizeof(state));
	if (!is_new(bench.seen, svb_machine_hash(state, size) + delivered))
		return;
	bench.states++;
	CT_ASSERT_TRUE(bench.states < SETS / 2 && bench.found < SETS / 2);
	first = unseen(choices, count);
	if (first == count) {
		note_media();
		first = 0;
	} else {
		count = first + 1;
	}
	for (uint32_t i = first; i < count; i++) {
		svb_machine_restore(&bench.m, state);
		svb_machine_apply(&bench.m, &choices[i]);
		visit();
		bench.delivered = delivered;
	}
	if (delivered) {
		svb_machine_restore(&bench.m, state);
		write_back();
		svb_machine_save(&bench.m, state, sizeof(state));
		visit();
	}
}

/* What recovery finds, as a number that says which media there were, whatever order. */
static uint64_t media_of(enum program program, struct svb_machine_config config,
			 bool prunes)
{
	memset(&bench, 0, sizeof(bench));
	bench.m = (struct svb_machine){.config = config,
				       .ops = &ops,
				       .state = &bench.state,
				       .visible = bench.visible,
				       .medium = bench.medium,
				       .size = SIZE,
				       .maybes = prunes ? &bench.maybes : NULL};
	bench.prunes = prunes;
	begin(program);
	visit();
	CT_EXPECT_FALSE(bench.maybes.full);
	return bench.sum + bench.found;
}

CT_TEST(maybe, nothing_that_recovery_can_find_is_left_out)
{
	uint32_t all, fewer;
	struct svb_machine_config config;
	uint64_t media;

	for (uint32_t program = 0; program < PROGRAMS; program++)
		for (uint32_t domain = SVB_DOMAIN_DMP; domain <= SVB_DOMAIN_WSP; domain++)
			for (uint32_t bits = 0; bits < 8; bits++) {
				config = (struct svb_machine_config){
					.domain = (enum svb_domain)domain,
					.ddio = bits & 1,
					.weak = bits & 2,
					.loose = bits & 2,
					.tear = bits & 4};
				media = media_of((enum program)program, config, false);
				all = bench.states;
				CT_EXPECT_EQ(media_of((enum program)program, config,
						      true),
					     media);
				fewer = bench.states;
				CT_EXPECT_TRUE(fewer < all);
			}
}
