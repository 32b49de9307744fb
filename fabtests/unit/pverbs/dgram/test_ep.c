/* SPDX-License-Identifier: BSD-2-Clause */
/* Datagram endpoints as objects. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <rdma/fi_ext_cairn.h>
#include "../fake_queue.h"
#include "cq/cq.h"
#include "world_dgram.h"

CT_FIXTURE(dgram_ep, struct dgram_world, dgram_start_domain, dgram_close);

CT_TEST_F(dgram_ep, fi_enable_makes_a_datagram_queue_pair_ready)
{
	CT_ASSERT_TRUE(dgram_open(t, NULL));
	CT_EXPECT_EQ(t->qp->ibv.qp_type, IBV_QPT_UD);
	CT_EXPECT_EQ(t->qp->ibv.state, IBV_QPS_RTS);
	CT_EXPECT_EQ(t->qp->attr[IBV_QPS_INIT].qkey, PVB_UD_QKEY);
	CT_EXPECT_EQ(t->qp->attr[IBV_QPS_INIT].port_num, 1);
	CT_EXPECT_EQ(t->qp->mask[IBV_QPS_INIT],
		     IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX | IBV_QP_QKEY);
	CT_EXPECT_EQ(t->qp->mask[IBV_QPS_RTR], IBV_QP_STATE);
	CT_EXPECT_EQ(t->qp->mask[IBV_QPS_RTS], IBV_QP_STATE | IBV_QP_SQ_PSN);
	/* Two more than the program's, for the GRH and what is too long. */
	CT_EXPECT_EQ(t->qp->init.cap.max_recv_sge, t->info->rx_attr->iov_limit + 2);
	CT_EXPECT_EQ(fi_enable(t->ep), 0);
}

static void arrange_second_port(void)
{
	fake_devices[0].attr.phys_port_cnt = 2;
	fake_devices[0].port[0].state = IBV_PORT_DOWN;
	fake_devices[0].pkey[2] = 0x8005;
	pvb_params.pkey = 0x8005;
}

CT_TEST_F(dgram_ep, its_queue_pair_and_handles_are_of_its_port_and_partition)
{
	struct pvb_ud_addr name;
	size_t len = sizeof(name);

	CT_ASSERT_TRUE(dgram_open(
		t, &(struct dgram_opts){.ib = true, .arrange = arrange_second_port}));
	CT_EXPECT_EQ(t->qp->attr[IBV_QPS_INIT].port_num, 2);
	CT_EXPECT_EQ(t->qp->attr[IBV_QPS_INIT].pkey_index, 2);
	CT_EXPECT_EQ(fi_getname(&t->ep->fid, &name, &len), 0);
	CT_EXPECT_EQ(name.pkey, 0x8005);
	CT_EXPECT_EQ(fi_send(t->ep, NULL, 0, NULL, t->peer, NULL), 0);
	CT_EXPECT_EQ(fake_newest(&t->qp->sq)->ah->attr.port_num, 2);
}

CT_TEST_F(dgram_ep, its_name_is_known_once_it_is_enabled)
{
	struct pvb_ud_addr name = {0};
	size_t len = sizeof(name);
	struct fid_ep *ep;
	char text[PVB_UD_STRLEN], wanted[PVB_UD_STRLEN];

	CT_ASSERT_TRUE(dgram_open(t, &(struct dgram_opts){.ib = true}));
	CT_EXPECT_EQ(fi_getname(&t->ep->fid, &name, &len), 0);
	CT_EXPECT_EQ(len, sizeof(name));
	pvb_ud_text(&name, text, sizeof(text));
	snprintf(wanted, sizeof(wanted), "fi_addr_ib_ud://::ffff:10.0.0.1:%x/7/ffff/0",
		 t->qp->ibv.qp_num);
	CT_EXPECT_STREQ(text, wanted);
	len = 8;
	CT_EXPECT_EQ(fi_getname(&t->ep->fid, &name, &len), -FI_ETOOSMALL);
	CT_EXPECT_EQ(len, sizeof(name));
	CT_EXPECT_EQ(fi_endpoint(t->domain, t->info, &ep, NULL), 0);
	CT_EXPECT_EQ(fi_getname(&ep->fid, &name, &len), -FI_EOPBADSTATE);
	CT_EXPECT_EQ(fi_send(ep, NULL, 0, NULL, 0, NULL), -FI_EOPBADSTATE);
	CT_EXPECT_EQ(fi_recv(ep, NULL, 0, NULL, 0, NULL), -FI_EOPBADSTATE);
	CT_EXPECT_EQ(fi_close(&ep->fid), 0);
}

