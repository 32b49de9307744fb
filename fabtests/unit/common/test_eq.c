/* SPDX-License-Identifier: BSD-2-Clause */
/* Writing, reading, forgetting: what the queue holds, in which order and how long. */
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include "cairn_test.h"
#include "ct_fid.h"
#include "eq_world.h"

CT_FIXTURE(eq, struct crn_eq, open_eq_usual, close_eq);

CT_TEST_F(eq, events_are_read_in_the_order_they_were_written)
{
	open_eq(t, FI_WAIT_NONE, 0, FI_WRITE);
	CT_EXPECT_EQ(read_any(t, 0), -FI_EAGAIN);
	for (uint64_t i = 0; i < 10; i++)
		write_number(t, i);
	for (uint64_t i = 0; i < 10; i++)
		expect_number(t, i);
	CT_EXPECT_EQ(read_any(t, 0), -FI_EAGAIN);
}

CT_TEST_F(eq, a_peek_leaves_the_event_and_the_wait_object_as_they_are)
{
	write_number(t, 7);
	CT_EXPECT_EQ(read_any(t, FI_PEEK), sizeof(struct fi_eq_entry));
	CT_EXPECT_TRUE(ct_readable(&t->fid.fid));
	CT_EXPECT_EQ(read_any(t, FI_PEEK), sizeof(struct fi_eq_entry));
	expect_number(t, 7);
	CT_EXPECT_FALSE(ct_readable(&t->fid.fid));
}

CT_TEST_F(eq, a_buffer_too_small_leaves_the_event)
{
	struct fi_eq_entry entry;
	uint32_t event = 99;

	write_number(t, 7);
	CT_EXPECT_EQ(fi_eq_read(&t->fid, &event, &entry, sizeof(entry) - 1, 0),
		     -FI_ETOOSMALL);
	CT_EXPECT_EQ(event, 99);
	CT_EXPECT_TRUE(ct_readable(&t->fid.fid));
	CT_EXPECT_EQ(fi_eq_sread(&t->fid, &event, &entry, 0, -1, 0), -FI_ETOOSMALL);
	expect_number(t, 7);
}

/* fi_eq(3): connection data is limited to the buffer space given to fi_eq_read. */
CT_TEST_F(eq, connection_data_is_cut_to_the_room_behind_the_entry)
{
	static const uint32_t events[] = {FI_CONNREQ, FI_CONNECTED, FI_SHUTDOWN};
	union {
		struct fi_eq_cm_entry entry;
		char bytes[sizeof(struct fi_eq_cm_entry) + 8];
	} in = {.entry.fid = &other}, out;
	uint32_t event;

	memcpy(in.entry.data, "12345678", 8);
	for (size_t i = 0; i < CRN_COUNT(events); i++) {
		for (size_t room = 0; room <= 8; room += 4) {
			CT_NOTE("event %u, room for %zu bytes", events[i], room);
			memset(&out, 0, sizeof(out));
			CT_EXPECT_EQ(crn_eq_insert(t, events[i], &other, &in, sizeof(in)),
				     0);
			CT_EXPECT_EQ(fi_eq_read(&t->fid, &event, &out,
						sizeof(struct fi_eq_cm_entry) - 1, 0),
				     -FI_ETOOSMALL);
			CT_EXPECT_EQ(fi_eq_read(&t->fid, &event, &out,
						sizeof(struct fi_eq_cm_entry) + room, 0),
				     sizeof(struct fi_eq_cm_entry) + room);
			CT_EXPECT_EQ(event, events[i]);
			CT_EXPECT_MEMEQ(out.entry.data, "12345678", room);
			CT_EXPECT_EQ(read_any(t, 0), -FI_EAGAIN);
		}
	}
}

CT_TEST_F(eq, an_event_may_be_empty_and_need_no_object)
{
	uint32_t event = 99;

	CT_EXPECT_EQ(fi_eq_write(&t->fid, FI_NOTIFY, NULL, 0, 0), 0);
	CT_EXPECT_EQ(fi_eq_read(&t->fid, &event, NULL, 0, 0), 0);
	CT_EXPECT_EQ(event, FI_NOTIFY);
}

