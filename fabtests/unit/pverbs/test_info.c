/* SPDX-License-Identifier: BSD-2-Clause */
/* What fi_getinfo answers beside addresses and mr_mode. */
#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include "world.h"

#define VERSION FI_VERSION(1, 17)

static struct fi_info *new_hints(void)
{
	struct fi_info *hints = fi_allocinfo();

	hints->mode = FI_RX_CQ_DATA;
	hints->ep_attr->type = FI_EP_MSG;
	hints->domain_attr->mr_mode =
		FI_MR_LOCAL | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_VIRT_ADDR;
	return hints;
}

struct asked {
	struct fi_info *hints; /* of the next call */
	struct fi_info *info;  /* the newest answer; NULL with -FI_ENODATA */
};

static void start(struct asked *t)
{
	world_reset();
	t->hints = new_hints();
}

static void end(struct asked *t)
{
	fi_freeinfo(t->hints);
	fi_freeinfo(t->info);
}

CT_FIXTURE(info, struct asked, start, end);

static struct fi_info *get_for(struct asked *t, const struct fi_info *hints)
{
	int ret;

	fi_freeinfo(t->info);
	t->info = NULL;
	ret = pvb_getinfo(VERSION, NULL, NULL, 0, hints, &t->info);
	CT_EXPECT_EQ(ret, t->info ? 0 : -FI_ENODATA);
	CT_EXPECT_EQ(fake_objects, 0);
	return t->info;
}

/* The answer for the hints, which are new ones afterwards. */
static struct fi_info *get(struct asked *t)
{
	get_for(t, t->hints);
	fi_freeinfo(t->hints);
	t->hints = new_hints();
	return t->info;
}

CT_TEST_F(info, without_hints_the_answer_is_modest)
{
	CT_ASSERT_NE(get_for(t, NULL), NULL);
	/* Behind it there are datagrams: dgram/test_info.c. */
	CT_ASSERT_NE(t->info->next, NULL);
	CT_EXPECT_EQ(t->info->next->ep_attr->type, FI_EP_DGRAM);
	CT_EXPECT_FALSE(t->info->next->caps & FI_MULTICAST);
	CT_ASSERT_NE(t->info->next->next, NULL);
	CT_EXPECT_TRUE(t->info->next->next->caps & FI_MULTICAST);
	CT_EXPECT_EQ(t->info->next->next->next, NULL);
	CT_EXPECT_EQ(t->info->caps, FI_MSG | FI_RMA | FI_SEND | FI_RECV | FI_READ |
					    FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE |
					    FI_FENCE | FI_LOCAL_COMM | FI_REMOTE_COMM);
	CT_EXPECT_EQ(t->info->mode, FI_RX_CQ_DATA);
	CT_EXPECT_EQ(t->info->ep_attr->type, FI_EP_MSG);
	CT_EXPECT_EQ(t->info->ep_attr->protocol, FI_PROTO_RDMA_CM_IB_RC);
	CT_EXPECT_EQ(t->info->ep_attr->max_msg_size, 1u << 31);
	CT_EXPECT_EQ(t->info->ep_attr->max_order_raw_size, 1u << 31);
	CT_EXPECT_EQ(t->info->ep_attr->max_order_waw_size, 1u << 31);
	CT_EXPECT_EQ(t->info->ep_attr->max_order_war_size, 0);
	CT_EXPECT_EQ(t->info->tx_attr->size, 256);
	CT_EXPECT_EQ(t->info->rx_attr->size, 256);
	CT_EXPECT_EQ(t->info->tx_attr->iov_limit, 4);
	CT_EXPECT_EQ(t->info->rx_attr->iov_limit, 4);
	CT_EXPECT_EQ(t->info->tx_attr->rma_iov_limit, 1);
	CT_EXPECT_EQ(t->info->tx_attr->inject_size, 64);
	CT_EXPECT_EQ(t->info->tx_attr->op_flags, FI_TRANSMIT_COMPLETE);
	CT_EXPECT_EQ(t->info->rx_attr->op_flags, 0);
	CT_EXPECT_EQ(t->info->tx_attr->msg_order &
			     (FI_ORDER_WAR | FI_ORDER_SAR | FI_ORDER_RMA_WAR),
		     0);
	CT_EXPECT_TRUE(t->info->tx_attr->msg_order & FI_ORDER_SAS);
	CT_EXPECT_EQ(t->info->domain_attr->threading, FI_THREAD_SAFE);
	CT_EXPECT_EQ(t->info->domain_attr->mr_key_size, sizeof(uint64_t));
	CT_EXPECT_EQ(t->info->domain_attr->cq_data_size, 4);
	CT_EXPECT_EQ(t->info->domain_attr->cq_cnt, 200);
	CT_EXPECT_EQ(t->info->domain_attr->ep_cnt, 100);
	CT_EXPECT_EQ(t->info->domain_attr->mr_cnt, 300);
	CT_EXPECT_EQ(t->info->domain_attr->mr_iov_limit, 1);
	CT_EXPECT_EQ(t->info->fabric_attr->api_version, VERSION);
	CT_EXPECT_EQ(t->info->fabric_attr->prov_version, PVB_VERSION);
}

