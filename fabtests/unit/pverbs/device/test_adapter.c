/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <cairn/compat.h>
#include "cairn_test.h"
#include "common/pmem/tree.h"
#include "device/adapter.h"

#define IB "/sys/class/infiniband/"

static struct tree tree;
static struct pvb_adapter adapter;

static void hardware(const char *device, const char *driver)
{
	char path[100], to[100];

	snprintf(path, sizeof(path), IB "%s/device/driver", device);
	snprintf(to, sizeof(to), "/sys/bus/pci/drivers/%s", driver);
	tree_dir(&tree, to);
	tree_link(&tree, path, to);
}

CT_TEST(adapter, an_adapters_driver_stands_in_sysfs)
{
	tree_open(&tree, NULL);
	hardware("mlx5_0", "mlx5_core");
	pvb_adapter_detect(&tree.host, "mlx5_0", "/usr/lib/x/libmlx5.so.1", &adapter);
	CT_EXPECT_FALSE(adapter.software || adapter.simverbs);
	CT_EXPECT_STREQ(adapter.driver, "mlx5_core");
	CT_EXPECT_TRUE(adapter.ddio);
	tree_close(&tree);
}

CT_TEST(adapter, the_library_names_a_software_device_whatever_sysfs_says)
{
	static const struct {
		const char *library, *driver;
	} rows[] = {
		{"/usr/lib/x/libibverbs/librxe-rdmav34.so", "rxe"},
		{"/usr/lib/x/libibverbs/libsiw-rdmav57.so", "siw"},
		{"librxe-rdmav34.so", "rxe"},
	};

	tree_open(&tree, NULL);
	/* siw has the link of the network card it runs upon. */
	hardware("dev0", "e1000e");
	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		pvb_adapter_detect(&tree.host, "dev0", rows[i].library, &adapter);
		CT_EXPECT_TRUE(adapter.software);
		CT_EXPECT_STREQ(adapter.driver, rows[i].driver);
	}
	pvb_adapter_detect(&tree.host, "dev0", "/usr/bin/librxenon.so", &adapter);
	CT_EXPECT_FALSE(adapter.software);
	tree_close(&tree);
}

CT_TEST(adapter, rdma_rxe_has_a_file_parent)
{
	tree_open(&tree, NULL);
	tree_file(&tree, IB "rxe0/parent", "eth0\n");
	pvb_adapter_detect(&tree.host, "rxe0", NULL, &adapter);
	CT_EXPECT_TRUE(adapter.software);
	CT_EXPECT_STREQ(adapter.driver, "rxe");
	tree_close(&tree);
}

CT_TEST(adapter, a_device_without_a_trace_of_hardware_counts_as_software)
{
	tree_open(&tree, NULL);
	pvb_adapter_detect(&tree.host, "new0", "/usr/lib/libnew-rdmav34.so", &adapter);
	CT_EXPECT_TRUE(adapter.software && adapter.ddio);
	CT_EXPECT_STREQ(adapter.driver, "");
	tree_close(&tree);
}

CT_TEST(adapter, simverbs_says_what_it_models)
{
	static const struct {
		const char *word;
		bool known;
		enum crn_persistence domain;
	} rows[] = {
		{"dmp\n", true, CRN_DMP},
		{"mhp\n", true, CRN_MHP},
		{"wsp\n", true, CRN_WSP},
		{"other\n", false, CRN_DMP},
	};

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		tree_open(&tree, NULL);
		tree_file(&tree, IB "sim0/simverbs/persistence_domain", rows[i].word);
		tree_file(&tree, IB "sim0/simverbs/ddio", i & 1 ? "off\n" : "on\n");
		tree_file(&tree, IB "sim0/simverbs/persistent_mapping", "/d/shadow.1\n");
		pvb_adapter_detect(&tree.host, "sim0", NULL, &adapter);
		CT_EXPECT_TRUE(adapter.simverbs);
		CT_EXPECT_EQ(adapter.domain_known, rows[i].known);
		CT_EXPECT_EQ(adapter.domain, rows[i].domain);
		CT_EXPECT_EQ(adapter.ddio, !(i & 1));
		CT_EXPECT_STREQ(adapter.mapping, "/d/shadow.1");
		CT_EXPECT_STREQ(adapter.driver, "simverbs");
		tree_close(&tree);
	}
}
