/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <cairn/compat.h>
#include <rdma/fi_errno.h>
#include <cairn/pmem.h>
#include "cairn_test.h"
#include "tree.h"

static struct tree tree;

CT_TEST(region, persistence_domain_says_what_a_power_failure_spares)
{
	static const struct {
		const char *text;
		bool known;
		enum crn_persistence domain;
	} rows[] = {
		{"memory_controller", true, CRN_DMP},
		{"cpu_cache", true, CRN_MHP},
		{"", false, CRN_DMP},
		{"unknown_word", false, CRN_DMP},
		{"cpu_cache_and_much_more_than_the_kernel_would_ever_say", false,
		 CRN_DMP},
	};
	struct crn_pmem_region region;

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("\"%s\"", rows[i].text);
		tree_open(&tree, NULL);
		tree_region(&tree, rows[i].text);
		tree_devices(&tree);
		CT_EXPECT_TRUE(crn_pmem_region_of(&tree.host, false, 251, 7, &region));
		CT_EXPECT_EQ(region.domain_known, rows[i].known);
		CT_EXPECT_EQ(region.domain, rows[i].domain);
		CT_EXPECT_STREQ(region.name, "region0");
		CT_EXPECT_FALSE(region.virtio);
		tree_close(&tree);
	}
}

CT_TEST(region, devdax_block_device_and_partition_are_in_their_region)
{
	struct crn_pmem_region region;

	tree_open(&tree, NULL);
	tree_region(&tree, "cpu_cache");
	tree_devices(&tree);
	CT_EXPECT_TRUE(crn_pmem_region_of(&tree.host, false, 251, 7, &region));
	CT_EXPECT_TRUE(crn_pmem_region_of(&tree.host, true, 259, 0, &region));
	CT_EXPECT_TRUE(crn_pmem_region_of(&tree.host, true, 259, 1, &region));
	CT_EXPECT_STREQ(region.reported, "cpu_cache");
	/* Numbers of the other kind, and of nothing. */
	CT_EXPECT_FALSE(crn_pmem_region_of(&tree.host, true, 251, 7, &region));
	CT_EXPECT_FALSE(crn_pmem_region_of(&tree.host, false, 259, 0, &region));
	CT_EXPECT_FALSE(crn_pmem_region_of(&tree.host, true, 8, 1, &region));
	tree_close(&tree);
}

CT_TEST(region, other_disks_and_dax_devices_of_ordinary_memory_are_in_none)
{
	struct crn_pmem_region region;

	tree_open(&tree, NULL);
	tree_dir(&tree, "/sys/devices/pci0000:00/0000:00:1f.2/ata1/block/sda/sda1");
	tree_link(&tree, "/sys/dev/block/8:1",
		  "/sys/devices/pci0000:00/0000:00:1f.2/ata1/block/sda/sda1");
	tree_dir(&tree, "/sys/devices/platform/hmem.0/dax1.0");
	tree_link(&tree, "/sys/dev/char/251:8", "/sys/devices/platform/hmem.0/dax1.0");
	CT_EXPECT_FALSE(crn_pmem_region_of(&tree.host, true, 8, 1, &region));
	CT_EXPECT_FALSE(crn_pmem_region_of(&tree.host, false, 251, 8, &region));
	tree_close(&tree);
}

CT_TEST(region, virtio_pmem_is_recognised)
{
	static const char path[] =
		"/sys/devices/pci0000:00/0000:00:04.0/virtio12/ndbus0/region0";
	struct crn_pmem_region region;
	char name[200];

	tree_open(&tree, NULL);
	snprintf(name, sizeof(name), "%s/persistence_domain", path);
	tree_file(&tree, name, "\n");
	snprintf(name, sizeof(name), "%s/dax0.0", path);
	tree_dir(&tree, name);
	tree_link(&tree, "/sys/dev/char/251:7", name);
	CT_EXPECT_TRUE(crn_pmem_region_of(&tree.host, false, 251, 7, &region));
	CT_EXPECT_TRUE(region.virtio);
	tree_close(&tree);
}

#define DM "/sys/devices/virtual/block/dm-0"
#define OTHER "/sys/devices/ACPI0012:00/ndbus0/region1"

/* A device mapper target of two regions. */
static void two_regions(const char *first, const char *second)
{
	tree_open(&tree, NULL);
	tree_file(&tree, TREE_REGION "/persistence_domain", first);
	tree_file(&tree, OTHER "/persistence_domain", second);
	tree_dir(&tree, TREE_REGION "/block/pmem0");
	tree_dir(&tree, OTHER "/block/pmem1");
	tree_link(&tree, DM "/slaves/pmem0", TREE_REGION "/block/pmem0");
	tree_link(&tree, DM "/slaves/pmem1", OTHER "/block/pmem1");
	tree_link(&tree, "/sys/dev/block/253:0", DM);
}

CT_TEST(region, a_device_mapper_target_is_like_its_weakest_part)
{
	struct crn_pmem_region region;

	two_regions("cpu_cache\n", "memory_controller\n");
	CT_EXPECT_TRUE(crn_pmem_region_of(&tree.host, true, 253, 0, &region));
	CT_EXPECT_TRUE(region.domain_known);
	CT_EXPECT_EQ(region.domain, CRN_DMP);
	CT_EXPECT_STREQ(region.name, "region1");
	tree_close(&tree);

	two_regions("\n", "memory_controller\n");
	CT_EXPECT_TRUE(crn_pmem_region_of(&tree.host, true, 253, 0, &region));
	CT_EXPECT_FALSE(region.domain_known);
	tree_close(&tree);

	two_regions("cpu_cache\n", "cpu_cache\n");
	CT_EXPECT_TRUE(crn_pmem_region_of(&tree.host, true, 253, 0, &region));
	CT_EXPECT_EQ(region.domain, CRN_MHP);
	tree_close(&tree);
}

CT_TEST(region, a_device_mapper_target_with_another_disk_in_it_is_in_none)
{
	struct crn_pmem_region region;

	two_regions("cpu_cache\n", "cpu_cache\n");
	tree_dir(&tree, "/sys/devices/ata1/block/sda");
	tree_link(&tree, DM "/slaves/sda", "/sys/devices/ata1/block/sda");
	CT_EXPECT_FALSE(crn_pmem_region_of(&tree.host, true, 253, 0, &region));
	tree_close(&tree);
}

CT_TEST(region, targets_that_consist_of_each_other_end)
{
	struct crn_pmem_region region;

	tree_open(&tree, NULL);
	tree_link(&tree, DM "/slaves/dm-0", DM);
	tree_link(&tree, "/sys/dev/block/253:0", DM);
	CT_EXPECT_FALSE(crn_pmem_region_of(&tree.host, true, 253, 0, &region));
	tree_close(&tree);
}
