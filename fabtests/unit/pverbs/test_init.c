/* SPDX-License-Identifier: BSD-2-Clause */
/* The entry point, and parameters from the environment. */
#include <stdio.h>
#include <stdlib.h>
#include "world.h"

struct fi_provider *fi_prov_ini(void);

static const char *const names[] = {
	"FI_PVERBS_DEVICE",	     "FI_PVERBS_TX_SIZE",
	"FI_PVERBS_RX_SIZE",	     "FI_PVERBS_INJECT_SIZE",
	"FI_PVERBS_RESOLVE_TIMEOUT", "FI_PVERBS_RETRY_COUNT",
	"FI_PVERBS_RNR_RETRY_COUNT", "FI_PVERBS_CLOSE_TIMEOUT",
	"FI_PVERBS_GID_INDEX",	     "FI_PVERBS_PKEY",
	"FI_PVERBS_ROCE_VERSION",    "FI_PVERBS_TRAFFIC_CLASS",
	"FI_PVERBS_ACK_TIMEOUT",     "FI_PVERBS_RNR_TIMER",
	"FI_PVERBS_PATH_MTU",	     "FI_PVERBS_FORK_SAFE",
	"FI_PVERBS_KEEPALIVE",	     "FI_PVERBS_PMEM_CONFIG",
	"FI_PVERBS_PERSISTENCE",     "FI_PVERBS_DDIO",
	"FI_PVERBS_FENCE",
};

/* The provider starts with one variable set; world_reset put the defaults back. */
static struct fi_provider *start(const char *name, const char *value)
{
	struct fi_provider *prov;

	world_reset();
	for (size_t i = 0; i < CRN_COUNT(names); i++)
		unsetenv(names[i]);
	if (name)
		setenv(name, value, 1);
	prov = fi_prov_ini();
	if (name)
		unsetenv(name);
	return prov;
}

CT_TEST(init, the_provider_introduces_itself)
{
	struct fi_provider *prov = start(NULL, NULL);

	CT_ASSERT_NE(prov, NULL);
	CT_EXPECT_STREQ(prov->name, "pverbs");
	CT_EXPECT_EQ(prov->version, PVB_VERSION);
	CT_EXPECT_EQ(prov->getinfo, pvb_getinfo);
	CT_EXPECT_EQ(prov->fabric, pvb_fabric_open);
	CT_ASSERT_NE(prov->cleanup, NULL);
	prov->cleanup();
}

/* Of the library; 0: the one that is installed. */
static uint32_t library_version;

uint32_t __real_fi_version(void);
uint32_t __wrap_fi_version(void);
uint32_t __wrap_fi_version(void)
{
	return library_version ? library_version : __real_fi_version();
}

/* libfabric leaves out whatever declares less than a program asks for. */
CT_TEST(init, it_declares_the_version_of_the_library_that_loads_it)
{
	static const uint32_t versions[] = {0,
					    FI_VERSION(1, 17),
					    FI_VERSION(2, 1),
					    FI_VERSION(2, 2),
					    FI_VERSION(2, 6),
					    FI_VERSION(3, 0)};
	struct fi_provider *prov;

	for (size_t i = 0; i < CRN_COUNT(versions); i++) {
		CT_NOTE("row %zu", i);
		library_version = versions[i];
		prov = start(NULL, NULL);
		CT_ASSERT_NE(prov, NULL);
		CT_EXPECT_EQ(prov->fi_version, fi_version());
	}
	library_version = 0;
	start(NULL, NULL);
}

CT_TEST(init, without_the_environment_the_defaults_of_the_manual_hold)
{
	start(NULL, NULL);
	CT_EXPECT_EQ(pvb_params.device, NULL);
	CT_EXPECT_EQ(pvb_params.tx_size, 256);
	CT_EXPECT_EQ(pvb_params.rx_size, 256);
	CT_EXPECT_EQ(pvb_params.inject_size, 256);
	CT_EXPECT_EQ(pvb_params.resolve_timeout, 2000);
	CT_EXPECT_EQ(pvb_params.retry_count, 6);
	CT_EXPECT_EQ(pvb_params.rnr_retry_count, 7);
	CT_EXPECT_EQ(pvb_params.close_timeout, 2000);
	CT_EXPECT_EQ(pvb_params.gid_index, -1);
	CT_EXPECT_EQ(pvb_params.pkey, 0);
	CT_EXPECT_EQ(pvb_params.roce_version, 0);
	CT_EXPECT_EQ(pvb_params.traffic_class, -1);
	CT_EXPECT_EQ(pvb_params.ack_timeout, -1);
	CT_EXPECT_EQ(pvb_params.rnr_timer, -1);
	CT_EXPECT_EQ(pvb_params.path_mtu, 0);
	CT_EXPECT_EQ(pvb_params.fork_safe, 0);
	CT_EXPECT_EQ(fake_count(FAKE_FORK_INIT), 0);
}

