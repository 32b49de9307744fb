/* SPDX-License-Identifier: BSD-2-Clause */
/* Opening and closing, formats, and the places that operations reserve. Above each test
 * stands the sentence of fi_cq(3) that it is about. */
#include <rdma/fi_errno.h>
#include "cairn_test.h"
#include "cq_world.h"

static void set_up(struct crn_cq *cq)
{
	open_cq(cq, FI_WAIT_NONE, 4);
}

CT_FIXTURE(cq, struct crn_cq, set_up, close_cq);

/* "Completion queues allow the application to select the amount of detail" */
CT_TEST_F(cq, each_format_gives_the_fields_it_has_and_nothing_behind_them)
{
	static const struct {
		enum fi_cq_format format;
		size_t size;
	} rows[] = {
		{FI_CQ_FORMAT_UNSPEC, sizeof(struct fi_cq_entry)},
		{FI_CQ_FORMAT_CONTEXT, sizeof(struct fi_cq_entry)},
		{FI_CQ_FORMAT_MSG, sizeof(struct fi_cq_msg_entry)},
		{FI_CQ_FORMAT_DATA, sizeof(struct fi_cq_data_entry)},
		{FI_CQ_FORMAT_TAGGED, sizeof(struct fi_cq_tagged_entry)},
	};
	char buf[3 * sizeof(struct fi_cq_tagged_entry)], untouched[sizeof(buf)];
	struct crn_cq_comp one = numbered(1), two = numbered(2);

	memset(untouched, 0x5a, sizeof(untouched));
	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		const struct fi_cq_attr attr = {.size = 8, .format = rows[i].format};

		CT_NOTE("format %d", rows[i].format);
		open_cq_attr(t, &attr, true);
		memcpy(buf, untouched, sizeof(buf));
		put(t, 1);
		put(t, 2);
		CT_EXPECT_EQ(fi_cq_read(&t->fid, buf, 3), 2);
		CT_EXPECT_MEMEQ(buf, &one.entry, rows[i].size);
		CT_EXPECT_MEMEQ(buf + rows[i].size, &two.entry, rows[i].size);
		CT_EXPECT_MEMEQ(buf + 2 * rows[i].size, untouched,
				sizeof(buf) - 2 * rows[i].size);
	}
}

/* "Specifies the minimum size of a completion queue. A value of 0 indicates that the
 * provider may choose a default value." */
CT_TEST_F(cq, there_are_as_many_places_as_were_asked_for)
{
	static const size_t sizes[] = {1, 2, 7, 64, 1000, 65536};

	for (size_t i = 0; i < CRN_COUNT(sizes); i++) {
		CT_NOTE("%zu", sizes[i]);
		open_cq(t, FI_WAIT_NONE, sizes[i]);
		CT_EXPECT_GE(places(t), sizes[i]);
		CT_EXPECT_LT(places(t), 2 * sizes[i]);
	}
	open_cq(t, FI_WAIT_NONE, 0);
	CT_EXPECT_EQ(places(t), 1024);
}

CT_TEST_F(cq, a_full_queue_refuses_an_operation_until_a_completion_is_read)
{
	for (uintptr_t i = 0; i < 4; i++)
		CT_EXPECT_TRUE(crn_cq_reserve(t));
	CT_EXPECT_FALSE(crn_cq_reserve(t));
	for (uintptr_t i = 0; i < 4; i++) {
		complete(t, i);
		CT_EXPECT_FALSE(crn_cq_reserve(t));
	}
	for (uintptr_t i = 0; i < 4; i++) {
		expect_comp(t, i);
		CT_EXPECT_EQ(places(t), i + 1);
	}
}

CT_TEST_F(cq, a_place_given_back_and_an_error_read_are_places_again)
{
	open_cq(t, FI_WAIT_NONE, 2);
	CT_EXPECT_TRUE(crn_cq_reserve(t));
	put_error(t, 1, FI_EIO);
	CT_EXPECT_FALSE(crn_cq_reserve(t));
	crn_cq_release(t, 1);
	CT_EXPECT_EQ(places(t), 1);
	expect_error(t, 1, FI_EIO);
	CT_EXPECT_EQ(places(t), 2);
}

