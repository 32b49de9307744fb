/* SPDX-License-Identifier: BSD-2-Clause */
/* Writing, reading, forgetting: what the queue holds, in which order and how long. */
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include "cairn_test.h"
#include "ct_fid.h"
#include "eq_world.h"

CT_TEST(eq, events_are_read_in_the_order_they_were_written)
{
	struct crn_eq *eq = open_eq(FI_WAIT_NONE, 0, FI_WRITE);
	uint64_t i;

	CT_EXPECT_EQ(read_any(eq, 0), -FI_EAGAIN);
	for (i = 0; i < 10; i++)
		write_number(eq, i);
	for (i = 0; i < 10; i++)
		expect_number(eq, i);
	CT_EXPECT_EQ(read_any(eq, 0), -FI_EAGAIN);
	close_eq(eq);
}

CT_TEST(eq, a_peek_leaves_the_event_and_the_wait_object_as_they_are)
{
	struct crn_eq *eq = open_eq(FI_WAIT_FD, 0, FI_WRITE);

	write_number(eq, 7);
	CT_EXPECT_EQ(read_any(eq, FI_PEEK), sizeof(struct fi_eq_entry));
	CT_EXPECT_TRUE(ct_readable(&eq->fid.fid));
	CT_EXPECT_EQ(read_any(eq, FI_PEEK), sizeof(struct fi_eq_entry));
	expect_number(eq, 7);
	CT_EXPECT_FALSE(ct_readable(&eq->fid.fid));
	close_eq(eq);
}

CT_TEST(eq, a_buffer_too_small_leaves_the_event)
{
	struct crn_eq *eq = open_eq(FI_WAIT_FD, 0, FI_WRITE);
	struct fi_eq_entry entry;
	uint32_t event = 99;

	write_number(eq, 7);
	CT_EXPECT_EQ(fi_eq_read(&eq->fid, &event, &entry, sizeof(entry) - 1, 0),
		     -FI_ETOOSMALL);
	CT_EXPECT_EQ(event, 99);
	CT_EXPECT_TRUE(ct_readable(&eq->fid.fid));
	CT_EXPECT_EQ(fi_eq_sread(&eq->fid, &event, &entry, 0, -1, 0), -FI_ETOOSMALL);
	expect_number(eq, 7);
	close_eq(eq);
}

/* fi_eq(3): connection data is limited to the buffer space given to fi_eq_read. */
CT_TEST(eq, connection_data_is_cut_to_the_room_behind_the_entry)
{
	struct crn_eq *eq = open_eq(FI_WAIT_NONE, 0, 0);
	static const uint32_t events[] = {FI_CONNREQ, FI_CONNECTED, FI_SHUTDOWN};
	union {
		struct fi_eq_cm_entry entry;
		char bytes[sizeof(struct fi_eq_cm_entry) + 8];
	} in = {.entry.fid = &other}, out;
	size_t i, room;
	uint32_t event;

	memcpy(in.entry.data, "12345678", 8);
	for (i = 0; i < CRN_COUNT(events); i++) {
		for (room = 0; room <= 8; room += 4) {
			CT_NOTE("event %u, room for %zu bytes", events[i], room);
			memset(&out, 0, sizeof(out));
			CT_EXPECT_EQ(crn_eq_insert(eq, events[i], &other, &in,
						   sizeof(in)),
				     0);
			CT_EXPECT_EQ(fi_eq_read(&eq->fid, &event, &out,
						sizeof(struct fi_eq_cm_entry) - 1, 0),
				     -FI_ETOOSMALL);
			CT_EXPECT_EQ(fi_eq_read(&eq->fid, &event, &out,
						sizeof(struct fi_eq_cm_entry) + room, 0),
				     sizeof(struct fi_eq_cm_entry) + room);
			CT_EXPECT_EQ(event, events[i]);
			CT_EXPECT_MEMEQ(out.entry.data, "12345678", room);
			CT_EXPECT_EQ(read_any(eq, 0), -FI_EAGAIN);
		}
	}
	close_eq(eq);
}

CT_TEST(eq, an_event_may_be_empty_and_need_no_object)
{
	struct crn_eq *eq = open_eq(FI_WAIT_NONE, 0, FI_WRITE);
	uint32_t event = 99;

	CT_EXPECT_EQ(fi_eq_write(&eq->fid, FI_NOTIFY, NULL, 0, 0), 0);
	CT_EXPECT_EQ(fi_eq_read(&eq->fid, &event, NULL, 0, 0), 0);
	CT_EXPECT_EQ(event, FI_NOTIFY);
	close_eq(eq);
}

CT_TEST(eq, only_a_queue_opened_with_FI_WRITE_is_written_to)
{
	struct crn_eq *eq = open_eq(FI_WAIT_NONE, 0, 0);
	struct fi_eq_entry entry = {0};

	CT_EXPECT_EQ(fi_eq_write(&eq->fid, FI_NOTIFY, &entry, sizeof(entry), 0),
		     -FI_EINVAL);
	CT_EXPECT_EQ(read_any(eq, 0), -FI_EAGAIN);
	close_eq(eq);
}

