/* SPDX-License-Identifier: BSD-2-Clause */
/* Who reaches the area of a control queue pair. */
#include <errno.h>
#include "../durable.h"
#include "../../world_cm.h"

#define RIGHTS \
	(IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)

static struct durable d;
static enum ibv_transport_type fake_transport = IBV_TRANSPORT_IB;

/* An endpoint on a device with windows of that type. */
static bool enable(enum ibv_device_cap_flags type, enum fi_threading threading)
{
	const struct world_opts opts = {.tx_size = 64, .threading = threading};

	d = (struct durable){0};
	world_reset();
	pvb_params.durable = PVB_DURABLE_ON;
	pvb_params.commit_timeout = DURABLE_TIMEOUT;
	fake_devices[0].attr.atomic_cap = IBV_ATOMIC_HCA;
	fake_devices[0].attr.device_cap_flags = type;
	fake_devices[0].ibv.transport_type = fake_transport;
	fake_transport = IBV_TRANSPORT_IB;
	return world_open(&d.w, &opts);
}

static unsigned int rights_of_region(void)
{
	return ((struct fake_mr *)d.control_qp->area_mr)->access;
}

static void expect_window(void)
{
	const struct fake_wr *bind = fake_wr(&d.w.qp->sq, 0);
	struct pvb_cm_data data;

	CT_ASSERT_TRUE(d.control_qp->window);
	CT_EXPECT_EQ(bind->opcode, IBV_WR_BIND_MW);
	CT_EXPECT_EQ(bind->bind.mr, d.control_qp->area_mr);
	CT_EXPECT_EQ(bind->bind.addr, (uintptr_t)d.control_qp->area);
	CT_EXPECT_EQ(bind->bind.length, sizeof(*d.control_qp->area));
	CT_EXPECT_EQ(bind->bind.mw_access_flags, RIGHTS);
	/* The peer knew it before. */
	pvb_cm_parse(&data, fake_connect.data, fake_connect.len);
	CT_EXPECT_EQ(data.word.rkey, bind->rkey);
	CT_EXPECT_EQ(bind->rkey, ibv_inc_rkey(d.control_qp->window->rkey));
	/* By the region's key nobody reaches anything. */
	CT_EXPECT_EQ(rights_of_region(), IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
}

CT_TEST(window, only_the_control_qps_peer_reaches_its_area)
{
	static const enum ibv_device_cap_flags types[] = {IBV_DEVICE_MEM_WINDOW_TYPE_2A,
							  IBV_DEVICE_MEM_WINDOW_TYPE_2B};

	for (size_t i = 0; i < CRN_COUNT(types); i++) {
		CT_ASSERT_TRUE(enable(types[i], FI_THREAD_SAFE));
		CT_ASSERT_TRUE(durable_connect(&d));
		expect_window();
		/* Operations begin behind it. */
		CT_EXPECT_EQ(send_number(d.w.ep, 1), 0);
		fake_complete_all(d.w.qp);
		expect_comp(d.w.cq, NUMBER(1), FI_SEND | FI_MSG, 0, 0);
		expect_no_comp(d.w.cq);
		durable_close(&d);
	}
}

static void expect_no_window(void)
{
	CT_EXPECT_FALSE(d.control_qp->window);
	CT_EXPECT_EQ(d.control_qp->area_key, d.control_qp->area_mr->rkey);
	CT_EXPECT_EQ(rights_of_region(), RIGHTS | IBV_ACCESS_LOCAL_WRITE);
	CT_EXPECT_EQ(d.w.qp->sq.posted, 0);
	durable_close(&d);
}

CT_TEST(window, other_devices_have_regions)
{
	CT_ASSERT_TRUE(enable(IBV_DEVICE_MEM_WINDOW, FI_THREAD_SAFE));
	CT_ASSERT_TRUE(durable_connect(&d));
	expect_no_window();
}

/* Its queue pairs are ready only when the kernel says so. */
CT_TEST(window, with_iwarp_there_is_none)
{
	fake_transport = IBV_TRANSPORT_IWARP;
	CT_ASSERT_TRUE(enable(IBV_DEVICE_MEM_WINDOW_TYPE_2B, FI_THREAD_SAFE));
	CT_EXPECT_FALSE(ep_of(d.w.ep)->qp.control_qp->window);
	durable_close(&d);
}

/* Whoever reads the event queue may not look at completions. */
CT_TEST(window, without_locks_there_is_none)
{
	CT_ASSERT_TRUE(enable(IBV_DEVICE_MEM_WINDOW_TYPE_2B, FI_THREAD_DOMAIN));
	CT_ASSERT_TRUE(durable_connect(&d));
	expect_no_window();
}

CT_TEST(window, where_there_is_none_left_it_goes_without)
{
	CT_ASSERT_TRUE(enable(IBV_DEVICE_MEM_WINDOW_TYPE_2B, FI_THREAD_SAFE));
	CT_EXPECT_EQ(fi_close(&d.w.ep->fid), 0);
	fake_fail(FAKE_ALLOC_MW, 1, ENOMEM);
	CT_ASSERT_TRUE(world_add_ep(&d.w, NULL, &d.w.ep));
	d.w.qp = qp_of(d.w.ep);
	CT_ASSERT_TRUE(durable_connect(&d));
	expect_no_window();
}

/* A peer that used the key would lose its connection: there is none. */
static void expect_no_connection(void)
{
	struct rdma_cm_id *id;

	CT_EXPECT_EQ(fi_connect(d.w.ep, NULL, NULL, 0), 0);
	id = ep_of(d.w.ep)->conn.id;
	fake_id_device(id, &fake_devices[0]);
	fake_event(id, RDMA_CM_EVENT_ADDR_RESOLVED, 0, NULL, 0);
	fake_event(id, RDMA_CM_EVENT_ROUTE_RESOLVED, 0, NULL, 0);
	fake_event(id, RDMA_CM_EVENT_CONNECT_RESPONSE, 0, NULL, 0);
}

CT_TEST(window, without_its_binding_there_is_no_connection)
{
	CT_ASSERT_TRUE(enable(IBV_DEVICE_MEM_WINDOW_TYPE_2B, FI_THREAD_SAFE));
	fake_fail(FAKE_POST_SEND, 1, EINVAL);
	expect_no_connection();
	expect_eq_error(d.w.eq, &d.w.ep->fid, FI_EINVAL, FI_EINVAL);
	CT_EXPECT_EQ(send_number(d.w.ep, 1), -FI_ENOTCONN);
	durable_close(&d);
}

CT_TEST(window, a_binding_that_never_ends_is_not_waited_for_without_end)
{
	CT_ASSERT_TRUE(enable(IBV_DEVICE_MEM_WINDOW_TYPE_2B, FI_THREAD_SAFE));
	fake_devices[0].binds_never = true;
	world_polls_take_time();
	expect_no_connection();
	expect_eq_error(d.w.eq, &d.w.ep->fid, FI_ETIMEDOUT, FI_ETIMEDOUT);
	durable_close(&d);
}

/* Nothing is sent over a connection that was not accepted. */
CT_TEST(window, without_its_binding_a_request_is_not_accepted)
{
	const struct pvb_cm_offer offer = {.word = {DURABLE_WORD, 0x5000},
					   .control = {0x123, 0x456, true}};
	uint8_t data[PVB_CM_REQ_SIZE];
	struct fi_info *info;
	struct fid_pep *pep;
	struct fid_ep *ep;

	CT_ASSERT_TRUE(enable(IBV_DEVICE_MEM_WINDOW_TYPE_2B, FI_THREAD_SAFE));
	CT_ASSERT_TRUE(world_listen(&d.w, &pep));
	pvb_cm_pack(data, NULL, 0, &offer);
	request_arrives(pep, data, sizeof(data));
	info = read_request(&d.w, pep, NULL, 0);
	CT_ASSERT_TRUE(info && take_request(&d.w, info, &ep));
	CT_ASSERT_TRUE(ep_of(ep)->qp.control_qp->window);
	fake_fail(FAKE_POST_SEND, 1, EINVAL);
	CT_EXPECT_EQ(fi_accept(ep, NULL, 0), -FI_EINVAL);
	CT_EXPECT_LT(send_number(ep, 1), 0);
	CT_EXPECT_EQ(qp_of(ep)->sq.posted, 0);
	CT_EXPECT_EQ(fi_close(&ep->fid), 0);
	expect_no_comp(d.w.cq);
	CT_EXPECT_EQ(fi_close(&pep->fid), 0);
	durable_close(&d);
}
