/* SPDX-License-Identifier: BSD-2-Clause */
#include "cairn_test.h"
#include "cq_world.h"

struct fid_domain cq_domain;

void open_cq_attr(struct crn_cq *cq, const struct fi_cq_attr *attr, bool locked)
{
	close_cq(cq);
	CT_ASSERT_EQ(crn_cq_init(cq, &cq_domain, attr, locked, &cq_domain), 0);
}

void open_cq(struct crn_cq *cq, enum fi_wait_obj wait_obj, size_t size)
{
	struct fi_cq_attr attr = {.size = size,
				  .format = FI_CQ_FORMAT_TAGGED,
				  .wait_obj = wait_obj};

	open_cq_attr(cq, &attr, true);
}

void close_cq(struct crn_cq *cq)
{
	if (cq->fid.fid.fclass)
		CT_EXPECT_EQ(fi_close(&cq->fid.fid), 0);
	cq->fid.fid.fclass = 0;
}

void *context_of(uintptr_t number)
{
	return (void *)(number + 1000);
}

struct crn_cq_comp numbered(uintptr_t number)
{
	return (struct crn_cq_comp){.entry = {.op_context = context_of(number),
					      .flags = number + 2000,
					      .len = number + 3000,
					      .buf = (void *)(number + 4000),
					      .data = number + 5000,
					      .tag = number + 6000},
				    .src_addr = number + 7000};
}

void complete(struct crn_cq *cq, uintptr_t number)
{
	const struct crn_cq_comp comp = numbered(number);

	crn_cq_write(cq, &comp);
}

void fail(struct crn_cq *cq, uintptr_t number, int err)
{
	const struct crn_cq_comp comp = numbered(number);
	const struct fi_cq_err_entry entry = {.op_context = comp.entry.op_context,
					      .flags = comp.entry.flags,
					      .len = comp.entry.len,
					      .buf = comp.entry.buf,
					      .data = comp.entry.data,
					      .tag = comp.entry.tag,
					      .olen = number + 8000,
					      .err = err,
					      .prov_errno = -(int)number - 9000};

	crn_cq_write_err(cq, &entry, comp.src_addr);
}

void put(struct crn_cq *cq, uintptr_t number)
{
	CT_EXPECT_TRUE(crn_cq_reserve(cq));
	complete(cq, number);
}

void put_error(struct crn_cq *cq, uintptr_t number, int err)
{
	CT_EXPECT_TRUE(crn_cq_reserve(cq));
	fail(cq, number, err);
}

static void expect_fields(const struct fi_cq_tagged_entry *entry, uintptr_t number)
{
	const struct crn_cq_comp comp = numbered(number);

	CT_EXPECT_MEMEQ(entry, &comp.entry, sizeof(*entry));
}

void expect_comp(struct crn_cq *cq, uintptr_t number)
{
	struct fi_cq_tagged_entry entry = {0};

	CT_EXPECT_EQ(fi_cq_read(&cq->fid, &entry, 1), 1);
	expect_fields(&entry, number);
}

void expect_error(struct crn_cq *cq, uintptr_t number, int err)
{
	struct fi_cq_err_entry entry = {0};
	struct fi_cq_tagged_entry fields;

	CT_EXPECT_EQ(read_one(cq), -FI_EAVAIL);
	CT_EXPECT_EQ(fi_cq_readerr(&cq->fid, &entry, 0), 1);
	memcpy(&fields, &entry, sizeof(fields));
	expect_fields(&fields, number);
	CT_EXPECT_EQ(entry.olen, number + 8000);
	CT_EXPECT_EQ(entry.err, err);
	CT_EXPECT_EQ(entry.prov_errno, -(int)number - 9000);
}

ssize_t read_one(struct crn_cq *cq)
{
	struct fi_cq_tagged_entry entry;

	return fi_cq_read(&cq->fid, &entry, 1);
}

unsigned int places(struct crn_cq *cq)
{
	unsigned int count = 0;

	while (crn_cq_reserve(cq))
		count++;
	crn_cq_release(cq, count);
	return count;
}
