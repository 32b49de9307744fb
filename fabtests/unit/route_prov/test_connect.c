/* SPDX-License-Identifier: BSD-2-Clause */
/* Connections on the device's own subnet: both ends are this process. */
#include "ends.h"

#define ROUTER "router = tcp://127.0.0.1:1\n"

struct both {
	struct ends ends;
	struct fid_ep *active, *passive;
	struct fi_info *request;
};

static void both_open(struct both *both)
{
	ends_config(ROUTER, "");
	ends_open(&both->ends);
	ends_listen(&both->ends);
	both->active = ends_ep(&both->ends, both->ends.info);
}

static void both_close(struct both *both)
{
	if (both->active)
		CT_EXPECT_EQ(fi_close(&both->active->fid), 0);
	if (both->passive)
		CT_EXPECT_EQ(fi_close(&both->passive->fid), 0);
	fi_freeinfo(both->request);
	ends_close(&both->ends);
}

CT_FIXTURE(connect, struct both, both_open, both_close);

/* Up to the request. */
static void both_ask(struct both *both, const void *param, size_t len,
		     struct ends_event *event)
{
	CT_ASSERT_EQ(ends_connect(both->active, &both->ends.target, param, len), 0);
	CT_ASSERT_TRUE(ends_expect(&both->ends, FI_CONNREQ, &both->ends.pep->fid, event));
	both->request = event->cm.info;
}

static void both_connect(struct both *both)
{
	struct ends_event event;

	both_ask(both, NULL, 0, &event);
	both->passive = ends_ep(&both->ends, both->request);
	CT_ASSERT_EQ(fi_accept(both->passive, NULL, 0), 0);
	CT_ASSERT_TRUE(
		ends_expect(&both->ends, FI_CONNECTED, &both->active->fid, &event));
	CT_ASSERT_TRUE(
		ends_expect(&both->ends, FI_CONNECTED, &both->passive->fid, &event));
}

static struct rte_end name_of(const void *addr)
{
	struct rte_end end = {0};

	CT_EXPECT_TRUE(addr && rte_addr_parse(addr, &end));
	return end;
}

CT_TEST_F(connect, data_travel_both_ways_whole)
{
	uint8_t data[RTE_PARAM_MAX];
	struct ends_event event;
	size_t i;

	for (i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 7);
	both_ask(t, data, sizeof(data), &event);
	CT_EXPECT_EQ(event.data, sizeof(data));
	CT_EXPECT_MEMEQ(event.cm.data, data, sizeof(data));
	t->passive = ends_ep(&t->ends, t->request);
	CT_ASSERT_EQ(fi_accept(t->passive, data + 1, sizeof(data) - 1), 0);
	CT_ASSERT_TRUE(ends_expect(&t->ends, FI_CONNECTED, &t->active->fid, &event));
	CT_EXPECT_EQ(event.data, sizeof(data) - 1);
	CT_EXPECT_MEMEQ(event.cm.data, data + 1, sizeof(data) - 1);
	CT_ASSERT_TRUE(ends_expect(&t->ends, FI_CONNECTED, &t->passive->fid, &event));
	CT_EXPECT_EQ(event.data, (size_t)0);
}

CT_TEST_F(connect, more_data_than_fit_are_refused)
{
	static const uint8_t data[RTE_PARAM_MAX + 1];

	CT_EXPECT_EQ(ends_connect(t->active, &t->ends.target, data, sizeof(data)),
		     -FI_EINVAL);
}

CT_TEST_F(connect, a_request_names_both_ends)
{
	struct ends_event event;
	struct rte_end end;

	both_ask(t, NULL, 0, &event);
	end = name_of(t->request->src_addr);
	CT_EXPECT_EQ(end.port, t->ends.target.port);
	CT_EXPECT_EQ(end.host, ENDS_TARGET);
	end = name_of(t->request->dest_addr);
	CT_EXPECT_EQ(end.as, 3u);
	CT_EXPECT_EQ(end.subnet, 1u);
	CT_EXPECT_EQ(end.host, ENDS_TARGET);
	CT_EXPECT_GE(end.port, 0xc000);
}

