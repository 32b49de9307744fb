/* SPDX-License-Identifier: BSD-2-Clause */
/* The port, GID and partition that datagrams leave from. */
#include "dgram/dgram.h"
#include "world_dgram.h"

static struct ibv_context *open_device(void)
{
	struct ibv_context *verbs = NULL;

	CT_EXPECT_EQ(pvb_device_open("fake0", &verbs), 0);
	return verbs;
}

CT_TEST(dgram_path, the_gid_names_the_entry_of_the_table)
{
	const struct pvb_ud_addr src = {.gid = {[10] = 0xff, 0xff, 10, 0, 0, 1},
					.service = 3};
	struct ibv_context *verbs;
	struct pvb_ud_path path;

	dgram_reset(false);
	verbs = open_device();
	CT_EXPECT_EQ(pvb_ud_path_find(verbs, &src, &path), 0);
	CT_EXPECT_EQ(path.port, 1);
	CT_EXPECT_EQ(path.sgid_index, 1);
	CT_EXPECT_EQ(path.mtu, DGRAM_MTU);
	CT_EXPECT_TRUE(path.ethernet);
	CT_EXPECT_EQ(path.addr.pkey, 0xffff);
	CT_EXPECT_EQ(path.addr.service, 3);
	CT_EXPECT_EQ(memcmp(path.addr.gid, src.gid, 16), 0);
	ibv_close_device(verbs);
}

CT_TEST(dgram_path, of_both_versions_of_roce_the_second_or_the_wanted_one)
{
	const struct pvb_ud_addr src = {.gid = {[10] = 0xff, 0xff, 10, 0, 0, 1}};
	struct ibv_context *verbs;
	struct pvb_ud_path path;

	dgram_reset(false);
	fake_devices[0].gid[3] = fake_devices[0].gid[1];
	fake_devices[0].gid[1].gid_type = IBV_GID_TYPE_ROCE_V1;
	verbs = open_device();
	CT_EXPECT_EQ(pvb_ud_path_find(verbs, &src, &path), 0);
	CT_EXPECT_EQ(path.sgid_index, 3);
	pvb_params.roce_version = 1;
	CT_EXPECT_EQ(pvb_ud_path_find(verbs, &src, &path), 0);
	CT_EXPECT_EQ(path.sgid_index, 1);
	pvb_params.gid_index = 3;
	CT_EXPECT_EQ(pvb_ud_path_find(verbs, &src, &path), -FI_EADDRNOTAVAIL);
	ibv_close_device(verbs);
}

CT_TEST(dgram_path, the_partition_is_the_wanted_one_whatever_the_membership)
{
	const struct pvb_ud_addr src = {.gid = {[10] = 0xff, 0xff, 10, 0, 0, 1},
					.pkey = 0x8008};
	struct ibv_context *verbs;
	struct pvb_ud_path path;

	dgram_reset(true);
	fake_devices[0].pkey[2] = 0x0008;
	fake_devices[0].pkey[3] = 0x8009;
	verbs = open_device();
	CT_EXPECT_EQ(pvb_ud_path_find(verbs, &src, &path), 0);
	CT_EXPECT_EQ(path.pkey_index, 2);
	CT_EXPECT_EQ(path.addr.pkey, 0x0008);
	CT_EXPECT_EQ(path.addr.lid, DGRAM_LID);
	pvb_params.pkey = 9;
	CT_EXPECT_EQ(pvb_ud_path_find(verbs, &src, &path), 0);
	CT_EXPECT_EQ(path.pkey_index, 3);
	pvb_params.pkey = 10;
	CT_EXPECT_EQ(pvb_ud_path_find(verbs, &src, &path), -FI_EADDRNOTAVAIL);
	ibv_close_device(verbs);
}

/* No other port is taken for it, and it is not said to be missing. */
CT_TEST(dgram_path, a_shortage_is_reported_as_such)
{
	static const struct {
		enum fake_call call;
		int err;
	} rows[] = {
		{FAKE_QUERY_GID, EMFILE},
		{FAKE_QUERY_GID, ENOMEM},
		{FAKE_QUERY_PKEY, EMFILE},
		{FAKE_QUERY_PKEY, ENFILE},
	};
	const struct pvb_ud_addr any = {0};
	struct ibv_context *verbs;
	struct pvb_ud_path path;
	size_t i;

	dgram_reset(true);
	fake_devices[0].attr.phys_port_cnt = 2;
	verbs = open_device();
	for (i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("row %zu", i);
		fake_fail(rows[i].call, 1, rows[i].err);
		CT_EXPECT_EQ(pvb_ud_path_find(verbs, &any, &path), -rows[i].err);
	}
	/* An entry that cannot be read for another reason is none. */
	fake_fail(FAKE_QUERY_GID, 1, EIO);
	CT_EXPECT_EQ(pvb_ud_path_find(verbs, &any, &path), 0);
	ibv_close_device(verbs);
}

CT_TEST(dgram_path, the_second_port_has_it_or_is_down)
{
	const struct pvb_ud_addr none = {.gid = {9}};
	const struct pvb_ud_addr any = {0};
	struct ibv_context *verbs;
	struct pvb_ud_path path;

	dgram_reset(true);
	fake_devices[0].attr.phys_port_cnt = 2;
	fake_devices[0].port[0].state = IBV_PORT_DOWN;
	verbs = open_device();
	CT_EXPECT_EQ(pvb_ud_path_find(verbs, &any, &path), 0);
	CT_EXPECT_EQ(path.port, 2);
	CT_EXPECT_EQ(pvb_ud_path_find(verbs, &none, &path), -FI_EADDRNOTAVAIL);
	fake_devices[0].port[1].state = IBV_PORT_DOWN;
	CT_EXPECT_EQ(pvb_ud_path_find(verbs, &any, &path), -FI_ENETDOWN);
	fake_fail(FAKE_QUERY_DEVICE, 1, EIO);
	CT_EXPECT_EQ(pvb_ud_path_find(verbs, &any, &path), -FI_EIO);
	ibv_close_device(verbs);
}
