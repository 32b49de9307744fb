/* SPDX-License-Identifier: BSD-2-Clause */
/* Every option name of fi_endpoint(3) has an answer. */
#include "../world.h"

static int get(struct world *w, int name, void *value, size_t *len)
{
	return fi_getopt(&w->ep->fid, FI_OPT_ENDPOINT, name, value, len);
}

static int set(struct world *w, int name, const void *value, size_t len)
{
	return fi_setopt(&w->ep->fid, FI_OPT_ENDPOINT, name, value, len);
}

CT_FIXTURE(ep_opt, struct world, world_start, world_close);

CT_TEST_F(ep_opt, every_name_has_its_answer)
{
	static const struct {
		int name, get, set;
	} rows[] = {
		{FI_OPT_MIN_MULTI_RECV, -FI_ENOPROTOOPT, -FI_ENOPROTOOPT},
		{FI_OPT_CM_DATA_SIZE, 0, -FI_ENOPROTOOPT},
		{FI_OPT_BUFFERED_MIN, -FI_ENOPROTOOPT, -FI_ENOPROTOOPT},
		{FI_OPT_BUFFERED_LIMIT, -FI_ENOPROTOOPT, -FI_ENOPROTOOPT},
		{FI_OPT_SEND_BUF_SIZE, -FI_ENOPROTOOPT, -FI_ENOPROTOOPT},
		{FI_OPT_RECV_BUF_SIZE, -FI_ENOPROTOOPT, -FI_ENOPROTOOPT},
		{FI_OPT_TX_SIZE, 0, -FI_EOPNOTSUPP},
		{FI_OPT_RX_SIZE, 0, -FI_EOPNOTSUPP},
		{FI_OPT_XPU_TRIGGER, -FI_EOPNOTSUPP, -FI_EOPNOTSUPP},
		/* Of libfabric 2: sizes of messages, tagged, RMA, atomics; injects. */
		{12, 0, -FI_EOPNOTSUPP},
		{13, -FI_EOPNOTSUPP, -FI_EOPNOTSUPP},
		{14, 0, -FI_EOPNOTSUPP},
		{15, -FI_EOPNOTSUPP, -FI_EOPNOTSUPP},
		{16, 0, -FI_EOPNOTSUPP},
		{17, -FI_EOPNOTSUPP, -FI_EOPNOTSUPP},
		{18, 0, -FI_EOPNOTSUPP},
		{19, -FI_EOPNOTSUPP, -FI_EOPNOTSUPP},
		{1000, -FI_ENOPROTOOPT, -FI_ENOPROTOOPT},
	};
	size_t value, len;

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("option %d", rows[i].name);
		value = 1;
		len = sizeof(value);
		CT_EXPECT_EQ(get(t, rows[i].name, &value, &len), rows[i].get);
		CT_EXPECT_EQ(set(t, rows[i].name, &value, sizeof(value)), rows[i].set);
	}
	len = sizeof(value);
	CT_EXPECT_EQ(fi_getopt(&t->ep->fid, FI_OPT_ENDPOINT + 1, FI_OPT_TX_SIZE, &value,
			       &len),
		     -FI_ENOPROTOOPT);
}

CT_TEST_F(ep_opt, sizes_are_those_of_the_endpoint)
{
	struct world_opts opts = {.tx_size = 12, .rx_size = 34};
	size_t value = 0, len = sizeof(value) - 1;

	CT_ASSERT_TRUE(world_reopen(t, &opts));
	CT_EXPECT_EQ(get(t, FI_OPT_TX_SIZE, &value, &len), -FI_ETOOSMALL);
	CT_EXPECT_EQ(len, sizeof(value));
	CT_EXPECT_EQ(value, 0);
	CT_EXPECT_EQ(get(t, FI_OPT_TX_SIZE, &value, &len), 0);
	CT_EXPECT_EQ(value, 12);
	CT_EXPECT_EQ(get(t, FI_OPT_RX_SIZE, &value, &len), 0);
	CT_EXPECT_EQ(value, 34);
	CT_EXPECT_EQ(get(t, 12, &value, &len), 0);
	CT_EXPECT_EQ(value, t->info->ep_attr->max_msg_size);
	CT_EXPECT_EQ(get(t, 18, &value, &len), 0);
	CT_EXPECT_EQ(value, t->info->tx_attr->inject_size);
}

CT_TEST_F(ep_opt, atomics_have_one_size)
{
	struct world_opts opts = {.caps = FI_MSG | FI_RMA | FI_ATOMIC};
	size_t value, len = sizeof(value);

	world_renew(t);
	fake_devices[0].attr.atomic_cap = IBV_ATOMIC_HCA;
	CT_ASSERT_TRUE(world_open(t, &opts));
	CT_EXPECT_EQ(get(t, 15, &value, &len), 0);
	CT_EXPECT_EQ(value, 8);
	CT_EXPECT_EQ(get(t, 19, &value, &len), 0);
	CT_EXPECT_EQ(value, 8);
}

/* Names 10 and 11 of libfabric 2: neither CUDA nor shared memory is used. */
CT_TEST_F(ep_opt, what_is_not_used_may_be_forbidden)
{
	bool yes = true, no = false;

	CT_EXPECT_EQ(set(t, 10, &no, sizeof(no)), 0);
	CT_EXPECT_EQ(set(t, 10, &yes, sizeof(yes)), -FI_EINVAL);
	CT_EXPECT_EQ(set(t, 10, &yes, 4), -FI_EINVAL);
	CT_EXPECT_EQ(set(t, 11, &no, sizeof(no)), 0);
	CT_EXPECT_EQ(set(t, 11, &yes, sizeof(yes)), 0);
}

/* Memory of other devices is not offered: nothing of it goes from peer to peer. */
CT_TEST_F(ep_opt, peer_to_peer_is_off_and_stays_off)
{
	int value = -1, on = FI_HMEM_P2P_REQUIRED;
	size_t len = sizeof(value);

	CT_EXPECT_EQ(get(t, FI_OPT_FI_HMEM_P2P, &value, &len), 0);
	CT_EXPECT_EQ(value, FI_HMEM_P2P_DISABLED);
	CT_EXPECT_EQ(len, sizeof(value));
	CT_EXPECT_EQ(set(t, FI_OPT_FI_HMEM_P2P, &value, sizeof(value)), 0);
	CT_EXPECT_EQ(set(t, FI_OPT_FI_HMEM_P2P, &on, sizeof(on)), -FI_EOPNOTSUPP);
	CT_EXPECT_EQ(set(t, FI_OPT_FI_HMEM_P2P, &on, 1), -FI_EINVAL);
}

/* A device does not give back what was posted to it. */
CT_TEST_F(ep_opt, nothing_can_be_cancelled)
{
	CT_EXPECT_EQ(recv_number(t->ep, 1), 0);
	CT_EXPECT_EQ(fi_cancel(&t->ep->fid, NUMBER(1)), -FI_ENOSYS);
	expect_no_comp(t->cq);
}

CT_TEST(ep_opt, memory_of_other_devices_is_not_offered)
{
	struct fi_info *hints = fi_allocinfo(), *info;

	world_reset();
	hints->caps = FI_MSG | FI_HMEM;
	hints->domain_attr->mr_mode = ~3;
	CT_EXPECT_EQ(pvb_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &info),
		     -FI_ENODATA);
	hints->caps = FI_MSG;
	CT_EXPECT_EQ(pvb_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &info), 0);
	fi_freeinfo(info);
	fi_freeinfo(hints);
}
