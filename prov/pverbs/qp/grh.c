/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the device puts the GRHs of datagrams: 40 bytes before the data of each, which
 * the program's buffers have no room for. They are a scatter entry of their own, in
 * memory that a receive queue registers once; or, with FI_MSG_PREFIX, in the program's.
 *
 * A device ends a queue pair that receives more than there is room for (IB specification
 * 1.7, section 11.6.2: local length error), so anybody could end an endpoint by one
 * datagram. Therefore each receive takes the longest one: behind the program's buffers
 * there is memory of the domain, which nobody reads.
 */
#include <stdlib.h>
#include <string.h>
#include "device/device.h"
#include "qp.h"

int pvb_grhs_make(struct pvb_domain *domain, struct pvb_grhs *grhs, size_t slots)
{
	const size_t size = slots * sizeof(*grhs->at);
	int ret;

	if (grhs->mr)
		return 0;
	/* Of a receive that failed nothing is written. */
	grhs->at = calloc(slots, sizeof(*grhs->at));
	if (!grhs->at)
		return -FI_ENOMEM;
	grhs->mr = ibv_reg_mr(domain->pd, grhs->at, size, IBV_ACCESS_LOCAL_WRITE);
	if (grhs->mr) {
		grhs->first.addr = (uintptr_t)grhs->at->bytes;
		grhs->first.length = PVB_GRH_SIZE;
		grhs->first.lkey = grhs->mr->lkey;
		grhs->prefix = domain->ud->prefix;
		grhs->excess = domain->ud->excess;
		return 0;
	}
	ret = pvb_errno();
	pvb_mr_explain(-ret, grhs->at, size);
	free(grhs->at);
	grhs->at = NULL;
	return ret;
}

int pvb_grh_fill_prefix(const struct pvb_wq *wq, struct pvb_slot *slot,
			struct ibv_sge *sge, int count, size_t len)
{
	pvb_grh_of(wq, slot)->at = (const uint8_t *)(uintptr_t)sge[1].addr;
	memmove(&sge[0], &sge[1], (size_t)count * sizeof(*sge));
	return pvb_excess_fill(wq, slot, sge, count, len - PVB_GRH_SIZE);
}

void pvb_grhs_free(struct pvb_grhs *grhs)
{
	if (grhs->mr)
		ibv_dereg_mr(grhs->mr);
	free(grhs->at);
	grhs->mr = NULL;
	grhs->at = NULL;
}
