/* SPDX-License-Identifier: BSD-2-Clause */
#include <rdma/fi_errno.h>
#include <cairn/compat.h>
#include <cairn/nosys.h>
#include "cairn_test.h"

/* Any of them: a table is its size and a row of functions, which take integers, pointers
 * and enums alone; these are passed alike wherever libfabric runs. */
typedef ssize_t (*operation)(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d,
			     uintptr_t e, uintptr_t f, uintptr_t g, uintptr_t h,
			     uintptr_t i, uintptr_t j, uintptr_t k, uintptr_t l,
			     uintptr_t m, uintptr_t n, uintptr_t o, uintptr_t p);

/* libfabric calls many operations without a check: no slot may be empty. */
CT_TEST(nosys, every_slot_of_every_table_is_filled_and_offers_nothing)
{
	static const struct {
		const char *name;
		const void *table;
		size_t size;
	} rows[] = {
		{"msg", &crn_nosys_msg, sizeof(crn_nosys_msg)},
		{"rma", &crn_nosys_rma, sizeof(crn_nosys_rma)},
		{"tagged", &crn_nosys_tagged, sizeof(crn_nosys_tagged)},
		{"atomic", &crn_nosys_atomic, sizeof(crn_nosys_atomic)},
		{"collective", &crn_nosys_collective, sizeof(crn_nosys_collective)},
		{"cm", &crn_nosys_cm, sizeof(crn_nosys_cm)},
	};
	size_t declared;
	operation op;

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("%s", rows[i].name);
		memcpy(&declared, rows[i].table, sizeof(declared));
		CT_EXPECT_EQ(declared, rows[i].size);
		for (size_t at = sizeof(declared); at < rows[i].size; at += sizeof(op)) {
			CT_NOTE("%s, slot %zu", rows[i].name, at / sizeof(op) - 1);
			memcpy(&op, (const char *)rows[i].table + at, sizeof(op));
			CT_ASSERT_TRUE(op);
			/* Those that return an int leave the upper half as it is. */
			CT_EXPECT_EQ((int)op(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
					     0),
				     -FI_ENOSYS);
		}
	}
}

CT_TEST(nosys, no_single_operation_of_fi_ops_is_offered)
{
	CT_EXPECT_EQ(crn_nosys_bind(NULL, NULL, 0), -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_control(NULL, 0, NULL), -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_ops_open(NULL, NULL, 0, NULL, NULL), -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_ops_set(NULL, NULL, 0, NULL, NULL), -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_tostr(NULL, NULL, 0), -FI_ENOSYS);
}

CT_TEST(nosys, no_single_operation_of_fi_ops_fabric_is_offered)
{
	CT_EXPECT_EQ(crn_nosys_wait_open(NULL, NULL, NULL), -FI_ENOSYS);
}

CT_TEST(nosys, no_single_operation_of_fi_ops_domain_is_offered)
{
	CT_EXPECT_EQ(crn_nosys_av_open(NULL, NULL, NULL, NULL), -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_scalable_ep(NULL, NULL, NULL, NULL), -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_cntr_open(NULL, NULL, NULL, NULL), -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_poll_open(NULL, NULL, NULL), -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_stx_ctx(NULL, NULL, NULL, NULL), -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_srx_ctx(NULL, NULL, NULL, NULL), -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_query_atomic(NULL, 0, 0, NULL, 0), -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_query_collective(NULL, 0, NULL, 0), -FI_ENOSYS);
}

CT_TEST(nosys, no_single_operation_of_fi_ops_ep_is_offered)
{
	CT_EXPECT_EQ(crn_nosys_cancel(NULL, NULL), -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_tx_ctx(NULL, 0, NULL, NULL, NULL), -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_rx_ctx(NULL, 0, NULL, NULL, NULL), -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_rx_size_left(NULL), -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_tx_size_left(NULL), -FI_ENOSYS);
}