CT_TEST_F(eq, only_a_queue_opened_with_FI_WRITE_is_written_to)
{
	open_eq(t, FI_WAIT_NONE, 0, 0);
	CT_EXPECT_EQ(write_any(t), -FI_EINVAL);
	CT_EXPECT_EQ(read_any(t, 0), -FI_EAGAIN);
}

CT_TEST_F(eq, a_write_of_more_than_memory_can_hold_is_refused)
{
	struct fi_eq_entry entry = {0};

	CT_EXPECT_EQ(fi_eq_write(&t->fid, FI_NOTIFY, &entry, SIZE_MAX, 0), -FI_EINVAL);
}

CT_TEST_F(eq, forgetting_an_object_drops_its_events_and_no_others)
{
	struct fi_eq_err_entry err = {.fid = &object, .err = FI_EOTHER};

	insert_number(t, &object, 1);
	insert_number(t, &other, 2);
	CT_EXPECT_EQ(crn_eq_insert_err(t, &err), 0);
	insert_number(t, &object, 3);
	insert_number(t, NULL, 4);
	crn_eq_forget(t, &object);
	expect_number(t, 2);
	expect_number(t, 4);
	CT_EXPECT_EQ(read_any(t, 0), -FI_EAGAIN);

	insert_number(t, &object, 5);
	CT_EXPECT_TRUE(crn_eq_pending(t));
	crn_eq_forget(t, &object);
	CT_EXPECT_FALSE(crn_eq_pending(t));
	CT_EXPECT_FALSE(ct_readable(&t->fid.fid));
}

static void insert_connreq(struct crn_eq *eq)
{
	struct fi_eq_cm_entry entry = {.fid = &object, .info = fi_allocinfo()};

	CT_EXPECT_EQ(crn_eq_insert(eq, FI_CONNREQ, &object, &entry, sizeof(entry)), 0);
}

/* A leak checker is what fails here. */
CT_TEST_F(eq, the_info_of_a_connection_request_has_one_owner_at_a_time)
{
	struct fi_eq_cm_entry entry, peeked;
	uint32_t event;

	insert_connreq(t);
	CT_EXPECT_EQ(fi_eq_read(&t->fid, &event, &peeked, sizeof(peeked), FI_PEEK),
		     sizeof(peeked));
	CT_EXPECT_EQ(fi_eq_read(&t->fid, &event, &entry, sizeof(entry), 0),
		     sizeof(entry));
	CT_EXPECT_EQ(entry.info, peeked.info);
	fi_freeinfo(entry.info);

	insert_connreq(t);
	crn_eq_forget(t, &object);

	/* One written by the application stays the application's. */
	entry.info = fi_allocinfo();
	CT_EXPECT_EQ(fi_eq_write(&t->fid, FI_CONNREQ, &entry, sizeof(entry), 0),
		     sizeof(entry));
	insert_connreq(t);
	fi_freeinfo(entry.info);
}

CT_TEST_F(eq, holds_well_more_than_its_size_but_not_without_end)
{
	static const size_t sizes[] = {0, 1, 64, 1000};

	for (size_t i = 0; i < CRN_COUNT(sizes); i++) {
		size_t count = 0;

		CT_NOTE("size %zu", sizes[i]);
		open_eq(t, FI_WAIT_NONE, sizes[i], FI_WRITE);
		while (count < 1000000 && write_any(t) > 0)
			count++;
		CT_EXPECT_GE(count, 256);
		CT_EXPECT_GE(count, 4 * sizes[i]);
		CT_EXPECT_LT(count, 1000000);
		CT_EXPECT_EQ(write_any(t), -FI_EAGAIN);
		CT_EXPECT_TRUE(crn_eq_full(t));
		CT_EXPECT_STRSTR(ct_log_last(), "fi_eq_read");
		CT_EXPECT_EQ(read_any(t, 0), sizeof(struct fi_eq_entry));
		CT_EXPECT_FALSE(crn_eq_full(t));
		CT_EXPECT_EQ(write_any(t), sizeof(struct fi_eq_entry));
	}
}

CT_TEST_F(eq, a_huge_size_is_a_bound_and_no_allocation)
{
	open_eq(t, FI_WAIT_NONE, SIZE_MAX, FI_WRITE);
	write_number(t, 1);
	expect_number(t, 1);
}

