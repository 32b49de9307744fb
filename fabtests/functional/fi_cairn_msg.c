/* SPDX-License-Identifier: BSD-2-Clause */
/* FI_MSG on connected endpoints. */
#include "msg.h"

static const struct fct_case cases[] = {
	{"send", "fi_send, all sizes, both directions", msg_send},
	{"sendv", "fi_sendv from up to iov_limit pieces", msg_sendv},
	{"sendmsg", "fi_sendmsg", msg_sendmsg},
	{"inject", "fi_inject: no completion, buffer free at once", msg_inject},
	{"senddata", "fi_senddata carries remote CQ data", msg_senddata},
	{"injectdata", "fi_injectdata", msg_injectdata},
	{"sendmsg_data", "fi_sendmsg with FI_REMOTE_CQ_DATA", msg_sendmsg_data},
	{"sendmsg_inject", "fi_sendmsg with FI_INJECT: completion, buffer free at once",
	 msg_sendmsg_inject},
	{"recvv", "fi_recvv into up to iov_limit pieces", msg_recvv},
	{"recvmsg", "fi_recvmsg", msg_recvmsg},
	{"flood", "thousands of messages both ways, in order, under credits", msg_flood},
	{"queue_full", "a full transmit queue says -FI_EAGAIN and recovers",
	 msg_queue_full},
	{"bidirectional", "large messages both ways at once", msg_bidirectional},
	{"more", "chains of FI_MORE", msg_more},
	{"inject_many", "thousands of fi_inject in a row", msg_inject_many},
	{"selective_tx", "FI_SELECTIVE_COMPLETION for sends", msg_selective_tx},
	{"selective_rx", "FI_SELECTIVE_COMPLETION for receives", msg_selective_rx},
	{"selective_default", "op_flags FI_COMPLETION with selective completion",
	 msg_selective_default},
	{"selective_override", "flags of fi_sendmsg replace the endpoint's",
	 msg_selective_override},
	{"selective_many", "more sends without completion than the queue holds",
	 msg_selective_many},
	{"op_transmit_complete", "endpoint default FI_TRANSMIT_COMPLETE",
	 msg_op_transmit},
	{"op_inject_complete", "endpoint default FI_INJECT_COMPLETE", msg_op_inject},
	{"op_delivery_complete", "no completion before the message is received",
	 msg_op_delivery},
	{"split_cq", "separate CQs for transmit and receive", msg_split_cq},
	{"many_endpoints", "several endpoints on one CQ", msg_many_endpoints},
	{"threading", "every threading level", msg_threading},
	{"progress", "automatic and manual data progress", msg_progress},
	{"many_threads", "one endpoint, several threads that post", msg_many_threads},
	{"inject_excess", "fi_inject beyond inject_size is refused or delivered whole",
	 msg_inject_excess},
	{"iov_excess", "more pieces than iov_limit are refused", msg_iov_excess},
	{"truncation", "a message longer than the receive buffer is an error there",
	 msg_truncation},
	{"cancel", "fi_cancel of a receive", msg_cancel},
	{"close_cancels", "fi_close of an endpoint reports its posted receives",
	 msg_close_cancels},
	{"selective_error", "a failed send is reported also without FI_COMPLETION",
	 msg_selective_error},
	{"peer_closes", "posted receives are reported when the peer goes away",
	 msg_peer_closes},
};

int main(int argc, char **argv)
{
	const struct fct_prog prog = {
		.name = "fi_cairn_msg",
		.what = "Messages on connected endpoints (FI_MSG).",
		.cases = cases,
		.n_cases = sizeof(cases) / sizeof(cases[0]),
	};

	return fct_main(argc, argv, &prog);
}
