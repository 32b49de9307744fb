/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages, writes and reads of the application, in parts. */
#include "layout.h"

CRN_INLINE enum rte_bad part_check(const struct rte_packet *packet, uint32_t slot,
				   uint64_t length, uint64_t offset)
{
	const uint32_t plen = packet->head.plen;
	const uint8_t flags = packet->head.flags;

	if (slot == RTE_SLOT_NONE ? plen > RTE_EAGER_MAX
				  : slot >= RTE_SLOTS_MAX || plen > RTE_FRAG_MAX)
		return RTE_BAD_LIMIT;
	if (offset > length || plen > length - offset || (!plen && length))
		return RTE_BAD_RANGE;
	if (!(flags & RTE_FIRST) != !!offset ||
	    !(flags & RTE_LAST) != (plen < length - offset))
		return RTE_BAD_FLAGS;
	return RTE_OK;
}

/* No region goes beyond the last address. */
CRN_INLINE bool within_addresses(uint64_t addr, uint64_t length)
{
	return addr <= UINT64_MAX - length;
}

CRN_INLINE enum rte_bad write_check(const struct rte_packet *packet,
				    const struct rte_write *write)
{
	if (!within_addresses(write->addr, write->length))
		return RTE_BAD_RANGE;
	return part_check(packet, write->slot, write->length, write->offset);
}

CRN_INLINE enum rte_bad read_req_check(const struct rte_read_req *req)
{
	if (!req->window || req->window > RTE_SLOTS_MAX || !req->frag ||
	    req->frag > RTE_FRAG_MAX)
		return RTE_BAD_LIMIT;
	if (!req->length || !within_addresses(req->addr, req->length))
		return RTE_BAD_RANGE;
	return RTE_OK;
}

RTE_DEFINE_MESSAGE(msg, type == RTE_MSG, RTE_MSG_FIELDS,
		   part_check(packet, message->slot, message->length, message->offset))
RTE_FIELDS(head, RTE_HEAD_FIELDS)

_Static_assert(RTE_MSG_WHOLE == RTE_HEAD_LEN + RTE_SUM(RTE_MSG_FIELDS), "header of MSG");

void rte_msg_whole_pack(uint64_t seq, uint8_t flags, uint32_t length,
			uint8_t buf[RTE_MSG_WHOLE])
{
	const struct rte_head head = {
		.type = RTE_MSG,
		.flags = flags,
		.hlen = RTE_MSG_WHOLE,
		.plen = length,
		.seq = seq,
	};
	const struct rte_msg msg = {.slot = RTE_SLOT_NONE, .length = length};

	*buf = RTE_HEAD_MAGIC;
	put_head(buf, &head);
	put_msg(buf, &msg);
}

RTE_DEFINE_MESSAGE(write, type == RTE_WRITE, RTE_WRITE_FIELDS,
		   write_check(packet, message))
RTE_DEFINE_MESSAGE(read_req, type == RTE_READ_REQ, RTE_READ_REQ_FIELDS,
		   read_req_check(message))
RTE_DEFINE_MESSAGE(read_frag, type == RTE_READ_FRAG, RTE_READ_FRAG_FIELDS,
		   part_check(packet, message->slot, message->length, message->offset))
