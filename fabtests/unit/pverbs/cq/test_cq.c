/* SPDX-License-Identifier: BSD-2-Clause */
/* Completion queues as objects. */
#include <errno.h>
#include <limits.h>
#include "../world.h"

CT_FIXTURE(cq, struct world, world_start_domain, world_close);

CT_TEST_F(cq, attributes_that_are_not_offered_are_refused)
{
	static const struct {
		struct fi_cq_attr attr;
		int wanted;
	} rows[] = {
		{{.format = FI_CQ_FORMAT_UNSPEC}, 0},
		{{.format = FI_CQ_FORMAT_CONTEXT}, 0},
		{{.format = FI_CQ_FORMAT_MSG}, 0},
		{{.format = FI_CQ_FORMAT_DATA}, 0},
		{{.format = FI_CQ_FORMAT_TAGGED}, -FI_ENOSYS},
		{{.wait_obj = FI_WAIT_UNSPEC}, 0},
		{{.wait_obj = FI_WAIT_FD}, 0},
		{{.wait_obj = FI_WAIT_SET}, -FI_ENOSYS},
		{{.wait_obj = FI_WAIT_MUTEX_COND}, -FI_ENOSYS},
		{{.flags = FI_AFFINITY, .signaling_vector = 1}, 0},
		{{.flags = FI_WRITE}, -FI_EINVAL},
		{{.wait_cond = FI_CQ_COND_THRESHOLD}, 0},
		{{.wait_cond = (enum fi_cq_wait_cond)2}, -FI_EINVAL},
		{{.size = SIZE_MAX}, 0},
	};
	struct fi_cq_attr attr;
	struct fid_cq *cq;
	int ret;

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("row %zu", i);
		attr = rows[i].attr;
		ret = fi_cq_open(t->domain, &attr, &cq, NULL);
		CT_EXPECT_EQ(ret, rows[i].wanted);
		if (!ret)
			CT_EXPECT_EQ(fi_close(&cq->fid), 0);
	}
	CT_EXPECT_EQ(fi_cq_open(t->domain, NULL, &cq, NULL), -FI_EINVAL);
}

CT_TEST_F(cq, an_opened_queue_knows_its_class_and_context)
{
	struct fi_cq_attr attr = {0};
	struct fid_cq *cq;

	CT_ASSERT_EQ(fi_cq_open(t->domain, &attr, &cq, NUMBER(5)), 0);
	CT_EXPECT_EQ(cq->fid.fclass, FI_CLASS_CQ);
	CT_EXPECT_EQ(cq->fid.context, NUMBER(5));
	expect_no_comp(cq);
	CT_EXPECT_EQ(fi_close(&t->domain->fid), -FI_EBUSY);
	CT_EXPECT_EQ(fi_close(&cq->fid), 0);
}

CT_TEST_F(cq, a_queue_in_use_cannot_be_closed)
{
	CT_ASSERT_TRUE(world_reopen(t, NULL));
	CT_EXPECT_EQ(fi_close(&t->cq->fid), -FI_EBUSY);
}

CT_TEST_F(cq, a_wait_object_is_told)
{
	static const enum fi_wait_obj objects[] = {FI_WAIT_UNSPEC, FI_WAIT_FD};
	struct fi_cq_attr attr = {0};
	enum fi_wait_obj obj;
	struct fid_cq *cq;
	int fd;

	CT_EXPECT_EQ(fi_control(&t->cq->fid, FI_GETWAITOBJ, &obj), 0);
	CT_EXPECT_EQ(obj, FI_WAIT_NONE);
	CT_EXPECT_EQ(fi_control(&t->cq->fid, FI_GETWAIT, &fd), -FI_ENODATA);
	CT_EXPECT_EQ(fi_control(&t->cq->fid, FI_BACKLOG, &fd), -FI_ENOSYS);
	for (size_t i = 0; i < CRN_COUNT(objects); i++) {
		attr.wait_obj = objects[i];
		CT_ASSERT_EQ(fi_cq_open(t->domain, &attr, &cq, NULL), 0);
		CT_EXPECT_EQ(fi_control(&cq->fid, FI_GETWAITOBJ, &obj), 0);
		CT_EXPECT_EQ(obj, FI_WAIT_FD);
		CT_EXPECT_EQ(fi_control(&cq->fid, FI_GETWAIT, &fd), 0);
		CT_EXPECT_GE(fd, 0);
		CT_EXPECT_EQ(fi_close(&cq->fid), 0);
	}
}

CT_TEST_F(cq, a_status_has_a_text)
{
	char buf[8];

	CT_EXPECT_STREQ(fi_cq_strerror(t->cq, IBV_WC_WR_FLUSH_ERR, NULL, NULL, 0),
			ibv_wc_status_str(IBV_WC_WR_FLUSH_ERR));
	CT_EXPECT_EQ(fi_cq_strerror(t->cq, IBV_WC_REM_ACCESS_ERR, NULL, buf, sizeof(buf)),
		     buf);
	CT_EXPECT_EQ(strlen(buf), sizeof(buf) - 1);
	CT_EXPECT_EQ(strncmp(buf, ibv_wc_status_str(IBV_WC_REM_ACCESS_ERR),
			     sizeof(buf) - 1),
		     0);
	CT_EXPECT_STREQ(fi_cq_strerror(t->cq, -EINVAL, NULL, NULL, 0),
			fi_strerror(EINVAL));
	CT_EXPECT_NE(fi_cq_strerror(t->cq, INT_MIN, NULL, NULL, 0), NULL);
	CT_EXPECT_NE(fi_cq_strerror(t->cq, 10000, NULL, NULL, 0), NULL);
}

static int open_cq(struct world *w, struct fid **fid)
{
	struct fi_cq_attr attr = {.wait_obj = FI_WAIT_FD};
	struct fid_cq *cq = NULL;
	int ret = fi_cq_open(w->domain, &attr, &cq, NULL);

	*fid = ret ? NULL : &cq->fid;
	return ret;
}

CT_TEST_F(cq, opening_fails_cleanly_wherever_memory_ends)
{
	expect_survives_enomem(t, open_cq);
}

CT_TEST_F(cq, opening_fails_cleanly_wherever_descriptors_end)
{
	expect_survives_emfile(t, open_cq, 4);
}

CT_TEST_F(cq, a_device_without_another_channel_is_an_error)
{
	struct fi_cq_attr attr = {.wait_obj = FI_WAIT_FD};
	struct fid_cq *cq;

	fake_fail(FAKE_CREATE_COMP_CHANNEL, 1, ENOSPC);
	CT_EXPECT_EQ(fi_cq_open(t->domain, &attr, &cq, NULL), -FI_ENOSPC);
}

CT_TEST_F(cq, operations_that_are_not_offered_say_so)
{
	struct fi_ops *ops;
	void *out;

	ops = t->cq->fid.ops;
	CT_EXPECT_EQ(ops->size, sizeof(struct fi_ops));
	CT_EXPECT_EQ(ops->bind(&t->cq->fid, &t->eq->fid, 0), -FI_ENOSYS);
	CT_EXPECT_EQ(ops->ops_open(&t->cq->fid, "x", 0, &out, NULL), -FI_ENOSYS);
}
