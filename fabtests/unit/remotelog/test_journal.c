/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <unistd.h>
#include "cairn_test.h"
#include "journal.h"
#include "link.h"

#define PAYLOAD 100u

static const struct rlg_hello singleton = {RLG_SINGLETON, RLG_WRITE, RLG_AUTO,
					   PAYLOAD,	  1,	     false};
static const struct rlg_hello compound = {RLG_COMPOUND, RLG_WRITE, RLG_AUTO,
					  PAYLOAD,	1,	   false};

void rlg_say(const char *format, ...)
{
}

/* A file with room for 8 records. */
static bool open_file(struct rlg_journal *journal)
{
	char path[] = "unit_remotelog.XXXXXX";
	const int fd = mkstemp(path);
	bool opened;

	*journal = (struct rlg_journal){0};
	close(fd);
	opened = fd >= 0 &&
		 !rlg_medium_open(&journal->medium, path, RLG_SLOTS + 8 * 128, true);
	unlink(path);
	return opened;
}

/* What a client's device would write. */
static void put(struct rlg_journal *journal, uint64_t number)
{
	uint8_t *slot = journal->medium.at + rlg_slot_at(&journal->layout, number);

	memset(slot + RLG_RECORD, (int)number, PAYLOAD);
	rlg_record_seal(slot, &journal->layout, number);
}

static uint64_t next_of(struct rlg_journal *journal, const struct rlg_hello *hello)
{
	uint64_t next = 0;

	CT_EXPECT_EQ(rlg_journal_open(journal, hello, &next), RLG_ACCEPTED);
	return next;
}

static void set_up(struct rlg_journal *journal)
{
	CT_ASSERT_TRUE(open_file(journal));
}

static void tear_down(struct rlg_journal *journal)
{
	if (journal->medium.at)
		rlg_medium_close(&journal->medium);
}

CT_FIXTURE(journal, struct rlg_journal, set_up, tear_down);

CT_TEST_F(journal, a_file_without_a_log_gets_one)
{
	CT_EXPECT_EQ(next_of(t, &singleton), 1u);
	CT_EXPECT_EQ(t->layout.slots, 8u);
	CT_EXPECT_TRUE(rlg_journal_holds(t, 8));
	CT_EXPECT_FALSE(rlg_journal_holds(t, 9));
	CT_EXPECT_FALSE(rlg_journal_holds(t, 0));
}

CT_TEST_F(journal, a_log_goes_on_where_it_ended)
{
	struct rlg_hello anew = singleton;

	next_of(t, &singleton);
	put(t, 1);
	put(t, 2);
	CT_EXPECT_EQ(next_of(t, &singleton), 3u);
	anew.anew = true;
	CT_EXPECT_EQ(next_of(t, &anew), 1u);
}

CT_TEST_F(journal, what_was_behind_the_end_does_not_come_back_with_the_next_append)
{
	next_of(t, &singleton);
	put(t, 1);
	put(t, 3);
	CT_EXPECT_EQ(next_of(t, &singleton), 2u);
	put(t, 2);
	CT_EXPECT_EQ(next_of(t, &singleton), 3u);
}

CT_TEST_F(journal, another_kind_or_size_is_refused)
{
	struct rlg_hello other = singleton;
	uint64_t next;

	next_of(t, &singleton);
	CT_EXPECT_EQ(rlg_journal_open(t, &compound, &next), RLG_OTHER_KIND);
	other.payload++;
	CT_EXPECT_EQ(rlg_journal_open(t, &other, &next), RLG_OTHER_PAYLOAD);
	other.payload = 4000;
	CT_EXPECT_EQ(rlg_journal_open(t, &other, &next), RLG_TOO_SMALL);
}

CT_TEST_F(journal, the_head_moves_when_a_quarter_is_consumed)
{
	next_of(t, &singleton);
	put(t, 1);
	rlg_journal_consume(t);
	CT_EXPECT_FALSE(rlg_journal_collect(t));
	put(t, 2);
	rlg_journal_consume(t);
	CT_EXPECT_TRUE(rlg_journal_collect(t));
	CT_EXPECT_EQ(t->head, 3u);
	CT_EXPECT_EQ(rlg_get64(t->medium.at + RLG_HEAD), 3u);
	CT_EXPECT_TRUE(rlg_journal_holds(t, 10));
	CT_EXPECT_EQ(next_of(t, &singleton), 3u);
}

CT_TEST_F(journal, a_compound_record_is_consumed_when_the_tail_counts_it)
{
	next_of(t, &compound);
	put(t, 1);
	rlg_journal_consume(t);
	CT_EXPECT_EQ(t->consumed, 1u);
	rlg_journal_store_tail(t, 1);
	rlg_journal_consume(t);
	CT_EXPECT_EQ(t->consumed, 2u);
}

CT_TEST_F(journal, a_damaged_log_is_refused)
{
	uint64_t next;

	next_of(t, &compound);
	rlg_journal_store_tail(t, 1);
	CT_EXPECT_EQ(rlg_journal_open(t, &compound, &next), RLG_DAMAGED);
}
