/* SPDX-License-Identifier: BSD-2-Clause */
/* Options of connection data, of endpoints and passive endpoints alike. */
#include <errno.h>
#include <rdma/fi_ext_cairn.h>
#include "cm/cm.h"
#include "../world_cm.h"

static int get(struct fid *fid, int name, void *value, size_t *len)
{
	return fi_getopt(fid, FI_OPT_ENDPOINT, name, value, len);
}

static int set(struct fid *fid, int name, const void *value, size_t len)
{
	return fi_setopt(fid, FI_OPT_ENDPOINT, name, value, len);
}

static void check_options(struct fid *fid)
{
	struct {
		size_t size, guard;
	} value = {0, 77};
	size_t len = sizeof(value.size);
	int raw = 5;

	CT_EXPECT_EQ(get(fid, FI_OPT_CM_DATA_SIZE, &value, &len), 0);
	CT_EXPECT_EQ(len, sizeof(value.size));
	CT_EXPECT_EQ(value.size, PVB_CM_APP_SIZE);

	len = sizeof(value.size) - 1;
	CT_EXPECT_EQ(get(fid, FI_OPT_CM_DATA_SIZE, &value, &len), -FI_ETOOSMALL);
	CT_EXPECT_EQ(len, sizeof(value.size));

	len = sizeof(raw);
	CT_EXPECT_EQ(get(fid, FI_OPT_CAIRN_RAW_CM_DATA, &raw, &len), 0);
	CT_EXPECT_EQ(raw, 0);
	raw = 2;
	CT_EXPECT_EQ(set(fid, FI_OPT_CAIRN_RAW_CM_DATA, &raw, sizeof(raw)), 0);
	len = sizeof(value);
	CT_EXPECT_EQ(get(fid, FI_OPT_CAIRN_RAW_CM_DATA, &raw, &len), 0);
	CT_EXPECT_EQ(raw, 1);
	CT_EXPECT_EQ(len, sizeof(raw));
	len = sizeof(value.size);
	CT_EXPECT_EQ(get(fid, FI_OPT_CM_DATA_SIZE, &value, &len), 0);
	CT_EXPECT_EQ(value.size, PVB_CM_REQ_SIZE);
	CT_EXPECT_EQ(value.guard, 77);

	CT_EXPECT_EQ(set(fid, FI_OPT_CAIRN_RAW_CM_DATA, &raw, 1), -FI_EINVAL);
	CT_EXPECT_EQ(set(fid, FI_OPT_CM_DATA_SIZE, &value, sizeof(value.size)),
		     -FI_ENOPROTOOPT);
	CT_EXPECT_EQ(fi_setopt(fid, FI_OPT_ENDPOINT + 1, FI_OPT_CAIRN_RAW_CM_DATA, &raw,
			       sizeof(raw)),
		     -FI_ENOPROTOOPT);
	CT_EXPECT_EQ(fi_getopt(fid, FI_OPT_ENDPOINT + 1, FI_OPT_CM_DATA_SIZE, &value,
			       &len),
		     -FI_ENOPROTOOPT);
	CT_EXPECT_EQ(get(fid, FI_OPT_MIN_MULTI_RECV, &value, &len), -FI_ENOPROTOOPT);
}

CT_FIXTURE(cm_opt, struct world, world_start, world_close);

CT_TEST_F(cm_opt, options_of_an_endpoint)
{
	check_options(&t->ep->fid);
}

CT_TEST_F(cm_opt, options_of_a_passive_endpoint)
{
	CT_ASSERT_TRUE(world_reopen_domain(t, NULL));
	CT_ASSERT_EQ(fi_passive_ep(t->fabric, t->info, &t->pep, NULL), 0);
	check_options(&t->pep->fid);
}

CT_TEST(cm_opt, a_source_address_takes_the_place_of_another_family_s)
{
	union crn_addr v4 = fake_addr("10.0.0.1", 1), v6 = fake_addr("fd00::1", 1);
	struct fi_info *info = fi_allocinfo();

	info->addr_format = FI_SOCKADDR;
	CT_EXPECT_EQ(pvb_set_src(info, &v4, sizeof(v4.in)), 0);
	CT_EXPECT_EQ(info->src_addrlen, sizeof(v4.in));
	CT_EXPECT_EQ(pvb_set_src(info, &v6, sizeof(v6.in6)), 0);
	CT_EXPECT_EQ(info->src_addrlen, sizeof(v6.in6));
	CT_EXPECT_MEMEQ(info->src_addr, &v6, sizeof(v6.in6));
	CT_EXPECT_EQ(pvb_set_src(info, &v6, sizeof(v6.in6) - 1), -FI_EINVAL);
	CT_EXPECT_EQ(info->src_addrlen, sizeof(v6.in6));
	fi_freeinfo(info);
}

CT_TEST_F(cm_opt, an_endpoint_that_connects_has_its_layout)
{
	int on = 1;

	CT_EXPECT_EQ(fi_connect(t->ep, NULL, NULL, 0), 0);
	CT_EXPECT_EQ(fi_setopt(&t->ep->fid, FI_OPT_ENDPOINT, FI_OPT_CAIRN_RAW_CM_DATA,
			       &on, sizeof(on)),
		     -FI_EOPBADSTATE);
}
