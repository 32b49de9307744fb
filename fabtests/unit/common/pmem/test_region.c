/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <cairn/compat.h>
#include <cairn/pmem.h>
#include "cairn_test.h"
#include "tree.h"

/* A tree, and what was found of a device in it. */
struct region_scene {
	struct tree tree;
	struct crn_pmem_region region;
};

static void set_up(struct region_scene *s)
{
	tree_open(&s->tree, NULL);
}

static void tear_down(struct region_scene *s)
{
	tree_close(&s->tree);
}

static bool found(struct region_scene *s, bool block, unsigned int major,
		  unsigned int minor)
{
	return crn_pmem_region_of(&s->tree.host, block, major, minor, &s->region);
}

CT_FIXTURE(region, struct region_scene, set_up, tear_down);

CT_TEST_F(region, persistence_domain_says_what_a_power_failure_spares)
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
	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("\"%s\"", rows[i].text);
		tree_open(&t->tree, NULL);
		tree_region(&t->tree, rows[i].text);
		tree_devices(&t->tree);
		CT_EXPECT_TRUE(found(t, false, 251, 7));
		CT_EXPECT_EQ(t->region.domain_known, rows[i].known);
		CT_EXPECT_EQ(t->region.domain, rows[i].domain);
		CT_EXPECT_STREQ(t->region.name, "region0");
		CT_EXPECT_FALSE(t->region.virtio);
	}
}

CT_TEST_F(region, devdax_block_device_and_partition_are_in_their_region)
{
	tree_region(&t->tree, "cpu_cache");
	tree_devices(&t->tree);
	CT_EXPECT_TRUE(found(t, false, 251, 7));
	CT_EXPECT_TRUE(found(t, true, 259, 0));
	CT_EXPECT_TRUE(found(t, true, 259, 1));
	CT_EXPECT_STREQ(t->region.reported, "cpu_cache");
	/* Numbers of the other kind, and of nothing. */
	CT_EXPECT_FALSE(found(t, true, 251, 7));
	CT_EXPECT_FALSE(found(t, false, 259, 0));
	CT_EXPECT_FALSE(found(t, true, 8, 1));
}

CT_TEST_F(region, other_disks_and_dax_devices_of_ordinary_memory_are_in_none)
{
	tree_dir(&t->tree, "/sys/devices/pci0000:00/0000:00:1f.2/ata1/block/sda/sda1");
	tree_link(&t->tree, "/sys/dev/block/8:1",
		  "/sys/devices/pci0000:00/0000:00:1f.2/ata1/block/sda/sda1");
	tree_dir(&t->tree, "/sys/devices/platform/hmem.0/dax1.0");
	tree_link(&t->tree, "/sys/dev/char/251:8", "/sys/devices/platform/hmem.0/dax1.0");
	CT_EXPECT_FALSE(found(t, true, 8, 1));
	CT_EXPECT_FALSE(found(t, false, 251, 8));
}

CT_TEST_F(region, virtio_pmem_is_recognised)
{
	static const char path[] =
		"/sys/devices/pci0000:00/0000:00:04.0/virtio12/ndbus0/region0";
	char name[200];

	snprintf(name, sizeof(name), "%s/persistence_domain", path);
	tree_file(&t->tree, name, "\n");
	snprintf(name, sizeof(name), "%s/dax0.0", path);
	tree_dir(&t->tree, name);
	tree_link(&t->tree, "/sys/dev/char/251:7", name);
	CT_EXPECT_TRUE(found(t, false, 251, 7));
	CT_EXPECT_TRUE(t->region.virtio);
}

#define DM "/sys/devices/virtual/block/dm-0"
#define OTHER "/sys/devices/ACPI0012:00/ndbus0/region1"

/* A device mapper target of two regions. */
static void two_regions(struct tree *tree, const char *first, const char *second)
{
	tree_open(tree, NULL);
	tree_file(tree, TREE_REGION "/persistence_domain", first);
	tree_file(tree, OTHER "/persistence_domain", second);
	tree_dir(tree, TREE_REGION "/block/pmem0");
	tree_dir(tree, OTHER "/block/pmem1");
	tree_link(tree, DM "/slaves/pmem0", TREE_REGION "/block/pmem0");
	tree_link(tree, DM "/slaves/pmem1", OTHER "/block/pmem1");
	tree_link(tree, "/sys/dev/block/253:0", DM);
}

CT_TEST_F(region, a_device_mapper_target_is_like_its_weakest_part)
{
	two_regions(&t->tree, "cpu_cache\n", "memory_controller\n");
	CT_EXPECT_TRUE(found(t, true, 253, 0));
	CT_EXPECT_TRUE(t->region.domain_known);
	CT_EXPECT_EQ(t->region.domain, CRN_DMP);
	CT_EXPECT_STREQ(t->region.name, "region1");

	two_regions(&t->tree, "\n", "memory_controller\n");
	CT_EXPECT_TRUE(found(t, true, 253, 0));
	CT_EXPECT_FALSE(t->region.domain_known);

	two_regions(&t->tree, "cpu_cache\n", "cpu_cache\n");
	CT_EXPECT_TRUE(found(t, true, 253, 0));
	CT_EXPECT_EQ(t->region.domain, CRN_MHP);
}

CT_TEST_F(region, a_device_mapper_target_with_another_disk_in_it_is_in_none)
{
	two_regions(&t->tree, "cpu_cache\n", "cpu_cache\n");
	tree_dir(&t->tree, "/sys/devices/ata1/block/sda");
	tree_link(&t->tree, DM "/slaves/sda", "/sys/devices/ata1/block/sda");
	CT_EXPECT_FALSE(found(t, true, 253, 0));
}

CT_TEST_F(region, targets_that_consist_of_each_other_end)
{
	tree_link(&t->tree, DM "/slaves/dm-0", DM);
	tree_link(&t->tree, "/sys/dev/block/253:0", DM);
	CT_EXPECT_FALSE(found(t, true, 253, 0));
}
