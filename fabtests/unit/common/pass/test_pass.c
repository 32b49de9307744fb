/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every operation of a layer's endpoint calls the same one of the lower provider's with
 * the same arguments, and returns what that returns. The tables are taken for rows of
 * functions: integers, pointers and enums are passed alike wherever libfabric runs.
 */
#include <string.h>
#include <rdma/fi_errno.h>
#include <cairn/compat.h>
#include <cairn/nosys.h>
#include <cairn/pass.h>
#include "cairn_test.h"

#define ARGS 18
#define SLOTS 13

/* clang-format off */
#define PARAMS uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e, \
	uintptr_t f, uintptr_t g, uintptr_t h, uintptr_t i, uintptr_t j, uintptr_t k, \
	uintptr_t l, uintptr_t m, uintptr_t n, uintptr_t o, uintptr_t p, uintptr_t q, \
	uintptr_t r
#define NAMES a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r
/* clang-format on */

typedef ssize_t (*operation)(PARAMS);

static struct {
	int slot; /* of the lower provider's table that was called */
	uintptr_t args[ARGS];
} seen;

static ssize_t see(int slot, PARAMS)
{
	const uintptr_t args[ARGS] = {NAMES};

	seen.slot = slot;
	memcpy(seen.args, args, sizeof(args));
	return 100 + slot;
}

#define SEE(slot)                         \
	static ssize_t see_##slot(PARAMS) \
	{                                 \
		return see(slot, NAMES);  \
	}

SEE(0)
SEE(1)
SEE(2)
SEE(3)
SEE(4)
SEE(5)
SEE(6)
SEE(7)
SEE(8)
SEE(9)
SEE(10)
SEE(11)
SEE(12)

static const operation see_all[SLOTS] = {see_0,	 see_1,	 see_2, see_3, see_4,
					 see_5,	 see_6,	 see_7, see_8, see_9,
					 see_10, see_11, see_12};

/* A table of operations is its size and a row of functions. */
struct table {
	size_t size;
	operation slots[SLOTS];
};

/* How many arguments the functions of a table take; 0: it does not pass. */
static const unsigned int msg_args[] = {6, 6, 3, 6, 6, 3, 4, 7, 5};
static const unsigned int rma_args[] = {8, 8, 3, 8, 8, 3, 6, 9, 7};
static const unsigned int tagged_args[] = {8, 8, 3, 7, 7, 3, 5, 8, 6};
static const unsigned int atomic_args[] = {10, 10, 3, 8, 12, 13, 6, 14, 16, 9, 4, 4, 4};
static const unsigned int cm_args[] = {3, 3, 3, 4, 1, 3, 4, 2, 0};
static const unsigned int ep_args[] = {2, 5, 5, 0, 0, 1, 1};
static const unsigned int pep_args[] = {2, 5, 5, 0, 0, 0, 0};

static struct table lower_table(size_t size)
{
	struct table table = {.size = size};

	memcpy(table.slots, see_all, sizeof(see_all));
	return table;
}

/* The layer's object passes to the lower one, whose table is lower_table's. */
static void expect_passes(const char *name, const void *ops, void *object, void *lower,
			  const unsigned int *args, size_t slots)
{
	struct table table;

	memcpy(&table, ops, sizeof(size_t) + slots * sizeof(operation));
	CT_EXPECT_EQ(table.size, sizeof(size_t) + slots * sizeof(operation));
	for (size_t slot = 0; slot < slots; slot++) {
		if (!args[slot])
			continue;
		CT_NOTE("%s, slot %zu", name, slot);
		seen.slot = -1;
		CT_EXPECT_EQ((int)table.slots[slot]((uintptr_t)object, 2, 3, 4, 5, 6, 7,
						    8, 9, 10, 11, 12, 13, 14, 15, 16, 17,
						    18),
			     100 + (int)slot);
		CT_EXPECT_EQ(seen.slot, slot);
		CT_EXPECT_EQ(seen.args[0], (uintptr_t)lower);
		/* Of an enum, the upper half of its place means nothing. */
		for (size_t arg = 1; arg < args[slot]; arg++)
			CT_EXPECT_EQ((uint32_t)seen.args[arg], arg + 1);
	}
}

static struct fid_ep lower_ep = {.fid = {.fclass = FI_CLASS_EP}};
static struct fid_pep lower_pep = {.fid = {.fclass = FI_CLASS_PEP}};

static struct crn_pass_ep layer_ep(void)
{
	return (struct crn_pass_ep){.fid = {.fid = {.fclass = FI_CLASS_EP}},
				    .lower = &lower_ep};
}

