/* SPDX-License-Identifier: BSD-2-Clause */
/* FI_OPT_CAIRN_REPLAY: receives in persistent memory that recovery looks into. */
#include <errno.h>
#include <rdma/fi_ext_cairn.h>
#include "../durable.h"
#include "../fake_pmem.h"
#include "persist/target/internal.h"
#include "../pmem_file.h"

#define LEN 8192
#define MESSAGE (FI_RECV | FI_MSG)
#define REMOTE (FI_RECV | FI_REMOTE_READ | FI_REMOTE_WRITE)

static struct {
	struct durable d;
	struct pmem_file file;
	struct fid_mr *mr; /* all of the file */
} at;

/* Memory that the configuration declares, at an endpoint that is not connected yet. */
static bool enable_with(enum pvb_durable_mode durable)
{
	fake_pmem = (struct fake_pmem){0};
	at.mr = NULL;
	if (!durable_enable(&at.d, NULL))
		return false;
	if (durable == PVB_DURABLE_OFF) {
		world_close(&at.d.w);
		pvb_params.durable = durable;
		if (!world_open(&at.d.w, NULL))
			return false;
	}
	if (!pmem_file_open(&at.file, LEN, "persistent=yes\npersistence=dmp\nddio=off\n"))
		return false;
	at.d.w.info->domain_attr->data_progress = FI_PROGRESS_MANUAL;
	ep_of(at.d.w.ep)->domain->info->domain_attr->data_progress = FI_PROGRESS_MANUAL;
	CT_EXPECT_EQ(fi_mr_reg(at.d.w.domain, at.file.mem, LEN, REMOTE, 0, 0, FI_RMA_PMEM,
			       &at.mr, NULL),
		     0);
	return !ct_failed();
}

static bool enable(void)
{
	return enable_with(PVB_DURABLE_ON);
}

static int set(struct fid_ep *ep, struct fid_mr *mr)
{
	return fi_setopt(&ep->fid, FI_OPT_ENDPOINT, FI_OPT_CAIRN_REPLAY, &mr, sizeof(mr));
}

/* The same with the option set, connected. */
static bool open_replaying(void)
{
	if (!enable())
		return false;
	CT_EXPECT_EQ(set(at.d.w.ep, at.mr), 0);
	return durable_connect(&at.d);
}

static void close_all(void)
{
	if (at.d.w.ep)
		world_close_ep(&at.d.w);
	CT_EXPECT_EQ(fi_close(&at.mr->fid), 0);
	pmem_file_close(&at.file);
	world_close(&at.d.w);
}

CT_TEST(replay, the_option_is_a_region)
{
	struct fid_ep *ep;

	CT_ASSERT_TRUE(enable());
	ep = at.d.w.ep;
	for (size_t len = 0; len < 2 * sizeof(at.mr); len++) {
		if (len == sizeof(at.mr))
			continue;
		CT_NOTE("%zu bytes", len);
		CT_EXPECT_EQ(fi_setopt(&ep->fid, FI_OPT_ENDPOINT, FI_OPT_CAIRN_REPLAY,
				       &at.mr, len),
			     -FI_EINVAL);
	}
	CT_EXPECT_EQ(set(ep, NULL), -FI_EINVAL);
	CT_EXPECT_EQ(set(ep, (struct fid_mr *)at.d.w.cq), -FI_EINVAL);
	CT_EXPECT_EQ(ep_of(ep)->replay, NULL);
	CT_EXPECT_EQ(set(ep, at.mr), 0);
	close_all();
}

CT_TEST(replay, it_is_persistent_and_of_the_endpoints_domain)
{
	static char plain[64];
	struct fid_domain *domain = NULL;
	struct fid_mr *other = NULL;

	CT_ASSERT_TRUE(enable());
	CT_EXPECT_EQ(fi_mr_reg(at.d.w.domain, plain, sizeof(plain), FI_RECV, 0, 0, 0,
			       &other, NULL),
		     0);
	CT_EXPECT_EQ(set(at.d.w.ep, other), -FI_EOPNOTSUPP);
	CT_EXPECT_EQ(fi_close(&other->fid), 0);
	/* The same memory, but without FI_RMA_PMEM. */
	CT_EXPECT_EQ(fi_mr_reg(at.d.w.domain, at.file.mem, LEN, FI_RECV, 0, 0, 0, &other,
			       NULL),
		     0);
	CT_EXPECT_EQ(set(at.d.w.ep, other), -FI_EOPNOTSUPP);
	CT_EXPECT_EQ(fi_close(&other->fid), 0);

	CT_EXPECT_EQ(fi_domain(at.d.w.fabric, at.d.w.info, &domain, NULL), 0);
	CT_EXPECT_EQ(fi_mr_reg(domain, at.file.mem, LEN, FI_RECV, 0, 0, FI_RMA_PMEM,
			       &other, NULL),
		     0);
	CT_EXPECT_EQ(set(at.d.w.ep, other), -FI_EDOMAIN);
	CT_EXPECT_EQ(fi_close(&other->fid), 0);
	CT_EXPECT_EQ(fi_close(&domain->fid), 0);
	close_all();
}

