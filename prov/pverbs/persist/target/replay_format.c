/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages that recovery finds again in persistent receive buffers: the replay format of
 * rdma/fi_ext_cairn.h. A header of 32 bytes goes ahead of the payload, little-endian:
 *
 *   bytes 0-7   "CrnRply1"
 *   bytes 8-15  number of the message
 *   bytes 16-23 length of the payload, bytes
 *   bytes 24-27 CRC-32C of the payload
 *   bytes 28-31 CRC-32C of bytes 0 to 27
 *
 * A message that was being received when the power failed may be torn anywhere; so may a
 * buffer that was used before. What both sums agree with is whole.
 */
#include <endian.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <isa-l/crc.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_ext_cairn.h>
#include "persist/persist.h"

#define PVB_REPLAY_FORMAT_NUMBER 8
#define PVB_REPLAY_FORMAT_LEN 16
#define PVB_REPLAY_FORMAT_PAYLOAD 24
#define PVB_REPLAY_FORMAT_SELF 28

static const char pvb_replay_format_magic[8] = {'C', 'r', 'n', 'R', 'p', 'l', 'y', '1'};

static uint32_t pvb_replay_format_crc(const void *bytes, size_t len)
{
	return ~crc32_iscsi((unsigned char *)(uintptr_t)bytes, (int)len, ~0u);
}

static void pvb_replay_format_put(uint8_t *to, uint64_t value, size_t size)
{
	value = htole64(value);
	memcpy(to, &value, size);
}

static uint64_t pvb_replay_format_get(const uint8_t *from, size_t size)
{
	uint64_t value = 0;

	memcpy(&value, from, size);
	return le64toh(value);
}

static int pvb_replay_format_write_header(void *header, const void *payload, size_t len,
					  uint64_t number)
{
	uint8_t *to = header;

	if (!header || (len && !payload) || len > INT_MAX)
		return -FI_EINVAL;
	memcpy(to, pvb_replay_format_magic, sizeof(pvb_replay_format_magic));
	pvb_replay_format_put(to + PVB_REPLAY_FORMAT_NUMBER, number, 8);
	pvb_replay_format_put(to + PVB_REPLAY_FORMAT_LEN, len, 8);
	pvb_replay_format_put(to + PVB_REPLAY_FORMAT_PAYLOAD,
			      pvb_replay_format_crc(payload, len), 4);
	pvb_replay_format_put(to + PVB_REPLAY_FORMAT_SELF,
			      pvb_replay_format_crc(to, PVB_REPLAY_FORMAT_SELF), 4);
	return 0;
}

/* Is there a whole message in the size bytes? */
static bool pvb_replay_format_parse(const uint8_t *buf, size_t size,
				    struct fi_cairn_replay_message *message)
{
	if (memcmp(buf, pvb_replay_format_magic, sizeof(pvb_replay_format_magic)) != 0 ||
	    pvb_replay_format_get(buf + PVB_REPLAY_FORMAT_SELF, 4) !=
		    pvb_replay_format_crc(buf, PVB_REPLAY_FORMAT_SELF))
		return false;
	message->number = pvb_replay_format_get(buf + PVB_REPLAY_FORMAT_NUMBER, 8);
	message->len = pvb_replay_format_get(buf + PVB_REPLAY_FORMAT_LEN, 8);
	message->payload = buf + FI_CAIRN_REPLAY_HEADER;
	return message->len <= size - FI_CAIRN_REPLAY_HEADER && message->len <= INT_MAX &&
	       pvb_replay_format_get(buf + PVB_REPLAY_FORMAT_PAYLOAD, 4) ==
		       pvb_replay_format_crc(message->payload, message->len);
}

static int pvb_replay_format_order(const void *a, const void *b)
{
	const struct fi_cairn_replay_message *one = a, *other = b;

	return one->number < other->number ? -1 : one->number > other->number;
}

static ssize_t pvb_replay(const void *buf, size_t stride, size_t count, uint64_t first,
			  int (*apply)(void *ctx, const struct fi_cairn_replay_message *),
			  void *ctx)
{
	struct fi_cairn_replay_message *found;
	size_t i, whole = 0;
	ssize_t applied = 0;
	int ret = 0;

	if (!buf || !apply || stride < FI_CAIRN_REPLAY_HEADER)
		return -FI_EINVAL;
	if (!count)
		return 0;
	found = calloc(count, sizeof(*found));
	if (!found)
		return -FI_ENOMEM;
	for (i = 0; i < count; i++) {
		if (pvb_replay_format_parse((const uint8_t *)buf + i * stride, stride,
					    &found[whole]) &&
		    found[whole].number >= first)
			whole++;
	}
	qsort(found, whole, sizeof(*found), pvb_replay_format_order);
	/* A number that is there twice was sent again: the same message. */
	for (i = 0; i < whole && found[i].number <= first && !ret; i++) {
		if (found[i].number < first)
			continue;
		ret = apply(ctx, &found[i]);
		applied += !ret;
		first++;
	}
	free(found);
	return ret ? ret : applied;
}

struct fi_cairn_ops_replay pvb_replay_ops = {
	.size = sizeof(struct fi_cairn_ops_replay),
	.write_header = pvb_replay_format_write_header,
	.replay = pvb_replay,
};
