/* SPDX-License-Identifier: BSD-2-Clause */
/* A layer under test: here one that hands out the objects of what is below it. */
#include <stdlib.h>
#include <string.h>
#include "cairn_test.h"
#include "pair.h"
#include "script.h"

#define NAME "tested"
#define CORE_ALONE (1ULL << 59) /* flags of fi_getinfo between libfabric and layers */
#define HIDDEN_TOO (1ULL << 60)

static unsigned int asked;

static int layer_getinfo(uint32_t version, const char *node, const char *service,
			 uint64_t flags, const struct fi_info *hints,
			 struct fi_info **info)
{
	struct fi_info *below;
	int ret;

	/* Nobody else names it. */
	if (!hints || !hints->fabric_attr->prov_name ||
	    !strstr(hints->fabric_attr->prov_name, NAME))
		return -FI_ENODATA;
	asked++;
	below = pair_hints(SCR_NAME);
	ret = fi_getinfo(version, node, service, flags | CORE_ALONE | HIDDEN_TOO, below,
			 info);
	fi_freeinfo(below);
	if (ret)
		return ret;
	free((*info)->fabric_attr->prov_name);
	(*info)->fabric_attr->prov_name = NULL;
	return 0;
}

static int layer_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric,
			void *context)
{
	struct fi_fabric_attr below = *attr;

	below.prov_name = (char *)(uintptr_t)SCR_NAME;
	return fi_fabric(&below, fabric, context);
}

static void layer_cleanup(void)
{
}

struct fi_provider *scr_tested_ini(void)
{
	static struct fi_provider layer = {.version = FI_VERSION(1, 0),
					   .name = NAME,
					   .getinfo = layer_getinfo,
					   .fabric = layer_fabric,
					   .cleanup = layer_cleanup};

	layer.fi_version = fi_version();
	return &layer;
}

CT_TEST(layer, is_found_by_libfabric_and_finds_the_scripted_provider)
{
	struct pair p;

	scr_begin();
	asked = 0;
	CT_ASSERT_EQ(pair_up(&p, SCR_NAME ";" NAME), 0);
	CT_EXPECT_EQ(asked, 1);
	CT_EXPECT_EQ(scr_count(SCR_GETINFO), 1);
	CT_EXPECT_STREQ(p.info->fabric_attr->prov_name, NAME);
	CT_EXPECT_EQ(scr_fid(FI_CLASS_EP, 0), &p.client.ep->fid);
	pair_down(&p);
}

CT_TEST(layer, gets_the_errors_that_the_test_wants)
{
	struct pair p;

	scr_begin();
	scr_refuse(&(struct scr_rule){.call = SCR_GETINFO, .ret = -FI_ENODATA});
	CT_EXPECT_EQ(pair_up(&p, SCR_NAME ";" NAME), -FI_ENODATA);
	pair_down(&p);
	scr_begin();
	scr_refuse(&(struct scr_rule){.call = SCR_FABRIC, .ret = -FI_EIO});
	CT_EXPECT_EQ(pair_up(&p, SCR_NAME ";" NAME), -FI_EIO);
	pair_down(&p);
}
