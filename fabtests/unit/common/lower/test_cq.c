/* SPDX-License-Identifier: BSD-2-Clause */
/* cq.c: completions of the lower provider's, for a layer that completes operations. */
#include <rdma/fi_errno.h>
#include <cairn/cq.h>
#include "cairn_test.h"
#include "lower_world.h"

struct op {
	struct crn_lower_op op;
	unsigned int done, failed;
	uint64_t data;
	int err;
	uint64_t order; /* when it was over */
};

static struct crn_cq lower;
static enum fi_wait_obj opened;
static uint64_t over;
static int open_ret;

static void op_done(struct crn_lower_op *base, const struct fi_cq_data_entry *entry)
{
	struct op *op = crn_container_of(base, struct op, op);

	op->done++;
	op->data = entry->data;
	op->order = ++over;
}

static void op_failed(struct crn_lower_op *base, const struct fi_cq_err_entry *err)
{
	struct op *op = crn_container_of(base, struct op, op);

	op->failed++;
	op->err = err->err;
	op->order = ++over;
}

static struct op new_op(void)
{
	return (struct op){.op = {.done = op_done, .failed = op_failed}};
}

static int lower_close(struct fid *fid)
{
	return crn_cq_fini(&lower);
}

static struct fi_ops lower_ops = {.size = sizeof(struct fi_ops),
				  .close = lower_close,
				  .control = crn_cq_control};

static int lower_cq_open(struct fid_domain *domain, struct fi_cq_attr *attr,
			 struct fid_cq **cq, void *context)
{
	CT_EXPECT_EQ(attr->format, FI_CQ_FORMAT_DATA);
	CT_EXPECT_EQ(attr->size, 64);
	opened = attr->wait_obj;
	if (open_ret)
		return open_ret;
	CT_EXPECT_EQ(crn_cq_init(&lower, domain, attr, true, context), 0);
	lower.fid.fid.ops = &lower_ops;
	*cq = &lower.fid;
	return 0;
}

static struct fi_ops_domain domain_ops = {.size = sizeof(struct fi_ops_domain),
					  .cq_open = lower_cq_open};

static struct fid_domain domain = {.ops = &domain_ops};

static void open_cq(struct crn_lower_cq *cq)
{
	struct fid_cq *fid;

	over = 0;
	open_ret = 0;
	CT_EXPECT_EQ(crn_lower_cq_init(cq, &domain, 64, true), 0);
	CT_EXPECT_EQ(crn_lower_cq_get(cq, false, &fid), 0);
	CT_EXPECT_EQ(opened, FI_WAIT_NONE);
	CT_EXPECT_EQ(fid, &lower.fid);
}

static void complete(struct op *op, uint64_t data)
{
	struct crn_cq_comp comp = {.entry = {.op_context = &op->op, .data = data}};

	CT_EXPECT_TRUE(crn_cq_reserve(&lower));
	crn_cq_write(&lower, &comp);
}

static void fail(struct op *op, int err)
{
	struct fi_cq_err_entry entry = {.op_context = &op->op, .err = err};

	CT_EXPECT_TRUE(crn_cq_reserve(&lower));
	crn_cq_write_err(&lower, &entry, FI_ADDR_NOTAVAIL);
}

static void close_cq(struct crn_lower_cq *cq)
{
	CT_EXPECT_EQ(crn_lower_cq_fini(cq), 0);
}

CT_FIXTURE(lower_cq, struct crn_lower_cq, open_cq, close_cq);

CT_TEST_F(lower_cq, each_operation_is_told_once_in_order)
{
	struct op ops[40];

	CT_EXPECT_EQ(crn_lower_cq_progress(t), 0);
	for (unsigned int i = 0; i < CRN_COUNT(ops); i++) {
		ops[i] = new_op();
		if (i == 20)
			fail(&ops[i], FI_EIO);
		else
			complete(&ops[i], i);
	}
	/* Two whole reads, of which the second ends at the error, are one turn each. */
	CT_EXPECT_EQ(crn_lower_cq_progress(t), 20);
	CT_EXPECT_EQ(crn_lower_cq_progress(t), 20);
	CT_EXPECT_EQ(crn_lower_cq_progress(t), 0);
	for (unsigned int i = 0; i < CRN_COUNT(ops); i++) {
		CT_EXPECT_EQ(ops[i].done, i != 20);
		CT_EXPECT_EQ(ops[i].failed, i == 20);
		CT_EXPECT_EQ(ops[i].order, i + 1);
		CT_EXPECT_EQ(ops[i].data, i == 20 ? 0 : i);
	}
	CT_EXPECT_EQ(ops[20].err, FI_EIO);
}

