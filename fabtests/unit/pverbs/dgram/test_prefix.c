/* SPDX-License-Identifier: BSD-2-Clause */
/* FI_MSG_PREFIX: the GRH goes to where the program has room for it. */
#include "world_dgram.h"

static char buffer[PVB_GRH_SIZE + DGRAM_MTU];

static const struct dgram_opts asked = {.prefix = PVB_GRH_SIZE};

static struct fi_info *offer(uint64_t mode, size_t size, int expected)
{
	struct fi_info *hints = fi_allocinfo(), *info = NULL;

	hints->caps = FI_MSG;
	hints->mode = mode;
	hints->ep_attr->type = FI_EP_DGRAM;
	hints->ep_attr->msg_prefix_size = size;
	hints->domain_attr->mr_mode = FI_MR_LOCAL;
	CT_EXPECT_EQ(pvb_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &info),
		     expected);
	fi_freeinfo(hints);
	return info;
}

/* fi_getinfo(3): a mode is the provider's wish, so it has none that is of no use. */
CT_TEST(dgram_prefix, only_who_asks_has_one)
{
	static const struct {
		uint64_t mode;
		size_t size;
		int ret;
		size_t prefix;
	} rows[] = {
		{0, 0, 0, 0},
		{FI_MSG_PREFIX, 0, 0, 0},
		{FI_MSG_PREFIX, 1, 0, PVB_GRH_SIZE},
		{FI_MSG_PREFIX, PVB_GRH_SIZE, 0, PVB_GRH_SIZE},
		{FI_MSG_PREFIX, PVB_GRH_SIZE + 1, -FI_ENODATA, 0},
		{0, PVB_GRH_SIZE, -FI_ENODATA, 0},
	};
	struct fi_info *info;
	unsigned int i;

	dgram_reset(false);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CT_NOTE("row %u", i);
		info = offer(rows[i].mode, rows[i].size, rows[i].ret);
		if (!info)
			continue;
		CT_EXPECT_EQ(info->ep_attr->msg_prefix_size, rows[i].prefix);
		CT_EXPECT_EQ(info->mode, rows[i].prefix ? FI_MSG_PREFIX : 0);
		CT_EXPECT_EQ(info->rx_attr->mode, info->mode);
		/* What is sent has none: the device writes it. */
		CT_EXPECT_EQ(info->tx_attr->mode, 0);
		CT_EXPECT_EQ(info->ep_attr->max_msg_size, DGRAM_MTU);
		fi_freeinfo(info);
	}
}

static struct fid_ep *receiver(const struct dgram_world *w)
{
	return w->srx ? w->srx : w->ep;
}

static void start_asked(struct dgram_world *w)
{
	CT_ASSERT_TRUE(dgram_open(w, &asked));
}

CT_FIXTURE(dgram_prefix, struct dgram_world, start_asked, dgram_close);

CT_TEST_F(dgram_prefix, a_receive_has_the_header_before_its_data)
{
	const struct iovec iov[] = {{buffer, PVB_GRH_SIZE}, {buffer + PVB_GRH_SIZE, 50}};
	struct fi_msg msg = {.msg_iov = iov, .iov_count = 2, .context = NUMBER(3)};
	const struct ibv_wc from = {.src_qp = 0x501};
	struct dgram_opts opts = asked;
	const struct fake_queue *queue;
	uint8_t grh[PVB_GRH_SIZE];
	struct fid_ep *rx;
	int turn;

	memset(grh, 0x60, sizeof(grh));
	for (turn = 0; turn < 2; turn++) {
		CT_NOTE("turn %d", turn);
		opts.shared = turn;
		CT_ASSERT_TRUE(dgram_open(t, &opts));
		rx = receiver(t);
		queue = turn ? &((struct fake_srq *)t->qp->ibv.srq)->rq : &t->qp->rq;
		CT_EXPECT_EQ(fi_recv(rx, buffer, sizeof(buffer), NULL, FI_ADDR_UNSPEC,
				     NUMBER(1)),
			     0);
		CT_EXPECT_EQ(fi_recvv(rx, iov, NULL, 2, FI_ADDR_UNSPEC, NUMBER(2)), 0);
		CT_EXPECT_EQ(fi_recvmsg(rx, &msg, 0), 0);
		/* Of the program's alone, as long as there is no excess. */
		CT_EXPECT_EQ(fake_wr(queue, 0)->num_sge, 1);
		CT_EXPECT_EQ(fake_wr(queue, 0)->sge[0].length, sizeof(buffer));
		CT_EXPECT_EQ(fake_wr(queue, 1)->num_sge, 3);
		CT_EXPECT_EQ(fake_wr(queue, 1)->sge[0].addr, (uintptr_t)buffer);
		CT_EXPECT_EQ(fake_wr(queue, 1)->sge[2].length, DGRAM_MTU - 50);
		memset(buffer, 0, sizeof(buffer));
		fake_receive_datagram(t->qp, 1000, &from, grh);
		expect_comp(t->cq, NUMBER(1), FI_RECV | FI_MSG, PVB_GRH_SIZE + 1000, 0);
		CT_EXPECT_EQ(memcmp(buffer, grh, sizeof(grh)), 0);
		fake_receive_datagram(t->qp, 50, &from, grh);
		expect_comp(t->cq, NUMBER(2), FI_RECV | FI_MSG, PVB_GRH_SIZE + 50, 0);
		fake_receive_datagram(t->qp, 0, &from, grh);
		expect_comp(t->cq, NUMBER(3), FI_RECV | FI_MSG, PVB_GRH_SIZE, 0);
	}
}

