/* SPDX-License-Identifier: BSD-2-Clause */
/* The rdma_cm event channel: requests that become events, events that have to wait. */
#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include "../world_cm.h"

static ssize_t read_any(struct fid_eq *eq)
{
	uint8_t buf[512];
	uint32_t event;

	return fi_eq_read(eq, &event, buf, sizeof(buf), 0);
}

/* A connection as its requester, and a listener. */
static void start(struct world *w)
{
	world_start_connected(w);
	CT_ASSERT_FALSE(ct_failed());
	CT_ASSERT_TRUE(world_listen(w, &w->pep));
}

CT_FIXTURE(cm_channel, struct world, start, world_close);

CT_TEST_F(cm_channel, a_request_becomes_an_event_with_an_info_for_its_endpoint)
{
	uint8_t message[PVB_CM_REQ_SIZE];
	union crn_addr src, peer;

	src = fake_addr(WORLD_ADDR, 7471);
	peer = fake_addr(WORLD_PEER, 5555);
	pvb_cm_pack(message, "hello", 5, NULL);
	request_arrives(t->pep, message, sizeof(message));
	t->request = read_request(t, t->pep, "hello", 5);
	CT_ASSERT_NE(t->request, NULL);
	CT_EXPECT_EQ(t->request->handle->fclass, FI_CLASS_CONNREQ);
	CT_EXPECT_STREQ(t->request->domain_attr->name, "fake0");
	CT_EXPECT_STREQ(t->request->fabric_attr->name, "pverbs-eth");
	CT_EXPECT_EQ(t->request->caps, t->info->caps);
	CT_EXPECT_EQ(t->request->tx_attr->size, 8);
	CT_EXPECT_EQ(t->request->domain_attr->mr_mode, t->info->domain_attr->mr_mode);
	CT_EXPECT_EQ(t->request->src_addrlen, sizeof(src.in));
	CT_EXPECT_MEMEQ(t->request->src_addr, &src, sizeof(src.in));
	CT_EXPECT_EQ(t->request->dest_addrlen, sizeof(peer.in));
	CT_EXPECT_MEMEQ(t->request->dest_addr, &peer, sizeof(peer.in));
	CT_EXPECT_EQ(t->request->next, NULL);
}

CT_TEST_F(cm_channel, a_raw_listener_gives_the_bytes_that_came)
{
	set_raw(&t->pep->fid);
	request_arrives(t->pep, "\3abc", 4);
	t->request = read_request(t, t->pep, "\3abc", 4);
	CT_ASSERT_NE(t->request, NULL);
	close_object(t->ep);
	CT_ASSERT_TRUE(world_take_request(t));
	CT_EXPECT_EQ(fi_accept(t->ep, "answer", 6), 0);
	CT_EXPECT_EQ(fake_message.len, 6);
	CT_EXPECT_MEMEQ(fake_message.data, "answer", 6);
}

/* A listener on a wildcard address hears through every device. */
CT_TEST_F(cm_channel, a_request_on_another_device_has_an_info_of_that_device)
{
	struct fake_request request = {.device = &fake_devices[1]};
	struct fid_ep *ep;

	fake_devices[1].port[0].link_layer = IBV_LINK_LAYER_INFINIBAND;
	fake_add_addr("10.1.0.1", &fake_devices[1], 1, IFF_UP);
	request.src = fake_addr("10.1.0.1", 7471);
	request.peer = fake_addr("10.1.0.2", 5555);
	fake_request(listen_id(t->pep), &request);
	t->request = read_request(t, t->pep, NULL, 0);
	CT_ASSERT_NE(t->request, NULL);
	CT_EXPECT_STREQ(t->request->domain_attr->name, "fake1");
	CT_EXPECT_STREQ(t->request->fabric_attr->name, "pverbs-ib-fe80000000000000");
	CT_EXPECT_MEMEQ(t->request->src_addr, &request.src, sizeof(request.src.in));
	CT_EXPECT_MEMEQ(t->request->dest_addr, &request.peer, sizeof(request.peer.in));
	CT_EXPECT_EQ(t->request->tx_attr->size, 8);
	CT_EXPECT_EQ(fi_endpoint(t->domain, t->request, &ep, NULL), -FI_EDOMAIN);
}

CT_TEST_F(cm_channel, a_request_that_nobody_can_serve_is_refused)
{
	struct fake_request request = {.device = NULL};

	request.src = fake_addr("10.9.0.1", 7471);
	request.peer = fake_addr("10.9.0.2", 5555);
	fake_request(listen_id(t->pep), &request);
	expect_no_event(t->eq);
	CT_EXPECT_EQ(fake_count(FAKE_REJECT), 1);
	CT_EXPECT_WARNED(fi_strerror(FI_ENODEV));
	/* A device with no address that fi_getinfo would list. */
	request.device = &fake_devices[2];
	fake_request(listen_id(t->pep), &request);
	expect_no_event(t->eq);
	CT_EXPECT_EQ(fake_count(FAKE_REJECT), 2);
	CT_EXPECT_WARNED(fi_strerror(FI_ENODATA));
}