CT_TEST_F(dgram_ep, it_needs_a_vector_and_a_queue)
{
	CT_EXPECT_EQ(fi_endpoint(t->domain, t->info, &t->ep, NULL), 0);
	CT_EXPECT_EQ(fi_enable(t->ep), -FI_ENOAV);
	CT_EXPECT_EQ(fi_ep_bind(t->ep, &t->av->fid, 0), 0);
	CT_EXPECT_EQ(fi_ep_bind(t->ep, &t->av->fid, 0), -FI_EINVAL);
	CT_EXPECT_EQ(fi_enable(t->ep), -FI_ENOCQ);
	CT_EXPECT_EQ(fi_send(t->ep, NULL, 0, NULL, t->peer, NULL), -FI_EOPBADSTATE);
	CT_EXPECT_EQ(fi_ep_bind(t->ep, &t->cq->fid, FI_TRANSMIT | FI_RECV), 0);
	CT_EXPECT_EQ(fi_enable(t->ep), 0);
}

CT_TEST_F(dgram_ep, a_vector_of_another_domain_is_refused)
{
	struct fi_av_attr attr = {.type = FI_AV_TABLE};
	struct fid_domain *domain;
	struct fid_av *av;

	CT_EXPECT_EQ(fi_domain(t->fabric, t->info, &domain, NULL), 0);
	CT_EXPECT_EQ(fi_av_open(domain, &attr, &av, NULL), 0);
	CT_EXPECT_EQ(fi_endpoint(t->domain, t->info, &t->ep, NULL), 0);
	CT_EXPECT_EQ(fi_ep_bind(t->ep, &av->fid, 0), -FI_EDOMAIN);
	CT_EXPECT_EQ(fi_close(&av->fid), 0);
	CT_EXPECT_EQ(fi_close(&domain->fid), 0);
	CT_EXPECT_EQ(fi_ep_bind(t->ep, &t->av->fid, 0), 0);
}

CT_TEST_F(dgram_ep, it_leaves_from_the_address_of_its_domain)
{
	struct pvb_ud_addr *src;
	struct fi_info *info;
	struct fid_ep *ep;

	info = fi_dupinfo(t->info);
	src = info->src_addr;
	src->service = 7;
	CT_EXPECT_EQ(fi_endpoint(t->domain, info, &ep, NULL), 0);
	CT_EXPECT_EQ(ep_of(ep)->dgram->addr.service, 7);
	CT_EXPECT_EQ(fi_close(&ep->fid), 0);
	src->gid[15] = 9;
	CT_EXPECT_EQ(fi_endpoint(t->domain, info, &ep, NULL), -FI_EADDRNOTAVAIL);
	info->src_addrlen = 16;
	CT_EXPECT_EQ(fi_endpoint(t->domain, info, &ep, NULL), -FI_EINVAL);
	fi_freeinfo(info);
}

