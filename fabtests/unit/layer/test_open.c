/* SPDX-License-Identifier: BSD-2-Clause */
/* Every object opens and closes, or leaves nothing behind. */
#include "cairn_test.h"
#include "layer_world.h"
#include "script.h"

CT_FIXTURE(layer_open, struct layer_world, layer_start, layer_close);

CT_TEST_F(layer_open, objects_have_the_programs_context_and_their_class)
{
	static const size_t classes[LAYER_OBJECTS] = {FI_CLASS_FABRIC,	FI_CLASS_EQ,
						      FI_CLASS_DOMAIN,	FI_CLASS_CQ,
						      FI_CLASS_CNTR,	FI_CLASS_MR,
						      FI_CLASS_SRX_CTX, FI_CLASS_PEP,
						      FI_CLASS_EP};
	enum layer_object object;

	layer_open_before(t, LAYER_OBJECTS);
	for (object = 0; object < LAYER_OBJECTS; object++) {
		CT_NOTE("the %s", layer_names[object]);
		CT_EXPECT_EQ(layer_fid(t, object)->fclass, classes[object]);
		CT_EXPECT_EQ(layer_fid(t, object)->context, t);
	}
	layer_bind(t);
}

/* Of the layer's own memory; the lower provider's is in libfabric. */
CT_TEST_F(layer_open, memory_that_runs_out_leaves_nothing)
{
	/* A region and a counter are the lower provider's. */
	static const unsigned int own[LAYER_OBJECTS] = {
		[LAYER_FABRIC] = 6, [LAYER_EQ] = 2,  [LAYER_DOMAIN] = 2, [LAYER_CQ] = 1,
		[LAYER_SRX] = 1,    [LAYER_PEP] = 2, [LAYER_EP] = 2,
	};
	enum layer_object object;
	unsigned int nth;
	int ret;

	for (object = 0; object < LAYER_OBJECTS; object++) {
		layer_start(t);
		layer_open_before(t, object);
		CT_NOTE("the %s", layer_names[object]);
		for (nth = 1;; nth++) {
			ct_fail_alloc(nth);
			ret = layer_open_one(t, object);
			if (!ct_alloc_failed())
				break;
			CT_EXPECT_EQ(ret, -FI_ENOMEM);
		}
		CT_EXPECT_EQ(ret, 0);
		CT_EXPECT_EQ(nth, own[object] + 1);
	}
}

CT_TEST_F(layer_open, what_the_lower_provider_does_not_open_is_one_line_of_the_log)
{
	struct fi_cq_attr cq = {.format = 99};
	struct fi_rx_attr rx;
	struct fid_ep *srx;

	layer_open_before(t, LAYER_CQ);
	ct_log_reset();
	CT_EXPECT_LT(fi_cq_open(t->domain, &cq, &t->cq, NULL), 0);
	CT_EXPECT_EQ(ct_log_count(), 1);
	CT_EXPECT_DATA(ct_log_last(), "tcp");
	t->cq = NULL;
	rx = *t->info->rx_attr;
	rx.caps = FI_COLLECTIVE;
	rx.iov_limit = 1000;
	ct_log_reset();
	if (fi_srx_context(t->domain, &rx, &srx, NULL)) {
		CT_EXPECT_DATA(ct_log_last(), "tcp");
		CT_EXPECT_EQ(ct_log_count(), 1);
	} else {
		CT_EXPECT_EQ(fi_close(&srx->fid), 0);
	}
}

CT_TEST_F(layer_open, a_fabric_that_there_is_not_does_not_open)
{
	char none[] = "no such fabric", *name;

	name = t->info->fabric_attr->name;
	t->info->fabric_attr->name = none;
	ct_log_reset();
	CT_EXPECT_EQ(layer_open_one(t, LAYER_FABRIC), -FI_ENODATA);
	CT_EXPECT_EQ(ct_log_count(), 1);
	CT_EXPECT_DATA(ct_log_last(), "FI_EXAMPLE_LAYER_LOWER");
	t->info->fabric_attr->name = name;
	t->fabric = NULL;
}

CT_TEST_F(layer_open, what_needs_the_lower_providers_own_objects_is_not_offered)
{
	struct fi_av_attr av = {0};
	struct fid_av *av_fid;
	void *ops;

	layer_open_before(t, LAYER_OBJECTS);
	CT_EXPECT_EQ(fi_av_open(t->domain, &av, &av_fid, NULL), -FI_ENOSYS);
	/* ofi_rxm depends on the very code. */
	CT_EXPECT_EQ(fi_open_ops(&t->domain->fid, "ofix_flow_ctrl_v1", 0, &ops, NULL),
		     -FI_ENOSYS);
	CT_EXPECT_EQ(fi_ep_bind(t->ep, &t->domain->fid, 0), -FI_ENOSYS);
	CT_EXPECT_EQ(fi_pep_bind(t->pep, &t->cq->fid, 0), -FI_EINVAL);
}

/* fi_control(3), fi_endpoint(3): what they give of an object would be the lower
 * provider's. Counters and regions are. */
CT_TEST_F(layer_open, no_object_has_an_alias_or_operations_of_the_lower_providers)
{
	enum layer_object object;
	struct fid *fid, *alias;
	void *ops;

	layer_start_on_script(t);
	layer_open_before(t, LAYER_OBJECTS);
	for (object = 0; object < LAYER_OBJECTS; object++) {
		if (object == LAYER_CNTR || object == LAYER_MR)
			continue;
		CT_NOTE("the %s", layer_names[object]);
		fid = layer_fid(t, object);
		CT_EXPECT_EQ(fi_alias(fid, &alias, 0), -FI_ENOSYS);
		CT_EXPECT_EQ(fi_open_ops(fid, "any", 0, &ops, NULL), -FI_ENOSYS);
	}
	CT_EXPECT_EQ(scr_count(SCR_CONTROL), 0);
}

CT_TEST_F(layer_open, every_object_may_be_waited_for)
{
	struct fid *fids[2];

	layer_open_before(t, LAYER_OBJECTS);
	layer_bind(t);
	fids[0] = &t->eq->fid;
	fids[1] = &t->cq->fid;
	CT_EXPECT_EQ(fi_trywait(t->fabric, fids, 2), 0);
}
