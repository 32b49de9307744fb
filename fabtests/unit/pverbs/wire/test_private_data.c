/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include "../world.h"

/* The layout as wire/private_data.h words it, put together by hand. */
static void layout(uint8_t out[PVB_CM_REQ_SIZE], const char *app)
{
	memset(out, 0, PVB_CM_REQ_SIZE);
	out[0] = (uint8_t)strlen(app);
	memcpy(out + 1, app, strlen(app));
	memcpy(out + 33, "Crn\2", 4);
}

CT_TEST(cm_data, a_message_is_a_length_byte_the_data_and_the_trailer)
{
	uint8_t wanted[PVB_CM_REQ_SIZE], out[PVB_CM_REQ_SIZE];

	memset(out, 0xff, sizeof(out));
	CT_EXPECT_EQ(pvb_cm_pack(out, "hello", 5, NULL), PVB_CM_REQ_SIZE);
	layout(wanted, "hello");
	CT_EXPECT_MEMEQ(out, wanted, sizeof(out));
}

CT_TEST(cm_data, a_message_without_data_has_a_trailer_too)
{
	uint8_t wanted[PVB_CM_REQ_SIZE], out[PVB_CM_REQ_SIZE];

	CT_EXPECT_EQ(pvb_cm_pack(out, NULL, 0, NULL), PVB_CM_REQ_SIZE);
	layout(wanted, "");
	CT_EXPECT_MEMEQ(out, wanted, sizeof(out));
}

CT_TEST(cm_data, more_than_an_application_may_send_is_refused)
{
	uint8_t out[PVB_CM_REQ_SIZE], app[PVB_CM_APP_SIZE + 1] = {0};

	CT_EXPECT_EQ(pvb_cm_pack(out, app, PVB_CM_APP_SIZE, NULL), PVB_CM_REQ_SIZE);
	CT_EXPECT_EQ(pvb_cm_pack(out, app, PVB_CM_APP_SIZE + 1, NULL), 0);
	CT_EXPECT_EQ(pvb_cm_pack(out, app, SIZE_MAX, NULL), 0);
}

CT_TEST(cm_data, every_length_comes_out_as_it_went_in)
{
	uint8_t app[PVB_CM_APP_SIZE], out[PVB_CM_REQ_SIZE];
	struct pvb_cm_data data;
	size_t len;

	for (len = 0; len < sizeof(app); len++)
		app[len] = (uint8_t)(0x80 + len);
	for (len = 0; len <= sizeof(app); len++) {
		CT_NOTE("%zu bytes", len);
		pvb_cm_parse(&data, out, pvb_cm_pack(out, app, len, NULL));
		CT_EXPECT_EQ(data.app_len, len);
		CT_EXPECT_MEMEQ(data.app, app, len);
		CT_EXPECT_TRUE(data.trailer);
		CT_EXPECT_EQ(data.version, 2);
		CT_EXPECT_EQ(data.flags, 0);
	}
}

CT_TEST(cm_data, nothing_is_no_data)
{
	struct pvb_cm_data data;

	memset(&data, 0xff, sizeof(data));
	pvb_cm_parse(&data, NULL, 0);
	CT_EXPECT_EQ(data.app_len, 0);
	CT_EXPECT_FALSE(data.trailer);
	pvb_cm_parse(&data, "", 0);
	CT_EXPECT_EQ(data.app_len, 0);
	CT_EXPECT_FALSE(data.trailer);
}

CT_TEST(cm_data, a_length_past_the_end_is_cut_to_what_is_there)
{
	static const struct {
		uint8_t length, bytes, wanted;
	} rows[] = {{0, 1, 0},	   {1, 1, 0},	    {255, 1, 0},    {1, 2, 1},
		    {2, 2, 1},	   {255, 2, 1},	    {55, 56, 55},   {56, 56, 55},
		    {255, 56, 55}, {255, 255, 254}, {100, 200, 100}};
	struct pvb_cm_data data;
	uint8_t *bytes;

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("length %u of %u", rows[i].length, rows[i].bytes);
		bytes = calloc(1, rows[i].bytes);
		bytes[0] = rows[i].length;
		pvb_cm_parse(&data, bytes, rows[i].bytes);
		CT_EXPECT_EQ(data.app_len, rows[i].wanted);
		CT_EXPECT_EQ(data.app, bytes + 1);
		free(bytes);
	}
}

