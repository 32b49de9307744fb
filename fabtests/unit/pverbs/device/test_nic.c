/* SPDX-License-Identifier: BSD-2-Clause */
/* What info->nic tells of the device and the port. */
#include <net/if.h>
#include <stdlib.h>
#include "../world.h"

struct asked {
	struct fi_info *info; /* of fake0: the newest answer */
};

static void start(struct asked *t)
{
	world_reset();
}

static void end(struct asked *t)
{
	fi_freeinfo(t->info);
}

CT_FIXTURE(nic, struct asked, start, end);

static struct fi_info *ask(struct asked *t)
{
	fi_freeinfo(t->info);
	t->info = NULL;
	CT_EXPECT_EQ(pvb_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, NULL, &t->info), 0);
	return t->info;
}

CT_TEST_F(nic, the_device_is_described)
{
	struct fi_device_attr *attr;

	fake_devices[0].attr.vendor_id = 0x2c9;
	fake_devices[0].attr.vendor_part_id = 0x1013;
	fake_devices[0].attr.hw_ver = 12;
	strcpy(fake_devices[0].attr.fw_ver, "1.2.3");
	CT_ASSERT_NE(ask(t), NULL);
	attr = t->info->nic->device_attr;
	CT_EXPECT_STREQ(attr->name, "fake0");
	CT_EXPECT_STREQ(attr->vendor_id, "0x02c9");
	CT_EXPECT_STREQ(attr->device_id, "0x1013");
	CT_EXPECT_STREQ(attr->device_version, "12");
	CT_EXPECT_STREQ(attr->firmware, "1.2.3");
	CT_EXPECT_EQ(attr->driver, NULL);
	CT_EXPECT_EQ(t->info->nic->bus_attr->bus_type, FI_BUS_UNKNOWN);
}

CT_TEST_F(nic, a_pci_device_tells_its_place_and_driver)
{
	struct fi_pci_attr *pci;

	fake_devices[0].sysfs_device = "../../../0001:5e:1f.7";
	fake_devices[0].sysfs_driver = "../../../../bus/pci/drivers/mlx5_core";
	CT_ASSERT_NE(ask(t), NULL);
	CT_EXPECT_STREQ(t->info->nic->device_attr->driver, "mlx5_core");
	CT_EXPECT_EQ(t->info->nic->bus_attr->bus_type, FI_BUS_PCI);
	pci = &t->info->nic->bus_attr->attr.pci;
	CT_EXPECT_EQ(pci->domain_id, 1);
	CT_EXPECT_EQ(pci->bus_id, 0x5e);
	CT_EXPECT_EQ(pci->device_id, 0x1f);
	CT_EXPECT_EQ(pci->function_id, 7);
}

CT_TEST_F(nic, a_device_of_another_bus_has_no_place)
{
	fake_devices[0].sysfs_device = "../../../virtual";
	CT_ASSERT_NE(ask(t), NULL);
	CT_EXPECT_EQ(t->info->nic->device_attr->driver, NULL);
	CT_EXPECT_EQ(t->info->nic->bus_attr->bus_type, FI_BUS_UNKNOWN);
}

CT_TEST_F(nic, the_link_is_described)
{
	static const struct {
		uint8_t speed, width;
		size_t bits;
	} rows[] = {
		{1, 1, 2500000000},
		{2, 2, 20000000000},
		{4, 4, 80000000000},
		{8, 8, 120000000000},
		{16, 2, 56250000000},
		{32, 2, 103125000000},
		{64, 2, 200000000000},
		{128, 2, 400000000000},
		{32, 16, 51562500000},
		{0, 2, 0},
		{32, 0, 0},
		{255, 255, 0},
	};
	struct fi_link_attr *attr;

	fake_devices[0].port[0].active_mtu = IBV_MTU_4096;
	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("speed %u, width %u", rows[i].speed, rows[i].width);
		fake_devices[0].port[0].active_speed = rows[i].speed;
		fake_devices[0].port[0].active_width = rows[i].width;
		CT_ASSERT_NE(ask(t), NULL);
		attr = t->info->nic->link_attr;
		CT_EXPECT_EQ(attr->speed, rows[i].bits);
		CT_EXPECT_EQ(attr->mtu, 4096);
		CT_EXPECT_EQ(attr->state, FI_LINK_UP);
		CT_EXPECT_STREQ(attr->network_type, "Ethernet");
		CT_EXPECT_STREQ(attr->address, "10.0.0.1:0");
	}
}

CT_TEST_F(nic, an_infiniband_port_that_is_down_says_so)
{
	fake_devices[0].port[0].state = IBV_PORT_DOWN;
	fake_devices[0].port[0].link_layer = IBV_LINK_LAYER_INFINIBAND;
	fake_devices[0].port[0].active_mtu = (enum ibv_mtu)0;
	CT_ASSERT_NE(ask(t), NULL);
	CT_EXPECT_STREQ(t->info->nic->link_attr->network_type, "InfiniBand");
	CT_EXPECT_EQ(t->info->nic->link_attr->state, FI_LINK_DOWN);
	CT_EXPECT_EQ(t->info->nic->link_attr->mtu, 0);
}

CT_TEST_F(nic, a_copy_of_an_info_has_its_own)
{
	struct fi_info *copy;

	CT_ASSERT_NE(ask(t), NULL);
	copy = fi_dupinfo(t->info);
	CT_ASSERT_NE(copy, NULL);
	CT_EXPECT_NE(copy->nic, t->info->nic);
	fi_freeinfo(t->info);
	t->info = NULL;
	CT_EXPECT_STREQ(copy->nic->device_attr->name, "fake0");
	CT_EXPECT_STREQ(copy->nic->link_attr->address, "10.0.0.1:0");
	fi_freeinfo(copy);
}

/* libfabric frees both whatever happens. */
CT_TEST_F(nic, a_copy_that_fails_leaves_the_original_alone)
{
	struct fi_info *copy;

	CT_ASSERT_NE(ask(t), NULL);
	for (unsigned int nth = 1;; nth++) {
		CT_NOTE("allocation %u", nth);
		ct_fail_alloc(nth);
		copy = fi_dupinfo(t->info);
		if (!ct_alloc_failed())
			break;
		CT_EXPECT_EQ(copy, NULL);
		CT_EXPECT_STREQ(t->info->nic->device_attr->name, "fake0");
	}
	CT_ASSERT_NE(copy, NULL);
	CT_EXPECT_STREQ(copy->nic->device_attr->name, "fake0");
	fi_freeinfo(copy);
}
