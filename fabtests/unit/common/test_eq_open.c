/* SPDX-License-Identifier: BSD-2-Clause */
/* The queue as an object: attributes, control, what opening takes. */
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include "cairn_test.h"
#include "ct_fid.h"
#include "eq_world.h"

CT_TEST(eq, the_wait_object_is_told_by_control)
{
	struct crn_eq *none = open_eq(FI_WAIT_NONE, 0, 0);
	struct crn_eq *unspec = open_eq(FI_WAIT_UNSPEC, 0, 0);
	enum fi_wait_obj obj;
	int fd = -1;

	CT_EXPECT_EQ(fi_control(&none->fid.fid, FI_GETWAIT, &fd), -FI_ENODATA);
	CT_EXPECT_EQ(fi_control(&none->fid.fid, FI_GETWAITOBJ, &obj), 0);
	CT_EXPECT_EQ(obj, FI_WAIT_NONE);
	CT_EXPECT_EQ(fi_control(&unspec->fid.fid, FI_GETWAIT, &fd), 0);
	CT_EXPECT_GE(fd, 0);
	CT_EXPECT_EQ(fi_control(&unspec->fid.fid, FI_GETWAITOBJ, &obj), 0);
	CT_EXPECT_EQ(obj, FI_WAIT_FD);
	CT_EXPECT_EQ(fi_control(&unspec->fid.fid, FI_ENABLE, NULL), -FI_ENOSYS);
	close_eq(none);
	close_eq(unspec);
}

CT_TEST(eq, is_an_fid_of_its_class_with_the_context_given)
{
	struct crn_eq eq;

	CT_EXPECT_EQ(crn_eq_init(&eq, &eq_prov, NULL, &other, NULL), 0);
	CT_EXPECT_EQ(eq.fid.fid.fclass, FI_CLASS_EQ);
	CT_EXPECT_EQ(eq.fid.fid.context, &other);
	CT_EXPECT_EQ(fi_close(&eq.fid.fid), 0);
}

CT_TEST(eq, attributes_that_are_not_offered_are_refused)
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
	struct crn_eq eq;
	size_t i;

	for (i = 0; i < CRN_COUNT(rows); i++) {
		struct fi_eq_attr attr = rows[i].attr;

		CT_NOTE("%s", rows[i].name);
		CT_EXPECT_EQ(crn_eq_init(&eq, &eq_prov, &attr, NULL, NULL), rows[i].ret);
		if (!rows[i].ret)
			crn_eq_fini(&eq);
	}
}

CT_TEST(eq, running_out_of_descriptors_leaves_none_behind)
{
	struct fi_eq_attr attr = {.wait_obj = FI_WAIT_FD};
	struct crn_eq eq;
	unsigned int left;

	for (left = 0; left < 2; left++) {
		CT_NOTE("%u descriptors left", left);
		ct_fds_left(left);
		CT_EXPECT_EQ(crn_eq_init(&eq, &eq_prov, &attr, NULL, NULL), -FI_EMFILE);
		CT_EXPECT_EQ(crn_eq_init(&eq, &eq_prov, &attr, NULL, NULL), -FI_EMFILE);
		ct_fds_restore();
	}
	ct_fds_left(2);
	CT_EXPECT_EQ(crn_eq_init(&eq, &eq_prov, &attr, NULL, NULL), 0);
	crn_eq_fini(&eq);
	ct_fds_restore();
}
