/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fi_enable: creates the queue pair of an endpoint, for its info and the objects bound
 * to it.
 */
#include <stdlib.h>
#include <string.h>
#include "cq/cq.h"
#include "device/device.h"
#include "dgram/dgram.h"
#include "persist/persist.h"
#include "qp/qp.h"
#include "internal.h"

/*
 * Entries for tx_attr->size operations with the endpoint's default flags. At least two:
 * an operation with FI_DELIVERY_COMPLETE takes two, and so does a datagram that is copied
 * to another group.
 */
static uint32_t pvb_ep_tx_depth(const struct pvb_ep *ep)
{
	const uint32_t most = (uint32_t)ep->domain->attr.max_qp_wr - 1;
	const uint32_t own = pvb_params.keepalive ? 1 : 0; /* cm/keepalive.c */
	const uint32_t depth = ep->attr.tx_size * ep->attr.tx_entries + own;

	return CRN_MAX(CRN_MIN(depth, most), 2u);
}

/* The port an endpoint is on before rdma_cm has found a path: that of its own address. */
static int pvb_ep_first_port(const struct pvb_ep *ep, uint8_t *port)
{
	const struct sockaddr *src =
		ep->conn.id ? rdma_get_local_addr(ep->conn.id) : ep->attr.src;
	struct pvb_device_addr *list;
	size_t i, count;
	int ret;

	*port = 1;
	if (ep->domain->attr.phys_port_cnt <= 1 || !src)
		return 0;
	ret = pvb_device_addrs(&list, &count);
	if (ret)
		return ret;
	for (i = 0; i < count; i++) {
		if (!strcmp(list[i].device, pvb_domain_device(ep->domain)) &&
		    crn_addr_same_host(&list[i].addr.sa, src))
			*port = list[i].port;
	}
	free(list);
	return 0;
}

/* Receives can be posted from then on, and datagrams sent. */
static int pvb_ep_init_qp(struct pvb_ep *ep)
{
	const int mask =
		IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT};
	int ret;

	if (ep->dgram)
		return pvb_dgram_start(ep);
	ret = pvb_ep_first_port(ep, &attr.port_num);
	return ret ? ret : pvb_qp_init(&ep->qp, &attr, mask, ep->domain->atomics);
}

int pvb_ep_create_qp(struct pvb_ep *ep)
{
	const struct pvb_qp_attr attr = {
		.type = ep->dgram ? IBV_QPT_UD : IBV_QPT_RC,
		.tx_depth = pvb_ep_tx_depth(ep),
		.rx_depth = ep->attr.rx_size,
		.tx_iov_limit = ep->attr.tx_iov_limit,
		.rx_iov_limit = ep->attr.rx_iov_limit,
		.inject_size = ep->inject_size,
	};
	int ret;

	ret = pvb_qp_open(&ep->qp, &attr);
	if (ret)
		return ret;
	ret = pvb_ep_init_qp(ep);
	if (ret)
		goto err_qp;
	ret = ep->dgram ? 0 : pvb_durable_open(ep);
	if (ret)
		goto err_qp;
	/* A reader that finds the work queue must find the control queue pair too. */
	ret = pvb_qp_start(&ep->qp, ep->dgram || ep->rx_selective || ep->domain->control);
	if (ret)
		goto err_durable;
	ep->conn.state = ep->dgram ? PVB_CONN_CONNECTED : PVB_CONN_ENABLED;
	pvb_ep_defaults(ep);
	if (ep->dgram)
		pvb_wq_open(&ep->qp.sq);
	return 0;
err_durable:
	pvb_durable_close(&ep->qp);
err_qp:
	if (ep->dgram)
		pvb_dgram_stop(ep);
	pvb_qp_close(&ep->qp);
	pvb_durable_free(&ep->qp);
	return ret;
}

void pvb_ep_destroy_qp(struct pvb_ep *ep)
{
	if (!ep->qp.ibv)
		return;
	pvb_qp_stop(&ep->qp);
	pvb_durable_close(&ep->qp);
	pvb_qp_close(&ep->qp);
	pvb_durable_free(&ep->qp);
}
