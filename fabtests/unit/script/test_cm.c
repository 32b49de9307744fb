/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include <netinet/in.h>
#include "cairn_test.h"
#include "ct_fid.h"
#include "pair.h"
#include "script.h"

CT_TEST(cm, connects_with_private_data)
{
	struct pair p;
	char addr[64];
	size_t len = sizeof(addr);

	scr_begin();
	CT_ASSERT_EQ(pair_up(&p, SCR_NAME), 0);
	CT_EXPECT_EQ(fi_getpeer(p.client.ep, addr, &len), 0);
	CT_EXPECT_EQ(fi_getname(&p.client.ep->fid, addr, &len), 0);
	pair_down(&p);
}

CT_TEST(cm, a_shutdown_is_told_once_at_both_ends)
{
	struct pair_event event;
	uint32_t number;
	struct pair p;

	scr_begin();
	CT_ASSERT_EQ(pair_up(&p, SCR_NAME), 0);
	CT_EXPECT_EQ(fi_recv(p.client.ep, p.client.buf, 8, p.client.desc, 0, &p), 0);
	CT_EXPECT_EQ(fi_shutdown(p.server.ep, 0), 0);
	CT_EXPECT_EQ(pair_expect(p.client.eq, FI_SHUTDOWN, &event), 0);
	CT_EXPECT_EQ(event.entry.fid, &p.client.ep->fid);
	CT_EXPECT_EQ(pair_expect(p.server.eq, FI_SHUTDOWN, &event), 0);
	pair_failed(p.client.cq, &p, FI_ECANCELED);
	CT_EXPECT_EQ(fi_close(&p.server.ep->fid), 0);
	p.server.ep = NULL;
	CT_EXPECT_EQ(fi_eq_read(p.client.eq, &number, &event, sizeof(event), 0),
		     -FI_EAGAIN);
	pair_down(&p);
}