CT_TEST_F(dgram_ep, it_has_no_connection)
{
	struct pvb_ud_addr name;
	size_t len = sizeof(name);

	CT_ASSERT_TRUE(dgram_open(t, NULL));
	name = dgram_addr(t, 1);
	CT_EXPECT_EQ(fi_connect(t->ep, &name, NULL, 0), -FI_ENOSYS);
	CT_EXPECT_EQ(fi_shutdown(t->ep, 0), -FI_ENOSYS);
	CT_EXPECT_EQ(fi_getpeer(t->ep, &name, &len), -FI_ENOTCONN);
	CT_EXPECT_EQ(fi_setname(&t->ep->fid, &name, len), -FI_EOPNOTSUPP);
	CT_EXPECT_EQ(fi_write(t->ep, NULL, 0, NULL, t->peer, 0, 0, NULL), -FI_ENOSYS);
}

/* fi_close(3): what was posted is in the queue when the endpoint has gone. */
CT_TEST_F(dgram_ep, closing_it_ends_what_is_outstanding)
{
	int i;

	CT_ASSERT_TRUE(dgram_open(t, NULL));
	for (i = 0; i < 3; i++) {
		CT_EXPECT_EQ(fi_send(t->ep, NULL, 0, NULL, t->peer, NULL), 0);
		CT_EXPECT_EQ(fi_recv(t->ep, NULL, 0, NULL, FI_ADDR_UNSPEC, NULL), 0);
	}
	dgram_close_ep(t);
	expect_failed_comps(t->cq, 6);
}

CT_TEST(dgram_ep, receives_of_a_shared_context_are_of_its_kind)
{
	struct dgram_world w = {0};
	struct fid_ep *srx;
	struct world other;

	CT_ASSERT_TRUE(dgram_open(&w, &(struct dgram_opts){.shared = true}));
	CT_EXPECT_EQ(fi_recv(w.ep, NULL, 0, NULL, FI_ADDR_UNSPEC, NULL), -FI_EOPNOTSUPP);
	dgram_close(&w);
	world_reset();
	CT_ASSERT_TRUE(world_open_domain(&other, NULL));
	CT_EXPECT_EQ(fi_srx_context(other.domain, NULL, &srx, NULL), 0);
	CT_EXPECT_FALSE(crn_container_of(srx, struct pvb_srx, fid)->wq.datagrams);
	CT_EXPECT_EQ(fi_close(&srx->fid), 0);
	world_close(&other);
}

CT_TEST_F(dgram_ep, what_fails_on_the_way_leaves_nothing_behind)
{
	static const enum fake_call calls[] = {FAKE_CREATE_QP, FAKE_MODIFY_QP,
					       FAKE_CREATE_AH};
	size_t i;

	for (i = 0; i < CRN_COUNT(calls); i++) {
		CT_NOTE("call %zu", i);
		CT_ASSERT_TRUE(dgram_open_domain(t, NULL));
		CT_ASSERT_TRUE(dgram_new_ep(t));
		fake_fail(calls[i], 1, EPERM);
		if (calls[i] == FAKE_CREATE_QP)
			fake_fail(calls[i], 2, EPERM);
		fi_enable(t->ep);
	}
}

/* The queue pair whose number it had is gone. */
CT_TEST_F(dgram_ep, one_that_could_not_be_enabled_has_no_name)
{
	struct pvb_ud_addr name;
	size_t len = sizeof(name);

	CT_ASSERT_TRUE(dgram_new_ep(t));
	fake_fail(FAKE_CREATE_AH, 1, EPERM);
	CT_EXPECT_NE(fi_enable(t->ep), 0);
	CT_EXPECT_EQ(fi_getname(&t->ep->fid, &name, &len), -FI_EOPBADSTATE);
	CT_EXPECT_EQ(fi_enable(t->ep), 0);
	CT_EXPECT_EQ(fi_getname(&t->ep->fid, &name, &len), 0);
}