CT_TEST(replay, without_control_queue_pairs_nobody_could_be_told)
{
	CT_ASSERT_TRUE(enable_with(PVB_DURABLE_OFF));
	CT_EXPECT_EQ(set(at.d.w.ep, at.mr), -FI_EOPNOTSUPP);
	close_all();
}

CT_TEST(replay, it_is_said_once_before_receives_and_connection)
{
	CT_ASSERT_TRUE(enable());
	CT_EXPECT_EQ(set(at.d.w.ep, at.mr), 0);
	CT_EXPECT_EQ(set(at.d.w.ep, at.mr), -FI_EOPBADSTATE);
	CT_EXPECT_EQ(crn_container_of(at.mr, struct pvb_mr, fid)->users, 1);
	close_all();

	CT_ASSERT_TRUE(enable());
	CT_EXPECT_EQ(fi_recv(at.d.w.ep, at.file.mem, 64, fi_mr_desc(at.mr), 0, NULL), 0);
	CT_EXPECT_EQ(set(at.d.w.ep, at.mr), -FI_EOPBADSTATE);
	close_all();

	CT_ASSERT_TRUE(enable());
	CT_EXPECT_EQ(fi_connect(at.d.w.ep, NULL, NULL, 0), 0);
	CT_EXPECT_EQ(set(at.d.w.ep, at.mr), -FI_EOPBADSTATE);
	close_all();

	CT_ASSERT_TRUE(enable());
	CT_ASSERT_TRUE(durable_connect(&at.d));
	CT_EXPECT_EQ(set(at.d.w.ep, at.mr), -FI_EOPBADSTATE);
	close_all();
}

CT_TEST(replay, shared_receives_and_it_exclude_each_other)
{
	struct fid_ep *srx = NULL, *ep = NULL;

	CT_ASSERT_TRUE(enable());
	CT_EXPECT_EQ(fi_srx_context(at.d.w.domain, NULL, &srx, NULL), 0);
	at.d.w.info->ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT;
	for (int srx_first = 0; srx_first < 2; srx_first++) {
		CT_EXPECT_EQ(fi_endpoint(at.d.w.domain, at.d.w.info, &ep, NULL), 0);
		if (srx_first) {
			CT_EXPECT_EQ(fi_ep_bind(ep, &srx->fid, 0), 0);
			CT_EXPECT_EQ(set(ep, at.mr), -FI_EOPNOTSUPP);
		} else {
			CT_EXPECT_EQ(set(ep, at.mr), 0);
			CT_EXPECT_EQ(fi_ep_bind(ep, &srx->fid, 0), -FI_EOPNOTSUPP);
		}
		CT_EXPECT_EQ(fi_close(&ep->fid), 0);
	}
	CT_EXPECT_EQ(fi_close(&srx->fid), 0);
	close_all();
}

CT_TEST(replay, a_region_stays_as_long_as_receives_are_in_it)
{
	CT_ASSERT_TRUE(open_replaying());
	CT_EXPECT_EQ(fi_close(&at.mr->fid), -FI_EBUSY);
	/* And is of use as before. */
	CT_EXPECT_EQ(fi_recv(at.d.w.ep, at.file.mem, 64, fi_mr_desc(at.mr), 0, NUMBER(1)),
		     0);
	fake_receive(at.d.w.qp, IBV_WC_RECV, 10, NULL);
	expect_comp(at.d.w.cq, NUMBER(1), MESSAGE, 10, 0);
	CT_EXPECT_EQ(fake_pmem.flushes, 1);
	close_all();
}

CT_TEST(replay, a_region_that_the_device_does_not_let_go_of_stays_what_it_is)
{
	struct pvb_wire_range range;
	struct pvb_control *control;

	CT_ASSERT_TRUE(enable());
	control = ep_of(at.d.w.ep)->domain->control;
	range = (struct pvb_wire_range){(uintptr_t)at.file.mem, LEN,
					(uint32_t)fi_mr_key(at.mr)};
	fake_fail(FAKE_DEREG_MR, 1, EBUSY);
	CT_EXPECT_EQ(fi_close(&at.mr->fid), -FI_EBUSY);
	pthread_mutex_lock(&control->lock);
	CT_EXPECT_NE(pvb_pmem_region_find(control, &range), NULL);
	pthread_mutex_unlock(&control->lock);
	close_all();
}