CT_TEST(cm, closing_an_end_is_a_shutdown_for_the_other)
{
	struct pair_event event;
	struct pair p;

	scr_begin();
	CT_ASSERT_EQ(pair_up(&p, SCR_NAME), 0);
	CT_EXPECT_EQ(fi_recv(p.server.ep, p.server.buf, 8, p.server.desc, 0, &p), 0);
	CT_EXPECT_EQ(fi_close(&p.server.ep->fid), 0);
	p.server.ep = NULL;
	pair_failed(p.server.cq, &p, FI_ECANCELED);
	CT_EXPECT_EQ(pair_expect(p.client.eq, FI_SHUTDOWN, &event), 0);
	pair_down(&p);
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

CT_TEST(cm, a_rejection_carries_data)
{
	struct pair_event event;
	struct pair p;
	char data[256];

	scr_begin();
	ask_for_connection(&p, &event);
	CT_EXPECT_EQ(fi_reject(p.pep, event.entry.info->handle, "never", 5), 0);
	CT_EXPECT_EQ(fi_reject(p.pep, event.entry.info->handle, NULL, 0), -FI_EINVAL);
	CT_EXPECT_EQ(pair_expect_err(p.client.eq, FI_ECONNREFUSED, data), 5);
	CT_EXPECT_MEMEQ(data, "never", 5);
	fi_freeinfo(event.entry.info);
	pair_down(&p);
}

CT_TEST(cm, nobody_listens_and_who_did_is_gone)
{
	struct sockaddr_in nowhere = {.sin_family = AF_INET, .sin_port = htons(9)};
	struct pair_event event;
	struct pair p;
	char data[256];

	scr_begin();
	CT_ASSERT_EQ(pair_open(&p, SCR_NAME), 0);
	CT_ASSERT_EQ(pair_client(&p), 0);
	CT_EXPECT_EQ(fi_connect(p.client.ep, &nowhere, NULL, 0), 0);
	CT_EXPECT_EQ(pair_expect_err(p.client.eq, FI_ECONNREFUSED, data), 0);
	pair_down(&p);

	ask_for_connection(&p, &event);
	CT_EXPECT_EQ(fi_close(&p.pep->fid), 0);
	p.pep = NULL;
	CT_EXPECT_EQ(pair_expect_err(p.client.eq, FI_ECONNREFUSED, data), 0);
	CT_EXPECT_EQ(fi_endpoint(p.domain, event.entry.info, &p.server.ep, NULL),
		     -FI_EINVAL);
	p.server.ep = NULL;
	fi_freeinfo(event.entry.info);
	pair_down(&p);
}

CT_TEST(cm, the_one_who_asked_is_gone)
{
	struct pair p;

	scr_begin();
	CT_ASSERT_EQ(pair_open(&p, SCR_NAME), 0);
	CT_ASSERT_EQ(pair_client(&p), 0);
	CT_ASSERT_EQ(pair_request(&p), 0);
	CT_EXPECT_EQ(fi_close(&p.client.ep->fid), 0);
	p.client.ep = NULL;
	CT_EXPECT_EQ(fi_accept(p.server.ep, NULL, 0), -FI_ECONNABORTED);
	pair_down(&p);
}

CT_TEST(cm, an_endpoint_that_never_answers_refuses_when_it_is_closed)
{
	char data[256];
	struct pair p;

	scr_begin();
	CT_ASSERT_EQ(pair_open(&p, SCR_NAME), 0);
	CT_ASSERT_EQ(pair_client(&p), 0);
	CT_ASSERT_EQ(pair_request(&p), 0);
	CT_EXPECT_EQ(fi_close(&p.server.ep->fid), 0);
	p.server.ep = NULL;
	pair_expect_err(p.client.eq, FI_ECONNREFUSED, data);
	pair_down(&p);
}

CT_TEST(cm, who_listened_may_go_once_an_endpoint_has_the_request)
{
	struct pair_event event;
	struct pair p;

	scr_begin();
	CT_ASSERT_EQ(pair_open(&p, SCR_NAME), 0);
	CT_ASSERT_EQ(pair_client(&p), 0);
	CT_ASSERT_EQ(pair_request(&p), 0);
	CT_EXPECT_EQ(fi_close(&p.pep->fid), 0);
	p.pep = NULL;
	CT_ASSERT_EQ(fi_accept(p.server.ep, NULL, 0), 0);
	CT_EXPECT_EQ(pair_expect(p.client.eq, FI_CONNECTED, &event), 0);
	pair_down(&p);
}

CT_TEST(cm, private_data_has_a_limit)
{
	size_t limit = 0, len = sizeof(limit);
	struct sockaddr_in nowhere = {.sin_family = AF_INET, .sin_port = htons(9)};
	char data[100] = {0};
	struct pair p;

	scr_begin();
	scr_cm_data_size(99);
	CT_ASSERT_EQ(pair_open(&p, SCR_NAME), 0);
	CT_ASSERT_EQ(pair_client(&p), 0);
	CT_EXPECT_EQ(fi_getopt(&p.pep->fid, FI_OPT_ENDPOINT, FI_OPT_CM_DATA_SIZE, &limit,
			       &len),
		     0);
	CT_EXPECT_EQ(limit, 99);
	CT_EXPECT_EQ(fi_connect(p.client.ep, &nowhere, data, 100), -FI_EINVAL);
	CT_EXPECT_EQ(fi_connect(p.client.ep, &nowhere, data, 99), 0);
	pair_down(&p);
}

CT_TEST(cm, the_test_makes_events_of_its_own)
{
	struct pair_event event;
	char data[256];
	struct pair p;

	scr_begin();
	CT_ASSERT_EQ(pair_up(&p, SCR_NAME), 0);
	CT_EXPECT_FALSE(ct_readable(&p.client.eq->fid));
	CT_EXPECT_EQ(scr_event(&p.client.ep->fid, FI_CONNECTED, "again", 5), 0);
	CT_EXPECT_EQ(scr_event_err(&p.client.ep->fid, FI_EIO, 7, "why", 3), 0);
	CT_EXPECT_TRUE(ct_readable(&p.client.eq->fid));
	CT_EXPECT_EQ(pair_expect(p.client.eq, FI_CONNECTED, &event), 5);
	CT_EXPECT_EQ(pair_expect_err(p.client.eq, FI_EIO, data), 3);
	CT_EXPECT_MEMEQ(data, "why", 3);
	pair_down(&p);
}

CT_TEST(cm, memory_that_runs_out_leaves_the_connection_to_be_made_again)
{
	unsigned int n;
	struct pair p;
	char addr[64];
	size_t len = sizeof(addr);
	bool failed = true;
	int ret;

	scr_begin();
	CT_ASSERT_EQ(pair_open(&p, SCR_NAME), 0);
	CT_ASSERT_EQ(pair_client(&p), 0);
	CT_ASSERT_EQ(fi_getname(&p.pep->fid, addr, &len), 0);
	for (n = 1; failed; n++) {
		CT_NOTE("allocation %u", n);
		ct_fail_alloc(n);
		ret = fi_connect(p.client.ep, addr, NULL, 0);
		failed = ct_alloc_failed();
		CT_ASSERT_EQ(ret, failed ? -FI_ENOMEM : 0);
	}
	CT_EXPECT_GT(n, 3);
	pair_down(&p);
}