CT_TEST_F(connect, a_reject_is_the_programs_with_its_data)
{
	struct ends_event event;

	both_ask(t, NULL, 0, &event);
	CT_EXPECT_EQ(fi_reject(t->ends.pep, t->request->handle, "no", 2), 0);
	CT_EXPECT_EQ(fi_reject(t->ends.pep, t->request->handle, "no", 2), -FI_EINVAL);
	CT_ASSERT_TRUE(ends_expect_err(&t->ends, &t->active->fid, FI_ECONNREFUSED, &event,
				       NULL));
	CT_EXPECT_EQ(event.err.err_data_size, (size_t)2);
	CT_EXPECT_MEMEQ(event.err.err_data, "no", 2);
}

CT_TEST_F(connect, nobody_listens)
{
	struct ends_event event;

	CT_EXPECT_EQ(fi_close(&t->ends.pep->fid), 0);
	t->ends.pep = NULL;
	CT_ASSERT_EQ(ends_connect(t->active, &t->ends.target, NULL, 0), 0);
	CT_ASSERT_TRUE(ends_expect_err(&t->ends, &t->active->fid, FI_ECONNREFUSED, &event,
				       NULL));
	/* No router, and a text. */
	CT_EXPECT_GT(event.err.err_data_size, (size_t)8);
	CT_EXPECT_MEMEQ(event.err.err_data, "\0\0\0\0\0\0\0\0", 8);
	CT_EXPECT_STRSTR((char *)event.err.err_data + 8, "127.0.0.1");
}

CT_TEST_F(connect, a_handle_is_good_for_one_endpoint)
{
	struct fid_ep *second = NULL;
	struct ends_event event;

	both_ask(t, NULL, 0, &event);
	t->passive = ends_ep(&t->ends, t->request);
	CT_EXPECT_EQ(fi_endpoint(t->ends.domain, t->request, &second, NULL), -FI_EINVAL);
	CT_EXPECT_EQ(fi_reject(t->ends.pep, t->request->handle, NULL, 0), -FI_EINVAL);
}

CT_TEST_F(connect, an_endpoint_that_never_accepts_rejects_when_it_closes)
{
	struct ends_event event;

	both_ask(t, NULL, 0, &event);
	t->passive = ends_ep(&t->ends, t->request);
	CT_EXPECT_EQ(fi_close(&t->passive->fid), 0);
	t->passive = NULL;
	CT_EXPECT_TRUE(ends_expect_err(&t->ends, &t->active->fid, FI_ECONNREFUSED, &event,
				       NULL));
}

CT_TEST_F(connect, shutdown_is_told_to_each_end_once)
{
	struct ends_event event;

	both_connect(t);
	CT_EXPECT_EQ(fi_shutdown(t->active, 0), 0);
	CT_EXPECT_EQ(fi_shutdown(t->active, 0), 0);
	CT_EXPECT_TRUE(ends_expect(&t->ends, FI_SHUTDOWN, &t->passive->fid, &event));
	CT_EXPECT_TRUE(ends_expect(&t->ends, FI_SHUTDOWN, &t->active->fid, &event));
	ends_quiet(&t->ends);
	CT_EXPECT_EQ(fi_close(&t->active->fid), 0);
	t->active = NULL;
	ends_quiet(&t->ends);
}

CT_TEST_F(connect, close_is_a_shutdown_for_the_other_end)
{
	struct ends_event event;

	both_connect(t);
	CT_EXPECT_EQ(fi_close(&t->passive->fid), 0);
	t->passive = NULL;
	CT_EXPECT_TRUE(ends_expect(&t->ends, FI_SHUTDOWN, &t->active->fid, &event));
	ends_quiet(&t->ends);
}

