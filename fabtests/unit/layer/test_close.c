/* SPDX-License-Identifier: BSD-2-Clause */
/* Nothing closes before what needs it, and it is whole after the attempt. */
#include "cairn_test.h"
#include "layer_world.h"
#include "pair.h"
#include "script.h"

/* What is open keeps these open. */
static const struct {
	enum layer_object object, needs;
} rows[] = {
	{LAYER_EQ, LAYER_FABRIC},   {LAYER_DOMAIN, LAYER_FABRIC},
	{LAYER_PEP, LAYER_FABRIC},  {LAYER_CQ, LAYER_DOMAIN},
	{LAYER_CNTR, LAYER_DOMAIN}, {LAYER_MR, LAYER_DOMAIN},
	{LAYER_SRX, LAYER_DOMAIN},  {LAYER_EP, LAYER_DOMAIN},
};

CT_FIXTURE(layer_close, struct layer_world, layer_start, layer_close);

CT_TEST_F(layer_close, what_is_needed_is_busy)
{
	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		layer_start(t);
		CT_ASSERT_EQ(layer_open_one(t, LAYER_FABRIC), 0);
		if (rows[i].needs == LAYER_DOMAIN)
			CT_ASSERT_EQ(layer_open_one(t, LAYER_DOMAIN), 0);
		CT_ASSERT_EQ(layer_open_one(t, rows[i].object), 0);
		CT_NOTE("the %s of the %s", layer_names[rows[i].needs],
			layer_names[rows[i].object]);
		CT_EXPECT_EQ(layer_close_one(t, rows[i].needs), -FI_EBUSY);
	}
}

CT_TEST_F(layer_close, what_is_bound_is_busy)
{
	static const enum layer_object bound[] = {LAYER_EQ, LAYER_CQ, LAYER_CNTR,
						  LAYER_SRX};

	layer_open_before(t, LAYER_OBJECTS);
	layer_bind(t);
	for (size_t i = 0; i < CRN_COUNT(bound); i++) {
		CT_NOTE("the %s", layer_names[bound[i]]);
		CT_EXPECT_EQ(layer_close_one(t, bound[i]), -FI_EBUSY);
	}
}

CT_TEST_F(layer_close, an_event_queue_is_bound_once_and_in_time)
{
	layer_open_before(t, LAYER_OBJECTS);
	layer_bind(t);
	CT_EXPECT_EQ(fi_ep_bind(t->ep, &t->eq->fid, 0), -FI_EINVAL);
	CT_EXPECT_EQ(fi_pep_bind(t->pep, &t->eq->fid, 0), -FI_EINVAL);
	CT_EXPECT_EQ(fi_enable(t->ep), 0);
	CT_EXPECT_EQ(fi_ep_bind(t->ep, &t->eq->fid, 0), -FI_EINVAL);
}

/* Every order is wrong but one, and none does harm: what is up stays up. */
CT_TEST(layer_close, what_a_connection_needs_is_busy)
{
	static char at[2];
	struct pair p;

	layer_pair_up(&p);
	CT_EXPECT_EQ(fi_close(&p.fabric->fid), -FI_EBUSY);
	CT_EXPECT_EQ(fi_close(&p.domain->fid), -FI_EBUSY);
	CT_EXPECT_EQ(fi_close(&p.client.eq->fid), -FI_EBUSY);
	CT_EXPECT_EQ(fi_close(&p.server.eq->fid), -FI_EBUSY);
	CT_EXPECT_EQ(fi_close(&p.client.cq->fid), -FI_EBUSY);
	CT_EXPECT_EQ(fi_close(&p.server.cq->fid), -FI_EBUSY);
	CT_EXPECT_EQ(fi_recv(p.server.ep, p.server.buf, 16, p.server.desc, 0, &at[0]), 0);
	CT_EXPECT_EQ(fi_send(p.client.ep, p.client.buf, 3, p.client.desc, 0, &at[1]), 0);
	pair_done(p.client.cq, &at[1], FI_SEND | FI_MSG);
	pair_done(p.server.cq, &at[0], FI_RECV | FI_MSG);
	layer_pair_down(&p);
}

CT_TEST_F(layer_close,
	  an_event_queue_that_comes_late_is_bound_before_the_endpoint_is_enabled)
{
	struct layer_world other = {.info = NULL};

	layer_start_on_script(t);
	layer_open_before(t, LAYER_OBJECTS);
	CT_EXPECT_EQ(fi_ep_bind(t->ep, &t->cq->fid, FI_TRANSMIT | FI_RECV), 0);
	CT_EXPECT_EQ(fi_enable(t->ep), -FI_ENOEQ);
	layer_start_on_script(&other);
	layer_open_before(&other, LAYER_DOMAIN);
	CT_EXPECT_EQ(fi_ep_bind(t->ep, &other.eq->fid, 0), -FI_EINVAL);
	CT_EXPECT_EQ(fi_pep_bind(t->pep, &other.eq->fid, 0), -FI_EINVAL);
	CT_EXPECT_EQ(fi_ep_bind(t->ep, &t->eq->fid, FI_RECV), -FI_EINVAL);
	CT_EXPECT_EQ(fi_ep_bind(t->ep, &t->eq->fid, 0), 0);
	CT_EXPECT_EQ(fi_enable(t->ep), 0);
	CT_EXPECT_EQ(fi_ep_bind(t->ep, &t->eq->fid, 0), -FI_EINVAL);
	/* What was refused keeps nothing busy. */
	layer_close(&other);
	layer_close(t);
	CT_EXPECT_EQ(scr_open(), 0);
}
