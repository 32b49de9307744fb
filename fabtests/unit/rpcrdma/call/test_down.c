/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The connection ends. Who reads completions alone learns it by them; memory that a
 * message is read into is the program's again when the lower provider has said that the
 * RDMA Read is over, and not before. A lower provider that has shut the connection takes
 * no receives, which is seen before its event is read.
 */
#include <string.h>
#include <cairn/wait.h>
#include "ends.h"
#include "objects.h"

/* A long message for the first of two receives, whose RDMA Read is under way, when the
 * lower provider says that the connection is gone. */
static void down_while_reading(struct ends *e)
{
	struct pair_event event;

	CT_EXPECT_EQ(ends_up(e, RPR_MODE_WRAP), 0);
	ends_message(&e->client, &e->server);
	ends_recv(&e->server, 0);
	ends_recv(&e->server, 1);
	memset(e->client.sent, 'm', ENDS_LONG);
	ends_send(&e->client, ENDS_LONG);
	ends_hold(&e->server);
	CT_EXPECT_EQ(scr_held(), 1);
	CT_EXPECT_EQ(scr_event(scr_fid(FI_CLASS_EP, 1), FI_SHUTDOWN, NULL, 0), 0);
	CT_EXPECT_EQ(pair_expect(e->server.eq, FI_SHUTDOWN, &event), 0);
	/* Nothing will come for the other one. */
	pair_failed(e->server.cq, e->server.got[1], FI_ECANCELED);
	pair_nothing(e->server.cq);
}

static void set_up(struct ends *e)
{
	ends_begin();
}

CT_FIXTURE(rpcrdma_down, struct ends, set_up, ends_close);

CT_TEST_F(rpcrdma_down, a_receive_ends_when_its_rdma_read_has_ended)
{
	down_while_reading(t);
	CT_EXPECT_TRUE(scr_fail_held(0, FI_ECANCELED, 0, NULL, 0));
	pair_failed(t->server.cq, t->server.got[0], FI_ECANCELED);
	pair_nothing(t->server.cq);
}

CT_TEST_F(rpcrdma_down, a_message_that_was_read_all_the_same_is_delivered)
{
	down_while_reading(t);
	CT_EXPECT_TRUE(scr_let_go(0));
	pair_done(t->server.cq, t->server.got[0], FI_RECV | FI_MSG);
	CT_EXPECT_MEMEQ(t->server.got[0], t->client.sent, ENDS_LONG);
	pair_nothing(t->server.cq);
}

/* Of a lower provider that never says so, fi_close is the end. */
CT_TEST_F(rpcrdma_down, an_rdma_read_that_never_ends_keeps_nothing_open)
{
	down_while_reading(t);
}

CT_TEST_F(rpcrdma_down, who_reads_no_event_learns_it_by_the_completions)
{
	struct fi_cq_data_entry done;
	struct pair_event event;
	uint64_t start;

	CT_EXPECT_EQ(ends_up(t, RPR_MODE_WRAP), 0);
	ends_recv(&t->server, 0);
	pair_nothing(t->server.cq);
	CT_EXPECT_EQ(scr_event(scr_fid(FI_CLASS_EP, 1), FI_SHUTDOWN, NULL, 0), 0);
	start = crn_now_ms();
	while (fi_cq_read(t->server.cq, &done, 1) == -FI_EAGAIN &&
	       crn_timeout_left(start, 10000))
		;
	pair_failed(t->server.cq, t->server.got[0], FI_ECANCELED);
	CT_EXPECT_EQ(pair_expect(t->server.eq, FI_SHUTDOWN, &event), 0);
}

/* The connection is shut for the lower provider of one end; its event is not there yet.
 */
static void refuse_receives(unsigned int end)
{
	const struct scr_rule rule = {.call = SCR_RECV,
				      .fid = scr_fid(FI_CLASS_EP, end),
				      .ret = -FI_ESHUTDOWN};

	scr_refuse(&rule);
}

static void expect_shutdown(struct end *end)
{
	struct pair_event event;

	pair_nothing(end->cq);
	pair_expect(end->eq, FI_SHUTDOWN, &event);
	ends_no_event(end->eq);
	pair_nothing(end->cq);
}

/* The server's queue, which has been read, keeps no place for a completion to come. */
static void expect_places(struct ends *e)
{
	struct crn_cq *cq = crn_container_of(e->server.cq, struct crn_cq, fid);

	CT_EXPECT_EQ(atomic_load(&cq->room), cq->mask + 1);
}

