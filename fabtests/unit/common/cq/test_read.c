/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading: order, errors among successes, source addresses, data of errors, progress.
 * Above each test stands the sentence of fi_cq(3) that it is about. */
#include <limits.h>
#include <rdma/fi_errno.h>
#include "cairn_test.h"
#include "cq_world.h"

static void open_plain(struct crn_cq *cq)
{
	open_cq(cq, FI_WAIT_NONE, 16);
}

CT_FIXTURE(cq_read, struct crn_cq, open_plain, close_cq);

/* "Multiple completions may be retrieved from a CQ in a single call. The maximum number
 * of entries to return is limited to the specified count parameter" */
CT_TEST_F(cq_read, gives_up_to_count_entries_in_order)
{
	struct fi_cq_tagged_entry entries[4];

	for (uintptr_t i = 0; i < 6; i++)
		put(t, i);
	CT_EXPECT_EQ(fi_cq_read(&t->fid, entries, 4), 4);
	for (uintptr_t i = 0; i < 4; i++)
		CT_EXPECT_EQ(entries[i].op_context, context_of(i));
	CT_EXPECT_EQ(fi_cq_read(&t->fid, entries, 4), 2);
	CT_EXPECT_EQ(entries[0].op_context, context_of(4));
	CT_EXPECT_EQ(entries[1].op_context, context_of(5));
}

/* "If no completions are available to read from the CQ, returns -FI_EAGAIN." */
CT_TEST_F(cq_read, of_nothing_is_to_be_tried_again)
{
	struct fi_cq_err_entry err;

	CT_EXPECT_EQ(read_one(t), -FI_EAGAIN);
	CT_EXPECT_EQ(fi_cq_readerr(&t->fid, &err, 0), -FI_EAGAIN);
}

/* "If the topmost completion is for a failed transfer (an error entry), returns
 * -FI_EAVAIL." */
CT_TEST_F(cq_read, an_error_has_its_place_among_the_others)
{
	struct fi_cq_tagged_entry entries[8];
	struct fi_cq_err_entry err = {0};

	put(t, 1);
	put(t, 2);
	put_error(t, 3, FI_ETRUNC);
	put(t, 4);
	put_error(t, 5, FI_ECANCELED);
	put_error(t, 6, FI_EIO);
	/* What is before it is not an error to be read. */
	CT_EXPECT_EQ(fi_cq_readerr(&t->fid, &err, 0), -FI_EAGAIN);
	CT_EXPECT_EQ(fi_cq_read(&t->fid, entries, 8), 2);
	CT_EXPECT_EQ(fi_cq_read(&t->fid, entries, 8), -FI_EAVAIL);
	CT_EXPECT_EQ(fi_cq_read(&t->fid, entries, 8), -FI_EAVAIL);
	expect_error(t, 3, FI_ETRUNC);
	CT_EXPECT_EQ(fi_cq_read(&t->fid, entries, 8), 1);
	expect_error(t, 5, FI_ECANCELED);
	expect_error(t, 6, FI_EIO);
	CT_EXPECT_EQ(read_one(t), -FI_EAGAIN);
	CT_EXPECT_EQ(fi_cq_readerr(&t->fid, &err, 0), -FI_EAGAIN);
}

/* A slot that held an error holds a success later. */
CT_TEST_F(cq_read, a_success_after_an_error_in_the_same_place_is_one)
{
	open_cq(t, FI_WAIT_NONE, 1);
	put_error(t, 1, FI_EIO);
	expect_error(t, 1, FI_EIO);
	put(t, 2);
	expect_comp(t, 2);
}

CT_TEST_F(cq_read, errors_have_no_flags_that_are_known)
{
	struct fi_cq_err_entry err = {0};

	put_error(t, 1, FI_EIO);
	CT_EXPECT_EQ(fi_cq_readerr(&t->fid, &err, FI_PEEK), -FI_EBADFLAGS);
	expect_error(t, 1, FI_EIO);
}

/* "the source address will be set to FI_ADDR_NOTAVAIL", "allows the CQ to return source
 * address information to the user for any received data" */