static void without_memory(struct world *t, struct fake_device *device, const char *src)
{
	struct fake_request request = {.device = device};
	unsigned int nth;
	struct fid *eq = &t->eq->fid;

	fake_add_addr("10.1.0.1", &fake_devices[1], 1, IFF_UP);
	request.src = fake_addr(src, 7471);
	request.peer = fake_addr(WORLD_PEER, 5555);
	for (nth = 1; nth < 100; nth++) {
		CT_NOTE("allocation %u", nth);
		CT_EXPECT_EQ(fi_trywait(t->fabric, &eq, 1), 0);
		fake_request(listen_id(t->pep), &request);
		ct_fail_alloc(nth);
		if (fi_trywait(t->fabric, &eq, 1) == -FI_EAGAIN)
			break;
		CT_EXPECT_TRUE(ct_alloc_failed());
		CT_EXPECT_EQ(fake_count(FAKE_REJECT), nth);
	}
	ct_alloc_failed(); /* of what the next event would have needed, perhaps */
	CT_EXPECT_GT(nth, 3);
	t->request = read_request(t, t->pep, NULL, 0);
}

CT_TEST_F(cm_channel, wherever_memory_ends_a_request_is_refused_and_the_next_one_served)
{
	without_memory(t, &fake_devices[0], WORLD_ADDR);
	world_close(t);
	start(t);
	without_memory(t, &fake_devices[1], "10.1.0.1");
}

CT_TEST_F(cm_channel, a_listener_whose_device_is_removed_hears_of_it)
{
	fake_event(listen_id(t->pep), RDMA_CM_EVENT_TIMEWAIT_EXIT, 0, NULL, 0);
	expect_no_event(t->eq);
	fake_event(listen_id(t->pep), RDMA_CM_EVENT_DEVICE_REMOVAL, 0, NULL, 0);
	expect_eq_error(t->eq, &t->pep->fid, FI_ENODEV, 0);
	expect_no_event(t->eq);
}

CT_TEST_F(cm_channel, closing_an_endpoint_forgets_its_events)
{
	fake_event(t->id, RDMA_CM_EVENT_DISCONNECTED, 0, NULL, 0);
	CT_EXPECT_EQ(fi_trywait(t->fabric, (struct fid *[]){&t->eq->fid}, 1), -FI_EAGAIN);
	world_close_ep(t);
	expect_no_event(t->eq);
}

CT_TEST_F(cm_channel, events_come_in_order_and_all_in_one_read)
{
	for (int i = 0; i < 3; i++)
		fake_event(t->id, RDMA_CM_EVENT_ADDR_CHANGE, 0, NULL, 0);
	fake_event(t->id, RDMA_CM_EVENT_DISCONNECTED, 0, NULL, 0);
	fake_event(t->id, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0, NULL, 0);
	expect_event(t->eq, FI_SHUTDOWN, &t->ep->fid, NULL, 0);
	expect_no_event(t->eq);
}

CT_TEST_F(cm_channel, what_a_full_queue_has_no_room_for_waits_in_the_channel)
{
	struct fi_eq_attr attr = {.flags = FI_WRITE};
	struct fi_eq_entry entry = {0};
	unsigned int written = 0;

	CT_ASSERT_TRUE(world_reopen_domain(t, NULL));
	CT_ASSERT_TRUE(world_swap_eq(t, &attr));
	CT_ASSERT_TRUE(world_add_ep(t, NULL, &t->ep));
	CT_ASSERT_TRUE(world_connect(t, t->ep));
	while (fi_eq_write(t->eq, FI_NOTIFY, &entry, sizeof(entry), 0) > 0)
		written++;
	fake_event(ep_of(t->ep)->conn.id, RDMA_CM_EVENT_DISCONNECTED, 0, NULL, 0);
	CT_EXPECT_EQ(fi_trywait(t->fabric, (struct fid *[]){&t->eq->fid}, 1), -FI_EAGAIN);
	CT_EXPECT_EQ(state_of(t->ep), PVB_CONN_CONNECTED);
	for (; written; written--)
		CT_EXPECT_EQ(read_any(t->eq), sizeof(entry));
	expect_event(t->eq, FI_SHUTDOWN, &t->ep->fid, NULL, 0);
}

/* rdma_cm tells nothing twice. */
CT_TEST_F(cm_channel, what_there_is_no_memory_for_waits_in_the_channel)
{
	int i;

	fake_event(t->id, RDMA_CM_EVENT_DISCONNECTED, 0, NULL, 0);
	for (i = 0; i < 2; i++) {
		/* Nothing is held ready when memory ended before. */
		free(crn_eq_of(t->eq)->spare);
		crn_eq_of(t->eq)->spare = NULL;
		ct_fail_alloc(1);
		CT_EXPECT_EQ(read_any(t->eq), -FI_ENOMEM);
		CT_EXPECT_TRUE(ct_alloc_failed());
		CT_EXPECT_EQ(state_of(t->ep), PVB_CONN_CONNECTED);
	}
	expect_event(t->eq, FI_SHUTDOWN, &t->ep->fid, NULL, 0);
	expect_no_event(t->eq);
}

CT_TEST_F(cm_channel, an_event_is_told_although_memory_ends_while_it_is_taken)
{
	expect_no_event(t->eq);
	fake_event(t->id, RDMA_CM_EVENT_DISCONNECTED, 0, NULL, 0);
	ct_fail_alloc(1);
	expect_event(t->eq, FI_SHUTDOWN, &t->ep->fid, NULL, 0);
	CT_EXPECT_TRUE(ct_alloc_failed());
}

CT_TEST_F(cm_channel, a_broken_channel_is_told_to_the_reader)
{
	static const struct {
		int err;
		ssize_t wanted;
	} rows[] = {{EIO, -FI_EIO}, {EINTR, -FI_EAGAIN}, {EAGAIN, -FI_EAGAIN}};

	CT_ASSERT_TRUE(world_reopen_domain(t, NULL));
	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("error %d", rows[i].err);
		fake_fail(FAKE_GET_EVENT, 1, rows[i].err);
		CT_EXPECT_EQ(read_any(t->eq), rows[i].wanted);
	}
}
