/* SPDX-License-Identifier: BSD-2-Clause */
/* Over the scripted provider: what passes, in both directions, and what names whom. */
#include <string.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_tagged.h>
#include "cairn_test.h"
#include "layer_world.h"
#include "pair.h"
#include "script.h"

static char at[2];
CT_FIXTURE(layer_pass, struct pair, layer_pair_up, layer_pair_down);

/* contexts */

CT_TEST_F(layer_pass, a_message_arrives_when_the_lower_provider_says)
{
	struct scr_record record;

	CT_EXPECT_STREQ(t->info->fabric_attr->prov_name, EXL_NAME);
	strcpy(t->client.buf, "hi");
	CT_EXPECT_EQ(fi_recv(t->server.ep, t->server.buf, 16, t->server.desc, 0, &at[0]),
		     0);
	scr_hold(SCR_ARRIVALS);
	CT_EXPECT_EQ(fi_send(t->client.ep, t->client.buf, 3, t->client.desc, 0, &at[1]),
		     0);
	pair_nothing(t->client.cq);
	CT_EXPECT_EQ(scr_held(), 1);
	scr_let_all_go();
	pair_done(t->client.cq, &at[1], FI_SEND | FI_MSG);
	pair_done(t->server.cq, &at[0], FI_RECV | FI_MSG);
	CT_EXPECT_STREQ(t->server.buf, "hi");
	CT_ASSERT_TRUE(scr_look(SCR_SEND, 0, &record));
	CT_EXPECT_NE(record.fid, &t->client.ep->fid);
	CT_EXPECT_EQ(record.context, &at[1]);
}

CT_TEST_F(layer_pass, a_write_reaches_the_memory_of_the_peer)
{
	strcpy(t->client.buf, "there");
	CT_EXPECT_EQ(fi_write(t->client.ep, t->client.buf, 6, t->client.desc, 0,
			      (uintptr_t)t->server.buf + 64, fi_mr_key(t->server.mr),
			      &at[0]),
		     0);
	pair_done(t->client.cq, &at[0], FI_WRITE | FI_RMA);
	CT_EXPECT_STREQ(t->server.buf + 64, "there");
}

CT_TEST_F(layer_pass, a_tagged_message_finds_the_receive_of_its_tag)
{
	struct scr_record record;

	CT_EXPECT_EQ(fi_trecv(t->server.ep, t->server.buf, 16, t->server.desc, 0, 0x30,
			      0xf, &at[0]),
		     0);
	strcpy(t->client.buf, "tag");
	CT_EXPECT_EQ(fi_tsend(t->client.ep, t->client.buf, 4, t->client.desc, 0, 0x34,
			      &at[1]),
		     0);
	pair_done(t->client.cq, &at[1], FI_SEND | FI_TAGGED);
	pair_done(t->server.cq, &at[0], FI_RECV | FI_TAGGED);
	CT_EXPECT_STREQ(t->server.buf, "tag");
	CT_ASSERT_TRUE(scr_look(SCR_TSEND, 0, &record));
	CT_EXPECT_NE(record.fid, &t->client.ep->fid);
	CT_EXPECT_EQ(record.tag, 0x34);
}

CT_TEST_F(layer_pass, atomics_act_on_the_memory_of_the_peer)
{
	uint64_t *word, *mine;
	size_t count;

	word = (uint64_t *)(void *)t->server.buf;
	mine = (uint64_t *)(void *)t->client.buf;
	*word = 40;
	mine[0] = 2;
	mine[1] = 40;
	CT_EXPECT_EQ(fi_compare_atomicvalid(t->client.ep, FI_UINT64, FI_CSWAP, &count),
		     0);
	CT_EXPECT_EQ(fi_compare_atomic(t->client.ep, &mine[0], 1, t->client.desc,
				       &mine[1], t->client.desc, &mine[2], t->client.desc,
				       0, (uintptr_t)word, fi_mr_key(t->server.mr),
				       FI_UINT64, FI_CSWAP, &at[0]),
		     0);
	pair_done(t->client.cq, &at[0], FI_READ | FI_ATOMIC);
	CT_EXPECT_EQ(mine[2], 40);
	CT_EXPECT_EQ(fi_inject_atomic(t->client.ep, &mine[1], 1, 0, (uintptr_t)word,
				      fi_mr_key(t->server.mr), FI_UINT64, FI_SUM),
		     0);
	CT_EXPECT_EQ(*word, 42);
}