CT_TEST_F(dgram_ep, its_statistics_can_be_read)
{
	struct fi_cairn_ops_stats *ops;
	struct fi_cairn_stats stats;

	CT_ASSERT_TRUE(dgram_open(t, NULL));
	CT_EXPECT_EQ(fi_send(t->ep, NULL, 0, NULL, t->peer, NULL), 0);
	CT_EXPECT_EQ(fi_open_ops(&t->ep->fid, FI_CAIRN_STATS, 0, (void **)&ops, NULL), 0);
	CT_EXPECT_EQ(ops->read(t->ep, &stats, sizeof(stats)), 0);
	CT_EXPECT_EQ(stats.tx_entries, 1);
}

CT_TEST_F(dgram_ep, a_port_that_goes_down_is_an_event)
{
	struct ibv_async_event event = {.event_type = IBV_EVENT_PORT_ERR};
	struct fid_eq *eq;

	CT_EXPECT_EQ(fi_eq_open(t->fabric, NULL, &eq, NULL), 0);
	CT_ASSERT_TRUE(dgram_new_ep(t));
	CT_EXPECT_EQ(fi_ep_bind(t->ep, &eq->fid, 0), 0);
	CT_EXPECT_EQ(fi_enable(t->ep), 0);
	event.element.port_num = 2;
	fake_async_add(&fake_devices[0], &event);
	pvb_async_progress(ep_of(t->ep)->domain);
	expect_no_event(eq);
	event.element.port_num = 1;
	fake_async_add(&fake_devices[0], &event);
	pvb_async_progress(ep_of(t->ep)->domain);
	expect_eq_error(eq, &t->ep->fid, FI_ENETDOWN, IBV_EVENT_PORT_ERR);
	/* The place that a connection event has reserved is left alone. */
	CT_EXPECT_EQ(crn_eq_reserve(crn_eq_of(eq), 0), 0);
	fake_async_add(&fake_devices[0], &event);
	pvb_async_progress(ep_of(t->ep)->domain);
	CT_EXPECT_NE(crn_eq_of(eq)->spare, NULL);
	expect_eq_error(eq, &t->ep->fid, FI_ENETDOWN, IBV_EVENT_PORT_ERR);
	/* It can be used again when the port is up; what was not read goes with it. */
	CT_EXPECT_EQ(fi_send(t->ep, NULL, 0, NULL, t->peer, NULL), 0);
	fake_async_add(&fake_devices[0], &event);
	pvb_async_progress(ep_of(t->ep)->domain);
	dgram_close_ep(t);
	expect_no_event(eq);
	CT_EXPECT_EQ(fi_close(&eq->fid), 0);
}

static void port_error(void)
{
	struct ibv_async_event event = {.event_type = IBV_EVENT_PORT_ERR};

	event.element.port_num = 1;
	fake_async_add(&fake_devices[0], &event);
}

CT_TEST_F(dgram_ep, the_next_read_of_the_event_queue_finds_a_port_that_is_down)
{
	struct fid_eq *eq;

	CT_EXPECT_EQ(fi_eq_open(t->fabric, NULL, &eq, NULL), 0);
	CT_ASSERT_TRUE(dgram_new_ep(t));
	CT_EXPECT_EQ(fi_ep_bind(t->ep, &eq->fid, 0), 0);
	CT_EXPECT_EQ(fi_enable(t->ep), 0);
	port_error();
	expect_eq_error(eq, &t->ep->fid, FI_ENETDOWN, IBV_EVENT_PORT_ERR);
	dgram_close_ep(t);
	/* Without endpoints of the device it looks no more. */
	port_error();
	expect_no_event(eq);
	CT_EXPECT_EQ(fi_close(&eq->fid), 0);
}