/* A message that waits for a receive, and behind it data that need none, twice. */
CT_TEST_F(rpcrdma_down, what_waits_is_delivered_once_when_the_lower_endpoint_is_shut)
{
	char target[ENDS_SHORT] = {0};
	struct fid_mr *mr;

	CT_ASSERT_EQ(ends_up(t, RPR_MODE_WRAP), 0);
	ends_message(&t->client, &t->server);
	CT_ASSERT_EQ(fi_mr_reg(t->server.domain, target, sizeof(target), FI_REMOTE_WRITE,
			       0, 0, 0, &mr, NULL),
		     0);
	ends_byte(&t->client, 'a');
	for (unsigned int i = 0; i < 2; i++)
		CT_EXPECT_EQ(fi_inject_writedata(t->client.ep, t->client.sent, ENDS_SHORT,
						 i, 0, (uintptr_t)target, fi_mr_key(mr)),
			     0);
	pair_nothing(t->server.cq);
	refuse_receives(1);
	ends_recv(&t->server, 0);
	pair_done(t->server.cq, t->server.got[0], FI_RECV | FI_MSG);
	for (unsigned int i = 0; i < 2; i++)
		pair_done(t->server.cq, NULL,
			  FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA);
	expect_shutdown(&t->server);
	CT_EXPECT_EQ(t->server.got[0][0], 'a');
	expect_places(t);
	CT_EXPECT_EQ(fi_close(&mr->fid), 0);
}

CT_TEST_F(rpcrdma_down,
	  what_has_arrived_takes_the_receives_when_the_lower_endpoint_is_shut)
{
	CT_ASSERT_EQ(ends_up(t, RPR_MODE_WRAP), 0);
	ends_message(&t->client, &t->server);
	ends_recv(&t->server, 0);
	ends_recv(&t->server, 1);
	ends_byte(&t->client, 'a');
	ends_byte(&t->client, 'b');
	refuse_receives(1);
	pair_done(t->server.cq, t->server.got[0], FI_RECV | FI_MSG);
	pair_done(t->server.cq, t->server.got[1], FI_RECV | FI_MSG);
	expect_shutdown(&t->server);
	CT_EXPECT_EQ(t->server.got[0][0], 'a');
	CT_EXPECT_EQ(t->server.got[1][0], 'b');
}

/* RDMA_ERROR for a Call with a chunk, as its only Reply. */
CT_TEST_F(rpcrdma_down,
	  a_call_ends_once_when_the_lower_endpoint_is_shut_before_its_error_is_read)
{
	const struct iovec part[] = {{t->client.sent, 40}, {t->client.sent + 40, 128}};
	const struct fi_msg msg = {
		.msg_iov = part, .iov_count = 2, .context = t, .data = 1 << 1};

	CT_ASSERT_EQ(ends_up(t, RPR_MODE_RPC), 0);
	rpr_ep_of(t->server.ep)->chunks = FI_CAIRN_RPC_CHUNKS_NONE;
	ends_recv(&t->client, 0);
	ends_rpc(&t->client, 7, false);
	CT_EXPECT_EQ(fi_sendmsg(t->client.ep, &msg, FI_CAIRN_RPC_DDP | FI_COMPLETION), 0);
	pair_nothing(t->server.cq);
	refuse_receives(0);
	pair_failed(t->client.cq, t, FI_EREMOTEIO);
	pair_failed(t->client.cq, t->client.got[0], FI_EREMOTEIO);
	expect_shutdown(&t->client);
}

/* Receives that a Call which waits is not for. */
CT_TEST_F(rpcrdma_down, receives_end_with_the_endpoint_whatever_message_waits)
{
	int takes = FI_CAIRN_RPC_RECV_REPLIES;

	CT_ASSERT_EQ(ends_up(t, RPR_MODE_RPC), 0);
	CT_EXPECT_EQ(fi_setopt(&t->server.ep->fid, FI_OPT_ENDPOINT, FI_OPT_CAIRN_RPC_RECV,
			       &takes, sizeof(takes)),
		     0);
	ends_recv(&t->server, 0);
	ends_recv(&t->server, 1);
	ends_rpc(&t->client, 7, false);
	ends_send(&t->client, 40);
	pair_nothing(t->server.cq);
	CT_EXPECT_EQ(fi_close(&t->server.ep->fid), 0);
	t->server.ep = NULL;
	pair_failed(t->server.cq, t->server.got[0], FI_ECANCELED);
	pair_failed(t->server.cq, t->server.got[1], FI_ECANCELED);
	pair_nothing(t->server.cq);
	expect_places(t);
}