CT_TEST(eq, a_write_of_more_than_memory_can_hold_is_refused)
{
	struct crn_eq *eq = open_eq(FI_WAIT_NONE, 0, FI_WRITE);
	struct fi_eq_entry entry = {0};

	CT_EXPECT_EQ(fi_eq_write(&eq->fid, FI_NOTIFY, &entry, SIZE_MAX, 0), -FI_EINVAL);
	close_eq(eq);
}

CT_TEST(eq, forgetting_an_object_drops_its_events_and_no_others)
{
	struct crn_eq *eq = open_eq(FI_WAIT_FD, 0, FI_WRITE);
	struct fi_eq_err_entry err = {.fid = &object, .err = FI_EOTHER};

	insert_number(eq, &object, 1);
	insert_number(eq, &other, 2);
	CT_EXPECT_EQ(crn_eq_insert_err(eq, &err), 0);
	insert_number(eq, &object, 3);
	insert_number(eq, NULL, 4);
	crn_eq_forget(eq, &object);
	expect_number(eq, 2);
	expect_number(eq, 4);
	CT_EXPECT_EQ(read_any(eq, 0), -FI_EAGAIN);

	insert_number(eq, &object, 5);
	CT_EXPECT_TRUE(crn_eq_pending(eq));
	crn_eq_forget(eq, &object);
	CT_EXPECT_FALSE(crn_eq_pending(eq));
	CT_EXPECT_FALSE(ct_readable(&eq->fid.fid));
	close_eq(eq);
}

static void insert_connreq(struct crn_eq *eq)
{
	struct fi_eq_cm_entry entry = {.fid = &object, .info = fi_allocinfo()};

	CT_EXPECT_EQ(crn_eq_insert(eq, FI_CONNREQ, &object, &entry, sizeof(entry)), 0);
}

/* A leak checker is what fails here. */
CT_TEST(eq, the_info_of_a_connection_request_has_one_owner_at_a_time)
{
	struct crn_eq *eq = open_eq(FI_WAIT_NONE, 0, FI_WRITE);
	struct fi_eq_cm_entry entry, peeked;
	uint32_t event;

	insert_connreq(eq);
	CT_EXPECT_EQ(fi_eq_read(&eq->fid, &event, &peeked, sizeof(peeked), FI_PEEK),
		     sizeof(peeked));
	CT_EXPECT_EQ(fi_eq_read(&eq->fid, &event, &entry, sizeof(entry), 0),
		     sizeof(entry));
	CT_EXPECT_EQ(entry.info, peeked.info);
	fi_freeinfo(entry.info);

	insert_connreq(eq);
	crn_eq_forget(eq, &object);

	/* One written by the application stays the application's. */
	entry.info = fi_allocinfo();
	CT_EXPECT_EQ(fi_eq_write(&eq->fid, FI_CONNREQ, &entry, sizeof(entry), 0),
		     sizeof(entry));
	insert_connreq(eq);
	close_eq(eq);
	fi_freeinfo(entry.info);
}

CT_TEST(eq, holds_well_more_than_its_size_but_not_without_end)
{
	static const size_t sizes[] = {0, 1, 64, 1000};
	size_t i;

	for (i = 0; i < CRN_COUNT(sizes); i++) {
		struct crn_eq *eq = open_eq(FI_WAIT_NONE, sizes[i], FI_WRITE);
		size_t count = 0;

		CT_NOTE("size %zu", sizes[i]);
		while (count < 1000000 &&
		       fi_eq_write(&eq->fid, FI_NOTIFY, &count, sizeof(count), 0) > 0)
			count++;
		CT_EXPECT_GE(count, 256);
		CT_EXPECT_GE(count, 4 * sizes[i]);
		CT_EXPECT_LT(count, 1000000);
		CT_EXPECT_EQ(fi_eq_write(&eq->fid, FI_NOTIFY, &count, sizeof(count), 0),
			     -FI_EAGAIN);
		CT_EXPECT_TRUE(crn_eq_full(eq));
		CT_EXPECT_STRSTR(ct_log_last(), "fi_eq_read");
		CT_EXPECT_EQ(read_any(eq, 0), sizeof(count));
		CT_EXPECT_FALSE(crn_eq_full(eq));
		CT_EXPECT_EQ(fi_eq_write(&eq->fid, FI_NOTIFY, &count, sizeof(count), 0),
			     sizeof(count));
		close_eq(eq);
	}
}

CT_TEST(eq, a_huge_size_is_a_bound_and_no_allocation)
{
	struct crn_eq *eq = open_eq(FI_WAIT_NONE, SIZE_MAX, FI_WRITE);

	write_number(eq, 1);
	expect_number(eq, 1);
	close_eq(eq);
}

