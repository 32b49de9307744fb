/* SPDX-License-Identifier: BSD-2-Clause */
/* What any peer may send to a connection of rpcrdma: messages, and its private data. */
#include <string.h>
#include "fuzz.h"
#include "wire/wire.h"

/* What is understood is what a peer of ours could have meant. */
static void check_header(const uint8_t *data, size_t size)
{
	/* The longest that there is has some 2,100 bytes. */
	uint8_t out[4096];
	struct rpr_header header;
	uint32_t xid, credit;
	size_t used;
	bool brief = rpr_header_is_short(data, size, &xid, &credit);

	if (rpr_header_parse(&header, data, size, &used) != RPR_OK) {
		FUZZ_CHECK(!brief);
		return;
	}
	FUZZ_CHECK(used <= size);
	FUZZ_CHECK(rpr_header_len(&header) == used);
	FUZZ_CHECK(rpr_header_pack(&header, out, sizeof(out)) == (ssize_t)used);
	FUZZ_CHECK(!memcmp(out, data, used));
	FUZZ_CHECK(brief == (header.proc == RPR_MSG && used == RPR_HEADER_MIN));
	FUZZ_CHECK(!brief || (header.xid == xid && header.credit == credit));
}

static void check_message(const uint8_t *data, size_t size)
{
	enum rpr_direction direction;
	uint32_t xid;

	if (rpr_message_reducible(data, size)) {
		FUZZ_CHECK(rpr_message_parse(data, size, &xid, &direction));
		FUZZ_CHECK(direction == RPR_CALL);
	}
}

static void check_private(const uint8_t *data, size_t size, bool tail)
{
	struct rpr_private priv;
	uint8_t out[RPR_PRIVATE_LEN];
	size_t end = rpr_private_find(&priv, data, size, tail);

	FUZZ_CHECK(end <= size);
	FUZZ_CHECK(priv.send_size >= 1024 && priv.send_size <= 262144);
	FUZZ_CHECK(priv.recv_size >= 1024 && priv.recv_size <= 262144);
	if (!end) {
		FUZZ_CHECK(!priv.remote_invalidate && priv.send_size == 1024);
		return;
	}
	rpr_private_pack(&priv, out);
	FUZZ_CHECK(end >= sizeof(out) || (tail && end == sizeof(out) - 1));
	FUZZ_CHECK(!memcmp(out + 1, data + end - 7, 4));
	FUZZ_CHECK(!memcmp(out + 6, data + end - 2, 2));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check_header(data, size);
	check_message(data, size);
	check_private(data, size, false);
	check_private(data, size, true);
	return 0;
}
