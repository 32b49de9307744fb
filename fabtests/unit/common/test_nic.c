/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <rdma/fi_errno.h>
#include <cairn/nic.h>
#include "cairn_test.h"

static struct fid_nic *make_nic(void)
{
	struct fid_nic *nic = crn_nic_new();

	nic->device_attr->name = strdup("device0");
	nic->device_attr->device_id = strdup("0x1017");
	nic->device_attr->device_version = strdup("3");
	nic->device_attr->vendor_id = strdup("0x15b3");
	nic->device_attr->driver = strdup("driver0");
	nic->device_attr->firmware = strdup("16.35");
	nic->bus_attr->bus_type = FI_BUS_PCI;
	nic->bus_attr->attr.pci.bus_id = 0x3b;
	nic->link_attr->address = strdup("fe80::1");
	nic->link_attr->mtu = 4096;
	nic->link_attr->speed = 100000000000;
	nic->link_attr->state = FI_LINK_UP;
	nic->link_attr->network_type = strdup("Ethernet");
	return nic;
}

static void expect_made(const struct fid_nic *nic)
{
	CT_EXPECT_STREQ(nic->device_attr->name, "device0");
	CT_EXPECT_STREQ(nic->device_attr->device_id, "0x1017");
	CT_EXPECT_STREQ(nic->device_attr->device_version, "3");
	CT_EXPECT_STREQ(nic->device_attr->vendor_id, "0x15b3");
	CT_EXPECT_STREQ(nic->device_attr->driver, "driver0");
	CT_EXPECT_STREQ(nic->device_attr->firmware, "16.35");
	CT_EXPECT_EQ(nic->bus_attr->bus_type, FI_BUS_PCI);
	CT_EXPECT_EQ(nic->bus_attr->attr.pci.bus_id, 0x3b);
	CT_EXPECT_STREQ(nic->link_attr->address, "fe80::1");
	CT_EXPECT_EQ(nic->link_attr->mtu, 4096);
	CT_EXPECT_EQ(nic->link_attr->speed, 100000000000);
	CT_EXPECT_EQ(nic->link_attr->state, FI_LINK_UP);
	CT_EXPECT_STREQ(nic->link_attr->network_type, "Ethernet");
}

CT_TEST(nic, a_new_one_is_empty)
{
	struct fid_nic *nic = crn_nic_new();

	CT_ASSERT_NE(nic, NULL);
	CT_EXPECT_EQ(nic->fid.fclass, FI_CLASS_NIC);
	CT_EXPECT_EQ(nic->device_attr->name, NULL);
	CT_EXPECT_EQ(nic->bus_attr->bus_type, FI_BUS_UNKNOWN);
	CT_EXPECT_EQ(nic->link_attr->state, FI_LINK_UNKNOWN);
	CT_EXPECT_EQ(nic->prov_attr, NULL);
	CT_EXPECT_EQ(fi_control(&nic->fid, FI_GETWAIT, NULL), -FI_ENOSYS);
	CT_EXPECT_EQ(fi_close(&nic->fid), 0);
}

CT_TEST(nic, a_copy_has_strings_of_its_own)
{
	struct fid_nic *nic = make_nic(), *copy = NULL, *empty = crn_nic_new(),
		       *empty_copy = NULL;

	CT_EXPECT_EQ(fi_control(&nic->fid, FI_DUP, &copy), 0);
	CT_EXPECT_EQ(fi_close(&nic->fid), 0);
	CT_ASSERT_NE(copy, NULL);
	expect_made(copy);
	fi_close(&copy->fid);

	CT_EXPECT_EQ(fi_control(&empty->fid, FI_DUP, &empty_copy), 0);
	CT_ASSERT_NE(empty_copy, NULL);
	CT_EXPECT_EQ(empty_copy->device_attr->name, NULL);
	fi_close(&empty->fid);
	fi_close(&empty_copy->fid);
}

/* A leak checker and a bad free are what fails here. */
CT_TEST(nic, goes_with_the_info_it_belongs_to)
{
	struct fi_info *info = fi_allocinfo(), *copy;

	info->nic = make_nic();
	copy = fi_dupinfo(info);
	fi_freeinfo(info);
	CT_ASSERT_NE(copy->nic, NULL);
	expect_made(copy->nic);
	info = fi_dupinfo(copy);
	fi_freeinfo(copy);
	expect_made(info->nic);
	fi_freeinfo(info);
}

/* fi_tostr hands over what it has so far; libfabric's own operations append to it. */
CT_TEST(nic, text_is_appended_names_everything_and_is_cut_to_the_room)
{
	struct fid_nic *nic = make_nic(), *empty = crn_nic_new();
	static const char *const words[] = {"device0", "0x1017",     "driver0",
					    "16.35",   "FI_BUS_PCI", "fe80::1",
					    "4096",    "FI_LINK_UP", "Ethernet"};
	char buf[2048] = "before\n", cut[2048];

	nic->fid.ops->tostr(&nic->fid, buf, sizeof(buf));
	CT_EXPECT_MEMEQ(buf, "before\nnic:\n", 12);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		CT_EXPECT_STRSTR(buf, words[i]);
	for (size_t len = 1; len <= strlen(buf); len++) {
		CT_NOTE("room for %zu", len);
		memset(cut, 'x', sizeof(cut));
		snprintf(cut, len, "before\n");
		nic->fid.ops->tostr(&nic->fid, cut, len);
		CT_EXPECT_MEMEQ(cut, buf, len - 1);
		CT_EXPECT_EQ(cut[len - 1], '\0');
		CT_EXPECT_EQ(cut[len], 'x');
	}
	empty->link_attr->state = 77;
	buf[0] = '\0';
	empty->fid.ops->tostr(&empty->fid, buf, sizeof(buf));
	CT_EXPECT_STRSTR(buf, "FI_BUS_UNKNOWN");
	fi_close(&nic->fid);
	fi_close(&empty->fid);
}

CT_TEST(nic, running_out_of_memory_leaves_nothing_behind)
{
	struct fid_nic *nic = make_nic(), *copy;
	unsigned int nth;
	int ret;

	for (nth = 1;; nth++) {
		CT_NOTE("allocation %u of a new one", nth);
		ct_fail_alloc(nth);
		copy = crn_nic_new();
		if (!ct_alloc_failed())
			break;
		CT_EXPECT_EQ(copy, NULL);
	}
	CT_EXPECT_GT(nth, 1);
	fi_close(&copy->fid);
	for (nth = 1;; nth++) {
		CT_NOTE("allocation %u of a copy", nth);
		ct_fail_alloc(nth);
		ret = fi_control(&nic->fid, FI_DUP, &copy);
		if (!ct_alloc_failed())
			break;
		CT_EXPECT_EQ(ret, -FI_ENOMEM);
	}
	CT_EXPECT_EQ(ret, 0);
	CT_EXPECT_GT(nth, 8);
	fi_close(&copy->fid);
	fi_close(&nic->fid);
}
