/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the other end sends. Its requests are checked when they arrive, and taken in
 * order: one that has to wait, for a receive of the program or a place for its answer,
 * keeps its memory and its place in the lane, and all behind it wait as well.
 */
#include "ops.h"

/* A request, parsed. */
struct request {
	uint64_t length, offset, cq_data, addr, key;
	union {
		struct rte_msg msg;
		struct rte_write write;
		struct rte_read_req read;
	};
};

void rte_vc_bad(struct rte_vc *vc, struct rte_rx *rx, const char *what)
{
	rte_rx_put(rx);
	rte_peer_bad(vc->peer, what);
}

static enum rte_bad request_parse(struct request *request,
				  const struct rte_packet *packet)
{
	enum rte_bad bad;

	request->addr = request->key = 0;
	switch (packet->head.type) {
	case RTE_MSG:
		bad = rte_msg_parse(&request->msg, packet);
		request->length = request->msg.length;
		request->offset = request->msg.offset;
		request->cq_data = request->msg.cq_data;
		return bad;
	case RTE_WRITE:
		bad = rte_write_parse(&request->write, packet);
		request->length = request->write.length;
		request->offset = request->write.offset;
		request->cq_data = request->write.cq_data;
		request->addr = request->write.addr;
		request->key = request->write.key;
		return bad;
	case RTE_READ_REQ:
		return rte_read_req_parse(&request->read, packet);
	default:
		return RTE_BAD_TYPE;
	}
}

static bool begins(const struct rte_vc *vc, const struct rte_head *head)
{
	if (vc->in.open)
		return false;
	/* Those of the bypass have numbers as well. */
	return vc->path.bypassed ? head->seq > vc->in.seq : head->seq == vc->in.seq + 1;
}

static bool goes_on(const struct rte_vc *vc, const struct rte_head *head,
		    const struct request *request)
{
	return vc->in.open && head->seq == vc->in.seq && head->type == vc->in.type &&
	       request->offset == vc->in.offset && request->length == vc->in.length &&
	       !(head->flags & RTE_CQDATA) == !vc->in.has_data &&
	       request->cq_data == vc->in.cq_data && request->addr == vc->in.addr &&
	       request->key == vc->in.key;
}

/* NULL: it is the request, or the fragment of one, that comes next. */
static const char *request_check(struct rte_vc *vc, const struct rte_head *head,
				 const struct request *request)
{
	if (head->type == RTE_READ_REQ) {
		if (!begins(vc, head))
			return "a read out of order";
		vc->in.seq = head->seq;
		return NULL;
	}
	if (!(head->flags & RTE_FIRST)) {
		if (!goes_on(vc, head, request))
			return "a fragment that does not go on where the last one ended";
	} else {
		if (!begins(vc, head))
			return "a message or write out of order";
		vc->in.seq = head->seq;
		vc->in.type = head->type;
		vc->in.has_data = head->flags & RTE_CQDATA;
		vc->in.length = request->length;
		vc->in.cq_data = request->cq_data;
		vc->in.addr = request->addr;
		vc->in.key = request->key;
	}
	vc->in.offset = request->offset + head->plen;
	vc->in.open = !(head->flags & RTE_LAST);
	return NULL;
}

static void message_end(struct rte_vc *vc, const struct rte_head *head,
			const struct rte_msg *msg)
{
	struct rte_vc_recv *recv = vc->recv;
	const bool has_data = head->flags & RTE_CQDATA;

	vc->recv = NULL;
	if (msg->length > recv->len)
		rte_vc_recv_failed(vc, recv, FI_ETRUNC, recv->len,
				   (size_t)(msg->length - recv->len));
	else
		rte_vc_recv_done(vc, recv, msg->length,
				 FI_RECV | FI_MSG | (has_data ? FI_REMOTE_CQ_DATA : 0),
				 has_data ? msg->cq_data : 0);
	/* Without RTE_DELIVER it is the last router that acknowledges. */
	if (head->flags & RTE_DELIVER)
		vc->ack_due = head->seq;
}