CT_TEST_F(dgram_prefix, a_receive_without_room_for_it_is_refused)
{
	const struct iovec iov[] = {{buffer, PVB_GRH_SIZE - 1}, {buffer, 50}};
	struct dgram_opts opts = asked;
	struct fi_msg msg = {.msg_iov = iov, .iov_count = 2};
	struct fid_ep *rx;
	int turn;

	for (turn = 0; turn < 2; turn++) {
		CT_NOTE("turn %d", turn);
		opts.shared = turn;
		CT_ASSERT_TRUE(dgram_open(t, &opts));
		rx = receiver(t);
		CT_EXPECT_EQ(fi_recv(rx, NULL, 0, NULL, FI_ADDR_UNSPEC, NULL),
			     -FI_EINVAL);
		CT_EXPECT_EQ(fi_recv(rx, buffer, PVB_GRH_SIZE - 1, NULL, FI_ADDR_UNSPEC,
				     NULL),
			     -FI_EINVAL);
		CT_EXPECT_EQ(fi_recvv(rx, iov, NULL, 2, FI_ADDR_UNSPEC, NULL),
			     -FI_EINVAL);
		CT_EXPECT_EQ(fi_recvv(rx, iov, NULL, 0, FI_ADDR_UNSPEC, NULL),
			     -FI_EINVAL);
		CT_EXPECT_EQ(fi_recvmsg(rx, &msg, 0), -FI_EINVAL);
		CT_EXPECT_EQ(fi_recv(rx, buffer, PVB_GRH_SIZE, NULL, FI_ADDR_UNSPEC,
				     NULL),
			     0);
	}
}

CT_TEST_F(dgram_prefix, one_that_is_too_long_fills_it_and_the_data)
{
	const struct ibv_wc from = {.src_qp = 0x501};
	struct fi_cq_data_entry entry;
	struct fi_cq_err_entry err = {0};

	CT_EXPECT_EQ(fi_recv(t->ep, buffer, PVB_GRH_SIZE + 100, NULL, FI_ADDR_UNSPEC,
			     NUMBER(1)),
		     0);
	fake_receive_datagram(t->qp, 107, &from, NULL);
	CT_EXPECT_EQ(fi_cq_read(t->cq, &entry, 1), -FI_EAVAIL);
	CT_EXPECT_EQ(fi_cq_readerr(t->cq, &err, 0), 1);
	CT_EXPECT_EQ(err.err, FI_ETRUNC);
	CT_EXPECT_EQ(err.len, PVB_GRH_SIZE + 100);
	CT_EXPECT_EQ(err.olen, 7);
}

/* On Ethernet the sender's GID is in the header. */
CT_TEST_F(dgram_prefix, FI_SOURCE_is_found_in_it)
{
	struct dgram_opts opts = asked;
	const struct ibv_wc from = {.src_qp = 0x501};
	uint8_t grh[PVB_GRH_SIZE] = {0x60};
	struct fi_cq_data_entry entry;
	fi_addr_t source = 0;

	opts.caps = FI_MSG | FI_SOURCE;
	CT_ASSERT_TRUE(dgram_open(t, &opts));
	memcpy(&grh[8], dgram_addr(t, 1).gid, 16);
	CT_EXPECT_EQ(fi_recv(t->ep, buffer, sizeof(buffer), NULL, FI_ADDR_UNSPEC, NULL),
		     0);
	fake_receive_datagram(t->qp, 9, &from, grh);
	CT_EXPECT_EQ(fi_cq_readfrom(t->cq, &entry, 1, &source), 1);
	CT_EXPECT_EQ(source, t->peer);
}

/* A shared context is the domain's, whose endpoints therefore agree. */
CT_TEST_F(dgram_prefix, an_endpoint_is_like_its_domain)
{
	struct fid_ep *ep;

	t->info->mode &= ~FI_MSG_PREFIX;
	CT_EXPECT_EQ(fi_endpoint(t->domain, t->info, &ep, NULL), -FI_EINVAL);
	dgram_close(t);
	CT_ASSERT_TRUE(dgram_open(t, NULL));
	t->info->mode |= FI_MSG_PREFIX;
	CT_EXPECT_EQ(fi_endpoint(t->domain, t->info, &ep, NULL), -FI_EINVAL);
}