CT_TEST_F(info, parameters_of_the_user_are_the_defaults_within_the_device)
{
	pvb_params.tx_size = 10;
	pvb_params.rx_size = 65536;
	pvb_params.inject_size = 512;
	fake_devices[0].attr.max_sge = 2;
	CT_ASSERT_NE(get_for(t, NULL), NULL);
	CT_EXPECT_EQ(t->info->tx_attr->size, 10);
	CT_EXPECT_EQ(t->info->rx_attr->size, 999);
	CT_EXPECT_EQ(t->info->tx_attr->inject_size, 512);
	CT_EXPECT_EQ(t->info->tx_attr->iov_limit, 2);
}

/* The sizes a program may ask for, by number. */
static size_t *size_of(struct fi_info *info, size_t number)
{
	size_t *const sizes[] = {
		&info->tx_attr->size,
		&info->rx_attr->size,
		&info->tx_attr->inject_size,
		&info->tx_attr->iov_limit,
		&info->rx_attr->iov_limit,
		&info->tx_attr->rma_iov_limit,
		&info->ep_attr->max_msg_size,
		&info->domain_attr->cq_data_size,
		&info->domain_attr->mr_key_size,
	};

	return sizes[number];
}

CT_TEST_F(info, a_program_gets_what_it_asks_for_up_to_what_the_device_can_do)
{
	static const size_t most[] = {999, 999, 512, 16, 16, 1, 1u << 31, 4, 8};

	for (size_t i = 0; i < CRN_COUNT(most); i++) {
		for (size_t over = 0; over <= 1; over++) {
			CT_NOTE("size %zu: %zu", i, most[i] + over);
			*size_of(t->hints, i) = most[i] + over;
			CT_EXPECT_EQ(get(t) != NULL, !over);
			if (t->info)
				CT_EXPECT_EQ(*size_of(t->info, i), most[i]);
		}
	}
}

/* Both queues and the marker fit into one device completion queue. */
CT_TEST_F(info, a_small_device_offers_queues_that_it_can_complete)
{
	static const struct {
		int max_qp_wr, max_cqe;
		size_t wanted;
	} rows[] = {{100, 4000, 99}, {1000, 200, 99}, {64, 128, 63}, {2, 4, 1}};

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("max_qp_wr %d, max_cqe %d", rows[i].max_qp_wr, rows[i].max_cqe);
		fake_devices[0].attr.max_qp_wr = rows[i].max_qp_wr;
		fake_devices[0].attr.max_cqe = rows[i].max_cqe;
		CT_ASSERT_NE(get_for(t, NULL), NULL);
		CT_EXPECT_EQ(t->info->tx_attr->size, rows[i].wanted);
		CT_EXPECT_EQ(t->info->rx_attr->size, rows[i].wanted);
	}
}

CT_TEST_F(info, names_tell_the_device_and_what_it_is_connected_to)
{
	fake_devices[1].port[0].link_layer = IBV_LINK_LAYER_INFINIBAND;
	fake_devices[1].subnet_prefix = 0x00ff00ff12345678;
	fake_devices[2].ibv.transport_type = IBV_TRANSPORT_IWARP;
	fake_devices[2].port[0].link_layer = IBV_LINK_LAYER_UNSPECIFIED;
	fake_add_addr("10.1.0.1", &fake_devices[1], 1, IFF_UP);
	fake_add_addr("10.2.0.1", &fake_devices[2], 1, IFF_UP);
	CT_ASSERT_NE(get(t), NULL);
	CT_ASSERT_NE(t->info->next, NULL);
	CT_ASSERT_NE(t->info->next->next, NULL);
	CT_EXPECT_STREQ(t->info->domain_attr->name, "fake0");
	CT_EXPECT_STREQ(t->info->fabric_attr->name, "pverbs-eth");
	CT_EXPECT_STREQ(t->info->next->domain_attr->name, "fake1");
	CT_EXPECT_STREQ(t->info->next->fabric_attr->name, "pverbs-ib-00ff00ff12345678");
	CT_EXPECT_STREQ(t->info->next->next->domain_attr->name, "fake2");
	CT_EXPECT_STREQ(t->info->next->next->fabric_attr->name, "pverbs-eth");
	CT_EXPECT_EQ(t->info->next->next->ep_attr->protocol, FI_PROTO_IWARP);
	CT_EXPECT_EQ(t->info->next->next->next, NULL);
}