CT_TEST(replay, receives_that_are_not_all_in_the_region_are_refused)
{
	static char plain[64];
	struct iovec iov[3] = {{0}, {plain, 8}, {0}};
	void *desc[3] = {NULL};
	struct fi_msg msg = {
		.msg_iov = iov, .desc = desc, .iov_count = 3, .context = NUMBER(9)};
	struct fid_ep *ep;

	CT_ASSERT_TRUE(open_replaying());
	ep = at.d.w.ep;
	iov[0] = iov[2] = (struct iovec){at.file.mem, 8};
	desc[0] = desc[2] = fi_mr_desc(at.mr);
	CT_EXPECT_EQ(fi_recv(ep, plain, 8, NULL, 0, NUMBER(1)), -FI_EINVAL);
	CT_EXPECT_EQ(fi_recvv(ep, iov, desc, 3, 0, NUMBER(2)), -FI_EINVAL);
	CT_EXPECT_EQ(fi_recvmsg(ep, &msg, 0), -FI_EINVAL);
	CT_EXPECT_EQ(at.d.w.qp->rq.posted, 0);
	/* One without a buffer is nowhere. */
	CT_EXPECT_EQ(fi_recv(ep, NULL, 0, NULL, 0, NUMBER(3)), 0);
	desc[1] = fi_mr_desc(at.mr);
	CT_EXPECT_EQ(fi_recvv(ep, iov, desc, 3, 0, NUMBER(4)), 0);
	fake_receive(at.d.w.qp, IBV_WC_RECV, 0, NULL);
	fake_receive(at.d.w.qp, IBV_WC_RECV, 0, NULL);
	expect_comp(at.d.w.cq, NUMBER(3), MESSAGE, 0, 0);
	expect_comp(at.d.w.cq, NUMBER(4), MESSAGE, 0, 0);
	close_all();
}

CT_TEST(replay, every_message_is_written_back_before_it_is_reported)
{
	static const uint32_t data = 1;
	void *desc;

	CT_ASSERT_TRUE(open_replaying());
	desc = fi_mr_desc(at.mr);
	for (uintptr_t i = 0; i < 2; i++)
		CT_EXPECT_EQ(fi_recv(at.d.w.ep, at.file.mem + 64 * i, 64, desc, 0,
				     NUMBER(i)),
			     0);
	fake_receive(at.d.w.qp, IBV_WC_RECV, 33, NULL);
	expect_comp(at.d.w.cq, NUMBER(0), MESSAGE, 33, 0);
	CT_EXPECT_EQ(fake_pmem.flushes, 1);
	CT_EXPECT_EQ(fake_pmem.undrained, 0);
	CT_EXPECT_EQ(fake_pmem.flush[0].addr, at.file.mem);
	CT_EXPECT_EQ(fake_pmem.flush[0].len, 33);
	/* A write with data brings nothing into the receive. */
	fake_receive(at.d.w.qp, IBV_WC_RECV_RDMA_WITH_IMM, 64, &data);
	expect_comp(at.d.w.cq, NUMBER(1), FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA,
		    64, 1);
	CT_EXPECT_EQ(fake_pmem.flushes, 1);
	close_all();
}

CT_TEST(replay, the_peer_is_told_when_the_connection_stands)
{
	struct pvb_wire_message message;

	CT_ASSERT_TRUE(open_replaying());
	CT_EXPECT_EQ(at.d.control->sq.posted, 1);
	message = durable_sent(&at.d, 0);
	CT_EXPECT_EQ(message.kind, PVB_WIRE_REPLAY);
	CT_EXPECT_EQ(message.to.addr, (uintptr_t)at.file.mem);
	CT_EXPECT_EQ(message.key, fi_mr_key(at.mr));
	close_all();
}

CT_TEST(replay, a_peer_that_cannot_be_told_costs_nothing_but_the_control_qp)
{
	CT_ASSERT_TRUE(enable());
	CT_EXPECT_EQ(set(at.d.w.ep, at.mr), 0);
	fake_fail(FAKE_POST_SEND, 1, EINVAL);
	ct_log_reset();
	CT_ASSERT_TRUE(durable_connect(&at.d));
	CT_EXPECT_WARNED("");
	CT_EXPECT_TRUE(at.d.control_qp->lost);
	CT_EXPECT_EQ(send_number(at.d.w.ep, 1), 0);
	close_all();
}

/* The sender. */

/* Where the peer's receives are. */
static void learn(struct durable *d, uint64_t addr, uint64_t key)
{
	const struct pvb_wire_message message = {
		.kind = PVB_WIRE_REPLAY,
		.to = {.addr = addr},
		.key = key,
	};

	durable_message(d, &message);
	expect_no_comp(d->w.cq);
}

