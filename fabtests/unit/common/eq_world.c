/* SPDX-License-Identifier: BSD-2-Clause */
#include <rdma/providers/fi_prov.h>
#include "cairn_test.h"
#include "eq_world.h"

struct fi_provider eq_prov = {.name = "test"};
struct fid object, other;

void open_eq(struct crn_eq *eq, enum fi_wait_obj wait_obj, size_t size, uint64_t flags)
{
	struct fi_eq_attr attr = {.size = size, .flags = flags, .wait_obj = wait_obj};

	close_eq(eq);
	CT_ASSERT_EQ(crn_eq_init(eq, &eq_prov, &attr, &object, NULL), 0);
}

void open_eq_usual(struct crn_eq *eq)
{
	open_eq(eq, FI_WAIT_FD, 0, FI_WRITE);
}

void close_eq(struct crn_eq *eq)
{
	if (eq->fid.fid.fclass)
		CT_EXPECT_EQ(fi_close(&eq->fid.fid), 0);
	eq->fid.fid.fclass = 0;
}

void write_number(struct crn_eq *eq, uint64_t number)
{
	struct fi_eq_entry entry = {.data = number};

	CT_EXPECT_EQ(fi_eq_write(&eq->fid, FI_NOTIFY, &entry, sizeof(entry), 0),
		     sizeof(entry));
}

void insert_number(struct crn_eq *eq, fid_t fid, uint64_t number)
{
	struct fi_eq_entry entry = {.fid = fid, .data = number};

	CT_EXPECT_EQ(crn_eq_insert(eq, FI_JOIN_COMPLETE, fid, &entry, sizeof(entry)), 0);
}

void expect_number(struct crn_eq *eq, uint64_t number)
{
	struct fi_eq_entry entry = {0};
	uint32_t event;

	CT_EXPECT_EQ(fi_eq_read(&eq->fid, &event, &entry, sizeof(entry), 0),
		     sizeof(entry));
	CT_EXPECT_EQ(entry.data, number);
}

ssize_t write_any(struct crn_eq *eq)
{
	struct fi_eq_entry entry = {.data = 1};

	return fi_eq_write(&eq->fid, FI_NOTIFY, &entry, sizeof(entry), 0);
}

int insert_any(struct crn_eq *eq)
{
	struct fi_eq_entry entry = {.data = 1};

	return crn_eq_insert(eq, FI_NOTIFY, NULL, &entry, sizeof(entry));
}

ssize_t read_any(struct crn_eq *eq, uint64_t flags)
{
	uint64_t buf[16];
	uint32_t event;

	return fi_eq_read(&eq->fid, &event, buf, sizeof(buf), flags);
}

ssize_t sread_any(struct crn_eq *eq, int timeout)
{
	uint64_t buf[16];
	uint32_t event;

	return fi_eq_sread(&eq->fid, &event, buf, sizeof(buf), timeout, 0);
}