CT_TEST_F(info, a_device_without_immediate_data_has_no_remote_cq_data)
{
	fake_devices[0].driver = "siw";
	CT_ASSERT_NE(get_for(t, NULL), NULL);
	CT_EXPECT_EQ(t->info->domain_attr->cq_data_size, 0);
	t->hints->domain_attr->cq_data_size = 4;
	CT_EXPECT_EQ(get(t), NULL);
	fake_devices[0].driver = "rxe";
	t->hints->domain_attr->cq_data_size = 4;
	CT_ASSERT_NE(get(t), NULL);
	CT_EXPECT_EQ(t->info->domain_attr->cq_data_size, 4);
}

CT_TEST_F(info, names_of_the_hints_choose)
{
	fake_add_addr("10.1.0.1", &fake_devices[1], 1, IFF_UP);
	t->hints->domain_attr->name = strdup("fake1");
	CT_ASSERT_NE(get(t), NULL);
	CT_EXPECT_STREQ(t->info->domain_attr->name, "fake1");
	CT_EXPECT_EQ(t->info->next, NULL);
	t->hints->domain_attr->name = strdup("fake");
	CT_EXPECT_EQ(get(t), NULL);
	t->hints->fabric_attr->name = strdup("pverbs-ib");
	CT_EXPECT_EQ(get(t), NULL);
}

CT_TEST_F(info, what_is_not_offered_is_no_data)
{
	static const struct {
		uint64_t caps, mode, op_flags;
		enum fi_ep_type type;
	} rows[] = {
		{.caps = FI_TAGGED},
		{.caps = FI_ATOMIC},
		{.caps = FI_MULTICAST},
		{.caps = FI_MSG | FI_HMEM},
		{.caps = FI_MSG | FI_RMA_PMEM},
		{.type = FI_EP_RDM},
		{.op_flags = FI_COMMIT_COMPLETE},
	};

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("row %zu", i);
		t->hints->caps = rows[i].caps;
		t->hints->tx_attr->op_flags = rows[i].op_flags;
		if (rows[i].type)
			t->hints->ep_attr->type = rows[i].type;
		CT_EXPECT_EQ(get(t), NULL);
	}
}

CT_TEST_F(info, persistent_memory_is_offered_to_who_asks_for_it_with_rma)
{
	CT_ASSERT_NE(get_for(t, NULL), NULL);
	CT_EXPECT_FALSE(t->info->caps & FI_RMA_PMEM);

	t->hints->caps = FI_RMA;
	CT_ASSERT_NE(get(t), NULL);
	CT_EXPECT_FALSE(t->info->caps & FI_RMA_PMEM);

	t->hints->caps = FI_MSG | FI_RMA | FI_RMA_PMEM;
	CT_ASSERT_NE(get(t), NULL);
	CT_EXPECT_TRUE(t->info->caps & FI_RMA_PMEM);
	CT_EXPECT_EQ(t->info->domain_attr->mr_key_size, 8);
}

CT_TEST_F(info, op_flags_asked_for_are_the_endpoints_defaults)
{
	t->hints->tx_attr->op_flags = FI_INJECT | FI_COMPLETION | FI_INJECT_COMPLETE;
	t->hints->rx_attr->op_flags = FI_COMPLETION;
	CT_ASSERT_NE(get(t), NULL);
	CT_EXPECT_EQ(t->info->tx_attr->op_flags,
		     FI_INJECT | FI_COMPLETION | FI_INJECT_COMPLETE);
	CT_EXPECT_EQ(t->info->rx_attr->op_flags, FI_COMPLETION);
}

