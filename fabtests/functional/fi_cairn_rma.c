/* SPDX-License-Identifier: BSD-2-Clause */
/* FI_RMA on connected endpoints. */
#include "rma.h"

static const struct fct_case cases[] = {
	{"write", "fi_write, all sizes, both directions", fct_rma_write},
	{"writev", "fi_writev from up to iov_limit pieces", fct_rma_writev},
	{"writemsg", "fi_writemsg", fct_rma_writemsg},
	{"inject", "fi_inject_write: no completion, buffer free at once", fct_rma_inject},
	{"writemsg_inject", "fi_writemsg with FI_INJECT", fct_rma_writemsg_inject},
	{"read", "fi_read, all sizes, both directions", fct_rma_read},
	{"readv", "fi_readv into up to iov_limit pieces", fct_rma_readv},
	{"readmsg", "fi_readmsg", fct_rma_readmsg},
	{"zero", "transfers of no bytes complete", fct_rma_zero},
	{"scatter", "several remote pieces, up to rma_iov_limit", fct_rma_scatter},
	{"writedata", "fi_writedata: the target sees the data after the write",
	 fct_rma_writedata},
	{"writemsg_data", "fi_writemsg with FI_REMOTE_CQ_DATA", fct_rma_writemsg_data},
	{"inject_writedata", "fi_inject_writedata", fct_rma_inject_writedata},
	{"writedata_flags", "flags of the target's completion, exactly",
	 fct_rma_writedata_flags},
	{"writedata_mode", "info->mode alone says whether remote CQ data takes receives",
	 fct_rma_writedata_mode},
	{"writedata_unposted", "without FI_RX_CQ_DATA remote CQ data needs no receive",
	 fct_rma_writedata_unposted},
	{"many_writes", "thousands of writes", fct_rma_many_writes},
	{"many_reads", "thousands of reads", fct_rma_many_reads},
	{"both_ways", "writes and reads both ways at once", fct_rma_both_ways},
	{"more", "chains of FI_MORE", fct_rma_more},
	{"selective", "FI_SELECTIVE_COMPLETION for RMA", fct_rma_selective},
	{"passive", "with FI_PROGRESS_AUTO the target need not call anything",
	 fct_rma_passive},
	{"waw", "a later write to the same place wins (FI_ORDER_WAW)", fct_rma_waw},
	{"raw", "a read sees the write before it (FI_ORDER_RAW)", fct_rma_raw},
	{"fence", "a fenced write does not change an earlier read", fct_rma_fence},
	{"fence_between", "a fence between a message sent again and a read",
	 fct_rma_fence_between},
	{"delivery", "FI_DELIVERY_COMPLETE: data is in place when the write completes",
	 fct_rma_delivery},
	{"bad_key", "an unknown key is an error of the initiator's operation",
	 fct_rma_bad_key},
	{"out_of_bounds", "so is a range beyond the region", fct_rma_out_of_bounds},
	{"write_forbidden", "so is a write without FI_REMOTE_WRITE",
	 fct_rma_write_forbidden},
	{"read_forbidden", "so is a read without FI_REMOTE_READ", fct_rma_read_forbidden},
	{"closed_region", "so is the key of a closed region", fct_rma_closed_region},
	{"closed_reading",
	 "an endpoint closed while a read arrives: another connection goes on",
	 fct_rma_closed_reading},
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