static ssize_t durable_send(struct durable *d, uintptr_t number)
{
	static char payload[8];
	const struct iovec iov = {payload, sizeof(payload)};
	const struct fi_msg msg = {.msg_iov = &iov,
				   .iov_count = 1,
				   .context = NUMBER(number)};

	return fi_sendmsg(d->w.ep, &msg, FI_COMMIT_COMPLETE | FI_COMPLETION);
}

CT_FIXTURE(replay, struct durable, durable_start, durable_close);

CT_TEST_F(replay, a_send_to_a_peer_that_replays_is_like_a_write)
{
	static const struct {
		enum crn_persistence domain;
		bool ddio;
		unsigned int posted;
		enum ibv_wr_opcode second;
	} rows[] = {
		{CRN_WSP, true, 1, IBV_WR_SEND},
		{CRN_MHP, true, 2, IBV_WR_RDMA_READ},
		{CRN_DMP, false, 2, IBV_WR_RDMA_READ},
		/* Its processor is needed all the same: entry and send. */
		{CRN_DMP, true, 2, IBV_WR_SEND},
	};
	const struct fake_wr *wr;

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("row %zu", i);
		CT_ASSERT_TRUE(durable_open(t, NULL));
		learn(t, 0x9000, durable_key(rows[i].domain, rows[i].ddio));
		CT_EXPECT_EQ(durable_send(t, 1), 0);
		CT_ASSERT_EQ(t->w.qp->sq.posted, rows[i].posted);
		wr = fake_newest(&t->w.qp->sq);
		CT_EXPECT_EQ(wr->opcode, rows[i].second);
		if (wr->opcode == IBV_WR_RDMA_READ) {
			CT_EXPECT_EQ(wr->remote_addr, 0x9000);
			CT_EXPECT_EQ(wr->rkey, 0x4000);
			CT_EXPECT_EQ(durable_opcode(t, 0), IBV_WR_SEND);
		}
		durable_complete(t);
		if (rows[i].domain == CRN_DMP && rows[i].ddio)
			expect_no_comp(t->w.cq);
		else
			expect_comp(t->w.cq, NUMBER(1), FI_SEND | FI_MSG, 0, 0);
	}
}

CT_TEST_F(replay, until_it_is_known_the_peer_is_asked)
{
	const struct pvb_wire_message answer = {.kind = PVB_WIRE_RING_ANSWER,
						.number = 1};

	CT_EXPECT_EQ(durable_send(t, 1), 0);
	CT_EXPECT_EQ(durable_opcode(t, 0), IBV_WR_RDMA_WRITE);
	CT_EXPECT_EQ(durable_opcode(t, 1), IBV_WR_SEND);
	learn(t, 0x9000, durable_key(CRN_MHP, true));
	CT_EXPECT_EQ(durable_send(t, 2), 0);
	CT_EXPECT_EQ(durable_opcode(t, 2), IBV_WR_SEND);
	CT_EXPECT_EQ(durable_opcode(t, 3), IBV_WR_RDMA_READ);
	durable_complete(t);
	/* The order of posting is that of the ends. */
	expect_no_comp(t->w.cq);
	durable_message(t, &answer);
	expect_no_comp(t->w.cq);
	expect_comp(t->w.cq, NUMBER(1), FI_SEND | FI_MSG, 0, 0);
	expect_comp(t->w.cq, NUMBER(2), FI_SEND | FI_MSG, 0, 0);
	CT_EXPECT_FALSE(t->control_qp->lost);
}

CT_TEST_F(replay, what_is_said_again_is_not_heard)
{
	learn(t, 0x9000, durable_key(CRN_MHP, true));
	learn(t, 0xa000, durable_key(CRN_WSP, true));
	CT_EXPECT_EQ(durable_send(t, 1), 0);
	CT_EXPECT_EQ(fake_newest(&t->w.qp->sq)->opcode, IBV_WR_RDMA_READ);
	CT_EXPECT_EQ(fake_newest(&t->w.qp->sq)->remote_addr, 0x9000);
}

CT_TEST_F(replay, a_key_that_promises_nothing_is_none)
{
	const uint64_t keys[] = {0, 0x4000, UINT64_MAX,
				 durable_key(CRN_WSP, true) ^ 1ull << 40,
				 durable_key(CRN_WSP, true) ^ 1ull << 63};

	for (size_t i = 0; i < CRN_COUNT(keys); i++) {
		CT_NOTE("key %zu", i);
		CT_ASSERT_TRUE(durable_open(t, NULL));
		learn(t, 0x9000, keys[i]);
		CT_EXPECT_FALSE(t->control_qp->lost);
		CT_EXPECT_EQ(durable_send(t, 1), 0);
		CT_EXPECT_EQ(durable_opcode(t, 0), IBV_WR_RDMA_WRITE);
		CT_EXPECT_EQ(durable_opcode(t, 1), IBV_WR_SEND);
	}
}
