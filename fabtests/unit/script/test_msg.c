/* SPDX-License-Identifier: BSD-2-Clause */
#include "ct_fid.h"
#include "scene.h"

static char at[8]; /* contexts */

static int recv_at(struct pair_end *end, size_t offset, size_t len, void *context)
{
	return (int)fi_recv(end->ep, end->buf + offset, len, end->desc, 0, context);
}

static int send_at(struct pair_end *end, size_t offset, size_t len, void *context)
{
	return (int)fi_send(end->ep, end->buf + offset, len, end->desc, 0, context);
}

CT_FIXTURE(msg, struct pair, scene_up, pair_down);

CT_TEST_F(msg, arrives_whether_the_receive_was_posted_before_or_after)
{
	strcpy(t->client.buf, "first");
	strcpy(t->client.buf + 100, "second");
	CT_ASSERT_EQ(recv_at(&t->server, 0, 50, &at[0]), 0);
	CT_ASSERT_EQ(send_at(&t->client, 0, 6, &at[1]), 0);
	CT_ASSERT_EQ(send_at(&t->client, 100, 7, &at[2]), 0);
	pair_done(t->server.cq, &at[0], FI_RECV | FI_MSG);
	pair_done(t->client.cq, &at[1], FI_SEND | FI_MSG);
	pair_nothing(t->client.cq);
	CT_ASSERT_EQ(recv_at(&t->server, 100, 50, &at[3]), 0);
	pair_done(t->server.cq, &at[3], FI_RECV | FI_MSG);
	pair_done(t->client.cq, &at[2], FI_SEND | FI_MSG);
	CT_EXPECT_STREQ(t->server.buf, "first");
	CT_EXPECT_STREQ(t->server.buf + 100, "second");
}

CT_TEST_F(msg, pieces_need_not_match)
{
	struct iovec from[2], to[3];
	void *from_desc[2], *to_desc[3];

	memcpy(t->client.buf, "abcdefghij", 10);
	from[0] = (struct iovec){t->client.buf, 7};
	from[1] = (struct iovec){t->client.buf + 7, 3};
	to[0] = (struct iovec){t->server.buf + 10, 2};
	to[1] = (struct iovec){t->server.buf, 0};
	to[2] = (struct iovec){t->server.buf + 20, 20};
	from_desc[0] = from_desc[1] = t->client.desc;
	to_desc[0] = to_desc[1] = to_desc[2] = t->server.desc;
	CT_ASSERT_EQ(fi_recvv(t->server.ep, to, to_desc, 3, 0, &at[0]), 0);
	CT_ASSERT_EQ(fi_sendv(t->client.ep, from, from_desc, 2, 0, &at[1]), 0);
	CT_EXPECT_MEMEQ(t->server.buf + 10, "ab", 2);
	CT_EXPECT_MEMEQ(t->server.buf + 20, "cdefghij", 8);
}

CT_TEST_F(msg, too_long_a_message_is_an_error_at_both_ends)
{
	struct fi_cq_err_entry entry = {0};

	CT_ASSERT_EQ(recv_at(&t->server, 0, 10, &at[0]), 0);
	CT_ASSERT_EQ(send_at(&t->client, 0, 16, &at[1]), 0);
	CT_EXPECT_EQ(fi_cq_readerr(t->server.cq, &entry, 0), 1);
	CT_EXPECT_EQ(entry.err, FI_ETRUNC);
	CT_EXPECT_EQ(entry.olen, 6);
	pair_failed(t->client.cq, &at[1], FI_EREMOTEIO);
}

CT_TEST_F(msg, injected_data_is_copied_and_reported_to_the_receiver_alone)
{
	struct fi_cq_data_entry entry = {0};
	char text[8] = "inject";

	CT_ASSERT_EQ(fi_injectdata(t->client.ep, text, 7, 42, 0), 0);
	memset(text, 'x', sizeof(text));
	CT_ASSERT_EQ(recv_at(&t->server, 0, 10, &at[0]), 0);
	CT_ASSERT_EQ(fi_cq_read(t->server.cq, &entry, 1), 1);
	CT_EXPECT_EQ(entry.flags, FI_RECV | FI_MSG | FI_REMOTE_CQ_DATA);
	CT_EXPECT_EQ(entry.data, 42);
	CT_EXPECT_STREQ(t->server.buf, "inject");
	pair_nothing(t->client.cq);
}

CT_TEST_F(msg, memory_is_registered_or_the_call_is_refused)
{
	CT_EXPECT_EQ(fi_send(t->client.ep, t->client.buf, 8, NULL, 0, NULL), -FI_EACCES);
	CT_EXPECT_EQ(fi_send(t->client.ep, t->server.buf, 8, t->client.desc, 0, NULL),
		     -FI_EACCES);
	CT_EXPECT_EQ(fi_send(t->client.ep, t->client.buf, sizeof(t->client.buf) + 1,
			     t->client.desc, 0, NULL),
		     -FI_EACCES);
	CT_EXPECT_EQ(fi_send(t->client.ep, NULL, 0, NULL, 0, NULL), 0);
}

CT_TEST(msg, queues_have_the_size_that_was_promised)
{
	struct pair p;

	scr_begin();
	scr_offer()->tx_attr->size = 3;
	scr_offer()->rx_attr->size = 2;
	CT_ASSERT_EQ(pair_up(&p, SCR_NAME), 0);
	for (unsigned int n = 0; n < 3; n++)
		CT_EXPECT_EQ(send_at(&p.client, 0, 1, NULL), 0);
	CT_EXPECT_EQ(send_at(&p.client, 0, 1, NULL), -FI_EAGAIN);
	for (unsigned int n = 0; n < 4; n++)
		CT_EXPECT_EQ(recv_at(&p.client, 0, 1, NULL), n < 2 ? 0 : -FI_EAGAIN);
	pair_down(&p);
}

CT_TEST_F(msg, descriptors_tell_of_completions)
{
	struct fid *fids[1];

	fids[0] = &t->server.cq->fid;
	CT_ASSERT_EQ(recv_at(&t->server, 0, 10, &at[0]), 0);
	CT_EXPECT_EQ(fi_trywait(t->fabric, fids, 1), 0);
	CT_EXPECT_FALSE(ct_readable(fids[0]));
	CT_ASSERT_EQ(send_at(&t->client, 0, 1, NULL), 0);
	CT_EXPECT_TRUE(ct_readable(fids[0]));
	CT_EXPECT_EQ(fi_trywait(t->fabric, fids, 1), -FI_EAGAIN);
	scr_refuse(&(struct scr_rule){.call = SCR_TRYWAIT, .ret = -FI_EIO});
	CT_EXPECT_EQ(fi_trywait(t->fabric, fids, 1), -FI_EIO);
}

CT_TEST_F(msg, the_test_makes_completions_of_its_own)
{
	const struct fi_cq_err_entry err = {.op_context = &at[1],
					    .flags = FI_RECV | FI_MSG,
					    .err = FI_EIO};
	const struct crn_cq_comp comp = {
		.entry = {.op_context = &at[0], .flags = FI_SEND | FI_MSG}};

	CT_EXPECT_EQ(scr_completion(&t->client.ep->fid, false, &comp, NULL), 0);
	CT_EXPECT_EQ(scr_completion(&t->client.ep->fid, true, NULL, &err), 0);
	pair_done(t->client.cq, &at[0], FI_SEND | FI_MSG);
	pair_failed(t->client.cq, &at[1], FI_EIO);
}