static bool message_take(struct rte_vc *vc, const struct rte_rx *rx,
			 const struct rte_msg *msg)
{
	const struct rte_head *head = &rx->packet.head;

	if (head->flags & RTE_FIRST)
		vc->recv = rte_vc_recv_take(vc);
	if (!vc->recv)
		return false;
	rte_vc_recv_copy(vc->recv, msg->offset, rx->payload, head->plen);
	vc->ordinary |= head->plen != 0;
	if (head->flags & RTE_LAST)
		message_end(vc, head, msg);
	return true;
}

static bool request_take(struct rte_vc *vc, const struct rte_rx *rx,
			 const struct request *request)
{
	if (vc->deaf)
		return true;
	switch (rx->packet.head.type) {
	case RTE_MSG:
		return message_take(vc, rx, &request->msg);
	case RTE_WRITE:
		return rte_vc_place(vc, rx, &request->write);
	default:
		return rte_vc_serve_take(vc, rx, &request->read);
	}
}

bool rte_vc_drain(struct rte_vc *vc)
{
	struct request request;
	struct rte_rx *rx;
	bool any = false;

	while (!crn_list_empty(&vc->waiting)) {
		rx = crn_container_of(vc->waiting.next, struct rte_rx, entry);
		request_parse(&request, &rx->packet);
		if (!request_take(vc, rx, &request))
			break;
		any = true;
		crn_list_del(&rx->entry);
		rte_rx_put(rx);
	}
	return any;
}

/* Puts back those of the requests that wait that need not. */
static void requests_sift(struct rte_vc *vc,
			  bool (*over)(struct rte_vc *vc, const struct rte_rx *rx))
{
	struct crn_list *entry, *tmp;
	struct rte_rx *rx;

	crn_list_for_each_safe (entry, tmp, &vc->waiting) {
		rx = crn_container_of(entry, struct rte_rx, entry);
		if (!over(vc, rx))
			continue;
		crn_list_del(entry);
		rte_rx_put(rx);
	}
}

/* Reads, which nobody waits for any more, and a request whose end has not arrived. */
static bool request_is_useless(struct rte_vc *vc, const struct rte_rx *rx)
{
	const struct rte_head *head = &rx->packet.head;

	return head->type == RTE_READ_REQ || (vc->in.open && head->seq == vc->in.seq);
}

static bool request_is_placed(struct rte_vc *vc, const struct rte_rx *rx)
{
	struct request request;

	request_parse(&request, &rx->packet);
	return rx->packet.head.type == RTE_WRITE && request_take(vc, rx, &request);
}

/* What was written before the end is in its place before the program learns of it. */
void rte_vc_keep(struct rte_vc *vc)
{
	requests_sift(vc, request_is_useless);
	rte_vc_drain(vc);
	requests_sift(vc, request_is_placed);
}

/* NULL, or what is wrong; *kept: it waits. */
static const char *request_arrives(struct rte_vc *vc, struct rte_rx *rx, bool *kept)
{
	struct request request;
	const enum rte_bad bad = request_parse(&request, &rx->packet);
	const char *wrong = bad == RTE_OK ? request_check(vc, &rx->packet.head, &request)
					  : rte_bad_text(bad);

	if (wrong)
		return wrong;
	*kept = !crn_list_empty(&vc->waiting) || !request_take(vc, rx, &request);
	if (*kept)
		crn_list_add_tail(&vc->waiting, &rx->entry);
	return NULL;
}

static const char *arrives(struct rte_vc *vc, struct rte_rx *rx, bool *kept)
{
	const struct rte_packet *packet = &rx->packet;
	const char *wrong;

	if (packet->options.present & (1u << RTE_TLV_ACK)) {
		wrong = rte_vc_acked(vc, packet->options.ack);
		if (wrong)
			return wrong;
	}
	return rte_message_lane(packet->head.type) == RTE_REQUESTS
		       ? request_arrives(vc, rx, kept)
		       : rte_vc_answer(vc, rx);
}

void rte_vc_message(struct rte_vc *vc, struct rte_rx *rx)
{
	const char *wrong;
	bool kept = false;

	if (vc->state != RTE_VC_UP) {
		rte_rx_put(rx);
		return;
	}
	wrong = arrives(vc, rx, &kept);
	if (wrong) {
		rte_vc_bad(vc, rx, wrong);
		return;
	}
	if (!kept)
		rte_rx_put(rx);
	rte_vc_settle(vc);
}
