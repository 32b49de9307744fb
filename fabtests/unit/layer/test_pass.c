/* SPDX-License-Identifier: BSD-2-Clause */
/* Over the scripted provider: what passes, in both directions, and what names whom. */
#include <string.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_tagged.h>
#include "cairn_test.h"
#include "layer_world.h"
#include "pair.h"
#include "script.h"

static char at[2]; /* contexts */

CT_TEST(layer_pass, a_message_arrives_when_the_lower_provider_says)
{
	struct scr_record record;
	struct pair p;

	scr_begin();
	CT_ASSERT_EQ(pair_up(&p, LAYER_STACK), 0);
	CT_EXPECT_STREQ(p.info->fabric_attr->prov_name, EXL_NAME);
	strcpy(p.client.buf, "hi");
	CT_EXPECT_EQ(fi_recv(p.server.ep, p.server.buf, 16, p.server.desc, 0, &at[0]), 0);
	scr_hold(SCR_ARRIVALS);
	CT_EXPECT_EQ(fi_send(p.client.ep, p.client.buf, 3, p.client.desc, 0, &at[1]), 0);
	pair_nothing(p.client.cq);
	CT_EXPECT_EQ(scr_held(), 1);
	scr_let_all_go();
	pair_done(p.client.cq, &at[1], FI_SEND | FI_MSG);
	pair_done(p.server.cq, &at[0], FI_RECV | FI_MSG);
	CT_EXPECT_STREQ(p.server.buf, "hi");
	CT_ASSERT_TRUE(scr_look(SCR_SEND, 0, &record));
	CT_EXPECT_NE(record.fid, &p.client.ep->fid);
	CT_EXPECT_EQ(record.context, &at[1]);
	pair_down(&p);
	CT_EXPECT_EQ(scr_open(), 0);
}

CT_TEST(layer_pass, a_write_reaches_the_memory_of_the_peer)
{
	struct pair p;

	scr_begin();
	CT_ASSERT_EQ(pair_up(&p, LAYER_STACK), 0);
	strcpy(p.client.buf, "there");
	CT_EXPECT_EQ(fi_write(p.client.ep, p.client.buf, 6, p.client.desc, 0,
			      (uintptr_t)p.server.buf + 64, fi_mr_key(p.server.mr),
			      &at[0]),
		     0);
	pair_done(p.client.cq, &at[0], FI_WRITE | FI_RMA);
	CT_EXPECT_STREQ(p.server.buf + 64, "there");
	pair_down(&p);
	CT_EXPECT_EQ(scr_open(), 0);
}

CT_TEST(layer_pass, a_tagged_message_finds_the_receive_of_its_tag)
{
	struct scr_record record;
	struct pair p;

	scr_begin();
	CT_ASSERT_EQ(pair_up(&p, LAYER_STACK), 0);
	CT_EXPECT_EQ(fi_trecv(p.server.ep, p.server.buf, 16, p.server.desc, 0, 0x30, 0xf,
			      &at[0]),
		     0);
	strcpy(p.client.buf, "tag");
	CT_EXPECT_EQ(fi_tsend(p.client.ep, p.client.buf, 4, p.client.desc, 0, 0x34,
			      &at[1]),
		     0);
	pair_done(p.client.cq, &at[1], FI_SEND | FI_TAGGED);
	pair_done(p.server.cq, &at[0], FI_RECV | FI_TAGGED);
	CT_EXPECT_STREQ(p.server.buf, "tag");
	CT_ASSERT_TRUE(scr_look(SCR_TSEND, 0, &record));
	CT_EXPECT_NE(record.fid, &p.client.ep->fid);
	CT_EXPECT_EQ(record.tag, 0x34);
	pair_down(&p);
	CT_EXPECT_EQ(scr_open(), 0);
}

CT_TEST(layer_pass, atomics_act_on_the_memory_of_the_peer)
{
	uint64_t *word, *mine;
	struct pair p;
	size_t count;

	scr_begin();
	CT_ASSERT_EQ(pair_up(&p, LAYER_STACK), 0);
	word = (uint64_t *)(void *)p.server.buf;
	mine = (uint64_t *)(void *)p.client.buf;
	*word = 40;
	mine[0] = 2;
	mine[1] = 40;
	CT_EXPECT_EQ(fi_compare_atomicvalid(p.client.ep, FI_UINT64, FI_CSWAP, &count), 0);
	CT_EXPECT_EQ(fi_compare_atomic(p.client.ep, &mine[0], 1, p.client.desc, &mine[1],
				       p.client.desc, &mine[2], p.client.desc, 0,
				       (uintptr_t)word, fi_mr_key(p.server.mr), FI_UINT64,
				       FI_CSWAP, &at[0]),
		     0);
	pair_done(p.client.cq, &at[0], FI_READ | FI_ATOMIC);
	CT_EXPECT_EQ(mine[2], 40);
	CT_EXPECT_EQ(fi_inject_atomic(p.client.ep, &mine[1], 1, 0, (uintptr_t)word,
				      fi_mr_key(p.server.mr), FI_UINT64, FI_SUM),
		     0);
	CT_EXPECT_EQ(*word, 42);
	pair_down(&p);
	CT_EXPECT_EQ(scr_open(), 0);
}