CT_TEST(init, each_size_is_read_within_its_bounds)
{
	const struct {
		const char *name;
		size_t *value;
		size_t fallback;
		const char *text;
		size_t wanted;
	} rows[] = {
		{names[1], &pvb_params.tx_size, 256, "1", 1},
		{names[1], &pvb_params.tx_size, 256, "65536", 65536},
		{names[1], &pvb_params.tx_size, 256, "0", 256},
		{names[1], &pvb_params.tx_size, 256, "65537", 256},
		{names[1], &pvb_params.tx_size, 256, "-1", 256},
		{names[2], &pvb_params.rx_size, 256, "17", 17},
		{names[2], &pvb_params.rx_size, 256, "0", 256},
		{names[3], &pvb_params.inject_size, 256, "0", 0},
		{names[3], &pvb_params.inject_size, 256, "512", 512},
		{names[3], &pvb_params.inject_size, 256, "513", 256},
	};

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("%s=%s", rows[i].name, rows[i].text);
		ct_log_reset();
		start(rows[i].name, rows[i].text);
		CT_EXPECT_EQ(*rows[i].value, rows[i].wanted);
		if (rows[i].wanted == rows[i].fallback)
			CT_EXPECT_WARNED(rows[i].name);
		else
			CT_EXPECT_EQ(ct_log_warnings(), 0);
	}
}

CT_TEST(init, each_number_is_read_within_its_bounds)
{
	const struct {
		const char *name;
		int *value;
		const char *text;
		int wanted;
	} rows[] = {
		{names[4], &pvb_params.resolve_timeout, "1", 1},
		{names[4], &pvb_params.resolve_timeout, "600000", 600000},
		{names[4], &pvb_params.resolve_timeout, "0", 2000},
		{names[4], &pvb_params.resolve_timeout, "600001", 2000},
		{names[5], &pvb_params.retry_count, "0", 0},
		{names[5], &pvb_params.retry_count, "8", 6},
		{names[5], &pvb_params.retry_count, "-1", 6},
		{names[6], &pvb_params.rnr_retry_count, "3", 3},
		{names[6], &pvb_params.rnr_retry_count, "99", 7},
		{names[7], &pvb_params.close_timeout, "5", 5},
		{names[7], &pvb_params.close_timeout, "0", 2000},
		{names[8], &pvb_params.gid_index, "3", 3},
		{names[8], &pvb_params.gid_index, "-2", -1},
		{names[9], &pvb_params.pkey, "0x8001", 0x8001},
		{names[9], &pvb_params.pkey, "0x10000", 0},
		{names[10], &pvb_params.roce_version, "2", 2},
		{names[10], &pvb_params.roce_version, "3", 0},
		{names[11], &pvb_params.traffic_class, "255", 255},
		{names[11], &pvb_params.traffic_class, "256", -1},
		{names[12], &pvb_params.ack_timeout, "31", 31},
		{names[12], &pvb_params.ack_timeout, "32", -1},
		{names[13], &pvb_params.rnr_timer, "0", 0},
		{names[13], &pvb_params.rnr_timer, "32", -1},
		{names[14], &pvb_params.path_mtu, "1024", 1024},
		{names[14], &pvb_params.path_mtu, "4097", 0},
		{names[15], &pvb_params.fork_safe, "1", 1},
		{names[15], &pvb_params.fork_safe, "2", 0},
		{names[16], &pvb_params.keepalive, "86400000", 86400000},
		{names[16], &pvb_params.keepalive, "-1", 0},
	};

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("%s=%s", rows[i].name, rows[i].text);
		start(rows[i].name, rows[i].text);
		CT_EXPECT_EQ(*rows[i].value, rows[i].wanted);
	}
}

CT_TEST(init, devices_are_named)
{
	start("FI_PVERBS_DEVICE", "fake0,fake1");
	CT_EXPECT_STREQ(pvb_params.device, "fake0,fake1");
	start(NULL, NULL);
	CT_EXPECT_EQ(pvb_params.device, NULL);
}

CT_TEST(init, a_parameter_that_is_a_word_takes_no_other)
{
	static const struct {
		const char *text;
		int wanted;
	} rows[] = {{"device", PVB_FENCE_DEVICE},
		    {"wait", PVB_FENCE_WAIT},
		    {"auto", PVB_FENCE_AUTO},
		    {"never", PVB_FENCE_AUTO},
		    {"", PVB_FENCE_AUTO}};

	start(NULL, NULL);
	CT_EXPECT_EQ(pvb_params.fence, PVB_FENCE_AUTO);
	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("FI_PVERBS_FENCE=%s", rows[i].text);
		start("FI_PVERBS_FENCE", rows[i].text);
		CT_EXPECT_EQ(pvb_params.fence, rows[i].wanted);
	}
}

CT_TEST(init, what_is_declared_of_persistent_memory_is_kept_as_it_stands)
{
	start(NULL, NULL);
	CT_EXPECT_EQ(pvb_params.pmem_config, NULL);
	CT_EXPECT_EQ(pvb_params.persistence, NULL);
	CT_EXPECT_EQ(pvb_params.ddio, NULL);
	start("FI_PVERBS_PMEM_CONFIG", "/etc/pmem.conf");
	CT_EXPECT_STREQ(pvb_params.pmem_config, "/etc/pmem.conf");
	start("FI_PVERBS_PERSISTENCE", "mhp");
	CT_EXPECT_STREQ(pvb_params.persistence, "mhp");
	start("FI_PVERBS_DDIO", "off");
	CT_EXPECT_STREQ(pvb_params.ddio, "off");
}

CT_TEST(init, fork_is_made_safe_before_anything_is_registered)
{
	start("FI_PVERBS_FORK_SAFE", "1");
	CT_EXPECT_EQ(fake_count(FAKE_FORK_INIT), 1);
}