CT_TEST(cm_data, a_stock_peer_may_use_the_place_of_the_trailer)
{
	uint8_t bytes[PVB_CM_REQ_SIZE];
	struct pvb_cm_data data;

	layout(bytes, "");
	bytes[0] = 40;
	pvb_cm_parse(&data, bytes, sizeof(bytes));
	CT_EXPECT_EQ(data.app_len, 40);
	CT_EXPECT_FALSE(data.trailer);
	bytes[0] = 33;
	pvb_cm_parse(&data, bytes, sizeof(bytes));
	CT_EXPECT_FALSE(data.trailer);
	bytes[0] = 32;
	pvb_cm_parse(&data, bytes, sizeof(bytes));
	CT_EXPECT_TRUE(data.trailer);
}

CT_TEST(cm_data, a_trailer_is_known_by_its_magic_and_whole)
{
	uint8_t bytes[PVB_CM_REQ_SIZE];
	struct pvb_cm_data data;

	for (int i = 0; i < 3; i++) {
		CT_NOTE("byte %d of the magic", i);
		layout(bytes, "x");
		bytes[PVB_CM_TRAILER_AT + i] ^= 1;
		pvb_cm_parse(&data, bytes, sizeof(bytes));
		CT_EXPECT_FALSE(data.trailer);
		CT_EXPECT_EQ(data.app_len, 1);
	}
	layout(bytes, "x");
	pvb_cm_parse(&data, bytes, sizeof(bytes) - 1);
	CT_EXPECT_FALSE(data.trailer);
}

CT_TEST(cm_data, a_later_version_and_its_flags_are_kept)
{
	uint8_t bytes[PVB_CM_REQ_SIZE];
	struct pvb_cm_data data;

	layout(bytes, "x");
	bytes[PVB_CM_TRAILER_AT + 3] = 7;
	bytes[PVB_CM_TRAILER_AT + 4] = 0xa5;
	bytes[PVB_CM_REQ_SIZE - 1] = 1;
	pvb_cm_parse(&data, bytes, sizeof(bytes));
	CT_EXPECT_TRUE(data.trailer);
	CT_EXPECT_EQ(data.version, 7);
	CT_EXPECT_EQ(data.flags, 0xa5);
}

CT_TEST(cm_data, an_answer_longer_than_a_request_is_understood)
{
	uint8_t bytes[196] = {0};
	struct pvb_cm_data data;

	layout(bytes, "longer");
	pvb_cm_parse(&data, bytes, sizeof(bytes));
	CT_EXPECT_TRUE(data.trailer);
	CT_EXPECT_EQ(data.app_len, 6);
	CT_EXPECT_MEMEQ(data.app, "longer", 6);
}

CT_TEST(cm_data, a_control_queue_pair_is_three_bytes_of_number_and_three_of_psn)
{
	struct pvb_cm_offer offer = {
		.word = {0x1122334455667788u, 0x99aabbccu},
		.control = {0x123456, 0xabcdef, true},
	};
	static const uint8_t wanted[] = {0x12, 0x34, 0x56, 0xab, 0xcd, 0xef};
	uint8_t out[PVB_CM_REQ_SIZE];
	struct pvb_cm_data data;

	pvb_cm_pack(out, NULL, 0, &offer);
	CT_EXPECT_EQ(out[37], PVB_CM_WORD | PVB_CM_CONTROL | PVB_CM_SEQ_WORD);
	CT_EXPECT_MEMEQ(out + 38, wanted, sizeof(wanted));
	pvb_cm_parse(&data, out, sizeof(out));
	CT_EXPECT_EQ(data.control.qp_num, 0x123456);
	CT_EXPECT_EQ(data.control.psn, 0xabcdef);
	CT_EXPECT_TRUE(data.control.seq_word);
	CT_EXPECT_EQ(data.word.addr, offer.word.addr);
	offer.control.seq_word = false;
	pvb_cm_parse(&data, out, pvb_cm_pack(out, NULL, 0, &offer));
	CT_EXPECT_EQ(data.control.qp_num, 0x123456);
	CT_EXPECT_FALSE(data.control.seq_word);
}

