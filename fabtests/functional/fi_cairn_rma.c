/* SPDX-License-Identifier: BSD-2-Clause */
/* FI_RMA on connected endpoints. */
#include "rma.h"

static const struct fct_case cases[] = {
	{"write", "fi_write, all sizes, both directions", rma_write},
	{"writev", "fi_writev from up to iov_limit pieces", rma_writev},
	{"writemsg", "fi_writemsg", rma_writemsg},
	{"inject", "fi_inject_write: no completion, buffer free at once", rma_inject},
	{"writemsg_inject", "fi_writemsg with FI_INJECT", rma_writemsg_inject},
	{"read", "fi_read, all sizes, both directions", rma_read},
	{"readv", "fi_readv into up to iov_limit pieces", rma_readv},
	{"readmsg", "fi_readmsg", rma_readmsg},
	{"zero", "transfers of no bytes complete", rma_zero},
	{"scatter", "several remote pieces, up to rma_iov_limit", rma_scatter},
	{"writedata", "fi_writedata: the target sees the data after the write",
	 rma_writedata},
	{"writemsg_data", "fi_writemsg with FI_REMOTE_CQ_DATA", rma_writemsg_data},
	{"inject_writedata", "fi_inject_writedata", rma_inject_writedata},
	{"writedata_flags", "flags of the target's completion, exactly",
	 rma_writedata_flags},
	{"writedata_mode", "info->mode alone says whether remote CQ data takes receives",
	 rma_writedata_mode},
	{"writedata_unposted", "without FI_RX_CQ_DATA remote CQ data needs no receive",
	 rma_writedata_unposted},
	{"many_writes", "thousands of writes", rma_many_writes},
	{"many_reads", "thousands of reads", rma_many_reads},
	{"both_ways", "writes and reads both ways at once", rma_both_ways},
	{"more", "chains of FI_MORE", rma_more},
	{"selective", "FI_SELECTIVE_COMPLETION for RMA", rma_selective},
	{"passive", "with FI_PROGRESS_AUTO the target need not call anything",
	 rma_passive},
	{"waw", "a later write to the same place wins (FI_ORDER_WAW)", rma_waw},
	{"raw", "a read sees the write before it (FI_ORDER_RAW)", rma_raw},
	{"fence", "a fenced write does not change an earlier read", rma_fence},
	{"fence_between", "a fence between a message sent again and a read",
	 rma_fence_between},
	{"delivery", "FI_DELIVERY_COMPLETE: data is in place when the write completes",
	 rma_delivery},
	{"bad_key", "an unknown key is an error of the initiator's operation",
	 rma_bad_key},
	{"out_of_bounds", "so is a range beyond the region", rma_out_of_bounds},
	{"write_forbidden", "so is a write without FI_REMOTE_WRITE", rma_write_forbidden},
	{"read_forbidden", "so is a read without FI_REMOTE_READ", rma_read_forbidden},
	{"closed_region", "so is the key of a closed region", rma_closed_region},
};

int main(int argc, char **argv)
{
	const struct fct_prog prog = {
		.name = "fi_cairn_rma",
		.what = "Remote memory access on connected endpoints (FI_RMA).",
		.cases = cases,
		.n_cases = sizeof(cases) / sizeof(cases[0]),
	};

	return fct_main(argc, argv, &prog);
}
