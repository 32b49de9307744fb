/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A buffer that discards the values fetched by atomics: every atomic of verbs returns
 * one. It is apart from memory that peers may read, because the value is from another
 * peer's memory.
 */
#include <stdlib.h>
#include <cairn/tsan.h>
#include "device/device.h"
#include "xfer.h"

#define PVB_SINK_SIZE sizeof(uint64_t)
/* A cache line of its own: every device of the domain's endpoints writes it. */
#define PVB_SINK_ALIGN 64

int pvb_sink_open(struct pvb_domain *domain)
{
	void *sink;
	int ret;

	if (!domain->atomics)
		return 0;
	sink = aligned_alloc(PVB_SINK_ALIGN, PVB_SINK_ALIGN);
	if (!sink)
		return -FI_ENOMEM;
	crn_tsan_sink(sink, PVB_SINK_SIZE);
	domain->sink_mr =
		ibv_reg_mr(domain->pd, sink, PVB_SINK_SIZE, IBV_ACCESS_LOCAL_WRITE);
	if (domain->sink_mr)
		return 0;
	ret = pvb_errno();
	pvb_mr_explain(-ret, sink, PVB_SINK_SIZE);
	free(sink);
	return ret;
}

void pvb_sink_close(struct pvb_domain *domain)
{
	void *sink;

	if (!domain->sink_mr)
		return;
	sink = domain->sink_mr->addr;
	ibv_dereg_mr(domain->sink_mr);
	free(sink);
}
