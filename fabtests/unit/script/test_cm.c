/* SPDX-License-Identifier: BSD-2-Clause */
#include <netinet/in.h>
#include "ct_fid.h"
#include "scene.h"

CT_FIXTURE(cm, struct pair, scene_begin, pair_down);

CT_TEST_F(cm, connects_with_private_data)
{
	char addr[64];
	size_t len = sizeof(addr);

	CT_ASSERT_EQ(pair_up(t, SCR_NAME), 0);
	CT_EXPECT_EQ(fi_getpeer(t->client.ep, addr, &len), 0);
	CT_EXPECT_EQ(fi_getname(&t->client.ep->fid, addr, &len), 0);
}

CT_TEST_F(cm, a_shutdown_is_told_once_at_both_ends)
{
	struct pair_event event;
	uint32_t number;

	CT_ASSERT_EQ(pair_up(t, SCR_NAME), 0);
	CT_EXPECT_EQ(fi_recv(t->client.ep, t->client.buf, 8, t->client.desc, 0, t), 0);
	CT_EXPECT_EQ(fi_shutdown(t->server.ep, 0), 0);
	CT_EXPECT_EQ(pair_expect(t->client.eq, FI_SHUTDOWN, &event), 0);
	CT_EXPECT_EQ(event.entry.fid, &t->client.ep->fid);
	CT_EXPECT_EQ(pair_expect(t->server.eq, FI_SHUTDOWN, &event), 0);
	pair_failed(t->client.cq, t, FI_ECANCELED);
	CT_EXPECT_EQ(fi_close(&t->server.ep->fid), 0);
	t->server.ep = NULL;
	CT_EXPECT_EQ(fi_eq_read(t->client.eq, &number, &event, sizeof(event), 0),
		     -FI_EAGAIN);
}

CT_TEST_F(cm, closing_an_end_is_a_shutdown_for_the_other)
{
	struct pair_event event;

	CT_ASSERT_EQ(pair_up(t, SCR_NAME), 0);
	CT_EXPECT_EQ(fi_recv(t->server.ep, t->server.buf, 8, t->server.desc, 0, t), 0);
	CT_EXPECT_EQ(fi_close(&t->server.ep->fid), 0);
	t->server.ep = NULL;
	pair_failed(t->server.cq, t, FI_ECANCELED);
	CT_EXPECT_EQ(pair_expect(t->client.eq, FI_SHUTDOWN, &event), 0);
}

static void ask_for_connection(struct pair *p, struct pair_event *event)
{
	char addr[64];
	size_t len = sizeof(addr);

	CT_ASSERT_EQ(pair_open(p, SCR_NAME), 0);
	CT_ASSERT_EQ(pair_client(p), 0);
	CT_ASSERT_EQ(fi_getname(&p->pep->fid, addr, &len), 0);
	CT_ASSERT_EQ(fi_connect(p->client.ep, addr, NULL, 0), 0);
	CT_ASSERT_EQ(pair_expect(p->server.eq, FI_CONNREQ, event), 0);
}

CT_TEST_F(cm, a_rejection_carries_data)
{
	struct pair_event event;
	char data[256];

	ask_for_connection(t, &event);
	CT_EXPECT_EQ(fi_reject(t->pep, event.entry.info->handle, "never", 5), 0);
	CT_EXPECT_EQ(fi_reject(t->pep, event.entry.info->handle, NULL, 0), -FI_EINVAL);
	CT_EXPECT_EQ(pair_expect_err(t->client.eq, FI_ECONNREFUSED, data), 5);
	CT_EXPECT_MEMEQ(data, "never", 5);
	fi_freeinfo(event.entry.info);
}

CT_TEST_F(cm, nobody_listens_and_who_did_is_gone)
{
	struct sockaddr_in nowhere = {.sin_family = AF_INET, .sin_port = htons(9)};
	struct pair_event event;
	char data[256];

	CT_ASSERT_TRUE(!pair_open(t, SCR_NAME) && !pair_client(t));
	CT_EXPECT_EQ(fi_connect(t->client.ep, &nowhere, NULL, 0), 0);
	CT_EXPECT_EQ(pair_expect_err(t->client.eq, FI_ECONNREFUSED, data), 0);
	pair_down(t);

	ask_for_connection(t, &event);
	CT_EXPECT_EQ(fi_close(&t->pep->fid), 0);
	t->pep = NULL;
	CT_EXPECT_EQ(pair_expect_err(t->client.eq, FI_ECONNREFUSED, data), 0);
	CT_EXPECT_EQ(fi_endpoint(t->domain, event.entry.info, &t->server.ep, NULL),
		     -FI_EINVAL);
	t->server.ep = NULL;
	fi_freeinfo(event.entry.info);
}

