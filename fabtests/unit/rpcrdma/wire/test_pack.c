/* SPDX-License-Identifier: BSD-2-Clause */
#include <cairn/compat.h>
#include <rdma/fi_errno.h>
#include "headers.h"

CT_TEST(rpr_pack, fits_its_length_and_nothing_less)
{
	struct rpr_header header;
	uint8_t *room;

	full_header(&header);
	CT_EXPECT_EQ(rpr_header_len(&header), FULL_LEN);
	for (size_t size = 0; size < FULL_LEN; size++) {
		CT_NOTE("%zu bytes", size);
		CT_EXPECT_EQ(rpr_header_pack(&header, ct_fence_room(size), size),
			     -FI_ETOOSMALL);
	}
	CT_EXPECT_EQ(rpr_header_pack(&header, ct_fence_room(FULL_LEN), FULL_LEN),
		     FULL_LEN);
	/* More room changes nothing, and stays as it was. */
	room = ct_fence_room(FULL_LEN + 8);
	memset(room, 0xa5, FULL_LEN + 8);
	CT_EXPECT_EQ(rpr_header_pack(&header, room, FULL_LEN + 8), FULL_LEN);
	for (size_t i = FULL_LEN; i < FULL_LEN + 8; i++)
		CT_EXPECT_EQ(room[i], 0xa5);
}

static void expect_refused(const struct rpr_header *header)
{
	uint8_t buf[2 * FULL_LEN];

	CT_EXPECT_EQ(rpr_header_len(header), 0);
	CT_EXPECT_EQ(rpr_header_pack(header, buf, sizeof(buf)), -FI_EINVAL);
	/* Not for want of room. */
	CT_EXPECT_EQ(rpr_header_pack(header, buf, 0), -FI_EINVAL);
}

CT_TEST(rpr_pack, counts_have_their_bounds)
{
	struct rpr_header header;
	const struct {
		uint32_t *count;
		uint32_t bound;
	} counts[] = {
		{&header.read_count, RPR_READ_SEGS},
		{&header.write_count, RPR_WRITE_CHUNKS},
		{&header.write[0].count, RPR_CHUNK_SEGS},
		{&header.write[RPR_WRITE_CHUNKS - 1].count, RPR_CHUNK_SEGS},
		{&header.reply.count, RPR_CHUNK_SEGS},
	};
	static const uint32_t beyond[] = {0, 0x10000000, 0x80000000, 0xffffffff};

	for (size_t i = 0; i < CRN_COUNT(counts); i++)
		for (size_t j = 0; j < CRN_COUNT(beyond); j++) {
			CT_NOTE("count %zu, row %zu", i, j);
			full_header(&header);
			*counts[i].count = beyond[j] ? beyond[j] : counts[i].bound + 1;
			expect_refused(&header);
			header.proc = RPR_NOMSG;
			expect_refused(&header);
		}
}

CT_TEST(rpr_pack, what_is_not_there_has_no_bounds)
{
	struct rpr_header header = {
		.vers = 1, .proc = RPR_MSG, .write_count = 1, .reply.count = 99};
	uint8_t buf[64];

	header.write[1].count = 99;
	CT_EXPECT_EQ(rpr_header_pack(&header, buf, sizeof(buf)), RPR_HEADER_MIN + 8);
	header = (struct rpr_header){.proc = RPR_ERROR,
				     .err = RPR_ERR_CHUNK,
				     .read_count = 99,
				     .write_count = 99,
				     .has_reply = true,
				     .reply.count = 99};
	CT_EXPECT_EQ(rpr_header_pack(&header, buf, sizeof(buf)), RPR_ERR_CHUNK_LEN);
}

/* RFC 8166 sections 4.6.1 and 4.6.2, and what nobody defined. */
CT_TEST(rpr_pack, what_nobody_may_send_is_refused)
{
	static const struct rpr_header headers[] = {
		{.vers = 1, .proc = RPR_MSGP},	{.vers = 1, .proc = RPR_DONE},
		{.vers = 1, .proc = 5},		{.vers = 1, .proc = 0xffffffff},
		{.vers = 1, .proc = RPR_ERROR}, {.vers = 1, .proc = RPR_ERROR, .err = 3},
		{.vers = 1, .proc = RPR_NOMSG},
	};

	for (size_t i = 0; i < CRN_COUNT(headers); i++) {
		CT_NOTE("row %zu", i);
		expect_refused(&headers[i]);
	}
}

CT_TEST(rpr_pack, an_rdma_nomsg_needs_one_of_the_three)
{
	static const struct rpr_header headers[] = {
		{.vers = 1, .proc = RPR_NOMSG, .read_count = 1},
		{.vers = 1, .proc = RPR_NOMSG, .write_count = 1},
		{.vers = 1, .proc = RPR_NOMSG, .has_reply = true},
	};
	static const size_t lens[] = {RPR_HEADER_MIN + 24, RPR_HEADER_MIN + 8,
				      RPR_HEADER_MIN + 4};
	uint8_t buf[64];

	for (size_t i = 0; i < CRN_COUNT(headers); i++) {
		CT_NOTE("row %zu", i);
		CT_EXPECT_EQ(rpr_header_len(&headers[i]), lens[i]);
		CT_EXPECT_EQ(rpr_header_pack(&headers[i], buf, sizeof(buf)), lens[i]);
	}
}

/* RFC 8166 section 4.5: rdma_vers of an RDMA_ERROR is that of the failing request. */
CT_TEST(rpr_pack, an_error_answers_in_the_version_of_the_request)
{
	static const struct rpr_header header = {.xid = 7,
						 .vers = 2,
						 .credit = 9,
						 .proc = RPR_ERROR,
						 .err = RPR_ERR_VERS,
						 .vers_low = 1,
						 .vers_high = 1};
	static const uint8_t want[] = {W(7), W(2), W(9), W(4), W(1), W(1), W(1)};
	uint8_t buf[RPR_ERR_VERS_LEN];

	CT_ASSERT_EQ(rpr_header_pack(&header, buf, sizeof(buf)), sizeof(want));
	CT_EXPECT_MEMEQ(buf, want, sizeof(want));
}
