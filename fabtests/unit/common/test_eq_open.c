/* SPDX-License-Identifier: BSD-2-Clause */
/* The queue as an object: attributes, control, what opening takes. */
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include "cairn_test.h"
#include "ct_fid.h"
#include "eq_world.h"

CT_FIXTURE(eq, struct crn_eq, NULL, close_eq);

CT_TEST_F(eq, the_wait_object_is_told_by_control)
{
	enum fi_wait_obj obj;
	int fd = -1;

	open_eq(t, FI_WAIT_NONE, 0, 0);
	CT_EXPECT_EQ(fi_control(&t->fid.fid, FI_GETWAIT, &fd), -FI_ENODATA);
	CT_EXPECT_EQ(fi_control(&t->fid.fid, FI_GETWAITOBJ, &obj), 0);
	CT_EXPECT_EQ(obj, FI_WAIT_NONE);
	open_eq(t, FI_WAIT_UNSPEC, 0, 0);
	CT_EXPECT_EQ(fi_control(&t->fid.fid, FI_GETWAIT, &fd), 0);
	CT_EXPECT_GE(fd, 0);
	CT_EXPECT_EQ(fi_control(&t->fid.fid, FI_GETWAITOBJ, &obj), 0);
	CT_EXPECT_EQ(obj, FI_WAIT_FD);
	CT_EXPECT_EQ(fi_control(&t->fid.fid, FI_ENABLE, NULL), -FI_ENOSYS);
}

CT_TEST_F(eq, is_an_fid_of_its_class_with_the_context_given)
{
	CT_EXPECT_EQ(crn_eq_init(t, &eq_prov, NULL, &other, NULL), 0);
	CT_EXPECT_EQ(t->fid.fid.fclass, FI_CLASS_EQ);
	CT_EXPECT_EQ(t->fid.fid.context, &other);
}

CT_TEST_F(eq, attributes_that_are_not_offered_are_refused)
{
	static const struct {
		const char *name;
		struct fi_eq_attr attr;
		int ret;
	} rows[] = {
		{"unknown flag", {.flags = FI_READ}, -FI_EINVAL},
		{"wait set", {.wait_obj = FI_WAIT_SET}, -FI_ENOSYS},
		{"mutex", {.wait_obj = FI_WAIT_MUTEX_COND}, -FI_ENOSYS},
		{"yield", {.wait_obj = FI_WAIT_YIELD}, -FI_ENOSYS},
		{"affinity", {.flags = FI_AFFINITY, .signaling_vector = 1}, 0},
	};

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		struct fi_eq_attr attr = rows[i].attr;

		CT_NOTE("%s", rows[i].name);
		CT_EXPECT_EQ(crn_eq_init(t, &eq_prov, &attr, NULL, NULL), rows[i].ret);
		if (!rows[i].ret)
			close_eq(t);
	}
}

CT_TEST_F(eq, running_out_of_descriptors_leaves_none_behind)
{
	struct fi_eq_attr attr = {.wait_obj = FI_WAIT_FD};

	for (unsigned int left = 0; left < 2; left++) {
		CT_NOTE("%u descriptors left", left);
		ct_fds_left(left);
		CT_EXPECT_EQ(crn_eq_init(t, &eq_prov, &attr, NULL, NULL), -FI_EMFILE);
		CT_EXPECT_EQ(crn_eq_init(t, &eq_prov, &attr, NULL, NULL), -FI_EMFILE);
		ct_fds_restore();
	}
	ct_fds_left(2);
	CT_EXPECT_EQ(crn_eq_init(t, &eq_prov, &attr, NULL, NULL), 0);
	close_eq(t);
	ct_fds_restore();
}