CT_TEST_F(cm, the_one_who_asked_is_gone)
{
	CT_ASSERT_TRUE(!pair_open(t, SCR_NAME) && !pair_client(t) && !pair_request(t));
	CT_EXPECT_EQ(fi_close(&t->client.ep->fid), 0);
	t->client.ep = NULL;
	CT_EXPECT_EQ(fi_accept(t->server.ep, NULL, 0), -FI_ECONNABORTED);
}

CT_TEST_F(cm, an_endpoint_that_never_answers_refuses_when_it_is_closed)
{
	char data[256];

	CT_ASSERT_TRUE(!pair_open(t, SCR_NAME) && !pair_client(t) && !pair_request(t));
	CT_EXPECT_EQ(fi_close(&t->server.ep->fid), 0);
	t->server.ep = NULL;
	pair_expect_err(t->client.eq, FI_ECONNREFUSED, data);
}

CT_TEST_F(cm, who_listened_may_go_once_an_endpoint_has_the_request)
{
	struct pair_event event;

	CT_ASSERT_TRUE(!pair_open(t, SCR_NAME) && !pair_client(t) && !pair_request(t));
	CT_EXPECT_EQ(fi_close(&t->pep->fid), 0);
	t->pep = NULL;
	CT_ASSERT_EQ(fi_accept(t->server.ep, NULL, 0), 0);
	CT_EXPECT_EQ(pair_expect(t->client.eq, FI_CONNECTED, &event), 0);
}

CT_TEST_F(cm, private_data_has_a_limit)
{
	size_t limit = 0, len = sizeof(limit);
	struct sockaddr_in nowhere = {.sin_family = AF_INET, .sin_port = htons(9)};
	char data[100] = {0};

	scr_cm_data_size(99);
	CT_ASSERT_TRUE(!pair_open(t, SCR_NAME) && !pair_client(t));
	CT_EXPECT_EQ(fi_getopt(&t->pep->fid, FI_OPT_ENDPOINT, FI_OPT_CM_DATA_SIZE, &limit,
			       &len),
		     0);
	CT_EXPECT_EQ(limit, 99);
	CT_EXPECT_EQ(fi_connect(t->client.ep, &nowhere, data, 100), -FI_EINVAL);
	CT_EXPECT_EQ(fi_connect(t->client.ep, &nowhere, data, 99), 0);
}

CT_TEST_F(cm, the_test_makes_events_of_its_own)
{
	struct pair_event event;
	char data[256];

	CT_ASSERT_EQ(pair_up(t, SCR_NAME), 0);
	CT_EXPECT_FALSE(ct_readable(&t->client.eq->fid));
	CT_EXPECT_EQ(scr_event(&t->client.ep->fid, FI_CONNECTED, "again", 5), 0);
	CT_EXPECT_EQ(scr_event_err(&t->client.ep->fid, FI_EIO, 7, "why", 3), 0);
	CT_EXPECT_TRUE(ct_readable(&t->client.eq->fid));
	CT_EXPECT_EQ(pair_expect(t->client.eq, FI_CONNECTED, &event), 5);
	CT_EXPECT_EQ(pair_expect_err(t->client.eq, FI_EIO, data), 3);
	CT_EXPECT_MEMEQ(data, "why", 3);
}

CT_TEST_F(cm, memory_that_runs_out_leaves_the_connection_to_be_made_again)
{
	unsigned int n;
	char addr[64];
	size_t len = sizeof(addr);
	bool failed = true;
	int ret;

	CT_ASSERT_TRUE(!pair_open(t, SCR_NAME) && !pair_client(t));
	CT_ASSERT_EQ(fi_getname(&t->pep->fid, addr, &len), 0);
	for (n = 1; failed; n++) {
		CT_NOTE("allocation %u", n);
		ct_fail_alloc(n);
		ret = fi_connect(t->client.ep, addr, NULL, 0);
		failed = ct_alloc_failed();
		CT_ASSERT_EQ(ret, failed ? -FI_ENOMEM : 0);
	}
	CT_EXPECT_GT(n, 3);
}
