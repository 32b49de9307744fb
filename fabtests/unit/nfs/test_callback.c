/* SPDX-License-Identifier: BSD-2-Clause */
/* The back channel's Replies, word by word (RFC 8881 section 20, RFC 5531 section 9). */
#include <arpa/inet.h>
#include "callback.h"
#include "status.h"
#include "cairn_test.h"

#define XID 0x01020304u
#define SESSION 0x5e, 0x55, 0x10, 0x4e
#define OTHER_SESSION 0x5e, 0x55, 0x10, 0x4f
#define STATEID 1, 0xa, 0xb, 0xc
#define ROOM 512

static struct nfc_callbacks callbacks;
static uint8_t call[512], answer[ROOM];
static size_t call_len, answer_len;

static void put(const uint32_t *words, size_t count)
{
	uint32_t word;

	for (size_t i = 0; i < count; i++, call_len += sizeof(word)) {
		word = htonl(words[i]);
		memcpy(call + call_len, &word, sizeof(word));
	}
}

#define PUT(...)                             \
	put((const uint32_t[]){__VA_ARGS__}, \
	    sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

static void begin(uint32_t xid, uint32_t program, uint32_t proc)
{
	call_len = 0;
	PUT(xid, 0, 2, program, 1, proc, 0, 0, 0, 0);
}

/* A COMPOUND of so many operations follows. */
static void begin_compound(uint32_t xid, uint32_t operations)
{
	begin(xid, NFS4_CALLBACK, 1);
	PUT(0, 1, 0, operations);
}

static void put_recall(void)
{
	PUT(4, STATEID, 0, 4, 0xf11e);
}

static void serve(void)
{
	answer_len = nfc_callback_serve(&callbacks, call, call_len, answer, ROOM);
}

static void answered(const uint32_t *words, size_t count)
{
	uint32_t found;

	CT_ASSERT_EQ(answer_len, count * sizeof(found));
	for (size_t i = 0; i < count; i++) {
		memcpy(&found, answer + i * sizeof(found), sizeof(found));
		CT_NOTE("word %zu", i);
		CT_EXPECT_EQ(ntohl(found), words[i]);
	}
}

#define ANSWERED(...)                             \
	answered((const uint32_t[]){__VA_ARGS__}, \
		 sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

static void fresh(void)
{
	const uint32_t id[] = {SESSION};
	uint32_t word;

	memset(&callbacks, 0, sizeof(callbacks));
	for (size_t i = 0; i < 4; i++) {
		word = htonl(id[i]);
		memcpy(callbacks.sessionid + i * sizeof(word), &word, sizeof(word));
	}
}

CT_TEST(nfs_callback, a_recall_is_answered_and_remembered)
{
	stateid4 stateid;

	fresh();
	begin_compound(XID, 2);
	PUT(11, SESSION, 1, 0, 0, 0, 0);
	put_recall();
	serve();
	ANSWERED(XID, 1, 0, 0, 0, 0, 0, 0, 2, 11, 0, SESSION, 1, 0, 0, 0, 4, 0);
	CT_ASSERT_TRUE(nfc_callback_recall(&callbacks, &stateid));
	CT_EXPECT_EQ(stateid.seqid, 1);
	CT_EXPECT_FALSE(nfc_callback_recall(&callbacks, &stateid));
}

CT_TEST(nfs_callback, what_comes_again_is_answered_again_and_not_executed)
{
	fresh();
	begin_compound(XID, 2);
	PUT(11, SESSION, 1, 0, 0, 0, 0);
	put_recall();
	serve();
	begin_compound(XID + 1, 2);
	PUT(11, SESSION, 1, 0, 0, 0, 0);
	put_recall();
	serve();
	ANSWERED(XID + 1, 1, 0, 0, 0, 0, 0, 0, 2, 11, 0, SESSION, 1, 0, 0, 0, 4, 0);
	CT_EXPECT_EQ(callbacks.recalled, 1);
	CT_EXPECT_EQ(callbacks.served, 1);
}

CT_TEST(nfs_callback, a_number_out_of_order_is_refused)
{
	fresh();
	begin_compound(XID, 2);
	PUT(11, SESSION, 2, 0, 0, 0, 0);
	put_recall();
	serve();
	ANSWERED(XID, 1, 0, 0, 0, 0, NFC_SEQ_MISORDERED, 0, 1, 11, NFC_SEQ_MISORDERED);
	CT_EXPECT_EQ(callbacks.recalled, 0);
}

/* Also with the number of the Call that was answered last. */
CT_TEST(nfs_callback, another_session_or_slot_is_refused)
{
	fresh();
	begin_compound(XID, 1);
	PUT(11, SESSION, 1, 0, 0, 0, 0);
	serve();
	for (uint32_t number = 1; number < 3; number++) {
		begin_compound(XID, 1);
		PUT(11, OTHER_SESSION, number, 0, 0, 0, 0);
		serve();
		ANSWERED(XID, 1, 0, 0, 0, 0, NFC_BADSESSION, 0, 1, 11, NFC_BADSESSION);
		begin_compound(XID, 1);
		PUT(11, SESSION, number, 1, 1, 0, 0);
		serve();
		ANSWERED(XID, 1, 0, 0, 0, 0, NFC_BADSLOT, 0, 1, 11, NFC_BADSLOT);
	}
	/* They have changed nothing. */
	begin_compound(XID, 1);
	PUT(11, SESSION, 1, 0, 0, 0, 0);
	serve();
	ANSWERED(XID, 1, 0, 0, 0, 0, 0, 0, 1, 11, 0, SESSION, 1, 0, 0, 0);
	begin_compound(XID, 1);
	PUT(11, SESSION, 2, 0, 0, 0, 0);
	serve();
	ANSWERED(XID, 1, 0, 0, 0, 0, 0, 0, 1, 11, 0, SESSION, 2, 0, 0, 0);
}

CT_TEST(nfs_callback, sequence_comes_first_and_once)
{
	fresh();
	begin_compound(XID, 1);
	put_recall();
	serve();
	ANSWERED(XID, 1, 0, 0, 0, 0, NFC_OP_NOT_IN_SESSION, 0, 1, 4,
		 NFC_OP_NOT_IN_SESSION);
	begin_compound(XID, 2);
	PUT(11, SESSION, 1, 0, 0, 0, 0);
	PUT(11, SESSION, 2, 0, 0, 0, 0);
	serve();
	ANSWERED(XID, 1, 0, 0, 0, 0, NFC_SEQUENCE_POS, 0, 2, 11, 0, SESSION, 1, 0, 0, 0,
		 11, NFC_SEQUENCE_POS);
	CT_EXPECT_EQ(callbacks.recalled, 0);
}

CT_TEST(nfs_callback, what_is_not_there_is_named)
{
	fresh();
	begin(XID, NFS4_CALLBACK + 1, 0);
	serve();
	ANSWERED(XID, 1, 0, 0, 0, 1);
	begin(XID, NFS4_CALLBACK, 2);
	serve();
	ANSWERED(XID, 1, 0, 0, 0, 3);
	begin(XID, NFS4_CALLBACK, 1);
	PUT(0, 1);
	serve();
	ANSWERED(XID, 1, 0, 0, 0, 4);
	begin(XID, NFS4_CALLBACK, 0);
	serve();
	ANSWERED(XID, 1, 0, 0, 0, 0);
	call_len -= 4;
	serve();
	CT_EXPECT_EQ(answer_len, 0);
}
