/* SPDX-License-Identifier: BSD-2-Clause */
/* Several events in one step, and a queue that something is bound to. */
#include <rdma/fi_errno.h>
#include "cairn_test.h"
#include "ct_fid.h"
#include "eq_world.h"

static void prepare_number(struct crn_list *batch, uint64_t number)
{
	const struct fi_eq_entry entry = {.data = number};

	CT_EXPECT_EQ(crn_eq_prepare(batch, FI_AV_COMPLETE, &object, &entry,
				    sizeof(entry)),
		     0);
}

static void prepare_error(struct crn_list *batch, uint64_t number)
{
	const struct fi_eq_err_entry err = {.fid = &object,
					    .data = number,
					    .err = FI_EINVAL,
					    .err_data = (void *)(uintptr_t) "why",
					    .err_data_size = 3};

	CT_EXPECT_EQ(crn_eq_prepare_err(batch, &err), 0);
}

CT_FIXTURE(eq, struct crn_eq, open_eq_usual, close_eq);

CT_TEST_F(eq, a_batch_is_appended_in_order_and_wakes)
{
	struct fi_eq_err_entry err = {0};
	struct crn_list batch;

	crn_list_init(&batch);
	prepare_error(&batch, 1);
	prepare_number(&batch, 2);
	prepare_number(&batch, 3);
	CT_EXPECT_FALSE(ct_readable(&t->fid.fid));
	CT_EXPECT_EQ(read_any(t, 0), -FI_EAGAIN);
	CT_EXPECT_EQ(crn_eq_insert_batch(t, &batch), 0);
	CT_EXPECT_TRUE(crn_list_empty(&batch));
	CT_EXPECT_TRUE(ct_readable(&t->fid.fid));
	write_number(t, 4);
	CT_EXPECT_EQ(fi_eq_readerr(&t->fid, &err, 0), sizeof(err));
	CT_EXPECT_EQ(err.fid, &object);
	CT_EXPECT_EQ(err.data, 1);
	CT_EXPECT_MEMEQ(err.err_data, "why", 3);
	expect_number(t, 2);
	expect_number(t, 3);
	expect_number(t, 4);
	CT_EXPECT_FALSE(ct_readable(&t->fid.fid));
}

CT_TEST_F(eq, a_batch_for_which_there_is_no_room_is_refused_whole)
{
	struct crn_list batch;

	for (uint64_t i = 0; i < t->limit - 1; i++)
		write_number(t, i);
	crn_list_init(&batch);
	prepare_number(&batch, 1);
	prepare_number(&batch, 2);
	CT_EXPECT_EQ(crn_eq_insert_batch(t, &batch), -FI_EAGAIN);
	CT_EXPECT_EQ(t->count, t->limit - 1);
	expect_number(t, 0);
	CT_EXPECT_EQ(crn_eq_insert_batch(t, &batch), 0);
	CT_EXPECT_TRUE(crn_eq_full(t));
	prepare_number(&batch, 3);
	crn_eq_drop_batch(&batch);
	CT_EXPECT_TRUE(crn_list_empty(&batch));
}

CT_TEST_F(eq, an_empty_batch_is_nothing)
{
	struct crn_list batch;

	crn_list_init(&batch);
	CT_EXPECT_EQ(crn_eq_insert_batch(t, &batch), 0);
	CT_EXPECT_FALSE(ct_readable(&t->fid.fid));
	CT_EXPECT_EQ(read_any(t, 0), -FI_EAGAIN);
}

CT_TEST(eq, memory_may_run_out_while_a_batch_is_prepared)
{
	const struct fi_eq_err_entry err = {.err = FI_EINVAL};
	struct crn_list batch;

	crn_list_init(&batch);
	ct_fail_alloc(1);
	CT_EXPECT_EQ(crn_eq_prepare(&batch, FI_AV_COMPLETE, NULL, NULL, 0), -FI_ENOMEM);
	CT_EXPECT_TRUE(ct_alloc_failed());
	ct_fail_alloc(1);
	CT_EXPECT_EQ(crn_eq_prepare_err(&batch, &err), -FI_ENOMEM);
	CT_EXPECT_TRUE(ct_alloc_failed());
	CT_EXPECT_TRUE(crn_list_empty(&batch));
}

CT_TEST_F(eq, is_busy_while_something_is_bound)
{
	atomic_fetch_add(&t->refs, 1);
	CT_EXPECT_EQ(fi_close(&t->fid.fid), -FI_EBUSY);
	write_number(t, 1);
	expect_number(t, 1);
	atomic_fetch_sub(&t->refs, 1);
}

/* AddressSanitizer and valgrind see whether the info is freed, once. */
CT_TEST_F(eq, an_unread_request_of_a_batch_is_freed_with_its_info)
{
	struct fi_eq_cm_entry entry = {.fid = &object};
	struct crn_list dropped, forgotten, kept,
		*batches[] = {&dropped, &forgotten, &kept};

	for (unsigned int i = 0; i < 3; i++) {
		crn_list_init(batches[i]);
		entry.info = fi_allocinfo();
		CT_EXPECT_EQ(crn_eq_prepare(batches[i], FI_CONNREQ, &object, &entry,
					    sizeof(entry)),
			     0);
	}
	crn_eq_drop_batch(&dropped);
	CT_EXPECT_EQ(crn_eq_insert_batch(t, &forgotten), 0);
	crn_eq_forget(t, &object);
	CT_EXPECT_EQ(crn_eq_insert_batch(t, &kept), 0);
}