CT_TEST_F(cq_read, readfrom_gives_a_source_for_each_entry)
{
	struct fi_cq_tagged_entry entries[4];
	fi_addr_t from[4] = {1, 1, 1, 1};
	struct crn_cq_comp unknown = numbered(2);

	put(t, 1);
	unknown.src_addr = FI_ADDR_NOTAVAIL;
	CT_EXPECT_TRUE(crn_cq_reserve(t));
	crn_cq_write(t, &unknown);
	put(t, 3);
	CT_EXPECT_EQ(fi_cq_readfrom(&t->fid, entries, 4, from), 3);
	CT_EXPECT_EQ(from[0], 7001);
	CT_EXPECT_EQ(from[1], FI_ADDR_NOTAVAIL);
	CT_EXPECT_EQ(from[2], 7003);
	CT_EXPECT_EQ(from[3], 1);
	put(t, 4);
	CT_EXPECT_EQ(fi_cq_readfrom(&t->fid, entries, 4, NULL), 1);
}

static void put_err_data(struct crn_cq *cq, const char *data)
{
	const struct fi_cq_err_entry err = {.err = FI_EOTHER,
					    .err_data = (void *)(uintptr_t)data,
					    .err_data_size = strlen(data)};

	CT_EXPECT_TRUE(crn_cq_reserve(cq));
	crn_cq_write_err(cq, &err, 4711);
}

/* "On output, err_data_size will be set to the number of bytes copied to the err_data
 * buffer.", "If err_data_size is 0 on input, or the fabric was opened with release < 1.5,
 * then any buffer referenced by err_data will be ignored on input. In this situation, on
 * output err_data will be set to a data buffer owned by the provider." */
CT_TEST_F(cq_read, error_data_goes_to_the_readers_buffer_or_stays_with_the_queue)
{
	static const struct {
		const char *name;
		uint32_t api_version;
		size_t size;
		bool own; /* the queue's memory is given */
		size_t given;
	} rows[] = {
		{"no buffer", FI_VERSION(1, 17), 0, true, 6},
		{"small buffer", FI_VERSION(1, 17), 4, false, 4},
		{"exact buffer", FI_VERSION(1, 5), 6, false, 6},
		{"large buffer", FI_VERSION(1, 5), 16, false, 6},
		{"old interface: size is not the caller's", FI_VERSION(1, 4), 777, true,
		 777},
		{"old interface, the size by chance 0", FI_VERSION(1, 4), 0, true, 0},
	};
	struct fi_cq_err_entry err;
	char buf[16];

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("%s", rows[i].name);
		open_plain(t);
		t->api_version = rows[i].api_version;
		memset(buf, '-', sizeof(buf));
		put_err_data(t, "reason");
		err = (struct fi_cq_err_entry){.err_data = buf,
					       .err_data_size = rows[i].size};
		CT_EXPECT_EQ(fi_cq_readerr(&t->fid, &err, 0), 1);
		/* The structure of an old program ends before err_data_size. */
		CT_EXPECT_EQ(err.err_data_size, rows[i].given);
		CT_EXPECT_EQ(err.err_data == buf, !rows[i].own);
		CT_EXPECT_MEMEQ(err.err_data, "reason", rows[i].own ? 6 : rows[i].given);
		CT_EXPECT_EQ(buf[rows[i].own ? 0 : rows[i].given], '-');
	}
}

CT_TEST_F(cq_read, an_error_without_data_says_so)
{
	struct fi_cq_err_entry err = {0};
	char buf[4] = "---";

	put_error(t, 1, FI_EIO);
	put_error(t, 2, FI_EIO);
	err.err_data = buf;
	CT_EXPECT_EQ(fi_cq_readerr(&t->fid, &err, 0), 1);
	CT_EXPECT_EQ(err.err_data, NULL);
	CT_EXPECT_EQ(err.err_data_size, 0);
	err.err_data = buf;
	err.err_data_size = sizeof(buf);
	CT_EXPECT_EQ(fi_cq_readerr(&t->fid, &err, 0), 1);
	CT_EXPECT_EQ(err.err_data_size, 0);
	CT_EXPECT_STREQ(buf, "---");
}

/* "The contents of the buffer will remain valid until a subsequent read call against the
 * CQ." */
