/* SPDX-License-Identifier: BSD-2-Clause */
/* look.c: events of the lower provider for who reads and waits for completions. */
#include <rdma/fi_errno.h>
#include "cairn_test.h"
#include "lower_world.h"

/* A layer whose queues wait for an object of its own, and an endpoint that counts. */
struct look_scene {
	struct lower_world w;
	struct crn_wait wait;
	struct crn_lower_eq *eq;
	struct lower_pair ep;
};

static unsigned int seen;
static int answer;

static int see(struct crn_lower_obj *obj, struct crn_lower_event *event)
{
	seen += !answer;
	return answer;
}

static void scene_open(struct look_scene *s)
{
	lower_world_open(&s->w, NULL, 0);
	lower_fabric(&s->w);
	CT_ASSERT_EQ(crn_wait_init(&s->wait, FI_WAIT_FD), 0);
	s->w.fabric.wait = &s->wait;
	s->eq = lower_eq_open(&s->w, FI_WAIT_NONE);
	lower_pair_init(&s->ep, FI_CLASS_EP);
	s->ep.obj.event = see;
	seen = 0;
	answer = 0;
	CT_EXPECT_EQ(crn_lower_bind_eq(&s->w.fabric, &s->ep.obj, &s->ep.lower.fid,
				       &s->eq->eq.fid.fid, 0),
		     0);
}

static void scene_close(struct look_scene *s)
{
	CT_EXPECT_EQ(crn_lower_close(&s->w.fabric, &s->ep.obj, &s->ep.lower.fid), 0);
	CT_EXPECT_EQ(fi_close(&s->eq->eq.fid.fid), 0);
	/* Nothing is left that the wait object asks. */
	CT_EXPECT_EQ(crn_wait_arm(&s->wait), 0);
	crn_lower_look(&s->w.fabric);
	CT_EXPECT_EQ(crn_lower_fabric_close(&s->w.fabric), 0);
	crn_wait_fini(&s->wait);
	lower_world_close(&s->w);
}

static bool asleep(struct look_scene *s)
{
	return !crn_wait_arm(&s->wait) && crn_wait_poll(&s->wait, 0) == -FI_ETIMEDOUT;
}

CT_FIXTURE(lower_look, struct look_scene, scene_open, scene_close);

CT_TEST_F(lower_look, an_event_wakes_who_waits_and_is_handed_on_at_once)
{
	for (int i = 1; i <= 3; i++) {
		CT_EXPECT_TRUE(asleep(t));
		lower_event(&t->w, FI_CONNECTED, &t->ep, NULL, NULL, 0);
		CT_EXPECT_EQ(crn_wait_poll(&t->wait, 0), 0);
		CT_EXPECT_EQ(crn_wait_arm(&t->wait), -FI_EAGAIN);
		crn_lower_look(&t->w.fabric);
		CT_EXPECT_EQ(seen, i);
	}
}

CT_TEST_F(lower_look, who_only_polls_gets_it_soon)
{
	uint64_t start;

	crn_lower_look(&t->w.fabric);
	lower_event(&t->w, FI_CONNECTED, &t->ep, NULL, NULL, 0);
	start = crn_now_ms();
	while (!seen && crn_timeout_left(start, 10000))
		crn_lower_look(&t->w.fabric);
	CT_EXPECT_EQ(seen, 1);
}

/* The layer has no room for the event: reading the event queue moves it on. */
CT_TEST_F(lower_look, nobody_is_woken_while_it_cannot_be_handed_on)
{
	struct fi_eq_cm_entry entry;
	uint32_t event;

	answer = -FI_EAGAIN;
	lower_event(&t->w, FI_CONNECTED, &t->ep, NULL, NULL, 0);
	lower_event(&t->w, FI_SHUTDOWN, &t->ep, NULL, NULL, 0);
	CT_EXPECT_EQ(lower_read(t->eq, &event, &entry, sizeof(entry)), -FI_EAGAIN);
	CT_EXPECT_TRUE(asleep(t));
	answer = 0;
	t->w.trywaits = 0;
	CT_EXPECT_EQ(lower_read(t->eq, &event, &entry, sizeof(entry)), -FI_EAGAIN);
	CT_EXPECT_EQ(seen, 2);
	/* Who slept on is woken by the next one: the lower queue was armed for him. */
	CT_EXPECT_EQ(t->w.trywaits, 1);
	CT_EXPECT_EQ(crn_wait_poll(&t->wait, 0), -FI_ETIMEDOUT);
	lower_event(&t->w, FI_CONNECTED, &t->ep, NULL, NULL, 0);
	CT_EXPECT_EQ(crn_wait_poll(&t->wait, 0), 0);
	crn_wait_arm(&t->wait);
	crn_lower_look(&t->w.fabric);
	CT_EXPECT_EQ(seen, 3);
}

CT_TEST_F(lower_look, the_lower_queue_is_a_source_while_it_is_open)
{
	struct crn_lower_eq *again = lower_eq_open(&t->w, FI_WAIT_FD);

	CT_EXPECT_EQ(fi_close(&again->eq.fid.fid), 0);
	CT_EXPECT_TRUE(asleep(t));
	lower_event(&t->w, FI_CONNECTED, &t->ep, NULL, NULL, 0);
	CT_EXPECT_EQ(crn_wait_poll(&t->wait, 0), 0);
}