CT_TEST_F(eq, running_out_of_memory_takes_nothing)
{
	struct fi_eq_err_entry err = {.err = FI_EOTHER};

	ct_fail_alloc(1);
	CT_EXPECT_EQ(insert_any(t), -FI_ENOMEM);
	CT_EXPECT_TRUE(ct_alloc_failed());
	ct_fail_alloc(1);
	CT_EXPECT_EQ(crn_eq_insert_err(t, &err), -FI_ENOMEM);
	CT_EXPECT_TRUE(ct_alloc_failed());
	ct_fail_alloc(1);
	CT_EXPECT_EQ(write_any(t), -FI_ENOMEM);
	CT_EXPECT_TRUE(ct_alloc_failed());
	CT_EXPECT_FALSE(crn_eq_pending(t));
	CT_EXPECT_FALSE(ct_readable(&t->fid.fid));
}

CT_TEST_F(eq, what_was_reserved_is_there_when_memory_is_not)
{
	struct fi_eq_err_entry err = {.err = FI_EOTHER};
	struct fi_eq_entry entry = {.data = 1};

	CT_EXPECT_EQ(crn_eq_reserve(t, sizeof(entry)), 0);
	ct_fail_alloc(1);
	CT_EXPECT_EQ(crn_eq_reserve(t, sizeof(entry)), 0);
	CT_EXPECT_EQ(insert_any(t), 0);
	CT_EXPECT_FALSE(ct_alloc_failed());
	expect_number(t, 1);

	CT_EXPECT_EQ(crn_eq_reserve(t, 0), 0);
	ct_fail_alloc(1);
	CT_EXPECT_EQ(crn_eq_insert_err(t, &err), 0);
	CT_EXPECT_FALSE(ct_alloc_failed());
	CT_EXPECT_EQ(fi_eq_readerr(&t->fid, &err, 0), sizeof(err));
}

CT_TEST_F(eq, what_was_reserved_is_for_one_event_that_fits_and_not_for_fi_eq_write)
{
	struct fi_eq_entry entry = {.data = 1};

	CT_EXPECT_EQ(crn_eq_reserve(t, sizeof(entry) - 1), 0);
	ct_fail_alloc(1);
	CT_EXPECT_EQ(insert_any(t), -FI_ENOMEM);
	ct_fail_alloc(1);
	CT_EXPECT_EQ(crn_eq_reserve(t, sizeof(entry)), -FI_ENOMEM);
	CT_EXPECT_EQ(crn_eq_reserve(t, sizeof(entry)), 0);
	ct_fail_alloc(1);
	CT_EXPECT_EQ(write_any(t), -FI_ENOMEM);
	CT_EXPECT_EQ(insert_any(t), 0);
	ct_fail_alloc(1);
	CT_EXPECT_EQ(insert_any(t), -FI_ENOMEM);
	expect_number(t, 1);
}

CT_TEST_F(eq, requests_that_nobody_read_are_taken_out_oldest_first)
{
	struct fi_info *infos[3] = {fi_allocinfo(), fi_allocinfo(), fi_allocinfo()};
	struct fid *about[3] = {&object, &other, &object};
	struct fi_eq_cm_entry entry = {0};

	insert_number(t, &object, 1);
	for (int i = 0; i < 3; i++) {
		entry.info = infos[i];
		CT_EXPECT_EQ(crn_eq_insert(t, FI_CONNREQ, about[i], &entry,
					   sizeof(entry)),
			     0);
	}
	CT_EXPECT_EQ(crn_eq_take_request(t, &object), infos[0]);
	CT_EXPECT_EQ(crn_eq_take_request(t, &object), infos[2]);
	CT_EXPECT_EQ(crn_eq_take_request(t, &object), NULL);
	fi_freeinfo(infos[0]);
	fi_freeinfo(infos[2]);
	expect_number(t, 1);
	CT_EXPECT_TRUE(ct_readable(&t->fid.fid));
	CT_EXPECT_EQ(crn_eq_take_request(t, &other), infos[1]);
	CT_EXPECT_FALSE(ct_readable(&t->fid.fid));
	fi_freeinfo(infos[1]);
}