CT_TEST(eq, running_out_of_memory_takes_nothing)
{
	struct crn_eq *eq = open_eq(FI_WAIT_FD, 0, FI_WRITE);
	struct fi_eq_err_entry err = {.err = FI_EOTHER};
	struct fi_eq_entry entry = {0};

	ct_fail_alloc(1);
	CT_EXPECT_EQ(crn_eq_insert(eq, FI_NOTIFY, NULL, &entry, sizeof(entry)),
		     -FI_ENOMEM);
	CT_EXPECT_TRUE(ct_alloc_failed());
	ct_fail_alloc(1);
	CT_EXPECT_EQ(crn_eq_insert_err(eq, &err), -FI_ENOMEM);
	CT_EXPECT_TRUE(ct_alloc_failed());
	ct_fail_alloc(1);
	CT_EXPECT_EQ(fi_eq_write(&eq->fid, FI_NOTIFY, &entry, sizeof(entry), 0),
		     -FI_ENOMEM);
	CT_EXPECT_TRUE(ct_alloc_failed());
	CT_EXPECT_FALSE(crn_eq_pending(eq));
	CT_EXPECT_FALSE(ct_readable(&eq->fid.fid));
	close_eq(eq);
}

CT_TEST(eq, what_was_reserved_is_there_when_memory_is_not)
{
	struct crn_eq *eq = open_eq(FI_WAIT_FD, 0, FI_WRITE);
	struct fi_eq_err_entry err = {.err = FI_EOTHER};
	struct fi_eq_entry entry = {.data = 1};

	CT_EXPECT_EQ(crn_eq_reserve(eq, sizeof(entry)), 0);
	ct_fail_alloc(1);
	CT_EXPECT_EQ(crn_eq_reserve(eq, sizeof(entry)), 0);
	CT_EXPECT_EQ(crn_eq_insert(eq, FI_NOTIFY, NULL, &entry, sizeof(entry)), 0);
	CT_EXPECT_FALSE(ct_alloc_failed());
	expect_number(eq, 1);

	CT_EXPECT_EQ(crn_eq_reserve(eq, 0), 0);
	ct_fail_alloc(1);
	CT_EXPECT_EQ(crn_eq_insert_err(eq, &err), 0);
	CT_EXPECT_FALSE(ct_alloc_failed());
	CT_EXPECT_EQ(fi_eq_readerr(&eq->fid, &err, 0), sizeof(err));
	close_eq(eq);
}

CT_TEST(eq, what_was_reserved_is_for_one_event_that_fits_and_not_for_fi_eq_write)
{
	struct crn_eq *eq = open_eq(FI_WAIT_NONE, 0, FI_WRITE);
	struct fi_eq_entry entry = {.data = 1};

	CT_EXPECT_EQ(crn_eq_reserve(eq, sizeof(entry) - 1), 0);
	ct_fail_alloc(1);
	CT_EXPECT_EQ(crn_eq_insert(eq, FI_NOTIFY, NULL, &entry, sizeof(entry)),
		     -FI_ENOMEM);
	ct_fail_alloc(1);
	CT_EXPECT_EQ(crn_eq_reserve(eq, sizeof(entry)), -FI_ENOMEM);
	CT_EXPECT_EQ(crn_eq_reserve(eq, sizeof(entry)), 0);
	ct_fail_alloc(1);
	CT_EXPECT_EQ(fi_eq_write(&eq->fid, FI_NOTIFY, &entry, sizeof(entry), 0),
		     -FI_ENOMEM);
	CT_EXPECT_EQ(crn_eq_insert(eq, FI_NOTIFY, NULL, &entry, sizeof(entry)), 0);
	ct_fail_alloc(1);
	CT_EXPECT_EQ(crn_eq_insert(eq, FI_NOTIFY, NULL, &entry, sizeof(entry)),
		     -FI_ENOMEM);
	expect_number(eq, 1);
	close_eq(eq);
}

CT_TEST(eq, requests_that_nobody_read_are_taken_out_oldest_first)
{
	struct crn_eq *eq = open_eq(FI_WAIT_FD, 0, FI_WRITE);
	struct fi_info *infos[3] = {fi_allocinfo(), fi_allocinfo(), fi_allocinfo()};
	struct fid *about[3] = {&object, &other, &object};
	struct fi_eq_cm_entry entry = {0};
	int i;

	insert_number(eq, &object, 1);
	for (i = 0; i < 3; i++) {
		entry.info = infos[i];
		CT_EXPECT_EQ(crn_eq_insert(eq, FI_CONNREQ, about[i], &entry,
					   sizeof(entry)),
			     0);
	}
	CT_EXPECT_EQ(crn_eq_take_request(eq, &object), infos[0]);
	CT_EXPECT_EQ(crn_eq_take_request(eq, &object), infos[2]);
	CT_EXPECT_EQ(crn_eq_take_request(eq, &object), NULL);
	fi_freeinfo(infos[0]);
	fi_freeinfo(infos[2]);
	expect_number(eq, 1);
	CT_EXPECT_TRUE(ct_readable(&eq->fid.fid));
	CT_EXPECT_EQ(crn_eq_take_request(eq, &other), infos[1]);
	CT_EXPECT_FALSE(ct_readable(&eq->fid.fid));
	fi_freeinfo(infos[1]);
	close_eq(eq);
}