CT_TEST_F(cq, the_ring_goes_round_in_order)
{
	uintptr_t written = 0, seen = 0;

	while (written < 100) {
		while (written % 3 != 2) {
			put(t, written++);
		}
		put(t, written++);
		while (seen < written)
			expect_comp(t, seen++);
	}
	CT_EXPECT_EQ(read_one(t), -FI_EAGAIN);
}

CT_TEST_F(cq, what_is_attached_makes_the_queue_large_enough_and_loses_nothing)
{
	/* Unread completions lie around the end of the ring. */
	for (uintptr_t i = 0; i < 3; i++) {
		put(t, i);
		expect_comp(t, i);
	}
	for (uintptr_t i = 0; i < 3; i++)
		put(t, i);
	put_error(t, 3, FI_EIO);
	CT_EXPECT_EQ(crn_cq_attach(t, 4), 0);
	CT_EXPECT_EQ(places(t), 0);
	CT_EXPECT_EQ(crn_cq_attach(t, 100), 0);
	CT_EXPECT_EQ(places(t), 128 - 4);
	CT_EXPECT_EQ(crn_cq_attach(t, 20), 0);
	CT_EXPECT_EQ(places(t), 128 - 4);
	for (uintptr_t i = 0; i < 3; i++)
		expect_comp(t, i);
	expect_error(t, 3, FI_EIO);
	CT_EXPECT_EQ(places(t), 128);
	crn_cq_detach(t, 4);
	crn_cq_detach(t, 100);
	crn_cq_detach(t, 20);
	CT_EXPECT_EQ(t->pledged, 0);
}

/* "If resources are still associated with the CQ when attempting to close, the call will
 * return -FI_EBUSY." */
CT_TEST_F(cq, an_attached_queue_is_busy)
{
	CT_EXPECT_EQ(crn_cq_attach(t, 0), 0);
	CT_EXPECT_EQ(fi_close(&t->fid.fid), -FI_EBUSY);
	put(t, 1);
	expect_comp(t, 1);
	crn_cq_detach(t, 0);
}

/* "Any completions which remain on the CQ when it is closed are lost." */
CT_TEST_F(cq, unread_completions_are_freed_with_the_queue)
{
	struct fi_cq_err_entry err = {.err = FI_EIO, .err_data_size = 4};

	open_cq(t, FI_WAIT_FD, 8);
	err.err_data = (char[]){"abc"};
	put(t, 1);
	CT_EXPECT_TRUE(crn_cq_reserve(t));
	crn_cq_write_err(t, &err, FI_ADDR_NOTAVAIL);
	CT_EXPECT_TRUE(crn_cq_reserve(t));
	crn_cq_write_err(t, &err, FI_ADDR_NOTAVAIL);
}

/* The data of an error that was read are the queue's own, also where a success that
 * nobody has read came to the same place. */
CT_TEST_F(cq, data_of_errors_are_freed_once)
{
	struct fi_cq_err_entry err = {.err = FI_EIO, .err_data_size = 4}, read = {0};

	open_cq(t, FI_WAIT_NONE, 1);
	err.err_data = (char[]){"abc"};
	CT_EXPECT_TRUE(crn_cq_reserve(t));
	crn_cq_write_err(t, &err, FI_ADDR_NOTAVAIL);
	CT_EXPECT_EQ(fi_cq_readerr(&t->fid, &read, 0), 1);
	CT_EXPECT_EQ(places(t), 1);
	put(t, 1);
}

