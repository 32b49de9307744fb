/* SPDX-License-Identifier: BSD-2-Clause */
#include <cairn/wait.h>
#include <rdma/fi_errno.h>
#include "cairn_test.h"
#include "over.h"

static void over_message(struct rte_peer *peer, struct rte_rx *rx)
{
	rte_vc_message(peer->user, rx);
}

static void over_ready(struct rte_peer *peer)
{
	rte_vc_ready(peer->user);
}

static void over_down(struct rte_peer *peer, int err)
{
	rte_vc_stop(peer->user, err, 0);
}

static const struct rte_peer_ops over_ops = {
	.message = over_message,
	.ready = over_ready,
	.down = over_down,
};

/* Nothing closes a region before the end. */
static bool hold(struct rte_vc *vc, struct crn_mr *mr, void **desc)
{
	*desc = NULL;
	return true;
}

static void release(struct rte_vc *vc, struct crn_mr *mr)
{
}

static void end_bind(struct over_end *end, struct crn_cq *cq, uint64_t flags)
{
	const struct fi_cq_attr attr = {.size = 256, .format = FI_CQ_FORMAT_DATA};

	CT_EXPECT_EQ(crn_cq_init(cq, &end->domain, (struct fi_cq_attr *)&attr, true,
				 NULL),
		     0);
	CT_EXPECT_EQ(crn_ep_bind(&end->ep, &cq->fid.fid, flags), 0);
}

static void end_open(struct over_end *end, struct rte_peer *peer)
{
	const struct rte_vc_path path = {
		.frag = peer->frag_max,
		.eager = peer->eager_max,
		.direct = true,
	};
	struct rte_vc_attr attr = {
		.ep = &end->ep,
		.map = &end->map,
		.tx_size = OVER_SIZE,
		.rx_size = OVER_SIZE,
		.inject_size = 64,
		.max_msg_size = OVER_MAX,
		.hold = hold,
		.release = release,
	};
	struct fi_info *info = fi_allocinfo();

	info->caps = FI_MSG | FI_RMA;
	info->ep_attr->type = FI_EP_MSG;
	info->tx_attr->size = info->rx_attr->size = OVER_SIZE;
	crn_ep_init(&end->ep, &end->fabric, &end->domain, info);
	fi_freeinfo(info);
	end_bind(end, &end->tx_cq, FI_TRANSMIT);
	end_bind(end, &end->rx_cq, FI_RECV);
	CT_EXPECT_EQ(crn_mr_map_init(&end->map, 0, 8, false), 0);
	CT_EXPECT_EQ(rte_vc_init(&end->vc, &attr), 0);
	peer->ops = &over_ops;
	peer->user = &end->vc;
	rte_vc_start(&end->vc, peer, &path);
}

void over_open(struct over *over, uint32_t lands)
{
	const struct pair_attr attr = {.lands = lands};
	int i;

	memset(over, 0, sizeof(*over));
	pair_open(&over->pair, &attr);
	pair_connect(&over->pair);
	CT_OR_RETURN(!ct_failed());
	for (i = 0; i < PAIR_ENDS; i++)
		end_open(&over->end[i], over->pair.end[i].peer);
}

static void end_close(struct over_end *end)
{
	CT_EXPECT_TRUE(rte_vc_idle(&end->vc));
	CT_EXPECT_EQ(end->vc.head, end->vc.tail);
	rte_vc_fini(&end->vc);
	crn_ep_fini(&end->ep);
	CT_EXPECT_EQ(fi_close(&end->tx_cq.fid.fid), 0);
	CT_EXPECT_EQ(fi_close(&end->rx_cq.fid.fid), 0);
	CT_EXPECT_EQ(crn_mr_map_fini(&end->map), 0);
}

void over_close(struct over *over)
{
	int i;

	for (i = 0; i < PAIR_ENDS; i++)
		rte_vc_stop(&over->end[i].vc, FI_ECANCELED, 0);
	/* Messages without a receive are in the port's memory until the end of the vc. */
	pair_part(&over->pair);
	for (i = 0; i < PAIR_ENDS; i++)
		end_close(&over->end[i]);
	pair_close(&over->pair);
}

/* False: there is none. */
static bool end_read(struct over_end *end, struct crn_cq *cq, unsigned int *count)
{
	struct fi_cq_err_entry err = {0};
	struct fi_cq_data_entry entry;
	ssize_t ret = fi_cq_read(&cq->fid, &entry, 1);

	if (ret == 1) {
		(*count)++;
		end->bytes += cq == &end->rx_cq ? entry.len : 0;
		return true;
	}
	if (ret != -FI_EAVAIL)
		return false;
	CT_EXPECT_EQ(fi_cq_readerr(&cq->fid, &err, 0), 1);
	end->err = err.err;
	if (cq == &end->rx_cq)
		end->cancelled++;
	else
		end->failed++;
	return true;
}

void over_turn(struct over *over)
{
	struct over_end *end;
	int i;

	pair_turn(&over->pair);
	for (i = 0; i < PAIR_ENDS; i++) {
		end = &over->end[i];
		while (end_read(end, &end->tx_cq, &end->sent))
			;
		while (end_read(end, &end->rx_cq, &end->received))
			;
	}
}

ssize_t over_send(struct over_end *end, const void *buf, size_t len, uint64_t flags)
{
	const struct iovec iov = {.iov_base = (void *)buf, .iov_len = len};
	const struct fi_msg msg = {.msg_iov = &iov, .iov_count = 1};

	return rte_vc_send(&end->vc, &msg, flags);
}

ssize_t over_recv(struct over_end *end, void *buf, size_t len)
{
	const struct iovec iov = {.iov_base = buf, .iov_len = len};
	const struct fi_msg msg = {.msg_iov = &iov, .iov_count = 1};

	return rte_vc_recv(&end->vc, &msg, 0);
}

ssize_t over_rma(struct over_end *end, bool reads, void *buf, size_t len, uint64_t addr,
		 uint64_t key)
{
	const struct iovec iov = {.iov_base = buf, .iov_len = len};
	const struct fi_rma_iov range = {.addr = addr, .len = len, .key = key};
	const struct fi_msg_rma msg = {
		.msg_iov = &iov,
		.iov_count = 1,
		.rma_iov = &range,
		.rma_iov_count = 1,
	};

	return reads ? rte_vc_read(&end->vc, &msg, 0) : rte_vc_write(&end->vc, &msg, 0);
}