/* It is how devices are: a program that did not ask has to know all the same. */
CT_TEST_F(info, where_peers_write_they_may_consume_receives)
{
	static const struct {
		uint64_t caps;
		uint64_t wanted;
	} rows[] = {{0, FI_RX_CQ_DATA},
		    {FI_MSG | FI_RMA, FI_RX_CQ_DATA},
		    {FI_RMA | FI_REMOTE_WRITE, FI_RX_CQ_DATA},
		    {FI_RMA | FI_REMOTE_READ, 0},
		    {FI_MSG, 0}};
	/* Of the hints and of their rx_attr. What was not offered is not in the answer's.
	 */
	static const uint64_t modes[][2] = {{0, 0},
					    {FI_CONTEXT, FI_CONTEXT},
					    {FI_RX_CQ_DATA, 0},
					    {0, FI_RX_CQ_DATA},
					    {FI_RX_CQ_DATA | FI_CONTEXT, FI_CONTEXT},
					    {FI_RX_CQ_DATA, FI_RX_CQ_DATA}};

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		for (size_t m = 0; m < CRN_COUNT(modes); m++) {
			CT_NOTE("row %zu, mode %zu", i, m);
			t->hints->caps = rows[i].caps;
			t->hints->mode = modes[m][0];
			t->hints->rx_attr->mode = modes[m][1];
			CT_ASSERT_NE(get(t), NULL);
			CT_EXPECT_EQ(t->info->rx_attr->mode, rows[i].wanted);
			CT_EXPECT_EQ(t->info->tx_attr->mode, 0);
			CT_EXPECT_EQ(t->info->mode,
				     rows[i].wanted & (modes[m][0] | modes[m][1]));
		}
	}
}

/* fi_getinfo(3): without hints, every mode is reported. */
CT_TEST(info, without_hints_the_mode_of_receives_is_that_of_the_info_too)
{
	struct fi_info *info = NULL;

	world_reset();
	CT_ASSERT_EQ(pvb_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, NULL, &info), 0);
	CT_EXPECT_EQ(info->rx_attr->mode, FI_RX_CQ_DATA);
	CT_EXPECT_TRUE(info->mode & FI_RX_CQ_DATA);
	fi_freeinfo(info);
}

/* It costs a fence on every write: so it is given on request only. */
CT_TEST_F(info, order_after_reads_is_given_when_asked_for)
{
	static const struct {
		uint64_t order;
		size_t size;
		bool given;
	} rows[] = {
		{FI_ORDER_WAR | FI_ORDER_RMA_WAR, 0, true},
		{FI_ORDER_WAR, 1000, true},
		{FI_ORDER_RMA_WAR, 1u << 31, true},
		{FI_ORDER_WAR, ((size_t)1 << 31) + 1, false},
		{FI_ORDER_SAS, 1, false},
		{0, 1, false},
	};

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("row %zu", i);
		t->hints->tx_attr->msg_order = rows[i].order;
		t->hints->ep_attr->max_order_war_size = rows[i].size;
		CT_EXPECT_EQ(get(t) != NULL, rows[i].given);
		if (!t->info)
			continue;
		CT_EXPECT_EQ(t->info->tx_attr->msg_order, rows[i].order);
		CT_EXPECT_EQ(t->info->ep_attr->max_order_war_size, 1u << 31);
	}
}

CT_TEST_F(info, a_handle_of_the_hints_is_passed_on)
{
	struct fid handle = {0};

	t->hints->handle = &handle;
	CT_ASSERT_NE(get(t), NULL);
	CT_EXPECT_EQ(t->info->handle, &handle);
}

CT_TEST(info, a_machine_without_a_device_has_no_data)
{
	struct fi_info *info = (void *)1;

	world_reset();
	fake_cm_reset();
	CT_EXPECT_EQ(pvb_getinfo(VERSION, NULL, NULL, 0, NULL, &info), -FI_ENODATA);
	CT_EXPECT_EQ(info, NULL);
}

CT_TEST(info, wherever_memory_ends_the_call_fails_as_a_whole)
{
	struct fi_info *info = NULL;
	unsigned int nth;
	int ret;

	world_reset();
	fake_add_addr("10.1.0.1", &fake_devices[1], 1, IFF_UP);
	/* The first allocation is the event channel's. */
	for (nth = 2; nth < 200; nth++) {
		CT_NOTE("allocation %u", nth);
		ct_fail_alloc(nth);
		ret = pvb_getinfo(VERSION, "10.0.0.2", "1", FI_NUMERICHOST, NULL, &info);
		if (!ct_alloc_failed())
			break;
		CT_EXPECT_EQ(ret, -FI_ENOMEM);
		CT_EXPECT_EQ(info, NULL);
		CT_EXPECT_EQ(fake_objects, 0);
		if (ret != -FI_ENOMEM)
			fi_freeinfo(info);
	}
	CT_EXPECT_EQ(ret, 0);
	CT_EXPECT_GT(nth, 10);
	fi_freeinfo(info);
}
