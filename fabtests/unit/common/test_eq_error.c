/* SPDX-License-Identifier: BSD-2-Clause */
/* Errors in the queue, and the data and texts that belong to them. */
#include <limits.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include "cairn_test.h"
#include "ct_fid.h"
#include "eq_world.h"

CT_FIXTURE(eq, struct crn_eq, open_eq_usual, close_eq);

CT_TEST_F(eq, an_error_blocks_what_follows_until_it_is_read)
{
	struct fi_eq_err_entry err = {.fid = &other,
				      .context = &object,
				      .data = 5,
				      .err = FI_ECONNREFUSED,
				      .prov_errno = 8};
	struct fi_eq_err_entry got = {0};

	CT_EXPECT_EQ(fi_eq_readerr(&t->fid, &got, 0), -FI_EAGAIN);
	write_number(t, 1);
	CT_EXPECT_EQ(fi_eq_readerr(&t->fid, &got, 0), -FI_EAGAIN);
	CT_EXPECT_EQ(crn_eq_insert_err(t, &err), 0);
	write_number(t, 2);

	expect_number(t, 1);
	CT_EXPECT_EQ(read_any(t, 0), -FI_EAVAIL);
	CT_EXPECT_EQ(read_any(t, FI_PEEK), -FI_EAVAIL);
	CT_EXPECT_TRUE(ct_readable(&t->fid.fid));
	CT_EXPECT_EQ(fi_eq_readerr(&t->fid, &got, FI_PEEK), sizeof(got));
	got = (struct fi_eq_err_entry){0};
	CT_EXPECT_EQ(fi_eq_readerr(&t->fid, &got, 0), sizeof(got));
	CT_EXPECT_EQ(got.fid, &other);
	CT_EXPECT_EQ(got.context, &object);
	CT_EXPECT_EQ(got.data, 5);
	CT_EXPECT_EQ(got.err, FI_ECONNREFUSED);
	CT_EXPECT_EQ(got.prov_errno, 8);
	CT_EXPECT_EQ(got.err_data, NULL);
	CT_EXPECT_EQ(got.err_data_size, 0);
	expect_number(t, 2);
	CT_EXPECT_FALSE(ct_readable(&t->fid.fid));
}

static void insert_err_data(struct crn_eq *eq, const char *data)
{
	struct fi_eq_err_entry err = {.fid = &other,
				      .err = FI_EOTHER,
				      .err_data_size = strlen(data)};

	err.err_data = (void *)(uintptr_t)data;
	CT_EXPECT_EQ(crn_eq_insert_err(eq, &err), 0);
}

/* fi_eq(3), err_data_size */
CT_TEST_F(eq, error_data_goes_to_the_readers_buffer_or_stays_with_the_queue)
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
		{"old interface, size not set by the caller", FI_VERSION(1, 4), 777, true,
		 6},
	};
	struct fi_eq_err_entry err;
	char buf[16];

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("%s", rows[i].name);
		open_eq(t, FI_WAIT_NONE, 0, 0);
		t->api_version = rows[i].api_version;
		insert_err_data(t, "reason");
		memset(buf, 'x', sizeof(buf));
		err = (struct fi_eq_err_entry){.err_data = buf,
					       .err_data_size = rows[i].size};
		CT_EXPECT_EQ(fi_eq_readerr(&t->fid, &err, 0), sizeof(err));
		CT_EXPECT_EQ(err.err_data == buf, !rows[i].own);
		CT_EXPECT_EQ(err.err_data_size, rows[i].given);
		CT_EXPECT_MEMEQ(err.err_data, "reason", rows[i].given);
		CT_EXPECT_EQ(buf[rows[i].own ? 0 : rows[i].given], 'x');
	}
}

CT_TEST_F(eq, error_data_of_the_queue_stays_valid_until_the_next_error_is_read)
{
	struct fi_eq_err_entry first = {0}, second = {0}, peeked = {0};

	insert_err_data(t, "first");
	insert_err_data(t, "second");
	CT_EXPECT_EQ(fi_eq_readerr(&t->fid, &peeked, FI_PEEK), sizeof(peeked));
	CT_EXPECT_MEMEQ(peeked.err_data, "first", 5);
	CT_EXPECT_EQ(fi_eq_readerr(&t->fid, &first, 0), sizeof(first));
	CT_EXPECT_EQ(read_any(t, 0), -FI_EAVAIL);
	CT_EXPECT_MEMEQ(first.err_data, "first", 5);
	CT_EXPECT_EQ(fi_eq_readerr(&t->fid, &second, 0), sizeof(second));
	CT_EXPECT_MEMEQ(second.err_data, "second", 6);
}

CT_TEST_F(eq, strerror_knows_errno_fabric_and_odd_codes)
{
	static const int codes[] = {EINVAL, -EINVAL, FI_EAVAIL, -FI_ETRUNC,
				    0,	    INT_MAX, INT_MIN};
	char buf[64], small[4];

	for (size_t i = 0; i < CRN_COUNT(codes); i++) {
		CT_NOTE("code %d", codes[i]);
		CT_EXPECT_NE(fi_eq_strerror(&t->fid, codes[i], NULL, NULL, 0), NULL);
		CT_EXPECT_EQ(fi_eq_strerror(&t->fid, codes[i], NULL, buf, sizeof(buf)),
			     buf);
		CT_EXPECT_GT(strlen(buf), 0);
	}
	CT_EXPECT_STREQ(fi_eq_strerror(&t->fid, -EINVAL, NULL, NULL, 0),
			fi_strerror(EINVAL));
	CT_EXPECT_EQ(fi_eq_strerror(&t->fid, EINVAL, NULL, small, sizeof(small)), small);
	CT_EXPECT_EQ(strlen(small), sizeof(small) - 1);
}
