/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include "wire.h"

#define SVB_CM_WIRE_MAGIC 0x6d63u
#define SVB_CM_QPN_MAX 0xffffffu

/* Position of packing or parsing. */
struct svb_cm_cursor {
	uint8_t *out;
	const uint8_t *in;
	size_t left;
	bool bad;
};

static void svb_put(struct svb_cm_cursor *at, uint32_t value, int bytes)
{
	while (bytes--)
		*at->out++ = (uint8_t)(value >> 8 * bytes);
}

static uint32_t svb_take(struct svb_cm_cursor *at, uint32_t bytes)
{
	uint32_t value = 0;

	if (at->left < bytes) {
		at->bad = true;
		at->left = 0;
		return 0;
	}
	at->left -= bytes;
	while (bytes--)
		value = value << 8 | *at->in++;
	return value;
}

static void svb_put_addr(struct svb_cm_cursor *at, const struct svb_cm_wire_addr *addr)
{
	svb_put(at, addr->family, 1);
	svb_put(at, addr->port, 2);
	svb_put(at, addr->scope, 4);
	memcpy(at->out, addr->addr, sizeof(addr->addr));
	at->out += sizeof(addr->addr);
}

static void svb_take_addr(struct svb_cm_cursor *at, struct svb_cm_wire_addr *addr)
{
	uint32_t family = svb_take(at, 1);
	size_t i;

	at->bad |= family > SVB_CM_IB;
	addr->family = (uint8_t)family;
	addr->port = (uint16_t)svb_take(at, 2);
	addr->scope = svb_take(at, 4);
	for (i = 0; i < sizeof(addr->addr); i++)
		addr->addr[i] = (uint8_t)svb_take(at, 1);
}

static bool svb_cm_has_addr(enum svb_cm_type type)
{
	return type == SVB_CM_REQ || type == SVB_CM_SIDR_REQ;
}

size_t svb_cm_pack(uint8_t buf[SVB_CM_MSG_MAX], const struct svb_cm_msg *msg)
{
	struct svb_cm_cursor at = {.out = buf};

	svb_put(&at, SVB_CM_WIRE_MAGIC, 2);
	svb_put(&at, msg->type, 2);
	svb_put(&at, msg->from, 4);
	svb_put(&at, msg->to, 4);
	svb_put(&at, msg->from_id, 4);
	svb_put(&at, msg->to_id, 4);
	svb_put(&at, msg->ps, 4);
	svb_put(&at, msg->qpn, 4);
	svb_put(&at, msg->psn, 4);
	svb_put(&at, msg->qkey, 4);
	svb_put(&at, msg->reason, 4);
	svb_put(&at, msg->ece_vendor, 4);
	svb_put(&at, msg->ece_options, 4);
	svb_put(&at, msg->responder_resources, 1);
	svb_put(&at, msg->initiator_depth, 1);
	svb_put(&at, msg->retry_count, 1);
	svb_put(&at, msg->rnr_retry_count, 1);
	svb_put(&at, msg->flow_control, 1);
	svb_put(&at, msg->srq, 1);
	if (svb_cm_has_addr(msg->type)) {
		svb_put_addr(&at, &msg->src);
		svb_put_addr(&at, &msg->dst);
	}
	svb_put(&at, msg->data_len, 1);
	memcpy(at.out, msg->data, msg->data_len);
	return (size_t)(at.out - buf) + msg->data_len;
}

bool svb_cm_parse(struct svb_cm_msg *msg, const uint8_t *buf, size_t len)
{
	struct svb_cm_cursor at = {.in = buf, .left = len};
	bool magic = svb_take(&at, 2) == SVB_CM_WIRE_MAGIC;
	uint32_t type = svb_take(&at, 2);

	memset(msg, 0, sizeof(*msg));
	if (!magic || !type || type >= SVB_CM_TYPES)
		return false;
	msg->type = type;
	msg->from = svb_take(&at, 4);
	msg->to = svb_take(&at, 4);
	msg->from_id = svb_take(&at, 4);
	msg->to_id = svb_take(&at, 4);
	msg->ps = svb_take(&at, 4);
	msg->qpn = svb_take(&at, 4);
	msg->psn = svb_take(&at, 4);
	msg->qkey = svb_take(&at, 4);
	msg->reason = svb_take(&at, 4);
	msg->ece_vendor = svb_take(&at, 4);
	msg->ece_options = svb_take(&at, 4);
	msg->responder_resources = (uint8_t)svb_take(&at, 1);
	msg->initiator_depth = (uint8_t)svb_take(&at, 1);
	msg->retry_count = (uint8_t)svb_take(&at, 1);
	msg->rnr_retry_count = (uint8_t)svb_take(&at, 1);
	msg->flow_control = (uint8_t)svb_take(&at, 1);
	msg->srq = (uint8_t)svb_take(&at, 1);
	if (svb_cm_has_addr(msg->type)) {
		svb_take_addr(&at, &msg->src);
		svb_take_addr(&at, &msg->dst);
	}
	msg->data_len = (uint8_t)svb_take(&at, 1);
	/* Retry counts have three bits, numbers of queue pairs and packets 24. */
	if (at.bad || at.left != msg->data_len || msg->retry_count > 7 ||
	    msg->rnr_retry_count > 7 || msg->qpn > SVB_CM_QPN_MAX ||
	    msg->psn > SVB_CM_QPN_MAX)
		return false;
	memcpy(msg->data, at.in, msg->data_len);
	return true;
}

uint8_t svb_cm_data_max(enum svb_cm_type type, bool iwarp)
{
	static const uint8_t most[SVB_CM_TYPES] = {
		[SVB_CM_REQ] = SVB_CM_REQ_DATA,
		[SVB_CM_REP] = SVB_CM_REP_DATA,
		[SVB_CM_REJ] = SVB_CM_REJ_DATA,
		[SVB_CM_SIDR_REQ] = SVB_CM_SIDR_REQ_DATA,
		[SVB_CM_SIDR_REP] = SVB_CM_SIDR_REP_DATA,
	};

	return iwarp && most[type] ? SVB_CM_MAX_DATA : most[type];
}
