/* SPDX-License-Identifier: BSD-2-Clause */
/* Of prov/pverbs/sa/sa_watch.c, over an administrator of which each answer is the test's.
 */
#include <rdma/fi_errno.h>
#include <cairn/compat.h>
#include "cairn_test.h"
#include "sa/sa.h"

#define WAIT_MS 10
#define AGAIN_MS 100
#define LOOK_MS 1000
#define SENT_MAX 32

static struct {
	struct pvb_sa_client client;
	struct pvb_sa_watch watch;
	uint64_t now;
	uint8_t sent[SENT_MAX][PVB_MAD_SIZE];
	int sends;
	int answered; /* of sent */
	int subscribed, refused, restarted, notices;
	int err;
	uint16_t status;
	struct pvb_sm_info sm;
} w;

static int world_send(void *arg, const uint8_t *mad, uint32_t wait_ms)
{
	memcpy(w.sent[w.sends++ % SENT_MAX], mad, PVB_MAD_SIZE);
	return 0;
}

static void world_subscribed(void *arg)
{
	w.subscribed++;
}

static void world_refused(void *arg, int err, uint16_t status)
{
	w.refused++;
	w.err = err;
	w.status = status;
}

static void world_restarted(void *arg)
{
	w.restarted++;
}

static void world_notice(void *arg, const struct pvb_notice *notice)
{
	w.notices++;
}

static const struct pvb_sa_ops world_ops = {.send = world_send, .notice = world_notice};

static struct pvb_sa_watch_config world_config(void)
{
	return (struct pvb_sa_watch_config){.subscribe = true,
					    .wait_ms = WAIT_MS,
					    .tries = 1,
					    .again_ms = AGAIN_MS,
					    .subscribed = world_subscribed,
					    .refused = world_refused,
					    .restarted = world_restarted};
}

static void begin(const struct pvb_sa_watch_config *config)
{
	memset(&w, 0, sizeof(w));
	w.sm = (struct pvb_sm_info){.guid = 1, .act_count = 50, .state = 3};
	pvb_sa_open(&w.client, &world_ops, NULL, 1);
	pvb_sa_watch_start(&w.watch, &w.client, config, w.now);
}

/* A request that was sent: its header and what it has of an InformInfo. */
static struct pvb_sa_hdr request(int number, struct pvb_inform_info *inform)
{
	struct pvb_sa_hdr hdr = {0};

	pvb_sa_unpack(w.sent[number], PVB_MAD_SIZE, &hdr);
	pvb_inform_info_unpack(pvb_sa_data(w.sent[number]), PVB_SA_DATA_SIZE, inform);
	return hdr;
}

/* The next request that was not is answered. */
static void answer(uint16_t status)
{
	struct pvb_inform_info inform;
	struct pvb_sa_hdr hdr;
	uint8_t mad[PVB_MAD_SIZE];

	CT_ASSERT_EQ(w.answered < w.sends, true);
	hdr = request(w.answered++, &inform);
	hdr.method = PVB_SA_GET | PVB_SA_RESPONSE;
	hdr.status = status;
	pvb_sa_pack(mad, &hdr);
	if (hdr.attr == PVB_SA_SM_INFO_RECORD)
		pvb_sm_info_pack(pvb_sa_data(mad) + 4, &w.sm);
	pvb_sa_arrived(&w.client, mad, sizeof(mad), w.now);
}

static void answer_all(void)
{
	while (w.answered < w.sends)
		answer(PVB_SA_OK);
}

static void pass(uint64_t ms)
{
	w.now += ms;
	pvb_sa_progress(&w.client, w.now);
	pvb_sa_watch_progress(&w.watch, w.now);
}

