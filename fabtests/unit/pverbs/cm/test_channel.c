/* SPDX-License-Identifier: BSD-2-Clause */
/* The rdma_cm event channel: requests that become events, events that have to wait. */
#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include <rdma/fi_ext_cairn.h>
#include "../world_cm.h"

static ssize_t read_any(struct fid_eq *eq)
{
	uint8_t buf[512];
	uint32_t event;

	return fi_eq_read(eq, &event, buf, sizeof(buf), 0);
}

CT_TEST(cm_channel, a_request_becomes_an_event_with_an_info_for_its_endpoint)
{
	uint8_t message[PVB_CM_REQ_SIZE];
	union crn_addr src, peer;
	struct fi_info *info;
	struct fid_pep *pep;
	struct world w;

	CT_ASSERT_TRUE(world_open_listening(&w, &pep));
	src = fake_addr(WORLD_ADDR, 7471);
	peer = fake_addr(WORLD_PEER, 5555);
	pvb_cm_pack(message, "hello", 5, NULL);
	request_arrives(pep, message, sizeof(message));
	info = read_request(&w, pep, "hello", 5);
	CT_ASSERT_NE(info, NULL);
	CT_EXPECT_EQ(info->handle->fclass, FI_CLASS_CONNREQ);
	CT_EXPECT_STREQ(info->domain_attr->name, "fake0");
	CT_EXPECT_STREQ(info->fabric_attr->name, "pverbs-eth");
	CT_EXPECT_EQ(info->caps, w.info->caps);
	CT_EXPECT_EQ(info->tx_attr->size, 8);
	CT_EXPECT_EQ(info->domain_attr->mr_mode, w.info->domain_attr->mr_mode);
	CT_EXPECT_EQ(info->src_addrlen, sizeof(src.in));
	CT_EXPECT_MEMEQ(info->src_addr, &src, sizeof(src.in));
	CT_EXPECT_EQ(info->dest_addrlen, sizeof(peer.in));
	CT_EXPECT_MEMEQ(info->dest_addr, &peer, sizeof(peer.in));
	CT_EXPECT_EQ(info->next, NULL);
	fi_freeinfo(info);
	world_close_listening(&w, pep);
}

CT_TEST(cm_channel, a_raw_listener_gives_the_bytes_that_came)
{
	struct fi_info *info;
	struct fid_pep *pep;
	struct fid_ep *ep;
	struct world w;
	int on = 1;

	CT_ASSERT_TRUE(world_open_listening(&w, &pep));
	CT_EXPECT_EQ(fi_setopt(&pep->fid, FI_OPT_ENDPOINT, FI_OPT_CAIRN_RAW_CM_DATA, &on,
			       sizeof(on)),
		     0);
	request_arrives(pep, "\3abc", 4);
	info = read_request(&w, pep, "\3abc", 4);
	CT_ASSERT_NE(info, NULL);
	CT_ASSERT_TRUE(take_request(&w, info, &ep));
	CT_EXPECT_EQ(fi_accept(ep, "answer", 6), 0);
	CT_EXPECT_EQ(fake_message.len, 6);
	CT_EXPECT_MEMEQ(fake_message.data, "answer", 6);
	CT_EXPECT_EQ(fi_close(&ep->fid), 0);
	world_close_listening(&w, pep);
}

/* A listener on a wildcard address hears through every device. */
CT_TEST(cm_channel, a_request_on_another_device_has_an_info_of_that_device)
{
	struct fake_request request = {.device = &fake_devices[1]};
	struct fi_info *info;
	struct fid_pep *pep;
	struct fid_ep *ep;
	struct world w;

	CT_ASSERT_TRUE(world_open_listening(&w, &pep));
	fake_devices[1].port[0].link_layer = IBV_LINK_LAYER_INFINIBAND;
	fake_add_addr("10.1.0.1", &fake_devices[1], 1, IFF_UP);
	request.src = fake_addr("10.1.0.1", 7471);
	request.peer = fake_addr("10.1.0.2", 5555);
	fake_request(listen_id(pep), &request);
	info = read_request(&w, pep, NULL, 0);
	CT_ASSERT_NE(info, NULL);
	CT_EXPECT_STREQ(info->domain_attr->name, "fake1");
	CT_EXPECT_STREQ(info->fabric_attr->name, "pverbs-ib-fe80000000000000");
	CT_EXPECT_MEMEQ(info->src_addr, &request.src, sizeof(request.src.in));
	CT_EXPECT_MEMEQ(info->dest_addr, &request.peer, sizeof(request.peer.in));
	CT_EXPECT_EQ(info->tx_attr->size, 8);
	CT_EXPECT_EQ(fi_endpoint(w.domain, info, &ep, NULL), -FI_EDOMAIN);
	fi_freeinfo(info);
	world_close_listening(&w, pep);
}

