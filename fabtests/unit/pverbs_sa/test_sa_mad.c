/* SPDX-License-Identifier: BSD-2-Clause */
/* Of prov/pverbs/sa/sa_mad.c: the bytes are written by hand from the layouts of the
 * InfiniBand specification. */
#include <rdma/fi_errno.h>
#include <cairn/compat.h>
#include "cairn_test.h"
#include "sa/sa.h"

#define GID_A 0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10, 0, 0x02
#define GID_M 0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff

static const struct pvb_sa_hdr hdr_values = {.method = PVB_SA_GET_TABLE | PVB_SA_RESPONSE,
					     .status = 0x0300,
					     .tid = 0x0102030405060708,
					     .attr = PVB_SA_MCMEMBER_RECORD,
					     .attr_mod = 0x11223344,
					     .rmpp_version = PVB_RMPP_VERSION,
					     .rmpp_type = PVB_RMPP_DATA,
					     .rmpp_flags =
						     PVB_RMPP_ACTIVE | PVB_RMPP_LAST,
					     .rmpp_time = 0x1f,
					     .rmpp_status = 0x7e,
					     .segment = 3,
					     .length = 220,
					     .sm_key = 0xa1a2a3a4a5a6a7a8,
					     .attr_offset = 7,
					     .comp_mask = 0x1003};
static const uint8_t hdr_bytes[PVB_SA_DATA_AT] = {
	1,    3,    2, 0x92, 3, 0, 0,	 0,    1,    2,	   3,	 4,    5,    6,
	7,    8,    0, 0x38, 0, 0, 0x11, 0x22, 0x33, 0x44, 1,	 1,    0xfd, 0x7e,
	0,    0,    0, 3,    0, 0, 0,	 220,  0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6,
	0xa7, 0xa8, 0, 7,    0, 0, 0,	 0,    0,    0,	   0,	 0,    0x10, 3};

CT_TEST(sa_mad, headers_are_where_the_specification_has_them)
{
	static const uint8_t zeros[PVB_SA_DATA_SIZE];
	uint8_t mad[PVB_MAD_SIZE];
	struct pvb_sa_hdr got = {0};

	memset(mad, 0xee, sizeof(mad));
	pvb_sa_pack(mad, &hdr_values);
	CT_EXPECT_MEMEQ(mad, hdr_bytes, sizeof(hdr_bytes));
	CT_EXPECT_MEMEQ(pvb_sa_data(mad), zeros, sizeof(zeros));
	CT_ASSERT_EQ(pvb_sa_unpack(mad, sizeof(mad), &got), 0);
	CT_EXPECT_EQ(got.method, hdr_values.method);
	CT_EXPECT_EQ(got.status, hdr_values.status);
	CT_EXPECT_EQ(got.tid, hdr_values.tid);
	CT_EXPECT_EQ(got.attr, hdr_values.attr);
	CT_EXPECT_EQ(got.attr_mod, hdr_values.attr_mod);
	CT_EXPECT_EQ(got.rmpp_version, hdr_values.rmpp_version);
	CT_EXPECT_EQ(got.rmpp_type, hdr_values.rmpp_type);
	CT_EXPECT_EQ(got.rmpp_flags, hdr_values.rmpp_flags);
	CT_EXPECT_EQ(got.rmpp_time, hdr_values.rmpp_time);
	CT_EXPECT_EQ(got.rmpp_status, hdr_values.rmpp_status);
	CT_EXPECT_EQ(got.segment, hdr_values.segment);
	CT_EXPECT_EQ(got.length, hdr_values.length);
	CT_EXPECT_EQ(got.sm_key, hdr_values.sm_key);
	CT_EXPECT_EQ(got.attr_offset, hdr_values.attr_offset);
	CT_EXPECT_EQ(got.comp_mask, hdr_values.comp_mask);
}

CT_TEST(sa_mad, datagrams_that_are_short_or_of_another_class_are_refused)
{
	uint8_t mad[PVB_MAD_SIZE];
	struct pvb_sa_hdr got;
	size_t at;

	pvb_sa_pack(mad, &hdr_values);
	CT_EXPECT_EQ(pvb_sa_unpack(mad, PVB_SA_DATA_AT, &got), 0);
	CT_EXPECT_EQ(pvb_sa_unpack(mad, PVB_SA_DATA_AT - 1, &got), -FI_EINVAL);
	for (at = 0; at < 3; at++) {
		mad[at] ^= 4;
		CT_EXPECT_EQ(pvb_sa_unpack(mad, sizeof(mad), &got), -FI_EINVAL);
		mad[at] ^= 4;
	}
	CT_EXPECT_EQ(pvb_sa_unpack(mad, sizeof(mad), &got), 0);
}

/* A record is packed as its bytes, and unpacked and packed again: no field is lost. One
 * byte less is refused. */
