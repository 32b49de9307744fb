/* SPDX-License-Identifier: BSD-2-Clause */
/* Heads of RPC messages against the words of RFC 5531 section 9, written by hand. */
#include <arpa/inet.h>
#include <rdma/fi_errno.h>
#include "cairn_test.h"
#include "rpcmsg/head.h"

#define XID 0x01020304u
#define WORDS 16

struct bytes {
	uint32_t words[WORDS]; /* big-endian */
	size_t len;
};

static struct bytes words(const uint32_t *from, size_t count)
{
	struct bytes bytes = {.len = count * sizeof(uint32_t)};

	for (size_t i = 0; i < count; i++)
		bytes.words[i] = htonl(from[i]);
	return bytes;
}

#define BYTES(...)                             \
	words((const uint32_t[]){__VA_ARGS__}, \
	      sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

static int take(const struct bytes *bytes, char *why, u_int *used)
{
	XDR xdr;
	int ret;

	xdrmem_create(&xdr, (char *)bytes->words, (u_int)bytes->len, XDR_DECODE);
	ret = rpm_take_reply(&xdr, why, 160);
	if (used)
		*used = xdr_getpos(&xdr);
	return ret;
}

static void refused(struct bytes bytes, int ret, const char *named)
{
	char why[160] = "";

	CT_EXPECT_EQ(take(&bytes, why, NULL), ret);
	CT_EXPECT_DATA(why, named);
}

CT_TEST(rpcmsg_head, an_accepted_reply_is_six_words)
{
	const struct bytes success = BYTES(XID, 1, 0, 0, 0, 0);
	const struct bytes failed = BYTES(XID, 1, 0, 0, 0, 5);
	uint8_t bytes[64];
	XDR xdr;

	xdrmem_create(&xdr, (char *)bytes, sizeof(bytes), XDR_ENCODE);
	CT_EXPECT_TRUE(rpm_put_reply(&xdr, XID, 0));
	CT_ASSERT_EQ(xdr_getpos(&xdr), 24);
	CT_EXPECT_MEMEQ(bytes, success.words, 24);
	xdr_setpos(&xdr, 0);
	CT_EXPECT_TRUE(rpm_put_reply(&xdr, XID, 5));
	CT_ASSERT_EQ(xdr_getpos(&xdr), 24);
	CT_EXPECT_MEMEQ(bytes, failed.words, 24);
}

CT_TEST(rpcmsg_head, a_mismatch_says_the_lowest_version_first)
{
	const struct bytes wanted = BYTES(XID, 1, 0, 0, 0, 2, 3, 7);
	uint8_t bytes[64];
	XDR xdr;

	xdrmem_create(&xdr, (char *)bytes, sizeof(bytes), XDR_ENCODE);
	CT_EXPECT_TRUE(rpm_put_mismatch(&xdr, XID, 3, 7));
	CT_ASSERT_EQ(xdr_getpos(&xdr), 32);
	CT_EXPECT_MEMEQ(bytes, wanted.words, 32);
	refused(wanted, -FI_EIO, "PROG_MISMATCH 3 7");
}

CT_TEST(rpcmsg_head, no_room_is_an_error)
{
	uint8_t bytes[28];
	XDR xdr;

	xdrmem_create(&xdr, (char *)bytes, 20, XDR_ENCODE);
	CT_EXPECT_FALSE(rpm_put_reply(&xdr, XID, 0));
	xdrmem_create(&xdr, (char *)bytes, 28, XDR_ENCODE);
	CT_EXPECT_FALSE(rpm_put_mismatch(&xdr, XID, 1, 1));
}

/* The verifier may be any. */
CT_TEST(rpcmsg_head, results_follow_the_head)
{
	const struct bytes plain = BYTES(XID, 1, 0, 0, 0, 0, 42);
	const struct bytes verified =
		BYTES(XID, 1, 0, 6, 5, 0x61626364, 0x65000000, 0, 42);
	char why[160];
	u_int used;

	CT_EXPECT_EQ(take(&plain, why, &used), 0);
	CT_EXPECT_EQ(used, 24);
	CT_EXPECT_EQ(take(&verified, why, &used), 0);
	CT_EXPECT_EQ(used, 32);
}

CT_TEST(rpcmsg_head, what_comes_in_place_of_results_is_named)
{
	refused(BYTES(XID, 1, 0, 0, 0, 1), -FI_EIO, "PROG_UNAVAIL");
	refused(BYTES(XID, 1, 0, 0, 0, 3), -FI_EIO, "PROC_UNAVAIL");
	refused(BYTES(XID, 1, 0, 0, 0, 4), -FI_EIO, "GARBAGE_ARGS");
	refused(BYTES(XID, 1, 0, 0, 0, 5), -FI_EIO, "SYSTEM_ERR");
	refused(BYTES(XID, 1, 0, 0, 0, 6), -FI_EIO, "RPC");
}

CT_TEST(rpcmsg_head, a_denied_reply_is_no_success)
{
	refused(BYTES(XID, 1, 1, 0, 2, 2), -FI_EIO, "RPC");
	refused(BYTES(XID, 1, 1, 1, 1), -FI_EACCES, "AUTH_BADCRED");
	refused(BYTES(XID, 1, 1, 1, 5), -FI_EACCES, "AUTH_TOOWEAK");
	refused(BYTES(XID, 1, 1, 1, 13), -FI_EACCES, "");
}

CT_TEST(rpcmsg_head, what_is_no_reply_is_an_error)
{
	refused(BYTES(XID, 0, 2, 1, 1, 0, 0, 0, 0, 0), -FI_EIO, "RPC");
	refused(BYTES(XID, 1, 2, 0, 0, 0), -FI_EIO, "RPC");
	refused(BYTES(XID, 1, 0, 0, 0), -FI_EIO, "RPC");
	/* RFC 5531 section 8.2: 400 bytes at most. */
	refused(BYTES(XID, 1, 0, 0, 401, 0, 0), -FI_EIO, "RPC");
}

CT_TEST(rpcmsg_head, a_message_is_a_call_a_reply_or_neither)
{
	const struct bytes call = BYTES(XID, 0), reply = BYTES(XID, 1);
	const struct bytes other = BYTES(XID, 2);
	uint32_t xid = 0;
	bool is_call;

	CT_EXPECT_TRUE(rpm_peek((const uint8_t *)call.words, 8, &xid, &is_call));
	CT_EXPECT_TRUE(is_call);
	CT_EXPECT_EQ(xid, XID);
	CT_EXPECT_TRUE(rpm_peek((const uint8_t *)reply.words, 8, &xid, &is_call));
	CT_EXPECT_FALSE(is_call);
	CT_EXPECT_FALSE(rpm_peek((const uint8_t *)other.words, 8, &xid, &is_call));
	CT_EXPECT_FALSE(rpm_peek((const uint8_t *)call.words, 7, &xid, &is_call));
}
