/* SPDX-License-Identifier: BSD-2-Clause */
/* The two ends, what is bound to them, and calls in short. */
#include <rdma/fi_errno.h>
#include "cairn_test.h"
#include "fake.h"

static void broken(struct rte_vc *vc, int err)
{
	crn_container_of(vc, struct fake_end, vc)->broken = err;
}

static void drained(struct rte_vc *vc)
{
	crn_container_of(vc, struct fake_end, vc)->drained++;
}

static int desc;

static bool hold(struct rte_vc *vc, struct crn_mr *mr, void **to)
{
	struct fake_end *end = crn_container_of(vc, struct fake_end, vc);

	*to = &desc;
	if (!end->refuses)
		end->holds++;
	return !end->refuses;
}

static void release(struct rte_vc *vc, struct crn_mr *mr)
{
	struct fake_end *end = crn_container_of(vc, struct fake_end, vc);

	CT_EXPECT_GT(end->holds, 0);
	CT_EXPECT_GT(mr->len, 0);
	end->holds--;
}

static bool persistent(struct rte_vc *vc, struct crn_mr *mr)
{
	return crn_container_of(vc, struct fake_end, vc)->pmem == mr;
}

static void persist(struct rte_vc *vc, struct crn_mr *mr, const void *at, size_t len)
{
	struct fake_end *end = crn_container_of(vc, struct fake_end, vc);

	CT_EXPECT_EQ(mr, end->pmem);
	end->persisted += len;
	end->persists++;
	if (end->on_persist)
		end->on_persist(end, at, len);
}

static int lend(struct rte_vc *vc, struct crn_mr *mr, struct rte_vc_loan *loan)
{
	struct fake_end *end = crn_container_of(vc, struct fake_end, vc);

	if (end->refuses)
		return -FI_ENOMEM;
	end->lent = mr;
	loan->info.lower_key = mr->number;
	loan->info.base = FAKE_BASE;
	crn_list_add_tail(&end->loans, &loan->of_mr);
	return 0;
}

static void end_bind(struct fake_end *end, struct crn_cq *cq, uint64_t flags)
{
	const struct fi_cq_attr attr = {.size = 16, .format = FI_CQ_FORMAT_DATA};

	CT_EXPECT_EQ(crn_cq_init(cq, &end->domain, (struct fi_cq_attr *)&attr, true,
				 NULL),
		     0);
	CT_EXPECT_EQ(crn_ep_bind(&end->ep, &cq->fid.fid, flags), 0);
}

static void end_open(struct fake_end *end, struct fake_end *other, bool selective)
{
	const uint64_t flags = selective ? FI_SELECTIVE_COMPLETION : 0;
	struct rte_vc_attr attr = {
		.ep = &end->ep,
		.map = &end->map,
		.tx_size = FAKE_TX,
		.rx_size = FAKE_RX,
		.inject_size = FAKE_INJECT,
		.max_msg_size = FAKE_MAX,
		.broken = broken,
		.drained = drained,
		.hold = hold,
		.release = release,
		.persistent = persistent,
		.persist = persist,
		.lend = lend,
	};
	struct fi_info *info = fi_allocinfo();

	end->other = other;
	info->caps = FI_MSG | FI_RMA | FI_RMA_EVENT;
	info->ep_attr->type = FI_EP_MSG;
	info->tx_attr->size = FAKE_TX;
	info->rx_attr->size = FAKE_RX;
	crn_ep_init(&end->ep, &end->fabric, &end->domain, info);
	fi_freeinfo(info);
	end_bind(end, &end->tx_cq, FI_TRANSMIT | flags);
	end_bind(end, &end->rx_cq, FI_RECV | flags);
	CT_EXPECT_EQ(crn_cntr_init(&end->cntr, NULL, NULL, NULL), 0);
	end->cntr.domain = &end->domain;
	CT_EXPECT_EQ(crn_mr_map_init(&end->map, 0, 8, false), 0);
	CT_EXPECT_EQ(rte_vc_init(&end->vc, &attr), 0);
	end->peer.port = &end->port;
	end->credits[RTE_REQUESTS] = end->credits[RTE_RESPONSES] = FAKE_CREDITS;
	crn_list_init(&end->loans);
	end->port.lower_rma = FAKE_MAX;
	end->port.lower_iov = RTE_VC_IOV;
	end->port.lower_inject = FAKE_INJECTS;
	end->slots[RTE_REQUESTS] = end->slots[RTE_RESPONSES] = (1u << FAKE_SLOTS) - 1;
}