CT_TEST(layer_pass, an_operation_that_is_refused_may_be_posted_again)
{
	struct pair p;

	scr_begin();
	CT_ASSERT_EQ(pair_up(&p, LAYER_STACK), 0);
	scr_refuse(&(struct scr_rule){.call = SCR_SEND, .times = 1, .ret = -FI_EAGAIN});
	CT_EXPECT_EQ(fi_send(p.client.ep, p.client.buf, 3, p.client.desc, 0, &at[0]),
		     -FI_EAGAIN);
	CT_EXPECT_EQ(fi_recv(p.server.ep, p.server.buf, 16, p.server.desc, 0, &at[1]), 0);
	CT_EXPECT_EQ(fi_send(p.client.ep, p.client.buf, 3, p.client.desc, 0, &at[0]), 0);
	pair_done(p.client.cq, &at[0], FI_SEND | FI_MSG);
	pair_done(p.server.cq, &at[1], FI_RECV | FI_MSG);
	pair_down(&p);
	CT_EXPECT_EQ(scr_open(), 0);
}

CT_TEST(layer_pass, a_lost_connection_is_an_event_of_the_layers_endpoint)
{
	struct pair_event event;
	struct pair p;

	scr_begin();
	CT_ASSERT_EQ(pair_up(&p, LAYER_STACK), 0);
	CT_EXPECT_EQ(fi_send(p.client.ep, p.client.buf, 3, p.client.desc, 0, &at[0]), 0);
	scr_break(scr_fid(FI_CLASS_EP, 0));
	pair_expect(p.client.eq, FI_SHUTDOWN, &event);
	CT_EXPECT_EQ(event.entry.fid, &p.client.ep->fid);
	pair_expect(p.server.eq, FI_SHUTDOWN, &event);
	CT_EXPECT_EQ(event.entry.fid, &p.server.ep->fid);
	pair_failed(p.client.cq, &at[0], FI_ECANCELED);
	pair_down(&p);
	CT_EXPECT_EQ(scr_open(), 0);
}

CT_TEST(layer_pass, a_refused_connection_is_an_error_with_the_endpoints_context)
{
	struct fi_eq_err_entry err = {0};
	char data[256];
	struct pair p;

	scr_begin();
	CT_ASSERT_EQ(pair_up(&p, LAYER_STACK), 0);
	CT_EXPECT_EQ(scr_event_err(scr_fid(FI_CLASS_EP, 0), FI_ECONNREFUSED, 7, "no", 2),
		     0);
	CT_EXPECT_EQ(fi_eq_readerr(p.client.eq, &err, 0), -FI_EAGAIN);
	CT_EXPECT_EQ(scr_event_err(scr_fid(FI_CLASS_EP, 0), FI_ECONNRESET, 7, "no", 2),
		     0);
	CT_EXPECT_EQ(pair_expect_err(p.client.eq, FI_ECONNREFUSED, data), 2);
	CT_EXPECT_MEMEQ(data, "no", 2);
	CT_EXPECT_EQ(fi_eq_readerr(p.client.eq, &err, 0), sizeof(err));
	CT_EXPECT_EQ(err.err, FI_ECONNRESET);
	CT_EXPECT_EQ(err.fid, &p.client.ep->fid);
	CT_EXPECT_EQ(err.context, p.client.ep->fid.context);
	pair_down(&p);
	CT_EXPECT_EQ(scr_open(), 0);
}

CT_TEST(layer_pass, an_error_of_reading_events_is_the_readers)
{
	struct pair_event event;
	uint32_t number;
	struct pair p;

	scr_begin();
	CT_ASSERT_EQ(pair_up(&p, LAYER_STACK), 0);
	scr_refuse(&(struct scr_rule){.call = SCR_EQ_READ, .times = 1, .ret = -FI_EIO});
	CT_EXPECT_EQ(fi_eq_read(p.client.eq, &number, &event, sizeof(event), 0), -FI_EIO);
	CT_EXPECT_EQ(fi_eq_read(p.client.eq, &number, &event, sizeof(event), 0),
		     -FI_EAGAIN);
	pair_down(&p);
	CT_EXPECT_EQ(scr_open(), 0);
}