CT_TEST(cm_channel, a_request_that_nobody_can_serve_is_refused)
{
	struct fake_request request = {.device = NULL};
	struct fid_pep *pep;
	struct world w;

	CT_ASSERT_TRUE(world_open_listening(&w, &pep));
	request.src = fake_addr("10.9.0.1", 7471);
	request.peer = fake_addr("10.9.0.2", 5555);
	fake_request(listen_id(pep), &request);
	expect_no_event(w.eq);
	CT_EXPECT_EQ(fake_count(FAKE_REJECT), 1);
	CT_EXPECT_STRSTR(ct_log_last(), fi_strerror(FI_ENODEV));
	/* A device with no address that fi_getinfo would list. */
	request.device = &fake_devices[2];
	fake_request(listen_id(pep), &request);
	expect_no_event(w.eq);
	CT_EXPECT_EQ(fake_count(FAKE_REJECT), 2);
	CT_EXPECT_STRSTR(ct_log_last(), "refused");
	world_close_listening(&w, pep);
}

static void without_memory(struct fake_device *device, const char *src)
{
	struct fake_request request = {.device = device};
	struct fi_info *info;
	struct fid_pep *pep;
	unsigned int nth;
	struct fid *eq;
	struct world w;

	CT_ASSERT_TRUE(world_open_listening(&w, &pep));
	eq = &w.eq->fid;
	fake_add_addr("10.1.0.1", &fake_devices[1], 1, IFF_UP);
	request.src = fake_addr(src, 7471);
	request.peer = fake_addr(WORLD_PEER, 5555);
	for (nth = 1; nth < 100; nth++) {
		CT_NOTE("allocation %u", nth);
		CT_EXPECT_EQ(fi_trywait(w.fabric, &eq, 1), 0);
		fake_request(listen_id(pep), &request);
		ct_fail_alloc(nth);
		if (fi_trywait(w.fabric, &eq, 1) == -FI_EAGAIN)
			break;
		CT_EXPECT_TRUE(ct_alloc_failed());
		CT_EXPECT_EQ(fake_count(FAKE_REJECT), nth);
	}
	ct_alloc_failed(); /* of what the next event would have needed, perhaps */
	CT_EXPECT_GT(nth, 3);
	info = read_request(&w, pep, NULL, 0);
	fi_freeinfo(info);
	world_close_listening(&w, pep);
}

CT_TEST(cm_channel, wherever_memory_ends_a_request_is_refused_and_the_next_one_served)
{
	without_memory(&fake_devices[0], WORLD_ADDR);
	without_memory(&fake_devices[1], "10.1.0.1");
}

CT_TEST(cm_channel, a_listener_whose_device_is_removed_hears_of_it)
{
	struct fid_pep *pep;
	struct world w;

	CT_ASSERT_TRUE(world_open_listening(&w, &pep));
	fake_event(listen_id(pep), RDMA_CM_EVENT_TIMEWAIT_EXIT, 0, NULL, 0);
	expect_no_event(w.eq);
	fake_event(listen_id(pep), RDMA_CM_EVENT_DEVICE_REMOVAL, 0, NULL, 0);
	expect_eq_error(w.eq, &pep->fid, FI_ENODEV, 0);
	expect_no_event(w.eq);
	world_close_listening(&w, pep);
}

CT_TEST(cm_channel, closing_an_endpoint_forgets_its_events)
{
	struct world w;

	world_reset();
	CT_ASSERT_TRUE(world_open_connected(&w, NULL));
	fake_event(w.id, RDMA_CM_EVENT_DISCONNECTED, 0, NULL, 0);
	CT_EXPECT_EQ(fi_trywait(w.fabric, (struct fid *[]){&w.eq->fid}, 1), -FI_EAGAIN);
	world_close_ep(&w);
	expect_no_event(w.eq);
	world_close(&w);
}

