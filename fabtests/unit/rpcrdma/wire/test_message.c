/* SPDX-License-Identifier: BSD-2-Clause */
#include <cairn/compat.h>
#include "headers.h"

#define ALL 0xffffffffu

CT_TEST(rpr_message, begins_with_xid_and_direction)
{
	static const struct {
		uint8_t bytes[9];
		bool known;
		enum rpr_direction direction;
	} rows[] = {
		{{W(0x01020304), W(0)}, true, RPR_CALL},
		{{W(0x01020304), W(1)}, true, RPR_REPLY},
		{{W(0x01020304), W(2)}, false, 0},
		{{W(0x01020304), W(0x100)}, false, 0},
		{{W(0x01020304), W(0x01000000)}, false, 0},
		{{W(0x01020304), W(ALL)}, false, 0},
	};
	enum rpr_direction direction;
	uint32_t xid;

	for (size_t i = 0; i < CRN_COUNT(rows); i++)
		for (size_t len = 0; len <= sizeof(rows[i].bytes); len++) {
			bool known = rows[i].known && len >= 8;

			CT_NOTE("row %zu, %zu bytes", i, len);
			CT_EXPECT_EQ(rpr_message_parse(ct_fence_copy(rows[i].bytes, len),
						       len, &xid, &direction),
				     known);
			if (!known)
				continue;
			CT_EXPECT_EQ(xid, 0x01020304);
			CT_EXPECT_EQ(direction, rows[i].direction);
		}
}

/* A Call of NFS up to its credentials; RPCSEC_GSS with version, DATA, number, service. */
#define CALL W(7), W(0), W(2), W(100003), W(4), W(1)
#define GSS(version, service) \
	CALL, W(6), W(24), W(version), W(0), W(99), W(service), W(4), W(ALL)

static const struct {
	const char *name;
	uint8_t bytes[64];
	size_t len;
	bool reducible;
} calls[] = {
	{"AUTH_NONE", {CALL, W(0), W(0)}, 32, true},
	{"AUTH_SYS", {CALL, W(1), W(8), W(3), W(3)}, 40, true},
	{"RPCSEC_TLS", {CALL, W(7), W(0)}, 32, true},
	{"a flavor whose low byte is 6", {CALL, W(0x106), W(0)}, 32, true},
	{"RPCSEC_GSS, none", {GSS(1, 1)}, 56, true},
	{"RPCSEC_GSS, integrity", {GSS(1, 2)}, 56, false},
	{"RPCSEC_GSS, privacy", {GSS(1, 3)}, 56, false},
	{"RPCSEC_GSS, no service", {GSS(1, 0)}, 56, false},
	{"RPCSEC_GSS, service 257", {GSS(1, 0x101)}, 56, false},
	{"RPCSEC_GSS, another version", {GSS(3, 1)}, 56, false},
	{"RPCSEC_GSS, credentials too short",
	 {CALL, W(6), W(12), W(1), W(0), W(99), W(1)},
	 48,
	 false},
	{"a Reply", {W(7), W(1), W(2), W(0), W(0), W(0), W(0), W(0)}, 32, false},
	{"RPC version 3", {W(7), W(0), W(3), W(0), W(0), W(0), W(0), W(0)}, 32, false},
	{"credentials beyond the bytes", {CALL, W(1), W(ALL)}, 64, false},
};

CT_TEST(rpr_message, reducible_unless_protected)
{
	for (size_t i = 0; i < CRN_COUNT(calls); i++)
		for (size_t len = 0; len <= sizeof(calls[i].bytes); len++) {
			CT_NOTE("%s, %zu bytes", calls[i].name, len);
			CT_EXPECT_EQ(rpr_message_reducible(
					     ct_fence_copy(calls[i].bytes, len), len),
				     calls[i].reducible && len >= calls[i].len);
		}
}