CT_TEST(sa_watch, R31_both_traps_are_subscribed_to)
{
	const struct pvb_sa_watch_config config = world_config();
	struct pvb_inform_info inform;
	struct pvb_sa_hdr hdr;
	int i;

	begin(&config);
	CT_ASSERT_EQ(w.sends, PVB_SA_TRAPS);
	for (i = 0; i < PVB_SA_TRAPS; i++) {
		hdr = request(i, &inform);
		CT_EXPECT_EQ(hdr.method, PVB_SA_SET);
		CT_EXPECT_EQ(hdr.attr, PVB_SA_INFORM_INFO);
		CT_EXPECT_EQ(inform.subscribe, true);
		CT_EXPECT_EQ(inform.trap, PVB_TRAP_GROUP_CREATED + i);
		CT_EXPECT_EQ(inform.lid_begin, PVB_INFORM_ALL_LIDS);
		CT_EXPECT_EQ(inform.qpn, 1);
	}
	answer(PVB_SA_OK);
	CT_EXPECT_EQ(w.subscribed, 0);
	answer(PVB_SA_OK);
	CT_EXPECT_EQ(w.subscribed, 1);
	pass(10 * AGAIN_MS);
	CT_EXPECT_EQ(w.sends, PVB_SA_TRAPS);
	CT_EXPECT_EQ(pvb_sa_watch_timeout(&w.watch, w.now), -1);
}

CT_TEST(sa_watch, R31_what_is_refused_is_asked_for_again_later)
{
	const struct pvb_sa_watch_config config = world_config();

	begin(&config);
	answer(PVB_SA_NO_RESOURCES);
	CT_EXPECT_EQ(w.refused, 1);
	CT_EXPECT_EQ(w.err, 0);
	CT_EXPECT_EQ(w.status, PVB_SA_NO_RESOURCES);
	answer(PVB_SA_OK);
	CT_EXPECT_EQ(w.subscribed, 0);
	CT_EXPECT_EQ(pvb_sa_watch_timeout(&w.watch, w.now), AGAIN_MS);
	pass(AGAIN_MS - 1);
	CT_EXPECT_EQ(w.sends, PVB_SA_TRAPS);
	pass(1);
	CT_ASSERT_EQ(w.sends, PVB_SA_TRAPS + 1);
	answer(PVB_SA_OK);
	CT_EXPECT_EQ(w.subscribed, 1);
}

CT_TEST(sa_watch, R31_what_is_not_answered_is_asked_for_again_later)
{
	const struct pvb_sa_watch_config config = world_config();

	begin(&config);
	pass(WAIT_MS);
	CT_EXPECT_EQ(w.refused, PVB_SA_TRAPS);
	CT_EXPECT_EQ(w.err, -FI_ETIMEDOUT);
	CT_EXPECT_EQ(pvb_sa_watch_timeout(&w.watch, w.now), AGAIN_MS);
	CT_EXPECT_EQ(pvb_sa_watch_timeout(&w.watch, w.now + AGAIN_MS + 1), 0);
	pass(AGAIN_MS);
	CT_EXPECT_EQ(w.sends, 2 * PVB_SA_TRAPS);
}

CT_TEST(sa_watch, R31_who_stops_asks_for_no_more_reports)
{
	const struct pvb_sa_watch_config config = world_config();
	struct pvb_inform_info inform;

	begin(&config);
	answer(PVB_SA_OK);
	/* The other one may be answered well, later. */
	pvb_sa_watch_stop(&w.watch, w.now);
	CT_ASSERT_EQ(w.sends, 2 * PVB_SA_TRAPS);
	request(PVB_SA_TRAPS, &inform);
	CT_EXPECT_EQ(inform.subscribe, false);
	CT_EXPECT_EQ(inform.trap, PVB_TRAP_GROUP_CREATED);
	request(PVB_SA_TRAPS + 1, &inform);
	CT_EXPECT_EQ(inform.subscribe, false);
	CT_EXPECT_EQ(inform.trap, PVB_TRAP_GROUP_DELETED);
	answer_all();
	pvb_sa_restarted(&w.watch, w.now);
	CT_EXPECT_EQ(w.subscribed, 0);
	CT_EXPECT_EQ(w.restarted, 0);
	CT_EXPECT_EQ(pvb_sa_watch_timeout(&w.watch, w.now), -1);
}

CT_TEST(sa_watch, R35_after_a_restart_it_subscribes_again)
{
	const struct pvb_sa_watch_config config = world_config();

	begin(&config);
	answer_all();
	pvb_sa_restarted(&w.watch, w.now);
	CT_EXPECT_EQ(w.restarted, 1);
	CT_EXPECT_EQ(w.sends, 2 * PVB_SA_TRAPS);
	answer_all();
	CT_EXPECT_EQ(w.subscribed, 2);
}

