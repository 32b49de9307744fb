/* SPDX-License-Identifier: BSD-2-Clause */
#include <rdma/fi_errno.h>
#include "cairn_test.h"
#include "say.h"

void say(struct fake_end *to, const struct said *said)
{
	struct rte_packet packet = {.head = {.type = said->type,
					     .flags = said->flags,
					     .seq = said->seq,
					     .plen = said->plen}};
	struct rte_msg msg = {RTE_SLOT_NONE, 0, said->length, said->offset,
			      said->cq_data};
	struct rte_write write = {RTE_SLOT_NONE, 0,	     said->length, said->offset,
				  said->cq_data, said->addr, said->key};
	struct rte_read_req req = {said->length, said->addr, said->key, 1,
				   said->frag ? said->frag : 100};
	struct rte_read_frag frag = {RTE_SLOT_NONE, 0, said->length, said->offset,
				     said->request};
	struct rte_ack ack = {said->request};
	struct rte_nack nack = {said->request, said->router, FI_EIO, 0};
	uint8_t bytes[4096] = {0};
	ssize_t len = 0;

	if (said->ack) {
		packet.options.present = 1u << RTE_TLV_ACK;
		packet.options.ack = said->ack;
	}
	switch (said->type) {
	case RTE_MSG:
		len = rte_msg_pack(&packet, &msg, bytes, 256);
		break;
	case RTE_WRITE:
		len = rte_write_pack(&packet, &write, bytes, 256);
		break;
	case RTE_READ_REQ:
		len = rte_read_req_pack(&packet, &req, bytes, 256);
		break;
	case RTE_READ_FRAG:
		len = rte_read_frag_pack(&packet, &frag, bytes, 256);
		break;
	case RTE_ACK:
		len = rte_ack_pack(&packet, &ack, bytes, 256);
		break;
	case RTE_NACK:
		packet.head.flags |= RTE_ERR;
		len = rte_nack_pack(&packet, &nack, bytes, 256);
		break;
	case RTE_MR_RESOLVE:
		len = rte_mr_resolve_pack(&packet, &(struct rte_mr_resolve){1}, bytes,
					  256);
		break;
	}
	CT_ASSERT_GT(len, 0);
	fake_inject(to, bytes, (size_t)len + said->plen);
}