CT_TEST(cq, refuses_what_it_does_not_offer)
{
	static const struct {
		struct fi_cq_attr attr;
		int ret;
	} rows[] = {
		{{.flags = FI_AFFINITY}, 0},
		{{.flags = FI_AFFINITY << 1}, -FI_EINVAL},
		{{.format = FI_CQ_FORMAT_TAGGED + 1}, -FI_ENOSYS},
		{{.wait_obj = FI_WAIT_SET}, -FI_ENOSYS},
		{{.wait_obj = FI_WAIT_MUTEX_COND}, -FI_ENOSYS},
		{{.wait_obj = FI_WAIT_FD, .wait_cond = FI_CQ_COND_THRESHOLD}, 0},
		{{.wait_obj = FI_WAIT_FD, .wait_cond = FI_CQ_COND_THRESHOLD + 1},
		 -FI_EINVAL},
		/* "This field is ignored if wait_obj is set to FI_WAIT_NONE." */
		{{.wait_obj = FI_WAIT_NONE, .wait_cond = FI_CQ_COND_THRESHOLD + 1}, 0},
		{{.size = SIZE_MAX}, -FI_ENOMEM},
		{{.size = (1ULL << 31) + 1}, -FI_ENOMEM},
	};
	struct crn_cq cq;
	int ret;

	CT_EXPECT_EQ(crn_cq_init(&cq, &cq_domain, NULL, true, NULL), -FI_EINVAL);
	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("row %zu", i);
		ret = crn_cq_init(&cq, &cq_domain, &rows[i].attr, true, NULL);
		CT_EXPECT_EQ(ret, rows[i].ret);
		if (!ret)
			CT_EXPECT_EQ(fi_close(&cq.fid.fid), 0);
	}
}

CT_TEST_F(cq, says_what_it_is)
{
	open_cq(t, FI_WAIT_NONE, 1);
	CT_EXPECT_EQ(t->fid.fid.fclass, FI_CLASS_CQ);
	CT_EXPECT_EQ(t->fid.fid.context, &cq_domain);
	CT_EXPECT_EQ(t->domain, &cq_domain);
}

CT_TEST(cq, memory_and_descriptors_may_run_out_while_it_opens)
{
	const struct fi_cq_attr attr = {.wait_obj = FI_WAIT_FD};
	struct crn_cq cq;
	unsigned int nth;
	int ret;

	for (nth = 1;; nth++) {
		ct_fail_alloc(nth);
		ret = crn_cq_init(&cq, &cq_domain, &attr, true, NULL);
		if (!ct_alloc_failed())
			break;
		CT_EXPECT_EQ(ret, -FI_ENOMEM);
	}
	CT_EXPECT_EQ(nth, 2);
	CT_EXPECT_EQ(fi_close(&cq.fid.fid), 0);
	for (nth = 0; nth < 2; nth++) {
		ct_fds_left(nth);
		ret = crn_cq_init(&cq, &cq_domain, &attr, true, NULL);
		ct_fds_restore();
		CT_EXPECT_EQ(ret, -FI_EMFILE);
	}
}

CT_TEST_F(cq, memory_may_run_out_while_something_is_attached)
{
	put(t, 1);
	ct_fail_alloc(1);
	CT_EXPECT_EQ(crn_cq_attach(t, 5), -FI_ENOMEM);
	CT_EXPECT_TRUE(ct_alloc_failed());
	CT_EXPECT_EQ(crn_cq_attach(t, UINT32_MAX), -FI_ENOMEM);
	CT_EXPECT_EQ(places(t), 3);
	CT_EXPECT_EQ(crn_cq_attach(t, 4), 0);
	expect_comp(t, 1);
	crn_cq_detach(t, 4);
}

/* fi_domain(3), FI_THREAD_DOMAIN: the program serialises, and nothing is locked. */
CT_TEST_F(cq, without_locks_everything_is_the_same)
{
	const struct fi_cq_attr attr = {.size = 4,
					.format = FI_CQ_FORMAT_TAGGED,
					.wait_obj = FI_WAIT_FD};

	open_cq_attr(t, &attr, false);
	CT_EXPECT_EQ(places(t), 4);
	for (uintptr_t i = 0; i < 4; i++)
		put(t, i);
	CT_EXPECT_FALSE(crn_cq_reserve(t));
	for (uintptr_t i = 0; i < 4; i++)
		expect_comp(t, i);
	CT_EXPECT_EQ(places(t), 4);
	CT_EXPECT_EQ(crn_cq_trywait(t), 0);
	put_error(t, 5, FI_EIO);
	CT_EXPECT_EQ(crn_cq_trywait(t), -FI_EAGAIN);
	expect_error(t, 5, FI_EIO);
}
