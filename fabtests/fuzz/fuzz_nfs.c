/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a server of NFSv4.1 sends: the first byte of an input says whether the rest is a
 * Reply or a Call of the back channel.
 */
#include <string.h>
#include "callback.h"
#include "fuzz.h"
#include "ops.h"

static struct nfc_session session;

static void check_reply(const uint8_t *data, size_t size)
{
	struct nfc_handle handle;
	struct nfc_attrs attrs;
	COMPOUND4res res;
	nfs_resop4 *op;
	char why[LNK_WHY] = "";

	if (nfc_parse_reply(data, size, &res, why)) {
		FUZZ_CHECK(*why && memchr(why, 0, sizeof(why)));
		return;
	}
	FUZZ_CHECK(res.ops.ops_len <= NFS4_OPS_MAX);
	for (unsigned int i = 0; i < res.ops.ops_len; i++) {
		op = nfc_result(&res, i, OP_GETATTR);
		if (op && !op->nfs_resop4_u.getattr.status)
			nfc_take_attrs(&session,
				       &op->nfs_resop4_u.getattr.GETATTR4res_u.ok,
				       &attrs);
		op = nfc_result(&res, i, OP_GETFH);
		if (op && !op->nfs_resop4_u.getfh.status) {
			nfc_take_handle(&handle, &op->nfs_resop4_u.getfh.GETFH4res_u.ok);
			FUZZ_CHECK(handle.len <= sizeof(handle.bytes));
		}
	}
	nfc_free_reply(&res);
}

/* Twice: the second time it is one that was answered, with another XID, or an error. */
static void check_callback(const uint8_t *from, size_t size)
{
	static uint8_t data[4096];
	struct nfc_callbacks callbacks = {.sessionid = {1}};
	uint8_t answer[512];
	uint32_t xid, asked;
	size_t len;
	bool call;

	if (!size || size > sizeof(data))
		return;
	memcpy(data, from, size);
	for (int i = 0; i < 2; i++, data[0] ^= 1) {
		len = nfc_callback_serve(&callbacks, data, size, answer, sizeof(answer));
		FUZZ_CHECK(len <= sizeof(answer));
		FUZZ_CHECK(callbacks.recalled <= NFC_RECALLS);
		FUZZ_CHECK(callbacks.sequence <= 1);
		if (!len)
			continue;
		FUZZ_CHECK(rpm_peek(answer, len, &xid, &call) && !call);
		rpm_peek(data, size, &asked, &call);
		FUZZ_CHECK(xid == asked);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	if (data[0] & 1)
		check_callback(data + 1, size - 1);
	else
		check_reply(data + 1, size - 1);
	return 0;
}
