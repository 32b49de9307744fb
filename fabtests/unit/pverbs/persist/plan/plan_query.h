/* SPDX-License-Identifier: BSD-2-Clause */
/* What tests of the plan ask, and the answer as text. */
#ifndef PLAN_QUERY_H
#define PLAN_QUERY_H

#include <stdio.h>
#include <string.h>
#include <rdma/fi_errno.h>
#include "cairn/compat.h"
#include "cairn_test.h"
#include "persist/plan/plan.h"

/* DMP with DDIO, on InfiniBand, with a control queue pair and nothing native. */
static inline struct pvb_plan_query plain_query(enum pvb_plan_op op)
{
	return (struct pvb_plan_query){
		.target = {.domain = CRN_DMP,
			   .ddio = true,
			   .persistent = true,
			   .readable = true},
		.seq_word = true,
		.control = true,
		.op = op,
		.addr = 4096,
		.len = 200,
		.inline_max = 64,
	};
}

static inline const char *text_of(const struct pvb_plan_query *query)
{
	static char text[64];
	struct pvb_plan plan;
	int ret = pvb_plan(query, &plan);

	if (ret == -FI_EOPNOTSUPP)
		return "unsupported";
	if (ret == -FI_EINVAL)
		return "invalid";
	return pvb_plan_text(&plan, query->op, text, sizeof(text));
}

#endif
