/* SPDX-License-Identifier: BSD-2-Clause */
/* FI_MSG on connected endpoints. */
#include "msg.h"

static const struct fct_case cases[] = {
	{"send", "fi_send, all sizes, both directions", fct_msg_send},
	{"sendv", "fi_sendv from up to iov_limit pieces", fct_msg_sendv},
	{"sendmsg", "fi_sendmsg", fct_msg_sendmsg},
	{"inject", "fi_inject: no completion, buffer free at once", fct_msg_inject},
	{"senddata", "fi_senddata carries remote CQ data", fct_msg_senddata},
	{"injectdata", "fi_injectdata", fct_msg_injectdata},
	{"sendmsg_data", "fi_sendmsg with FI_REMOTE_CQ_DATA", fct_msg_sendmsg_data},
	{"sendmsg_inject", "fi_sendmsg with FI_INJECT: completion, buffer free at once",
	 fct_msg_sendmsg_inject},
	{"recvv", "fi_recvv into up to iov_limit pieces", fct_msg_recvv},
	{"recvmsg", "fi_recvmsg", fct_msg_recvmsg},
	{"flood", "thousands of messages both ways, in order, under credits",
	 fct_msg_flood},
	{"queue_full", "a full transmit queue says -FI_EAGAIN and recovers",
	 fct_msg_queue_full},
	{"bidirectional", "large messages both ways at once", fct_msg_bidirectional},
	{"more", "chains of FI_MORE", fct_msg_more},
	{"inject_many", "thousands of fi_inject in a row", fct_msg_inject_many},
	{"selective_tx", "FI_SELECTIVE_COMPLETION for sends", fct_msg_selective_tx},
	{"selective_rx", "FI_SELECTIVE_COMPLETION for receives", fct_msg_selective_rx},
	{"selective_default", "op_flags FI_COMPLETION with selective completion",
	 fct_msg_selective_default},
	{"selective_override", "flags of fi_sendmsg replace the endpoint's",
	 fct_msg_selective_override},
	{"selective_many", "more sends without completion than the queue holds",
	 fct_msg_selective_many},
	{"op_transmit_complete", "endpoint default FI_TRANSMIT_COMPLETE",
	 fct_msg_op_transmit},
	{"op_inject_complete", "endpoint default FI_INJECT_COMPLETE", fct_msg_op_inject},
	{"op_delivery_complete", "no completion before the message is received",
	 fct_msg_op_delivery},
	{"split_cq", "separate CQs for transmit and receive", fct_msg_split_cq},
	{"many_endpoints", "several endpoints on one CQ", fct_msg_many_endpoints},
	{"threading", "every threading level", fct_msg_threading},
	{"progress", "automatic and manual data progress", fct_msg_progress},
	{"many_threads", "one endpoint, several threads that post", fct_msg_many_threads},
	{"inject_excess", "fi_inject beyond inject_size is refused or delivered whole",
	 fct_msg_inject_excess},
	{"iov_excess", "more pieces than iov_limit are refused", fct_msg_iov_excess},
	{"truncation", "a message longer than the receive buffer is an error there",
	 fct_msg_truncation},
	{"cancel", "fi_cancel of a receive", fct_msg_cancel},
	{"close_cancels", "fi_close of an endpoint reports its posted receives",
	 fct_msg_close_cancels},
	{"selective_error", "a failed send is reported also without FI_COMPLETION",
	 fct_msg_selective_error},
	{"peer_closes", "posted receives are reported when the peer goes away",
	 fct_msg_peer_closes},
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
