/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory registration. */
#include "mr.h"

static const struct fct_case cases[] = {
	{"calls", "fi_mr_reg, fi_mr_regv and fi_mr_regattr", fct_mr_calls},
	{"key", "requested keys are used, or ignored with FI_MR_PROV_KEY", fct_mr_key},
	{"bad_access", "unknown rights are refused", fct_mr_bad_access},
	{"iov_limit", "more pieces than mr_iov_limit are refused", fct_mr_iov_limit},
	{"unmapped", "memory that is not there is refused with FI_MR_ALLOCATED",
	 fct_mr_unmapped},
	{"close_busy", "a domain with regions cannot be closed", fct_mr_close_busy},
	{"read_only", "read-only memory can be sent from", fct_mr_read_only},
	{"odd", "RMA to odd addresses within a region", fct_mr_odd},
	{"overlap", "closing one of two regions on the same memory leaves the other",
	 fct_mr_overlap},
	{"pmem", "persistent memory (FI_CAIRN_PMEM=FILE) is written and read",
	 fct_mr_pmem},
	{"pmem_volatile", "other memory is refused with FI_RMA_PMEM, if it is looked at",
	 fct_mr_pmem_volatile},
};

int main(int argc, char **argv)
{
	const struct fct_prog prog = {
		.name = "fi_cairn_mr",
		.what = "Memory registration.",
		.cases = cases,
		.n_cases = sizeof(cases) / sizeof(cases[0]),
	};

	return fct_main(argc, argv, &prog);
}
