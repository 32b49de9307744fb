/* SPDX-License-Identifier: BSD-2-Clause */
#include <rdma/fi_errno.h>

#include "refuse.h"

static int refuse_open(struct frt_node *node)
{
	(void)node;
	return 0;
}

static void refuse_close(struct frt_node *node)
{
	(void)node;
}

static void refuse_request(struct frt_node *node, struct frt_device *device,
			   struct rte_peer *peer, struct frt_client *client,
			   struct rte_rx *rx)
{
	(void)device;
	rte_rx_put(rx);
	rte_peer_close(peer, FI_EOPNOTSUPP);
	frt_client_put(node, client);
}

static void refuse_gone(struct frt_node *node, struct frt_device *device, int status)
{
	(void)node;
	(void)device;
	(void)status;
}

const struct frt_transit_ops frt_refuse_ops = {
	.open = refuse_open,
	.close = refuse_close,
	.request = refuse_request,
	.device_gone = refuse_gone,
};