CT_TEST_F(layer_pass, an_operation_that_is_refused_may_be_posted_again)
{
	scr_refuse(&(struct scr_rule){.call = SCR_SEND, .times = 1, .ret = -FI_EAGAIN});
	CT_EXPECT_EQ(fi_send(t->client.ep, t->client.buf, 3, t->client.desc, 0, &at[0]),
		     -FI_EAGAIN);
	CT_EXPECT_EQ(fi_recv(t->server.ep, t->server.buf, 16, t->server.desc, 0, &at[1]),
		     0);
	CT_EXPECT_EQ(fi_send(t->client.ep, t->client.buf, 3, t->client.desc, 0, &at[0]),
		     0);
	pair_done(t->client.cq, &at[0], FI_SEND | FI_MSG);
	pair_done(t->server.cq, &at[1], FI_RECV | FI_MSG);
}

CT_TEST_F(layer_pass, a_lost_connection_is_an_event_of_the_layers_endpoint)
{
	struct pair_event event;

	CT_EXPECT_EQ(fi_send(t->client.ep, t->client.buf, 3, t->client.desc, 0, &at[0]),
		     0);
	scr_break(scr_fid(FI_CLASS_EP, 0));
	pair_expect(t->client.eq, FI_SHUTDOWN, &event);
	CT_EXPECT_EQ(event.entry.fid, &t->client.ep->fid);
	pair_expect(t->server.eq, FI_SHUTDOWN, &event);
	CT_EXPECT_EQ(event.entry.fid, &t->server.ep->fid);
	pair_failed(t->client.cq, &at[0], FI_ECANCELED);
}

CT_TEST_F(layer_pass, a_refused_connection_is_an_error_with_the_endpoints_context)
{
	struct fi_eq_err_entry err = {0};
	char data[256];

	CT_EXPECT_EQ(scr_event_err(scr_fid(FI_CLASS_EP, 0), FI_ECONNREFUSED, 7, "no", 2),
		     0);
	CT_EXPECT_EQ(fi_eq_readerr(t->client.eq, &err, 0), -FI_EAGAIN);
	CT_EXPECT_EQ(scr_event_err(scr_fid(FI_CLASS_EP, 0), FI_ECONNRESET, 7, "no", 2),
		     0);
	CT_EXPECT_EQ(pair_expect_err(t->client.eq, FI_ECONNREFUSED, data), 2);
	CT_EXPECT_MEMEQ(data, "no", 2);
	CT_EXPECT_EQ(fi_eq_readerr(t->client.eq, &err, 0), sizeof(err));
	CT_EXPECT_EQ(err.err, FI_ECONNRESET);
	CT_EXPECT_EQ(err.fid, &t->client.ep->fid);
	CT_EXPECT_EQ(err.context, t->client.ep->fid.context);
}

CT_TEST_F(layer_pass, an_error_of_reading_events_is_the_readers)
{
	struct pair_event event;
	uint32_t number;

	scr_refuse(&(struct scr_rule){.call = SCR_EQ_READ, .times = 1, .ret = -FI_EIO});
	CT_EXPECT_EQ(fi_eq_read(t->client.eq, &number, &event, sizeof(event), 0),
		     -FI_EIO);
	CT_EXPECT_EQ(fi_eq_read(t->client.eq, &number, &event, sizeof(event), 0),
		     -FI_EAGAIN);
}