#define RECORD(type, bytes, values)                                          \
	do {                                                                 \
		uint8_t out_[sizeof(bytes)];                                 \
		struct type got_ = {0};                                      \
                                                                             \
		memset(out_, 0xee, sizeof(out_));                            \
		type##_pack(out_, &(values));                                \
		CT_EXPECT_MEMEQ(out_, bytes, sizeof(bytes));                 \
		CT_EXPECT_EQ(type##_unpack(bytes, sizeof(bytes), &got_), 0); \
		memset(out_, 0xee, sizeof(out_));                            \
		type##_pack(out_, &got_);                                    \
		CT_EXPECT_MEMEQ(out_, bytes, sizeof(bytes));                 \
		CT_EXPECT_EQ(type##_unpack(bytes, sizeof(bytes) - 1, &got_), \
			     -FI_EINVAL);                                    \
	} while (0)

CT_TEST(sa_mad, R3_R17_member_records)
{
	static const uint8_t bytes[PVB_MCM_SIZE] = {GID_M, GID_A, 0x80, 0x00, 0x0b, 0x1b,
						    0xc0,  0x01,  0x84, 0x03, 0xff, 0xff,
						    0x83,  0x92,  0x20, 0x00, 0x05, 0xff,
						    0x21,  0x80,  0,	0};
	const struct pvb_mcm values = {.mgid = {GID_M},
				       .port_gid = {GID_A},
				       .qkey = 0x80000b1b,
				       .mlid = 0xc001,
				       .mtu_selector = PVB_SA_EXACTLY,
				       .mtu = 4,
				       .tclass = 3,
				       .pkey = 0xffff,
				       .rate_selector = PVB_SA_EXACTLY,
				       .rate = 3,
				       .life_selector = PVB_SA_EXACTLY,
				       .life = 18,
				       .sl = 2,
				       .flow_label = 5,
				       .hop_limit = 255,
				       .scope = 2,
				       .join_state = PVB_MCM_FULL,
				       .proxy_join = true};

	RECORD(pvb_mcm, bytes, values);
}

CT_TEST(sa_mad, path_records)
{
	static const uint8_t bytes[PVB_PATH_SIZE] = {1,	   2,	 3,	4,     5,    6,
						     7,	   8,	 GID_A, GID_M, 0,    9,
						     0,	   10,	 0x80,	0xab,  0xcd, 0x40,
						     0x05, 0x82, 0x80,	0x08,  0x12, 0x37,
						     0x84, 0x43, 0xd2,	7,     0,    0,
						     0,	   0,	 0,	0};
	const struct pvb_path_record values = {.service_id = 0x0102030405060708,
					       .dgid = {GID_A},
					       .sgid = {GID_M},
					       .dlid = 9,
					       .slid = 10,
					       .raw = true,
					       .flow_label = 0x0abcd,
					       .hop_limit = 0x40,
					       .tclass = 5,
					       .reversible = true,
					       .numb_path = 2,
					       .pkey = 0x8008,
					       .qos_class = 0x123,
					       .sl = 7,
					       .mtu_selector = PVB_SA_EXACTLY,
					       .mtu = 4,
					       .rate_selector = PVB_SA_LESS,
					       .rate = 3,
					       .life_selector = PVB_SA_LARGEST,
					       .life = 18,
					       .preference = 7};

	RECORD(pvb_path_record, bytes, values);
}

CT_TEST(sa_mad, R31_subscriptions)
{
	static const uint8_t bytes[PVB_INFORM_SIZE] = {0,    0,	   0, 0,  0, 0, 0, 0,
						       0,    0,	   0, 0,  0, 0, 0, 0,
						       0xff, 0xff, 0, 0,  0, 0, 1, 1,
						       0,    3,	   0, 66, 0, 0, 1, 0x12,
						       0,    0,	   0, 4};
	const struct pvb_inform_info values = {.lid_begin = PVB_INFORM_ALL_LIDS,
					       .generic = true,
					       .subscribe = true,
					       .type = PVB_NOTICE_TYPE_INFO,
					       .trap = PVB_TRAP_GROUP_CREATED,
					       .qpn = 1,
					       .resp_time = 0x12,
					       .producer = PVB_PRODUCER_CLASS_MANAGER};

	RECORD(pvb_inform_info, bytes, values);
}

CT_TEST(sa_mad, R31_notices_of_a_group)
{
	static const uint8_t bytes[PVB_NOTICE_SIZE] = {0x83, 0,	    0,		 4,    0,
						       67,   0,	    1,		 0x80, 2,
						       0,    0,	    0,		 0,    0,
						       0,    GID_M, [64] = GID_A};
	const struct pvb_notice values = {.generic = true,
					  .type = PVB_NOTICE_TYPE_INFO,
					  .producer = PVB_PRODUCER_CLASS_MANAGER,
					  .trap = PVB_TRAP_GROUP_DELETED,
					  .issuer_lid = 1,
					  .toggle = true,
					  .count = 2,
					  .details = {[PVB_NOTICE_GID_AT] = GID_M},
					  .issuer_gid = {GID_A}};

	RECORD(pvb_notice, bytes, values);
}

CT_TEST(sa_mad, R16_what_a_port_says_of_its_mtu)
{
	static const uint8_t bytes[PVB_PORT_INFO_SIZE] = {0, 7, 1, [40] = 0x40};
	const struct pvb_port_info values = {.lid = 7, .port = 1, .mtu = 4};

	RECORD(pvb_port_info, bytes, values);
}

CT_TEST(sa_mad, R35_what_a_subnet_manager_says_of_itself)
{
	static const uint8_t bytes[PVB_SM_INFO_SIZE] = {0, 0, 0, 0, 0,	  0x10, 0, 1,
							0, 0, 0, 0, 0,	  0,	0, 9,
							0, 0, 1, 2, 0xe3, 0,	0, 0};
	const struct pvb_sm_info values = {.guid = 0x100001,
					   .sm_key = 9,
					   .act_count = 0x102,
					   .priority = 14,
					   .state = 3};

	RECORD(pvb_sm_info, bytes, values);
}
