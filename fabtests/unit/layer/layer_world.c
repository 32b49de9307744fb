/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include "cairn_test.h"
#include "layer_world.h"
#include "pair.h"
#include "script.h"

const char *const layer_names[LAYER_OBJECTS] = {"fabric",
						"event queue",
						"domain",
						"completion queue",
						"counter",
						"region",
						"shared receive context",
						"passive endpoint",
						"endpoint"};

/* For the scripted provider's plugins. */
struct fi_provider *fi_prov_ini(void);

struct fi_provider *scr_tested_ini(void)
{
	return fi_prov_ini();
}

static void start(struct layer_world *w, const char *stack)
{
	struct fi_info *hints = fi_allocinfo();
	const uint32_t version = FI_VERSION(1, 17);

	layer_close(w);
	scr_begin();
	hints->fabric_attr->prov_name = strdup(stack);
	hints->caps = FI_MSG | FI_RMA;
	hints->domain_attr->mr_mode =
		FI_MR_LOCAL | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_VIRT_ADDR;
	hints->ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT;
	CT_EXPECT_EQ(exl_getinfo(version, "127.0.0.1", NULL, FI_SOURCE, hints, &w->info),
		     0);
	fi_freeinfo(hints);
	/* libfabric does it after fi_getinfo. */
	w->info->fabric_attr->prov_name = strdup(EXL_NAME);
	w->info->fabric_attr->api_version = version;
}

void layer_start(struct layer_world *w)
{
	start(w, "tcp;" EXL_NAME);
}

void layer_start_on_script(struct layer_world *w)
{
	start(w, LAYER_STACK);
}

static int open_fabric(struct layer_world *w)
{
	return exl_fabric(w->info->fabric_attr, &w->fabric, w);
}

static int open_eq(struct layer_world *w)
{
	struct fi_eq_attr attr = {.wait_obj = FI_WAIT_FD};

	return fi_eq_open(w->fabric, &attr, &w->eq, w);
}

static int open_domain(struct layer_world *w)
{
	return fi_domain(w->fabric, w->info, &w->domain, w);
}

static int open_cq(struct layer_world *w)
{
	struct fi_cq_attr attr = {.format = FI_CQ_FORMAT_DATA, .wait_obj = FI_WAIT_FD};

	return fi_cq_open(w->domain, &attr, &w->cq, w);
}

static int open_cntr(struct layer_world *w)
{
	struct fi_cntr_attr attr = {.events = FI_CNTR_EVENTS_COMP};

	return fi_cntr_open(w->domain, &attr, &w->cntr, w);
}

static int open_mr(struct layer_world *w)
{
	return fi_mr_reg(w->domain, w->buf, sizeof(w->buf), FI_REMOTE_WRITE, 0, 1, 0,
			 &w->mr, w);
}

static int open_srx(struct layer_world *w)
{
	return fi_srx_context(w->domain, w->info->rx_attr, &w->srx, w);
}

static int open_pep(struct layer_world *w)
{
	return fi_passive_ep(w->fabric, w->info, &w->pep, w);
}

static int open_ep(struct layer_world *w)
{
	return fi_endpoint(w->domain, w->info, &w->ep, w);
}

static const struct {
	int (*open)(struct layer_world *w);
	size_t at; /* of the pointer; each object begins with its fid */
} objects[LAYER_OBJECTS] = {
	{open_fabric, offsetof(struct layer_world, fabric)},
	{open_eq, offsetof(struct layer_world, eq)},
	{open_domain, offsetof(struct layer_world, domain)},
	{open_cq, offsetof(struct layer_world, cq)},
	{open_cntr, offsetof(struct layer_world, cntr)},
	{open_mr, offsetof(struct layer_world, mr)},
	{open_srx, offsetof(struct layer_world, srx)},
	{open_pep, offsetof(struct layer_world, pep)},
	{open_ep, offsetof(struct layer_world, ep)},
};

struct fid *layer_fid(struct layer_world *w, enum layer_object object)
{
	struct fid *fid;

	memcpy(&fid, (char *)w + objects[object].at, sizeof(fid));
	return fid;
}

int layer_open_one(struct layer_world *w, enum layer_object object)
{
	return objects[object].open(w);
}

void layer_open_before(struct layer_world *w, enum layer_object object)
{
	enum layer_object before;

	for (before = 0; before < object; before++) {
		CT_NOTE("the %s", layer_names[before]);
		CT_ASSERT_EQ(layer_open_one(w, before), 0);
	}
}

int layer_close_one(struct layer_world *w, enum layer_object object)
{
	int ret = fi_close(layer_fid(w, object));

	if (!ret)
		memset((char *)w + objects[object].at, 0, sizeof(struct fid *));
	return ret;
}

void layer_close(struct layer_world *w)
{
	for (int object = LAYER_OBJECTS - 1; object >= 0; object--) {
		CT_NOTE("the %s", layer_names[object]);
		if (layer_fid(w, object))
			CT_EXPECT_EQ(layer_close_one(w, object), 0);
	}
	fi_freeinfo(w->info);
	w->info = NULL;
}

void layer_bind(struct layer_world *w)
{
	CT_EXPECT_EQ(fi_ep_bind(w->ep, &w->eq->fid, 0), 0);
	CT_EXPECT_EQ(fi_ep_bind(w->ep, &w->cq->fid, FI_TRANSMIT | FI_RECV), 0);
	CT_EXPECT_EQ(fi_ep_bind(w->ep, &w->cntr->fid, FI_SEND), 0);
	CT_EXPECT_EQ(fi_ep_bind(w->ep, &w->srx->fid, 0), 0);
	CT_EXPECT_EQ(fi_pep_bind(w->pep, &w->eq->fid, 0), 0);
}

void layer_pair_up(struct pair *p)
{
	scr_begin();
	CT_ASSERT_EQ(pair_up(p, LAYER_STACK), 0);
}

void layer_pair_down(struct pair *p)
{
	pair_down(p);
	CT_EXPECT_EQ(scr_open(), 0);
}
