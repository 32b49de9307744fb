/* SPDX-License-Identifier: BSD-2-Clause */
/* How each kind of operation would be made durable, as pverbs' plan has it. */
#include <stdio.h>
#include <string.h>
#include <cairn/compat.h>
#include "fi_pmem.h"
#include "persist/plan/plan.h"

/* Bytes of the first part of a compound update, and of the second. */
#define FIRST 4096
#define SECOND 8

static const struct {
	const char *name;
	enum pvb_plan_op op;
} pmem_ops[] = {
	{"write", PVB_PLAN_WRITE},
	{"writedata", PVB_PLAN_WRITE_IMM},
	{"send", PVB_PLAN_SEND},
	{"atomic", PVB_PLAN_ATOMIC},
};

/* Why it works, by the act that makes data durable; the first that a plan has counts. */
static const struct {
	enum pvb_act act;
	const char *why;
} pmem_reasons[] = {
	{PVB_ACT_MESSAGE_DATA, "the target's processor writes it back and answers"},
	{PVB_ACT_MESSAGE, "the target's processor writes it back and answers"},
	{PVB_ACT_SLOT, "the target's processor writes it back before it reports"},
	{PVB_ACT_FLUSH, "the target's adapter writes it back"},
	{PVB_ACT_READ, "a read pushes it to where it is durable"},
	{PVB_ACT_DATA, "what has arrived is durable"},
};

static const char *pmem_why(const struct pvb_plan *plan)
{
	size_t i;

	for (i = 0; i < CRN_COUNT(pmem_reasons); i++) {
		if (memchr(plan->act, pmem_reasons[i].act, sizeof(plan->act)))
			return pmem_reasons[i].why;
	}
	return "";
}

/* Both sides have a device like this one. */
static struct pvb_plan_query pmem_query(const struct pmem_device *device,
					const struct pvb_facts *facts,
					enum pvb_plan_op op)
{
	const struct pvb_plan_query query = {
		.target = facts->key_attr,
		.rq_pm = facts->replay,
		.weak = device->iwarp,
		.native_flush = facts->key_attr.flush,
		.native_write = facts->key_attr.atomic_write,
		.seq_word = device->atomics,
		.control = pvb_params.durable != PVB_DURABLE_OFF,
		.force_message = pvb_params.force_message,
		.op = op,
		.len = op == PVB_PLAN_ATOMIC ? SECOND : FIRST,
		.inline_max = device->atomics ? PVB_WIRE_INLINE : 0,
	};

	return query;
}

static void pmem_row(const struct pmem_device *device, const struct pvb_facts *facts,
		     const char *name, enum pvb_plan_op op)
{
	struct pvb_plan_query query = pmem_query(device, facts, op);
	struct pvb_plan first, second;
	char text[64];
	int ret;

	if (op == PVB_PLAN_ATOMIC && !device->atomics) {
		printf("    %-10s none: the device has no atomics\n", name);
		return;
	}
	if (pvb_plan(&query, &first)) {
		printf("    %-10s none\n", name);
		return;
	}
	printf("    %-10s %-16s %u   ", name,
	       pvb_plan_text(&first, op, text, sizeof(text)), first.round_trips);
	query.before = first.pending;
	query.len = SECOND;
	ret = pvb_plan(&query, &second);
	printf("%-24s %s\n",
	       ret ? "none" : pvb_plan_text(&second, op, text, sizeof(text)),
	       pmem_why(&first));
}

void pmem_methods(const struct pmem_device *device, const struct pvb_facts *facts)
{
	size_t i;

	printf("    %-10s %-16s %s %-24s %s\n", "operation", "method", "RTT",
	       "fenced, 8 bytes, behind it", "why");
	for (i = 0; i < CRN_COUNT(pmem_ops); i++)
		pmem_row(device, facts, pmem_ops[i].name, pmem_ops[i].op);
}
