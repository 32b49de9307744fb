/* SPDX-License-Identifier: BSD-2-Clause */
/* Completion queues as objects. */
#include <errno.h>
#include <limits.h>
#include "../world.h"

CT_TEST(cq, attributes_that_are_not_offered_are_refused)
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
	struct world w;
	int ret;

	world_reset();
	CT_ASSERT_TRUE(world_open_domain(&w, NULL));
	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("row %zu", i);
		attr = rows[i].attr;
		ret = fi_cq_open(w.domain, &attr, &cq, NULL);
		CT_EXPECT_EQ(ret, rows[i].wanted);
		if (!ret)
			CT_EXPECT_EQ(fi_close(&cq->fid), 0);
	}
	CT_EXPECT_EQ(fi_cq_open(w.domain, NULL, &cq, NULL), -FI_EINVAL);
	world_close(&w);
}

CT_TEST(cq, an_opened_queue_knows_its_class_and_context)
{
	struct fi_cq_attr attr = {0};
	struct fid_cq *cq;
	struct world w;

	world_reset();
	CT_ASSERT_TRUE(world_open_domain(&w, NULL));
	CT_ASSERT_EQ(fi_cq_open(w.domain, &attr, &cq, NUMBER(5)), 0);
	CT_EXPECT_EQ(cq->fid.fclass, FI_CLASS_CQ);
	CT_EXPECT_EQ(cq->fid.context, NUMBER(5));
	expect_no_comp(cq);
	CT_EXPECT_EQ(fi_close(&w.domain->fid), -FI_EBUSY);
	CT_EXPECT_EQ(fi_close(&cq->fid), 0);
	world_close(&w);
}

CT_TEST(cq, a_queue_in_use_cannot_be_closed)
{
	struct world w;

	world_reset();
	CT_ASSERT_TRUE(world_open(&w, NULL));
	CT_EXPECT_EQ(fi_close(&w.cq->fid), -FI_EBUSY);
	world_close(&w);
}

CT_TEST(cq, a_wait_object_is_told)
{
	static const enum fi_wait_obj objects[] = {FI_WAIT_UNSPEC, FI_WAIT_FD};
	struct fi_cq_attr attr = {0};
	enum fi_wait_obj obj;
	struct fid_cq *cq;
	struct world w;
	int fd;

	world_reset();
	CT_ASSERT_TRUE(world_open_domain(&w, NULL));
	CT_EXPECT_EQ(fi_control(&w.cq->fid, FI_GETWAITOBJ, &obj), 0);
	CT_EXPECT_EQ(obj, FI_WAIT_NONE);
	CT_EXPECT_EQ(fi_control(&w.cq->fid, FI_GETWAIT, &fd), -FI_ENODATA);
	CT_EXPECT_EQ(fi_control(&w.cq->fid, FI_BACKLOG, &fd), -FI_ENOSYS);
	for (size_t i = 0; i < CRN_COUNT(objects); i++) {
		attr.wait_obj = objects[i];
		CT_ASSERT_EQ(fi_cq_open(w.domain, &attr, &cq, NULL), 0);
		CT_EXPECT_EQ(fi_control(&cq->fid, FI_GETWAITOBJ, &obj), 0);
		CT_EXPECT_EQ(obj, FI_WAIT_FD);
		CT_EXPECT_EQ(fi_control(&cq->fid, FI_GETWAIT, &fd), 0);
		CT_EXPECT_GE(fd, 0);
		CT_EXPECT_EQ(fi_close(&cq->fid), 0);
	}
	world_close(&w);
}

CT_TEST(cq, a_status_has_a_text)
{
	char buf[8];
	struct world w;

	world_reset();
	CT_ASSERT_TRUE(world_open_domain(&w, NULL));
	CT_EXPECT_STREQ(fi_cq_strerror(w.cq, IBV_WC_WR_FLUSH_ERR, NULL, NULL, 0),
			ibv_wc_status_str(IBV_WC_WR_FLUSH_ERR));
	CT_EXPECT_EQ(fi_cq_strerror(w.cq, IBV_WC_REM_ACCESS_ERR, NULL, buf, sizeof(buf)),
		     buf);
	CT_EXPECT_EQ(strlen(buf), sizeof(buf) - 1);
	CT_EXPECT_EQ(strncmp(buf, ibv_wc_status_str(IBV_WC_REM_ACCESS_ERR),
			     sizeof(buf) - 1),
		     0);
	CT_EXPECT_STREQ(fi_cq_strerror(w.cq, -EINVAL, NULL, NULL, 0),
			fi_strerror(EINVAL));
	CT_EXPECT_NE(fi_cq_strerror(w.cq, INT_MIN, NULL, NULL, 0), NULL);
	CT_EXPECT_NE(fi_cq_strerror(w.cq, 10000, NULL, NULL, 0), NULL);
	world_close(&w);
}

static int open_cq(struct world *w, struct fid **fid)
{
	struct fi_cq_attr attr = {.wait_obj = FI_WAIT_FD};
	struct fid_cq *cq = NULL;
	int ret = fi_cq_open(w->domain, &attr, &cq, NULL);

	*fid = ret ? NULL : &cq->fid;
	return ret;
}

CT_TEST(cq, opening_fails_cleanly_wherever_memory_ends)
{
	struct world w;

	world_reset();
	CT_ASSERT_TRUE(world_open_domain(&w, NULL));
	expect_survives_enomem(&w, open_cq);
	world_close(&w);
}

CT_TEST(cq, opening_fails_cleanly_wherever_descriptors_end)
{
	struct world w;

	world_reset();
	CT_ASSERT_TRUE(world_open_domain(&w, NULL));
	expect_survives_emfile(&w, open_cq, 4);
	world_close(&w);
}

CT_TEST(cq, a_device_without_another_channel_is_an_error)
{
	struct fi_cq_attr attr = {.wait_obj = FI_WAIT_FD};
	struct fid_cq *cq;
	struct world w;

	world_reset();
	CT_ASSERT_TRUE(world_open_domain(&w, NULL));
	fake_fail(FAKE_CREATE_COMP_CHANNEL, 1, ENOSPC);
	CT_EXPECT_EQ(fi_cq_open(w.domain, &attr, &cq, NULL), -FI_ENOSPC);
	world_close(&w);
}

CT_TEST(cq, operations_that_are_not_offered_say_so)
{
	struct fi_ops *ops;
	struct world w;
	void *out;

	world_reset();
	CT_ASSERT_TRUE(world_open_domain(&w, NULL));
	ops = w.cq->fid.ops;
	CT_EXPECT_EQ(ops->size, sizeof(struct fi_ops));
	CT_EXPECT_EQ(ops->bind(&w.cq->fid, &w.eq->fid, 0), -FI_ENOSYS);
	CT_EXPECT_EQ(ops->ops_open(&w.cq->fid, "x", 0, &out, NULL), -FI_ENOSYS);
	world_close(&w);
}