void fake_open(struct fake *fake, bool direct, bool selective)
{
	fake_close(fake);
	memset(fake, 0, sizeof(*fake));
	fake->open = true;
	fake->direct = direct;
	fake->router_acks = !direct;
	end_open(&fake->a, &fake->b, selective);
	end_open(&fake->b, &fake->a, selective);
}

void fake_count(struct fake_end *end, uint64_t flags)
{
	CT_EXPECT_EQ(crn_ep_bind(&end->ep, &end->cntr.fid.fid, flags), 0);
}

void fake_start(struct fake *fake)
{
	const struct rte_vc_path path = {
		.frag = FAKE_FRAG,
		.eager = FAKE_EAGER,
		.direct = fake->direct,
		.commit = !fake->forgets,
		.bypass = fake->bypass && fake->direct,
		.bypassed = fake->bypass,
	};

	rte_vc_start(&fake->a.vc, &fake->a.peer, &path);
	rte_vc_start(&fake->b.vc, &fake->b.peer, &path);
}

/* As rte_peer_close does: done of whatever was posted. */
static void end_stop(struct fake_end *end)
{
	rte_vc_stop(&end->vc, FI_ECANCELED, 0);
	while (end->out_count) {
		end->dones[end->done_count++] = end->out[0];
		memmove(end->out, end->out + 1, --end->out_count * sizeof(*end->out));
	}
	fake_done(end);
	CT_EXPECT_TRUE(rte_vc_idle(&end->vc));
	CT_EXPECT_EQ(end->holds, 0);
	CT_EXPECT_TRUE(crn_list_empty(&end->loans));
	CT_EXPECT_EQ(end->vc.head, end->vc.tail);
	/* It takes what came and had no receive with it. */
	rte_vc_fini(&end->vc);
	CT_EXPECT_EQ(fake_rx_kept(end), 0);
}

static void cq_drain(struct crn_cq *cq)
{
	struct fi_cq_data_entry entry;
	struct fi_cq_err_entry err;

	while (fi_cq_read(&cq->fid, &entry, 1) != -FI_EAGAIN) {
		err = (struct fi_cq_err_entry){0};
		fi_cq_readerr(&cq->fid, &err, 0);
	}
}

static void end_close(struct fake_end *end)
{
	uint32_t i;

	for (i = 0; i < FAKE_POOL; i++)
		CT_EXPECT_FALSE(end->tx[i].taken);
	cq_drain(&end->tx_cq);
	cq_drain(&end->rx_cq);
	/* Each reservation was used or given back. */
	CT_EXPECT_EQ(atomic_load(&end->tx_cq.room), end->tx_cq.mask + 1);
	CT_EXPECT_EQ(atomic_load(&end->rx_cq.room), end->rx_cq.mask + 1);
	crn_ep_fini(&end->ep);
	CT_EXPECT_EQ(fi_close(&end->tx_cq.fid.fid), 0);
	CT_EXPECT_EQ(fi_close(&end->rx_cq.fid.fid), 0);
	CT_EXPECT_EQ(fi_close(&end->cntr.fid.fid), 0);
	CT_EXPECT_EQ(crn_mr_map_fini(&end->map), 0);
}

static void remove_regions(struct crn_mr_map *map)
{
	size_t i;

	for (i = 0; i < map->bucket_count; i++)
		while (map->buckets[i])
			crn_mr_remove(map, map->buckets[i]);
}

