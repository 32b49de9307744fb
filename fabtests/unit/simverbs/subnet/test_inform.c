/* SPDX-License-Identifier: BSD-2-Clause */
/* subnet/inform.c: who is told of groups, also where somebody does not listen. */
#include <string.h>
#include "subnet/tables.h"
#include "../world.h"

#define SLOW_BELL 77u
#define BELL 78u

static const struct svb_group_attr attr = {.pkey = 0xffff, .mtu = IBV_MTU_1024};

static bool begin(void)
{
	world_settings("SIMVERBS_LINK_LAYER", "infiniband", NULL);
	return !svb_join() && svb_subnet();
}

static bool subscribe(uint32_t bell)
{
	const struct svb_inform inform = {.token = svb_lock_token,
					  .bell = bell,
					  .trap = SVB_TRAP_CREATED,
					  .any_gid = true};

	return !svb_subnet_subscribe(&inform, true);
}

static union ibv_gid mgid_of(uint8_t number)
{
	return (union ibv_gid){.raw = {0xff, 0x12, 0xab, 0xcd, [15] = number}};
}

/* A group comes and goes, so often. */
static bool create(uint8_t number, int times)
{
	const union ibv_gid mgid = mgid_of(number);
	struct svb_group group;

	while (times--) {
		struct svb_subnet_join join = {.mgid = mgid,
					       .state = SVB_JOIN_FULL,
					       .create = &attr};

		if (svb_subnet_join(&join, NULL, NULL) ||
		    svb_subnet_leave(&mgid, 0, SVB_JOIN_FULL, &group))
			return false;
	}
	return true;
}

static bool is_told(uint32_t bell, uint8_t number)
{
	const union ibv_gid mgid = mgid_of(number);
	struct svb_report report;
	uint64_t next;

	while (svb_subnet_report(bell, &report, &next))
		if (!memcmp(&report.mgid, &mgid, sizeof(mgid)))
			return true;
	return false;
}

/* As a program that is stopped. */
WORLD_CHILD(inform, who_does_not_listen_keeps_nobody_from_being_told)
{
	CT_ASSERT_TRUE(begin() && subscribe(SLOW_BELL) &&
		       create(1, SVB_MAX_REPORTS + 1) && subscribe(BELL) && create(2, 1));
	CT_EXPECT_TRUE(is_told(BELL, 2));
	CT_EXPECT_TRUE(is_told(SLOW_BELL, 2));
}

/* Bells of a process that was killed may be those of another one. */
WORLD_CHILD(inform, a_process_is_not_told_what_another_one_asked_for)
{
	CT_ASSERT_TRUE(begin() && subscribe(BELL) && create(1, 1));
	svb_lock_token ^= 1u << SVB_PROC_BITS;
	CT_EXPECT_FALSE(is_told(BELL, 1));
	svb_lock_token ^= 1u << SVB_PROC_BITS;
	CT_EXPECT_TRUE(create(2, 1) && is_told(BELL, 2));
}
