/* SPDX-License-Identifier: BSD-2-Clause */
/* The provider's parameters with their defaults. */
#include "pverbs.h"

struct pvb_params pvb_params = {
	.tx_size = 256,
	.rx_size = 256,
	.inject_size = 64,
	.resolve_timeout = 2000,
	.retry_count = 6, /* rdma_rxe takes 7 for no end */
	.rnr_retry_count = 7,
	.close_timeout = 2000,
	.gid_index = -1,
	.traffic_class = -1,
	.ack_timeout = -1,
	.rnr_timer = -1,
	.fence = PVB_FENCE_AUTO,
	.durable = PVB_DURABLE_AUTO,
	.commit_timeout = 10000,
};