CT_TEST_F(cq_read, error_data_of_the_queue_stays_until_the_next_error_is_read)
{
	struct fi_cq_err_entry first = {0}, second = {0};

	put_err_data(t, "first");
	put(t, 1);
	put_err_data(t, "second");
	CT_EXPECT_EQ(fi_cq_readerr(&t->fid, &first, 0), 1);
	CT_EXPECT_MEMEQ(first.err_data, "first", 5);
	expect_comp(t, 1);
	CT_EXPECT_MEMEQ(first.err_data, "first", 5);
	CT_EXPECT_EQ(fi_cq_readerr(&t->fid, &second, 0), 1);
	CT_EXPECT_MEMEQ(second.err_data, "second", 6);
}

/* fi_cq_err_entry of 1.20 and later ends in src_addr, that of before does not have it. */
CT_TEST_F(cq_read, the_source_of_an_error_is_given_to_those_who_have_the_field)
{
	struct {
		struct fi_cq_err_entry err;
		fi_addr_t behind[2];
	} entry;
	const size_t at =
		offsetof(struct fi_cq_err_entry, err_data_size) + sizeof(size_t);
	const uint32_t versions[] = {FI_VERSION(1, 19), FI_VERSION(1, 20),
				     FI_VERSION(2, 1)};
	fi_addr_t src_addr;

	for (size_t i = 0; i < CRN_COUNT(versions); i++) {
		open_plain(t);
		memset(&entry, 0, sizeof(entry));
		t->api_version = versions[i];
		put_err_data(t, "reason");
		CT_EXPECT_EQ(fi_cq_readerr(&t->fid, &entry.err, 0), 1);
		memcpy(&src_addr, (char *)&entry + at, sizeof(src_addr));
		CT_EXPECT_EQ(src_addr, i ? 4711 : 0);
	}
}

CT_TEST_F(cq_read, without_memory_for_its_data_an_error_is_still_reported)
{
	struct fi_cq_err_entry err = {0};

	ct_fail_alloc(1);
	put_err_data(t, "reason");
	CT_EXPECT_TRUE(ct_alloc_failed());
	CT_EXPECT_EQ(fi_cq_readerr(&t->fid, &err, 0), 1);
	CT_EXPECT_EQ(err.err, FI_EOTHER);
	CT_EXPECT_EQ(err.err_data, NULL);
	CT_EXPECT_EQ(err.err_data_size, 0);
}

CT_TEST_F(cq_read, completions_need_no_memory)
{
	open_cq(t, FI_WAIT_FD, 4);
	ct_fail_alloc(1);
	put(t, 1);
	put_error(t, 2, FI_EIO);
	expect_comp(t, 1);
	expect_error(t, 2, FI_EIO);
	CT_EXPECT_EQ(crn_cq_trywait(t), 0);
	CT_EXPECT_FALSE(ct_alloc_failed());
}

/* A layer: how often progress was asked for, and what it completes. */
static unsigned int progressed;
static unsigned int pending;

static void progress(struct crn_cq *cq)
{
	progressed++;
	for (; pending; pending--)
		complete(cq, pending);
}

/* "A count value of 0 may be used to drive progress on associated endpoints when manual
 * progress is enabled." */
CT_TEST_F(cq_read, of_no_entries_drives_progress_and_takes_nothing)
{
	progressed = pending = 0;
	t->progress = progress;
	CT_EXPECT_EQ(fi_cq_read(&t->fid, NULL, 0), -FI_EAGAIN);
	CT_EXPECT_EQ(progressed, 1);
	pending = 1;
	CT_EXPECT_TRUE(crn_cq_reserve(t));
	CT_EXPECT_EQ(fi_cq_read(&t->fid, NULL, 0), 0);
	CT_EXPECT_EQ(fi_cq_read(&t->fid, NULL, 0), 0);
	CT_EXPECT_EQ(progressed, 3);
	expect_comp(t, 1);
	put_error(t, 2, FI_EIO);
	CT_EXPECT_EQ(fi_cq_read(&t->fid, NULL, 0), -FI_EAVAIL);
	expect_error(t, 2, FI_EIO);
}