CT_TEST(cm_data, a_control_queue_pair_without_a_word_is_none)
{
	const struct pvb_cm_offer offer = {.word = {1, 2}, .control = {3, 4, true}};
	uint8_t out[PVB_CM_REQ_SIZE];
	struct pvb_cm_data data;

	pvb_cm_pack(out, NULL, 0, &offer);
	out[37] &= (uint8_t)~PVB_CM_WORD;
	pvb_cm_parse(&data, out, sizeof(out));
	CT_EXPECT_TRUE(data.trailer);
	CT_EXPECT_EQ(data.control.qp_num, 0);
	CT_EXPECT_EQ(data.word.addr, 0);
}

CT_TEST(cm_data, without_a_control_queue_pair_its_bytes_are_zero)
{
	const struct pvb_cm_offer offer = {.word = {1, 2}, .control = {0, 4, true}};
	static const uint8_t zero[6];
	uint8_t out[PVB_CM_REQ_SIZE];

	pvb_cm_pack(out, NULL, 0, &offer);
	CT_EXPECT_EQ(out[37], PVB_CM_WORD);
	CT_EXPECT_MEMEQ(out + 38, zero, sizeof(zero));
}

CT_TEST(cm_data, a_control_connection_is_offered_or_taken_with_a_cookie)
{
	const struct pvb_cm_offer offer = {
		.word = {1, 2},
		.control_conn = true,
		.cookie = 0x123456abcdef,
	};
	static const uint8_t wanted[] = {0x12, 0x34, 0x56, 0xab, 0xcd, 0xef};
	uint8_t out[PVB_CM_REQ_SIZE];
	struct pvb_cm_data data;

	pvb_cm_pack(out, NULL, 0, &offer);
	CT_EXPECT_EQ(out[37], PVB_CM_WORD | PVB_CM_CONTROL_CONN);
	CT_EXPECT_MEMEQ(out + 38, wanted, sizeof(wanted));
	pvb_cm_parse(&data, out, sizeof(out));
	CT_EXPECT_TRUE(data.control_conn);
	CT_EXPECT_FALSE(data.shows);
	CT_EXPECT_EQ(data.cookie, 0x123456abcdef);
	CT_EXPECT_EQ(data.control.qp_num, 0);
}

CT_TEST(cm_data, a_cookie_is_sent_by_nothing_but_the_control_connection)
{
	static const uint8_t more[] = {PVB_CM_WORD, PVB_CM_CONTROL, PVB_CM_CONTROL_CONN};
	uint8_t out[PVB_CM_REQ_SIZE];
	struct pvb_cm_data data;

	pvb_cm_pack_cookie(out, 0x123456abcdef);
	pvb_cm_parse(&data, out, sizeof(out));
	CT_EXPECT_TRUE(data.shows);
	CT_EXPECT_EQ(data.cookie, 0x123456abcdef);
	CT_EXPECT_EQ(data.app_len, 0);
	for (size_t i = 0; i < CRN_COUNT(more); i++) {
		CT_NOTE("flag %u", more[i]);
		out[37] = PVB_CM_COOKIE | more[i];
		pvb_cm_parse(&data, out, sizeof(out));
		CT_EXPECT_FALSE(data.shows);
	}
	/* Somebody's data that looks like it. */
	pvb_cm_pack_cookie(out, 1);
	out[0] = 1;
	pvb_cm_parse(&data, out, sizeof(out));
	CT_EXPECT_FALSE(data.shows);
	CT_EXPECT_EQ(data.cookie, 0);
}