CT_TEST_F(lower_cq, what_nobody_waits_for_is_passed_over)
{
	struct crn_cq_comp comp = {0};
	struct fi_cq_err_entry err = {.err = FI_ECANCELED};
	struct op op = new_op();

	crn_cq_reserve(&lower);
	crn_cq_write(&lower, &comp);
	crn_cq_reserve(&lower);
	crn_cq_write_err(&lower, &err, FI_ADDR_NOTAVAIL);
	complete(&op, 1);
	crn_lower_cq_drain(t);
	CT_EXPECT_EQ(op.done, 1);
	CT_EXPECT_EQ(crn_lower_cq_progress(t), 0);
}

static ssize_t long_readerr(struct fid_cq *cq, struct fi_cq_err_entry *err,
			    uint64_t flags)
{
	/* A newer library's entry ends in fields that these headers do not have. */
	memset(err, 0xff, sizeof(*err) + sizeof(fi_addr_t));
	err->op_context = NULL;
	return 1;
}

static ssize_t read_error_once(struct fid_cq *cq, void *buf, size_t count)
{
	return over++ ? -FI_EAGAIN : -FI_EAVAIL;
}

CT_TEST_F(lower_cq, an_error_entry_may_be_longer_than_the_headers_know)
{
	static struct fi_ops_cq ops; /* the tear-down uses them, too */

	ops = *lower.fid.ops;
	ops.read = read_error_once;
	ops.readerr = long_readerr;
	lower.fid.ops = &ops;
	CT_EXPECT_EQ(crn_lower_cq_progress(t), 1);
}

static ssize_t read_broken(struct fid_cq *cq, void *buf, size_t count)
{
	return -FI_EIO;
}

CT_TEST_F(lower_cq, a_queue_that_is_broken_says_so)
{
	static struct fi_ops_cq ops; /* the tear-down uses them, too */

	ops = *lower.fid.ops;
	ops.read = read_broken;
	lower.fid.ops = &ops;
	CT_EXPECT_EQ(crn_lower_cq_progress(t), -FI_EIO);
}

CT_TEST(lower_cq, opens_and_closes_as_the_lower_provider_allows)
{
	struct crn_lower_cq cq;
	struct fid_cq *fid;

	CT_EXPECT_EQ(crn_lower_cq_init(&cq, &domain, 64, true), 0);
	CT_EXPECT_EQ(crn_lower_cq_progress(&cq), 0);
	open_ret = -FI_ENOMEM;
	CT_EXPECT_EQ(crn_lower_cq_get(&cq, true, &fid), -FI_ENOMEM);
	open_ret = 0;
	CT_EXPECT_EQ(crn_lower_cq_get(&cq, true, &fid), 0);
	CT_EXPECT_EQ(opened, FI_WAIT_FD);
	CT_EXPECT_EQ(crn_cq_attach(&lower, 1), 0);
	CT_EXPECT_EQ(crn_lower_cq_fini(&cq), -FI_EBUSY);
	crn_cq_detach(&lower, 1);
	CT_EXPECT_EQ(crn_lower_cq_fini(&cq), 0);
}

static unsigned int reads[2];

static ssize_t read_polled(struct fid_cq *cq, void *buf, size_t count)
{
	reads[0]++;
	return -FI_EIO;
}

static ssize_t read_waited(struct fid_cq *cq, void *buf, size_t count)
{
	reads[1]++;
	return -FI_EAGAIN;
}

static int close_nothing(struct fid *fid)
{
	return 0;
}

CT_TEST(lower_cq, both_queues_are_read_whatever_the_other_says)
{
	struct fi_ops close_ops = {.size = sizeof(struct fi_ops), .close = close_nothing};
	struct fi_ops_cq polled_ops = {.size = sizeof(polled_ops), .read = read_polled};
	struct fi_ops_cq waited_ops = {.size = sizeof(waited_ops), .read = read_waited};
	struct fid_cq polled = {.fid.ops = &close_ops, .ops = &polled_ops};
	struct fid_cq waited = {.fid.ops = &close_ops, .ops = &waited_ops};
	struct crn_lower_cq cq;

	CT_EXPECT_EQ(crn_lower_cq_init(&cq, &domain, 64, true), 0);
	cq.polled = &polled;
	cq.waited = &waited;
	CT_EXPECT_EQ(crn_lower_cq_progress(&cq), -FI_EIO);
	CT_EXPECT_EQ(reads[0], 1);
	CT_EXPECT_EQ(reads[1], 1);
	CT_EXPECT_EQ(crn_lower_cq_fini(&cq), 0);
}
