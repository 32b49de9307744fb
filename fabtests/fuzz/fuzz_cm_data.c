/* SPDX-License-Identifier: BSD-2-Clause */
/* Private data of rdma_cm messages, as any peer may send it. */
#include <string.h>
#include "fuzz.h"
#include "wire/private_data.h"

#define TRAILER_MAGIC "Crn"

/* What the parser says about these bytes is in them. */
static void check_parsed(const struct pvb_cm_data *data, const uint8_t *bytes,
			 size_t size)
{
	FUZZ_CHECK(size ? data->app == bytes + 1 : !data->app);
	FUZZ_CHECK(data->app_len <= (size ? size - 1 : 0));
	FUZZ_CHECK(!size || data->app_len <= bytes[0]);
	if (!data->trailer) {
		FUZZ_CHECK(!data->version && !data->flags);
		return;
	}
	FUZZ_CHECK(size >= PVB_CM_REQ_SIZE && data->app_len <= PVB_CM_APP_SIZE);
	FUZZ_CHECK(!memcmp(bytes + PVB_CM_TRAILER_AT, TRAILER_MAGIC, 3));
	FUZZ_CHECK(data->version == bytes[PVB_CM_TRAILER_AT + 3]);
	FUZZ_CHECK(data->flags == bytes[PVB_CM_TRAILER_AT + 4]);
	FUZZ_CHECK(data->control.qp_num < 1u << 24 && data->control.psn < 1u << 24);
	if (!(data->flags & PVB_CM_WORD) || !(data->flags & PVB_CM_CONTROL))
		FUZZ_CHECK(!data->control.qp_num && !data->control.seq_word);
	/* One of three, and of the control connection itself nothing else is said. */
	FUZZ_CHECK(!!data->control.qp_num + data->control_conn + data->shows <= 1);
	FUZZ_CHECK(data->cookie < 1ull << PVB_CM_COOKIE_BITS);
	FUZZ_CHECK(data->control_conn || data->shows || !data->cookie);
	FUZZ_CHECK(!data->shows || (!data->app_len && !data->word.addr));
}

/* What a trailer offers is what the peer learns of it. */
static void check_offered(const struct pvb_cm_data *in)
{
	const struct pvb_cm_offer offer = {.word = in->word,
					   .control = in->control,
					   .control_conn = in->control_conn,
					   .cookie = in->cookie};
	uint8_t message[PVB_CM_REQ_SIZE];
	struct pvb_cm_data out;

	if (!(in->flags & PVB_CM_WORD))
		return;
	pvb_cm_parse(&out, message, pvb_cm_pack(message, NULL, 0, &offer));
	FUZZ_CHECK(out.word.addr == in->word.addr && out.word.rkey == in->word.rkey);
	FUZZ_CHECK(out.control.qp_num == in->control.qp_num);
	FUZZ_CHECK(out.control_conn == in->control_conn && out.cookie == in->cookie);
	if (!in->control.qp_num)
		return;
	FUZZ_CHECK(out.control.psn == in->control.psn);
	FUZZ_CHECK(out.control.seq_word == in->control.seq_word);
}

/* The request of a control connection is nothing but that. */
static void check_cookie(uint64_t cookie)
{
	uint8_t message[PVB_CM_REQ_SIZE];
	struct pvb_cm_data data;

	pvb_cm_pack_cookie(message, cookie);
	pvb_cm_parse(&data, message, sizeof(message));
	FUZZ_CHECK(data.shows && data.cookie == cookie && !data.app_len);
}

/* What is packed is what the peer unpacks. */
static void check_packed(const uint8_t *app, size_t len)
{
	uint8_t message[PVB_CM_REQ_SIZE];
	struct pvb_cm_data data;
	size_t size = pvb_cm_pack(message, app, len, NULL);

	FUZZ_CHECK(size == (len > PVB_CM_APP_SIZE ? 0 : PVB_CM_REQ_SIZE));
	if (!size)
		return;
	pvb_cm_parse(&data, message, size);
	FUZZ_CHECK(data.trailer && data.version == PVB_CM_VERSION && !data.flags);
	FUZZ_CHECK(data.app_len == len && (!len || !memcmp(data.app, app, len)));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct pvb_cm_data data;

	pvb_cm_parse(&data, bytes, size);
	check_parsed(&data, bytes, size);
	check_offered(&data);
	check_cookie(data.cookie);
	check_packed(data.app, data.app_len);
	check_packed(bytes, size);
	return 0;
}