/* The descriptor of a removed device stays readable, and is not waited for any more. */
CT_TEST_F(dgram_ep, an_event_of_the_device_wakes_a_reader_of_the_event_queue)
{
	struct fi_eq_attr attr = {.wait_obj = FI_WAIT_FD};
	struct pollfd wait = {.events = POLLIN};
	struct fid_eq *eq;

	CT_EXPECT_EQ(fi_eq_open(t->fabric, &attr, &eq, NULL), 0);
	CT_ASSERT_TRUE(dgram_new_ep(t));
	CT_EXPECT_EQ(fi_ep_bind(t->ep, &eq->fid, 0), 0);
	CT_EXPECT_EQ(fi_enable(t->ep), 0);
	CT_EXPECT_EQ(fi_control(&eq->fid, FI_GETWAIT, &wait.fd), 0);
	CT_EXPECT_EQ(poll(&wait, 1, 0), 0);
	fake_remove(&fake_devices[0], ep_of(t->ep)->domain->verbs);
	CT_EXPECT_EQ(poll(&wait, 1, 0), 1);
	expect_no_event(eq);
	CT_EXPECT_TRUE(pvb_removed(ep_of(t->ep)->domain));
	CT_EXPECT_EQ(poll(&wait, 1, 0), 0);
	dgram_close_ep(t);
	CT_EXPECT_EQ(fi_close(&eq->fid), 0);
}

/* A program that looks for datagrams 50 times a second, and reads no event queue. */
CT_TEST_F(dgram_ep, a_slow_reader_finds_a_removed_device_within_two_seconds)
{
	const uint64_t period_ms = 20;
	struct fi_cq_entry entry;
	int reads = 0;

	CT_ASSERT_TRUE(dgram_open(t, NULL));
	ct_time_stop();
	fake_remove(&fake_devices[0], ep_of(t->ep)->domain->verbs);
	while (!pvb_removed(ep_of(t->ep)->domain) && reads++ < 1000) {
		fi_cq_read(t->cq, &entry, 1);
		ct_time_pass(period_ms);
	}
	CT_EXPECT_LE(reads * period_ms, 2000);
	ct_time_go();
}

CT_TEST(dgram_domain, a_device_without_an_entry_for_the_data_is_refused)
{
	struct fi_rx_attr attr = {0};
	struct dgram_world w = {0};
	struct fid_domain *domain;
	struct fid_ep *srx;

	CT_ASSERT_TRUE(dgram_open_domain(&w, NULL));
	fake_devices[0].attr.max_sge = 2;
	CT_EXPECT_EQ(fi_domain(w.fabric, w.info, &domain, NULL), -FI_EOPNOTSUPP);
	CT_EXPECT_STRSTR(ct_log_last(), "the device has 2 (max_sge)");
	crn_container_of(w.domain, struct pvb_domain, fid)->attr.max_srq_sge = 1;
	CT_EXPECT_EQ(fi_srx_context(w.domain, &attr, &srx, NULL), -FI_ENOSYS);
	dgram_close(&w);
}

CT_TEST(dgram_domain, a_port_that_is_not_there_is_an_error)
{
	struct fid_domain *domain;
	struct fid_fabric *fabric;
	struct fi_info *info;

	dgram_reset(false);
	info = dgram_info(&(struct dgram_opts){0});
	CT_ASSERT_TRUE(info);
	CT_EXPECT_EQ(pvb_fabric_open(info->fabric_attr, &fabric, NULL), 0);
	fake_devices[0].port[0].state = IBV_PORT_DOWN;
	CT_EXPECT_EQ(fi_domain(fabric, info, &domain, NULL), -FI_ENETDOWN);
	fake_devices[0].port[0].state = IBV_PORT_ACTIVE;
	((struct pvb_ud_addr *)info->src_addr)->gid[0] = 1;
	CT_EXPECT_EQ(fi_domain(fabric, info, &domain, NULL), -FI_EADDRNOTAVAIL);
	info->src_addrlen = 4;
	CT_EXPECT_EQ(fi_domain(fabric, info, &domain, NULL), -FI_EINVAL);
	CT_EXPECT_EQ(fi_close(&fabric->fid), 0);
	CT_EXPECT_EQ(fake_objects, 0);
	fi_freeinfo(info);
}
