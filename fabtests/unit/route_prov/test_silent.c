/* SPDX-License-Identifier: BSD-2-Clause */
/* Routers that are there, and say nothing: prov/route/cm/hop.c. */
#include <stdio.h>
#include <cairn/bytes.h>
#include <cairn/wait.h>
#include "ends.h"
#include "router.h"

static struct router dumb, other;
static bool speaks; /* the first of them */
static const struct rte_end target = {.as = 4, .subnet = 9, .host = 5, .port = 6};
static struct ends ends;
static struct ends_event event;

static void turn(void)
{
	if (speaks)
		router_turn(&dumb);
	router_turn(&other);
}

static void begin(bool both, const char *routing)
{
	router_open(&dumb, 101);
	router_open(&other, 102);
	dumb.answer = other.answer = ROUTER_ACCEPTS;
	router_config(&dumb, both ? &other : NULL, routing);
	ends_open(&ends);
}

static void finish(struct ends **t)
{
	ends_close(&ends);
	router_close(&dumb);
	router_close(&other);
}

CT_FIXTURE(silent, struct ends *, NULL, finish);

static bool connects(void)
{
	struct fid_ep *ep = ends_ep(&ends, ends.info);
	bool well = !ends_connect(ep, &target, NULL, 0) &&
		    ends_next(&ends, &event, turn) && event.len > 0 &&
		    event.event == FI_CONNECTED;

	CT_EXPECT_TRUE(well);
	CT_EXPECT_EQ(fi_close(&ep->fid), 0);
	return well;
}

/* Chance says which of them is asked first. */
CT_TEST_F(silent, one_that_says_nothing_leaves_time_for_another)
{
	uint64_t began;
	int i;

	speaks = false;
	begin(true, "connect_timeout = 3s\n");
	began = crn_now_ms();
	for (i = 0; i < 6 && connects(); i++)
		;
	CT_EXPECT_EQ(other.asked, 6u);
	/* All of them but one know that it says nothing. */
	printf("#   6 connections beside a router that says nothing: %u ms\n",
	       (unsigned int)(crn_now_ms() - began));
}

/* Of the first router; it is asked as ever from then on. */
static uint64_t *shunned(void)
{
	return &crn_container_of(ends.domain, struct rte_domain, fid)
			->device->router[0]
			.shunned;
}

CT_TEST_F(silent, one_that_said_nothing_is_asked_last)
{
	int i;

	speaks = true;
	begin(true, "");
	*shunned() = crn_now_ms() + 600000;
	for (i = 0; i < 8 && connects(); i++)
		;
	CT_EXPECT_EQ(dumb.asked, 0u);
	CT_EXPECT_EQ(other.asked, 8u);
}

CT_TEST_F(silent, one_that_is_heard_again_is_as_it_was)
{
	speaks = true;
	begin(false, "");
	*shunned() = crn_now_ms() + 600000;
	CT_EXPECT_TRUE(connects());
	CT_EXPECT_EQ(*shunned(), 0u);
}

CT_TEST_F(silent, one_that_has_said_who_it_is_is_named)
{
	struct fid_ep *ep;

	speaks = true;
	begin(false, "connect_timeout = 1s\n");
	CT_ASSERT_TRUE(connects());
	speaks = false;
	ep = ends_ep(&ends, ends.info);
	CT_ASSERT_EQ(ends_connect(ep, &target, NULL, 0), 0);
	CT_ASSERT_TRUE(ends_expect_err(&ends, &ep->fid, FI_ETIMEDOUT, &event, turn));
	CT_EXPECT_EQ(crn_get_le64(event.err.err_data), 101);
	CT_EXPECT_EQ(fi_close(&ep->fid), 0);
	CT_NOTE("it is the only one, and is asked again");
	speaks = true;
	CT_EXPECT_TRUE(connects());
}