CT_TEST_F(connect, what_was_injected_arrives_before_the_close)
{
	struct fi_cq_data_entry entry;
	struct ends_event event;
	char buf[3][8];
	int i;

	both_connect(t);
	for (i = 0; i < 3; i++)
		CT_EXPECT_EQ(fi_recv(t->passive, buf[i], 8, NULL, 0, NULL), 0);
	for (i = 0; i < 3; i++)
		CT_EXPECT_EQ(fi_inject(t->active, &"abc"[i], 1, 0), 0);
	CT_EXPECT_EQ(fi_close(&t->active->fid), 0);
	t->active = NULL;
	CT_EXPECT_TRUE(ends_expect(&t->ends, FI_SHUTDOWN, &t->passive->fid, &event));
	for (i = 0; i < 3; i++) {
		CT_EXPECT_EQ(fi_cq_read(t->ends.cq, &entry, 1), 1);
		CT_EXPECT_EQ(buf[i][0], "abc"[i]);
	}
}

#define MANY 200

CT_TEST_F(connect, a_close_waits_for_what_the_peer_has_no_credit_for_yet)
{
	struct fi_cq_data_entry entry;
	struct ends_event event;
	static char buf[MANY];
	int i;

	both_connect(t);
	for (i = 0; i < MANY; i++)
		CT_ASSERT_EQ(fi_recv(t->passive, &buf[i], 1, NULL, 0, NULL), 0);
	for (i = 0; i < MANY; i++) {
		char one = (char)i;

		CT_ASSERT_EQ(fi_inject(t->active, &one, 1, 0), 0);
	}
	CT_EXPECT_EQ(fi_close(&t->active->fid), 0);
	t->active = NULL;
	CT_EXPECT_TRUE(ends_expect(&t->ends, FI_SHUTDOWN, &t->passive->fid, &event));
	for (i = 0; i < MANY; i++) {
		CT_ASSERT_EQ(fi_cq_read(t->ends.cq, &entry, 1), 1);
		CT_EXPECT_EQ(buf[i], (char)i);
	}
}

/* More than the peer takes without receives: the shutdown has to wait. */
static void inject_many(struct fid_ep *ep)
{
	char buf[8] = "";
	int i;

	for (i = 0; i < MANY; i++)
		CT_ASSERT_EQ(fi_inject(ep, buf, sizeof(buf), 0), 0);
}

/* Neither of them hears of the other's before its own. */
CT_TEST_F(connect, shutdown_by_both_ends_is_told_to_each_once)
{
	struct ends_event first, second;

	both_connect(t);
	inject_many(t->active);
	inject_many(t->passive);
	CT_EXPECT_EQ(fi_shutdown(t->active, 0), 0);
	CT_EXPECT_EQ(fi_shutdown(t->passive, 0), 0);
	CT_ASSERT_TRUE(ends_next(&t->ends, &first, NULL));
	CT_ASSERT_TRUE(ends_next(&t->ends, &second, NULL));
	CT_EXPECT_EQ(first.event, FI_SHUTDOWN);
	CT_EXPECT_EQ(second.event, FI_SHUTDOWN);
	CT_EXPECT_NE(first.cm.fid, second.cm.fid);
	ends_quiet(&t->ends);
}

CT_TEST_F(connect, who_has_shut_it_down_is_told_once_also_if_the_other_end_goes)
{
	struct ends_event event;
	char buf[8] = "";

	both_connect(t);
	inject_many(t->active);
	CT_EXPECT_EQ(fi_shutdown(t->active, 0), 0);
	CT_EXPECT_EQ(fi_inject(t->active, buf, sizeof(buf), 0), -FI_ENOTCONN);
	CT_EXPECT_EQ(fi_close(&t->passive->fid), 0);
	t->passive = NULL;
	CT_EXPECT_TRUE(ends_expect(&t->ends, FI_SHUTDOWN, &t->active->fid, &event));
	ends_quiet(&t->ends);
}

CT_TEST_F(connect, objects_that_are_in_use_do_not_close)
{
	CT_EXPECT_EQ(fi_close(&t->ends.domain->fid), -FI_EBUSY);
	CT_EXPECT_EQ(fi_close(&t->ends.cq->fid), -FI_EBUSY);
	CT_EXPECT_EQ(fi_close(&t->ends.eq->fid), -FI_EBUSY);
	CT_EXPECT_EQ(fi_close(&t->ends.fabric->fid), -FI_EBUSY);
}