void fake_close(struct fake *fake)
{
	if (!fake->open)
		return;
	fake->open = false;
	remove_regions(&fake->a.map);
	remove_regions(&fake->b.map);
	end_stop(&fake->a);
	end_stop(&fake->b);
	end_close(&fake->a);
	end_close(&fake->b);
}

void fake_tear_down(struct fake **t)
{
	fake_close(*t);
}

void fake_expect_data(struct crn_cq *cq, const void *context, uint64_t flags, size_t len,
		      uint64_t data)
{
	struct fi_cq_data_entry entry = {0};

	CT_ASSERT_EQ(fi_cq_read(&cq->fid, &entry, 1), 1);
	CT_EXPECT_EQ(entry.op_context, context);
	CT_EXPECT_EQ(entry.flags, flags);
	CT_EXPECT_EQ(entry.len, len);
	CT_EXPECT_EQ(entry.data, data);
}

void fake_expect(struct crn_cq *cq, const void *context, uint64_t flags, size_t len)
{
	fake_expect_data(cq, context, flags, len, 0);
}

void fake_expect_err(struct crn_cq *cq, const void *context, uint64_t flags, int err)
{
	struct fi_cq_err_entry entry = {0};

	CT_ASSERT_EQ(fi_cq_readerr(&cq->fid, &entry, 0), 1);
	CT_EXPECT_EQ(entry.op_context, context);
	CT_EXPECT_EQ(entry.flags, flags);
	CT_EXPECT_EQ(entry.err, err);
}

void fake_expect_none(struct crn_cq *cq)
{
	struct fi_cq_data_entry entry;

	CT_EXPECT_EQ(fi_cq_read(&cq->fid, &entry, 1), -FI_EAGAIN);
}

ssize_t fake_send(struct fake_end *end, const void *buf, size_t len, void *context,
		  uint64_t flags)
{
	const struct iovec iov = {.iov_base = (void *)buf, .iov_len = len};
	const struct fi_msg msg = {
		.msg_iov = &iov,
		.iov_count = 1,
		.context = context,
		.data = 0x1122334455667788,
	};

	return rte_vc_send(&end->vc, &msg, flags);
}

ssize_t fake_recv(struct fake_end *end, void *buf, size_t len, void *context)
{
	const struct iovec iov = {.iov_base = buf, .iov_len = len};
	const struct fi_msg msg = {.msg_iov = &iov, .iov_count = 1, .context = context};

	return rte_vc_recv(&end->vc, &msg, 0);
}

static ssize_t rma(struct fake_end *end, void *buf, size_t len, uint64_t addr,
		   uint64_t key, void *context, uint64_t flags, bool reads)
{
	const struct iovec iov = {.iov_base = buf, .iov_len = len};
	const struct fi_rma_iov range = {.addr = addr, .len = len, .key = key};
	const struct fi_msg_rma msg = {
		.msg_iov = &iov,
		.iov_count = 1,
		.rma_iov = &range,
		.rma_iov_count = 1,
		.context = context,
		.data = 0x1122334455667788,
	};

	return reads ? rte_vc_read(&end->vc, &msg, flags)
		     : rte_vc_write(&end->vc, &msg, flags);
}

ssize_t fake_write(struct fake_end *end, const void *buf, size_t len, uint64_t addr,
		   uint64_t key, void *context, uint64_t flags)
{
	return rma(end, (void *)buf, len, addr, key, context, flags, false);
}

ssize_t fake_read(struct fake_end *end, void *buf, size_t len, uint64_t addr,
		  uint64_t key, void *context)
{
	return rma(end, buf, len, addr, key, context, 0, true);
}

void fake_region(struct fake_end *end, struct crn_mr *mr, void *buf, size_t len,
		 uint64_t key, uint64_t access)
{
	mr->buf = buf;
	mr->len = len;
	mr->access = access;
	CT_EXPECT_EQ(crn_mr_add(&end->map, mr, key), 0);
}

void fake_pattern(uint8_t *bytes, size_t len, unsigned int seed)
{
	size_t i;

	for (i = 0; i < len; i++)
		bytes[i] = (uint8_t)(i * 7 + (i >> 8) * 13 + seed);
}