CT_TEST_F(cq_read, progress_is_made_when_there_is_nothing_to_read_and_writes_to_the_queue)
{
	progressed = pending = 0;
	t->progress = progress;
	put(t, 7);
	expect_comp(t, 7);
	CT_EXPECT_EQ(progressed, 0);
	pending = 2;
	CT_EXPECT_TRUE(crn_cq_reserve(t));
	CT_EXPECT_TRUE(crn_cq_reserve(t));
	expect_comp(t, 2);
	expect_comp(t, 1);
	CT_EXPECT_EQ(progressed, 1);
	CT_EXPECT_EQ(read_one(t), -FI_EAGAIN);
	CT_EXPECT_EQ(progressed, 2);
}

/* A layer that writes with a lock of its own held. */
static struct crn_lock guard;
static unsigned int idled;

static bool guard_is_taken(void)
{
	return atomic_load(&guard.state) != CRN_LOCK_FREE;
}

static void progress_guarded(struct crn_cq *cq)
{
	CT_EXPECT_TRUE(guard_is_taken());
	progress(cq);
}

static void idle(struct crn_cq *cq)
{
	CT_EXPECT_FALSE(guard_is_taken());
	idled++;
}

static void open_guarded(struct crn_cq *cq)
{
	open_cq(cq, FI_WAIT_NONE, 4);
	crn_lock_init(&guard, true);
	crn_cq_guard(cq, &guard);
	cq->progress_guarded = progress_guarded;
	cq->idle = idle;
	progressed = pending = idled = 0;
}

/* The lock is not recursive: who writes holds it already. */
CT_TEST_F(cq_read, a_guarded_queue_is_progressed_and_written_with_the_guard_held)
{
	open_guarded(t);
	CT_EXPECT_EQ(read_one(t), -FI_EAGAIN);
	CT_EXPECT_EQ(progressed, 1);
	CT_EXPECT_EQ(idled, 1);
	crn_lock(&guard);
	CT_EXPECT_TRUE(crn_cq_reserve(t));
	CT_EXPECT_TRUE(crn_cq_reserve(t));
	crn_unlock(&guard);
	pending = 2;
	expect_comp(t, 2);
	CT_EXPECT_EQ(progressed, 2);
	/* There is one more: nothing is moved on for it. */
	expect_comp(t, 1);
	CT_EXPECT_EQ(progressed, 2);
	CT_EXPECT_EQ(idled, 1);
	CT_EXPECT_FALSE(guard_is_taken());
	close_cq(t);
	crn_lock_fini(&guard);
}

/* Events of a layer are not to wait until nothing completes any more. */
CT_TEST_F(cq_read, a_guarded_queue_is_idle_now_and_then_though_reads_find_something)
{
	open_guarded(t);
	for (unsigned int i = 0; i < 1000 && !idled; i++) {
		crn_lock(&guard);
		CT_EXPECT_TRUE(crn_cq_reserve(t));
		crn_unlock(&guard);
		pending = 1;
		expect_comp(t, 1);
	}
	CT_EXPECT_EQ(idled, 1);
	close_cq(t);
	crn_lock_fini(&guard);
}

static const char *text_of(struct crn_cq *cq, int prov_errno, const void *err_data)
{
	return prov_errno == 5 && err_data ? "five" : "other";
}

/* "Returns a character string interpretation of the provider specific error returned with
 * a completion." */
CT_TEST_F(cq_read, strerror_is_the_providers_or_of_errno_values)
{
	char buf[3] = "";

	CT_EXPECT_STREQ(fi_cq_strerror(&t->fid, FI_ENOMEM, NULL, NULL, 0),
			fi_strerror(FI_ENOMEM));
	CT_EXPECT_STREQ(fi_cq_strerror(&t->fid, -FI_ENOMEM, NULL, NULL, 0),
			fi_strerror(FI_ENOMEM));
	CT_EXPECT_NE(fi_cq_strerror(&t->fid, INT_MIN, NULL, NULL, 0), NULL);
	t->strerror = text_of;
	CT_EXPECT_STREQ(fi_cq_strerror(&t->fid, 5, "", NULL, 0), "five");
	CT_EXPECT_STREQ(fi_cq_strerror(&t->fid, 5, "", buf, sizeof(buf)), "fi");
	CT_EXPECT_STREQ(buf, "fi");
	CT_EXPECT_STREQ(fi_cq_strerror(&t->fid, 6, "", buf, 0), "other");
}