CT_TEST(sa_watch, R35_what_the_manager_before_has_answered_counts_for_nothing)
{
	const struct pvb_sa_watch_config config = world_config();

	begin(&config);
	pvb_sa_restarted(&w.watch, w.now);
	CT_EXPECT_EQ(w.sends, PVB_SA_TRAPS);
	answer(PVB_SA_OK);
	answer(PVB_SA_OK);
	CT_EXPECT_EQ(w.subscribed, 0);
	pass(0);
	CT_EXPECT_EQ(w.sends, 2 * PVB_SA_TRAPS);
	answer_all();
	CT_EXPECT_EQ(w.subscribed, 1);
}

static void report(void)
{
	const struct pvb_sa_hdr hdr = {.method = PVB_SA_REPORT,
				       .attr = PVB_SA_NOTICE,
				       .tid = 5};
	uint8_t mad[PVB_MAD_SIZE];

	pvb_sa_pack(mad, &hdr);
	pvb_sa_arrived(&w.client, mad, sizeof(mad), w.now);
}

CT_TEST(sa_watch, R35_the_first_report_of_a_new_manager_is_no_repeat)
{
	const struct pvb_sa_watch_config config = world_config();

	begin(&config);
	answer_all();
	report();
	report();
	CT_EXPECT_EQ(w.notices, 1);
	pvb_sa_restarted(&w.watch, w.now);
	report();
	CT_EXPECT_EQ(w.notices, 2);
}

/* A watch that only looks, after the first look. */
static void begin_looking(void)
{
	struct pvb_sa_watch_config config = world_config();

	config.subscribe = false;
	config.look_ms = LOOK_MS;
	begin(&config);
	CT_ASSERT_EQ(w.sends, 1);
	answer(PVB_SA_OK);
	CT_EXPECT_EQ(w.restarted, 0);
	CT_EXPECT_EQ(pvb_sa_watch_timeout(&w.watch, w.now), LOOK_MS);
}

static void look_again(void)
{
	const int before = w.sends;

	pass(LOOK_MS);
	CT_ASSERT_EQ(w.sends, before + 1);
	answer(PVB_SA_OK);
}

CT_TEST(sa_watch, R35_a_manager_that_counts_on_is_the_same)
{
	begin_looking();
	look_again();
	w.sm.act_count++;
	w.sm.priority = 5;
	look_again();
	CT_EXPECT_EQ(w.restarted, 0);
}

CT_TEST(sa_watch, R35_a_manager_that_counts_anew_has_restarted)
{
	begin_looking();
	w.sm.act_count = 49;
	look_again();
	CT_EXPECT_EQ(w.restarted, 1);
	look_again();
	CT_EXPECT_EQ(w.restarted, 1);
}

CT_TEST(sa_watch, R35_a_manager_with_another_guid_is_another)
{
	begin_looking();
	w.sm.guid = 2;
	w.sm.act_count = 90;
	look_again();
	CT_EXPECT_EQ(w.restarted, 1);
}

CT_TEST(sa_watch, R35_a_manager_that_was_silent_may_have_restarted)
{
	begin_looking();
	pass(LOOK_MS);
	pass(WAIT_MS);
	w.answered++;
	CT_EXPECT_EQ(w.restarted, 0);
	look_again();
	CT_EXPECT_EQ(w.restarted, 1);
	look_again();
	CT_EXPECT_EQ(w.restarted, 1);
}

CT_TEST(sa_watch, R35_what_the_owner_knows_is_told_once)
{
	begin_looking();
	pvb_sa_restarted(&w.watch, w.now);
	CT_EXPECT_EQ(w.restarted, 1);
	w.sm.act_count = 1;
	look_again();
	CT_EXPECT_EQ(w.restarted, 1);
}

CT_TEST(sa_watch, an_answer_without_a_manager_says_nothing)
{
	begin_looking();
	pass(LOOK_MS);
	w.sm.guid = 2;
	answer(PVB_SA_NO_RECORDS);
	w.sm.guid = 1;
	look_again();
	CT_EXPECT_EQ(w.restarted, 0);
}

CT_TEST(sa_watch, a_client_that_is_closed_is_asked_for_nothing)
{
	const struct pvb_sa_watch_config config = world_config();

	begin(&config);
	pvb_sa_close(&w.client);
	CT_EXPECT_EQ(w.refused, 0);
	pass(AGAIN_MS);
	CT_EXPECT_EQ(w.sends, PVB_SA_TRAPS);
}
