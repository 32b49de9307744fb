/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls that are refused, and the record of them. */
#include "scene.h"

CT_FIXTURE(calls, struct pair, scene_up, pair_down);

CT_TEST_F(calls, are_refused_the_nth_time)
{
	scr_refuse(&(struct scr_rule){
		.call = SCR_RECV, .skip = 2, .times = 2, .ret = -FI_EAGAIN});
	CT_EXPECT_EQ(fi_recv(t->client.ep, t->client.buf, 8, t->client.desc, 0, NULL), 0);
	CT_EXPECT_EQ(fi_recv(t->client.ep, t->client.buf, 8, t->client.desc, 0, NULL), 0);
	CT_EXPECT_EQ(fi_recv(t->client.ep, t->client.buf, 8, t->client.desc, 0, NULL),
		     -FI_EAGAIN);
	CT_EXPECT_EQ(fi_recv(t->client.ep, t->client.buf, 8, t->client.desc, 0, NULL),
		     -FI_EAGAIN);
	CT_EXPECT_EQ(fi_recv(t->client.ep, t->client.buf, 8, t->client.desc, 0, NULL), 0);
	CT_EXPECT_EQ(scr_count(SCR_RECV), 5);
}

CT_TEST_F(calls, of_one_object_or_class_are_refused)
{
	scr_refuse(&(struct scr_rule){.call = SCR_RECV,
				      .fid = &t->server.ep->fid,
				      .ret = -FI_EIO});
	CT_EXPECT_EQ(fi_recv(t->client.ep, t->client.buf, 8, t->client.desc, 0, NULL), 0);
	CT_EXPECT_EQ(fi_recv(t->server.ep, t->server.buf, 8, t->server.desc, 0, NULL),
		     -FI_EIO);
	scr_refuse(&(struct scr_rule){
		.call = SCR_CLOSE, .fclass = FI_CLASS_MR, .times = 1, .ret = -FI_EBUSY});
	CT_EXPECT_EQ(fi_close(&t->client.ep->fid), 0);
	t->client.ep = NULL;
	CT_EXPECT_EQ(fi_close(&t->client.mr->fid), -FI_EBUSY);
}

CT_TEST(calls, on_the_way_to_a_connection_return_any_code_and_can_be_undone)
{
	static const enum scr_call way[] = {SCR_FABRIC,	 SCR_DOMAIN,  SCR_EQ_OPEN,
					    SCR_CQ_OPEN, SCR_MR_REG,  SCR_PASSIVE_EP,
					    SCR_BIND,	 SCR_LISTEN,  SCR_ENDPOINT,
					    SCR_ENABLE,	 SCR_GETNAME, SCR_CONNECT,
					    SCR_ACCEPT};
	unsigned int before = scr_open(), i, skip;
	struct pair p;
	int ret;

	for (i = 0; i < sizeof(way) / sizeof(way[0]); i++) {
		for (skip = 0; skip < 2; skip++) {
			CT_NOTE("%s, the %uth time", scr_call_name(way[i]), skip + 1);
			scr_begin();
			scr_refuse(&(struct scr_rule){.call = way[i],
						      .skip = skip,
						      .ret = -FI_EIO});
			ret = pair_up(&p, SCR_NAME);
			CT_EXPECT_EQ(ret, scr_count(way[i]) > skip ? -FI_EIO : 0);
			CT_EXPECT_GE(scr_count(way[i]), 1);
			pair_down(&p);
			CT_EXPECT_EQ(scr_open(), before);
		}
	}
}

CT_TEST_F(calls, are_recorded_with_what_they_were_given)
{
	struct scr_record record;

	CT_ASSERT_EQ(fi_senddata(t->client.ep, t->client.buf, 24, t->client.desc, 0x77, 0,
				 t),
		     0);
	CT_ASSERT_TRUE(scr_look(SCR_SEND, 0, &record));
	CT_EXPECT_EQ(record.fid, &t->client.ep->fid);
	CT_EXPECT_EQ(record.len, 24);
	CT_EXPECT_EQ(record.data, 0x77);
	CT_EXPECT_EQ(record.context, t);
	CT_EXPECT_EQ(record.flags, FI_REMOTE_CQ_DATA);
	CT_EXPECT_FALSE(scr_look(SCR_SEND, 1, &record));
	CT_ASSERT_TRUE(scr_look(SCR_CONNECT, 0, &record));
	CT_EXPECT_EQ(record.len, 6);
}

static void close_it(const struct scr_record *record, void *arg)
{
	struct pair *p = arg;

	CT_EXPECT_EQ(record->call, SCR_SEND);
	scr_break(&p->server.ep->fid);
}

CT_TEST_F(calls, something_may_happen_right_before_one)
{
	scr_refuse(&(struct scr_rule){.call = SCR_SEND, .before = close_it, .arg = t});
	CT_EXPECT_EQ(fi_send(t->client.ep, t->client.buf, 8, t->client.desc, 0, NULL),
		     -FI_ESHUTDOWN);
}

CT_TEST(calls, objects_are_found_by_class)
{
	unsigned int before;
	struct pair p;

	scr_begin();
	before = scr_open();
	CT_EXPECT_EQ(scr_fid(FI_CLASS_EP, 0), NULL);
	CT_ASSERT_EQ(pair_up(&p, SCR_NAME), 0);
	CT_EXPECT_EQ(scr_fid(FI_CLASS_EP, 0), &p.client.ep->fid);
	CT_EXPECT_EQ(scr_fid(FI_CLASS_EP, 1), &p.server.ep->fid);
	CT_EXPECT_EQ(scr_fid(FI_CLASS_EP, 2), NULL);
	pair_down(&p);
	CT_EXPECT_EQ(scr_open(), before);
}

CT_TEST_F(calls, memory_that_runs_out_is_an_error_of_the_call)
{
	unsigned int n;
	ssize_t ret;
	bool failed;

	for (n = 1;; n++) {
		CT_NOTE("allocation %u", n);
		ct_fail_alloc(n);
		ret = fi_inject(t->client.ep, "x", 1, 0);
		failed = ct_alloc_failed();
		CT_EXPECT_EQ(ret, failed ? -FI_ENOMEM : 0);
		if (!failed)
			break;
	}
	CT_EXPECT_GT(n, 2);
}
