/* SPDX-License-Identifier: BSD-2-Clause */
/* choice.c: lists of choices, and those made by chance. */
#include <stdlib.h>
#include "cairn_test.h"
#include "choice.h"

static struct svb_picks picks, again;

static void make(struct svb_picks *p, int count)
{
	while (count--)
		svb_picks_note(p, svb_picks_random(p, 5, 3));
}

CT_TEST(choice, the_seed_decides)
{
	char *first, *second;
	int same = 0, seed;

	for (seed = 1; seed < 20; seed++) {
		svb_picks_seed(&picks, (uint64_t)seed, 0);
		svb_picks_seed(&again, (uint64_t)seed, 0);
		make(&picks, 100);
		make(&again, 100);
		first = svb_picks_text(&picks);
		second = svb_picks_text(&again);
		CT_EXPECT_STREQ(first, second);
		free(second);
		svb_picks_seed(&again, (uint64_t)seed + 1, 0);
		make(&again, 100);
		second = svb_picks_text(&again);
		same += !strcmp(first, second);
		free(first);
		free(second);
	}
	CT_EXPECT_EQ(same, 0);
}

CT_TEST(choice, chance_picks_what_is_possible)
{
	uint32_t kinds[SVB_PICK_FAIL + 1] = {0}, moves = 0, drains = 0, pick;

	svb_picks_seed(&picks, 3, 0);
	for (int i = 0; i < 2000; i++) {
		pick = svb_picks_random(&picks, 4, 2);
		kinds[SVB_PICK_KIND(pick)]++;
		if (SVB_PICK_KIND(pick) != SVB_PICK_ONE)
			continue;
		CT_EXPECT_GE(SVB_PICK_NUMBER(pick), 1);
		CT_EXPECT_LE(SVB_PICK_NUMBER(pick), 6);
		moves += SVB_PICK_NUMBER(pick) <= 4;
		drains += SVB_PICK_NUMBER(pick) > 4;
	}
	CT_EXPECT_GT(kinds[SVB_PICK_NONE], 0);
	CT_EXPECT_GT(kinds[SVB_PICK_SWEEP], 0);
	CT_EXPECT_GT(drains, 0);
	CT_EXPECT_GT(moves, drains);
	CT_EXPECT_EQ(kinds[SVB_PICK_FAIL], 0);
	for (int i = 0; i < 200; i++)
		CT_EXPECT_NE(SVB_PICK_KIND(svb_picks_random(&picks, 0, 0)), SVB_PICK_ONE);
}

/* Each of the first picks can be the one at which the power fails. */
CT_TEST(choice, the_power_fails_within_what_was_said)
{
	bool seen[8] = {0};
	uint32_t at, pick;

	for (uint32_t seed = 0; seed < 200; seed++) {
		svb_picks_seed(&picks, seed, 8);
		for (at = 0; at < 8; at++) {
			pick = svb_picks_random(&picks, 3, 3);
			svb_picks_note(&picks, pick);
			if (SVB_PICK_KIND(pick) == SVB_PICK_FAIL)
				break;
		}
		CT_ASSERT_LT(at, 8);
		seen[at] = true;
	}
	for (at = 0; at < 8; at++)
		CT_EXPECT_TRUE(seen[at]);
}

CT_TEST(choice, a_list_is_text)
{
	static const char list[] = "0*12,3,s7*2,t,5,t*2,f65535";
	char *text;
	uint32_t i, pick, ticks = 0;

	CT_ASSERT_TRUE(svb_picks_parse(&picks, list));
	CT_EXPECT_EQ(picks.listed, 20);
	for (i = 0; i < 20; i++) {
		ticks += svb_picks_tick(&picks);
		pick = svb_picks_replay(&picks, 9, 9);
		svb_picks_note(&picks, pick);
	}
	CT_EXPECT_EQ(ticks, 3);
	CT_EXPECT_EQ(pick, SVB_PICK(SVB_PICK_FAIL, 65535));
	text = svb_picks_text(&picks);
	CT_EXPECT_STREQ(text, list);
	free(text);
	/* After its end everything happens at once. */
	CT_EXPECT_EQ(svb_picks_replay(&picks, 1, 0), SVB_PICK(SVB_PICK_ONE, 1));
	CT_EXPECT_EQ(svb_picks_replay(&picks, 0, 4), SVB_PICK(SVB_PICK_ONE, 1));
	CT_EXPECT_EQ(svb_picks_replay(&picks, 0, 0), SVB_PICK(SVB_PICK_NONE, 0));
}

CT_TEST(choice, what_is_no_list_is_refused)
{
	static const char *const none[] = {"x",	   "1,,2",    "s",   "f",  "1*0",
					   "1*-1", "1*",      "1 2", "-1", "99999999999",
					   "1;2",  "1*99999", "t*"};

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		CT_NOTE("%s", none[i]);
		CT_EXPECT_FALSE(svb_picks_parse(&picks, none[i]));
	}
	CT_EXPECT_TRUE(svb_picks_parse(&picks, "1,2\n"));
	CT_EXPECT_TRUE(svb_picks_parse(&picks, "0*65536"));
	CT_EXPECT_FALSE(svb_picks_parse(&picks, "0*65536,1"));
}
