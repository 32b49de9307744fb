/* SPDX-License-Identifier: BSD-2-Clause */
/* Nothing closes before what needs it, and it is whole after the attempt. */
#include <string.h>
#include "cairn_test.h"
#include "layer_world.h"

/* What is open keeps these open. */
static const struct {
	enum layer_object object, needs;
} rows[] = {
	{LAYER_EQ, LAYER_FABRIC},   {LAYER_DOMAIN, LAYER_FABRIC},
	{LAYER_PEP, LAYER_FABRIC},  {LAYER_CQ, LAYER_DOMAIN},
	{LAYER_CNTR, LAYER_DOMAIN}, {LAYER_MR, LAYER_DOMAIN},
	{LAYER_SRX, LAYER_DOMAIN},  {LAYER_EP, LAYER_DOMAIN},
};

CT_TEST(layer_close, what_is_needed_is_busy)
{
	struct layer_world w;
	size_t i;

	for (i = 0; i < CRN_COUNT(rows); i++) {
		layer_start(&w);
		CT_ASSERT_EQ(layer_open_one(&w, LAYER_FABRIC), 0);
		if (rows[i].needs == LAYER_DOMAIN)
			CT_ASSERT_EQ(layer_open_one(&w, LAYER_DOMAIN), 0);
		CT_ASSERT_EQ(layer_open_one(&w, rows[i].object), 0);
		CT_NOTE("the %s of the %s", layer_names[rows[i].needs],
			layer_names[rows[i].object]);
		CT_EXPECT_EQ(layer_close_one(&w, rows[i].needs), -FI_EBUSY);
		layer_close(&w);
	}
}

CT_TEST(layer_close, what_is_bound_is_busy)
{
	static const enum layer_object bound[] = {LAYER_EQ, LAYER_CQ, LAYER_CNTR,
						  LAYER_SRX};
	struct layer_world w;
	size_t i;

	layer_start(&w);
	layer_open_before(&w, LAYER_OBJECTS);
	layer_bind(&w);
	for (i = 0; i < CRN_COUNT(bound); i++) {
		CT_NOTE("the %s", layer_names[bound[i]]);
		CT_EXPECT_EQ(layer_close_one(&w, bound[i]), -FI_EBUSY);
	}
	layer_close(&w);
}

CT_TEST(layer_close, an_event_queue_is_bound_once_and_in_time)
{
	struct layer_world w;

	layer_start(&w);
	layer_open_before(&w, LAYER_OBJECTS);
	layer_bind(&w);
	CT_EXPECT_EQ(fi_ep_bind(w.ep, &w.eq->fid, 0), -FI_EINVAL);
	CT_EXPECT_EQ(fi_pep_bind(w.pep, &w.eq->fid, 0), -FI_EINVAL);
	CT_EXPECT_EQ(fi_enable(w.ep), 0);
	CT_EXPECT_EQ(fi_ep_bind(w.ep, &w.eq->fid, 0), -FI_EINVAL);
	layer_close(&w);
}