CT_TEST(cm_channel, events_come_in_order_and_all_in_one_read)
{
	struct world w;

	world_reset();
	CT_ASSERT_TRUE(world_open_connected(&w, NULL));
	for (int i = 0; i < 3; i++)
		fake_event(w.id, RDMA_CM_EVENT_ADDR_CHANGE, 0, NULL, 0);
	fake_event(w.id, RDMA_CM_EVENT_DISCONNECTED, 0, NULL, 0);
	fake_event(w.id, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0, NULL, 0);
	expect_event(w.eq, FI_SHUTDOWN, &w.ep->fid, NULL, 0);
	expect_no_event(w.eq);
	world_close(&w);
}

CT_TEST(cm_channel, what_a_full_queue_has_no_room_for_waits_in_the_channel)
{
	struct fi_eq_attr attr = {.flags = FI_WRITE};
	struct fi_eq_entry entry = {0};
	unsigned int written = 0;
	struct world w;

	world_reset();
	CT_ASSERT_TRUE(world_open_domain(&w, NULL));
	CT_ASSERT_TRUE(world_swap_eq(&w, &attr));
	CT_ASSERT_TRUE(world_add_ep(&w, NULL, &w.ep));
	CT_ASSERT_TRUE(world_connect(&w, w.ep));
	while (fi_eq_write(w.eq, FI_NOTIFY, &entry, sizeof(entry), 0) > 0)
		written++;
	fake_event(ep_of(w.ep)->conn.id, RDMA_CM_EVENT_DISCONNECTED, 0, NULL, 0);
	CT_EXPECT_EQ(fi_trywait(w.fabric, (struct fid *[]){&w.eq->fid}, 1), -FI_EAGAIN);
	CT_EXPECT_EQ(state_of(w.ep), PVB_CONN_CONNECTED);
	for (; written; written--)
		CT_EXPECT_EQ(read_any(w.eq), sizeof(entry));
	expect_event(w.eq, FI_SHUTDOWN, &w.ep->fid, NULL, 0);
	world_close(&w);
}

/* rdma_cm tells nothing twice. */
CT_TEST(cm_channel, what_there_is_no_memory_for_waits_in_the_channel)
{
	struct world w;
	int i;

	world_reset();
	CT_ASSERT_TRUE(world_open_connected(&w, NULL));
	fake_event(w.id, RDMA_CM_EVENT_DISCONNECTED, 0, NULL, 0);
	for (i = 0; i < 2; i++) {
		/* Nothing is held ready when memory ended before. */
		free(crn_eq_of(w.eq)->spare);
		crn_eq_of(w.eq)->spare = NULL;
		ct_fail_alloc(1);
		CT_EXPECT_EQ(read_any(w.eq), -FI_ENOMEM);
		CT_EXPECT_TRUE(ct_alloc_failed());
		CT_EXPECT_EQ(state_of(w.ep), PVB_CONN_CONNECTED);
	}
	expect_event(w.eq, FI_SHUTDOWN, &w.ep->fid, NULL, 0);
	expect_no_event(w.eq);
	world_close(&w);
}

CT_TEST(cm_channel, an_event_is_told_although_memory_ends_while_it_is_taken)
{
	struct world w;

	world_reset();
	CT_ASSERT_TRUE(world_open_connected(&w, NULL));
	expect_no_event(w.eq);
	fake_event(w.id, RDMA_CM_EVENT_DISCONNECTED, 0, NULL, 0);
	ct_fail_alloc(1);
	expect_event(w.eq, FI_SHUTDOWN, &w.ep->fid, NULL, 0);
	CT_EXPECT_TRUE(ct_alloc_failed());
	world_close(&w);
}

CT_TEST(cm_channel, a_broken_channel_is_told_to_the_reader)
{
	static const struct {
		int err;
		ssize_t wanted;
	} rows[] = {{EIO, -FI_EIO}, {EINTR, -FI_EAGAIN}, {EAGAIN, -FI_EAGAIN}};
	struct world w;

	world_reset();
	CT_ASSERT_TRUE(world_open_domain(&w, NULL));
	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("error %d", rows[i].err);
		fake_fail(FAKE_GET_EVENT, 1, rows[i].err);
		CT_EXPECT_EQ(read_any(w.eq), rows[i].wanted);
	}
	world_close(&w);
}