CT_TEST(pass, every_operation_is_the_lower_endpoints_with_all_its_arguments)
{
	struct crn_pass_ep ep = layer_ep();
	struct table msg = lower_table(sizeof(struct fi_ops_msg));
	struct table rma = lower_table(sizeof(struct fi_ops_rma));
	struct table tagged = lower_table(sizeof(struct fi_ops_tagged));
	struct table atomic = lower_table(sizeof(struct fi_ops_atomic));

	lower_ep.msg = (void *)&msg;
	lower_ep.rma = (void *)&rma;
	lower_ep.tagged = (void *)&tagged;
	lower_ep.atomic = (void *)&atomic;
	crn_pass_ops(&ep);
	expect_passes("msg", ep.fid.msg, &ep, &lower_ep, msg_args, CRN_COUNT(msg_args));
	expect_passes("rma", ep.fid.rma, &ep, &lower_ep, rma_args, CRN_COUNT(rma_args));
	expect_passes("tagged", ep.fid.tagged, &ep, &lower_ep, tagged_args,
		      CRN_COUNT(tagged_args));
	expect_passes("atomic", ep.fid.atomic, &ep, &lower_ep, atomic_args,
		      CRN_COUNT(atomic_args));
}

CT_TEST(pass, connections_and_options_are_the_lower_endpoints)
{
	struct crn_pass_ep ep = layer_ep();
	struct crn_pass_pep pep = {.fid = {.fid = {.fclass = FI_CLASS_PEP}},
				   .lower = &lower_pep};
	struct table cm = lower_table(sizeof(struct fi_ops_cm));
	struct table ops = lower_table(sizeof(struct fi_ops_ep));
	unsigned int of_pep[CRN_COUNT(cm_args)] = {0}, of_ep[CRN_COUNT(cm_args)];

	lower_ep.cm = lower_pep.cm = (void *)&cm;
	lower_ep.ops = lower_pep.ops = (void *)&ops;
	/* setname, getname, listen, reject */
	memcpy(of_ep, cm_args, sizeof(of_ep));
	for (size_t i = 0; i < CRN_COUNT(cm_args); i++) {
		if (i == 0 || i == 1 || i == 4 || i == 6)
			of_pep[i] = cm_args[i];
	}
	of_ep[4] = of_ep[6] = 0;
	expect_passes("cm", &crn_pass_cm, &ep, &lower_ep, of_ep, CRN_COUNT(of_ep));
	expect_passes("cm of what listens", &crn_pass_cm, &pep, &lower_pep, of_pep,
		      CRN_COUNT(of_pep));
	expect_passes("ep", &crn_pass_ep_ops, &ep, &lower_ep, ep_args,
		      CRN_COUNT(ep_args));
	expect_passes("ep of what listens", &crn_pass_ep_ops, &pep, &lower_pep, pep_args,
		      CRN_COUNT(pep_args));
}

CT_TEST(pass, what_the_lower_endpoint_has_no_table_for_is_not_offered)
{
	struct crn_pass_ep ep = layer_ep();
	size_t len = 0;

	lower_ep.cm = NULL;
	lower_ep.msg = NULL;
	lower_ep.rma = NULL;
	lower_ep.tagged = NULL;
	lower_ep.atomic = NULL;
	crn_pass_ops(&ep);
	CT_EXPECT_EQ(fi_send(&ep.fid, NULL, 0, NULL, 0, NULL), -FI_ENOSYS);
	CT_EXPECT_EQ(fi_read(&ep.fid, NULL, 0, NULL, 0, 0, 0, NULL), -FI_ENOSYS);
	CT_EXPECT_EQ(fi_tinject(&ep.fid, NULL, 0, 0, 0), -FI_ENOSYS);
	CT_EXPECT_EQ(fi_inject_atomic(&ep.fid, NULL, 0, 0, 0, 0, FI_INT8, FI_SUM),
		     -FI_ENOSYS);
	CT_EXPECT_EQ(fi_getname(&ep.fid.fid, NULL, &len), -FI_ENOSYS);
	CT_EXPECT_EQ(ep.fid.collective, &crn_nosys_collective);
}

static int commanded;

static int lower_control(struct fid *fid, int command, void *arg)
{
	CT_EXPECT_EQ(fid, &lower_ep.fid);
	commanded = command;
	return 7;
}

CT_TEST(pass, control_is_the_lower_endpoints_but_for_aliases)
{
	struct crn_pass_ep ep = layer_ep();
	struct fi_ops ops = {.size = sizeof(ops), .control = lower_control};

	lower_ep.fid.ops = &ops;
	CT_EXPECT_EQ(crn_pass_control(&ep.fid.fid, FI_ENABLE, NULL), 7);
	CT_EXPECT_EQ(commanded, FI_ENABLE);
	CT_EXPECT_EQ(crn_pass_control(&ep.fid.fid, FI_ALIAS, NULL), -FI_ENOSYS);
	CT_EXPECT_EQ(commanded, FI_ENABLE);
	lower_ep.fid.ops = NULL;
}
