/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading completions: formats, flags, order, errors. */
#include <errno.h>
#include "../world.h"

CT_FIXTURE(cq_read, struct world, world_fresh, world_close);

CT_TEST_F(cq_read, each_format_has_its_fields)
{
	struct fi_cq_entry context = {0};
	struct fi_cq_msg_entry msg = {0};
	struct fi_cq_data_entry data = {.buf = &data};
	const struct {
		enum fi_cq_format format;
		void *entry;
	} rows[] = {{FI_CQ_FORMAT_CONTEXT, &context},
		    {FI_CQ_FORMAT_MSG, &msg},
		    {FI_CQ_FORMAT_DATA, &data}};
	struct world_opts opts = {0};
	const uint32_t imm = 0xfeedface;

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		world_renew(t);
		opts.format = rows[i].format;
		CT_ASSERT_TRUE(world_open(t, &opts));
		CT_EXPECT_EQ(recv_number(t->ep, 9), 0);
		fake_receive(t->qp, IBV_WC_RECV, 123, &imm);
		CT_EXPECT_EQ(fi_cq_read(t->cq, rows[i].entry, 1), 1);
	}
	CT_EXPECT_EQ(context.op_context, NUMBER(9));
	CT_EXPECT_EQ(msg.op_context, NUMBER(9));
	CT_EXPECT_EQ(msg.flags, FI_RECV | FI_MSG | FI_REMOTE_CQ_DATA);
	CT_EXPECT_EQ(msg.len, 123);
	CT_EXPECT_EQ(data.op_context, NUMBER(9));
	CT_EXPECT_EQ(data.flags, FI_RECV | FI_MSG | FI_REMOTE_CQ_DATA);
	CT_EXPECT_EQ(data.len, 123);
	CT_EXPECT_EQ(data.buf, NULL);
	CT_EXPECT_EQ(data.data, imm);
}

CT_TEST_F(cq_read, entries_lie_behind_each_other_and_nothing_behind_them_is_touched)
{
	static const struct {
		enum fi_cq_format format;
		size_t size;
	} rows[] = {{FI_CQ_FORMAT_CONTEXT, sizeof(struct fi_cq_entry)},
		    {FI_CQ_FORMAT_MSG, sizeof(struct fi_cq_msg_entry)},
		    {FI_CQ_FORMAT_DATA, sizeof(struct fi_cq_data_entry)}};
	struct fi_cq_data_entry room[3], untouched;
	struct world_opts opts = {0};

	memset(&untouched, 0x5a, sizeof(untouched));
	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		char *behind = (char *)room + 2 * rows[i].size;

		world_renew(t);
		memset(room, 0x5a, sizeof(room));
		opts.format = rows[i].format;
		CT_ASSERT_TRUE(world_open(t, &opts));
		CT_EXPECT_EQ(recv_number(t->ep, 1), 0);
		CT_EXPECT_EQ(recv_number(t->ep, 2), 0);
		fake_receive(t->qp, IBV_WC_RECV, 10, NULL);
		fake_receive(t->qp, IBV_WC_RECV, 20, NULL);
		CT_EXPECT_EQ(fi_cq_read(t->cq, room, 2), 2);
		CT_EXPECT_EQ(((struct fi_cq_entry *)room)->op_context, NUMBER(1));
		CT_EXPECT_EQ(
			((struct fi_cq_entry *)((char *)room + rows[i].size))->op_context,
			NUMBER(2));
		CT_EXPECT_EQ(memcmp(behind, &untouched, sizeof(untouched)), 0);
	}
}

CT_TEST_F(cq_read, what_arrived_decides_the_flags_of_a_receive)
{
	const uint32_t imm = 0x01020304;

	CT_ASSERT_TRUE(world_open(t, NULL));
	for (uintptr_t i = 0; i < 3; i++)
		CT_EXPECT_EQ(recv_number(t->ep, i), 0);
	fake_receive(t->qp, IBV_WC_RECV, 10, NULL);
	fake_receive(t->qp, IBV_WC_RECV, 20, &imm);
	fake_receive(t->qp, IBV_WC_RECV_RDMA_WITH_IMM, 30, &imm);
	expect_comp(t->cq, NUMBER(0), FI_RECV | FI_MSG, 10, 0);
	expect_comp(t->cq, NUMBER(1), FI_RECV | FI_MSG | FI_REMOTE_CQ_DATA, 20, imm);
	expect_comp(t->cq, NUMBER(2), FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA, 30,
		    imm);
}

/* fi_cq(3): the data of a remote write is there to be seen, whoever's receive it took. */
CT_TEST_F(cq_read, a_write_with_data_is_reported_although_its_receive_wants_no_completion)
{
	struct world_opts opts = {.cq_flags = FI_SELECTIVE_COMPLETION};
	const uint32_t imm = 77;

	CT_ASSERT_TRUE(world_open(t, &opts));
	CT_EXPECT_EQ(recv_number(t->ep, 0), 0);
	CT_EXPECT_EQ(recv_number(t->ep, 1), 0);
	fake_receive(t->qp, IBV_WC_RECV, 10, &imm);
	fake_receive(t->qp, IBV_WC_RECV_RDMA_WITH_IMM, 30, &imm);
	expect_comp(t->cq, NUMBER(1), FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA, 30,
		    imm);
}

CT_TEST_F(cq_read, no_more_are_read_than_there_is_room_for)
{
	struct world_opts opts = {.rx_size = 100};
	struct fi_cq_data_entry entries[100];
	uintptr_t next = 0;
	ssize_t ret;

	CT_ASSERT_TRUE(world_open(t, &opts));
	for (uintptr_t i = 0; i < 100; i++) {
		CT_EXPECT_EQ(recv_number(t->ep, i), 0);
		fake_receive(t->qp, IBV_WC_RECV, 0, NULL);
	}
	for (size_t count = 1; next < 100; count++) {
		ret = fi_cq_read(t->cq, entries, count);
		CT_ASSERT_EQ(ret, CRN_MIN(count, 100 - next));
		for (ssize_t i = 0; i < ret; i++)
			CT_EXPECT_EQ(entries[i].op_context, NUMBER(next++));
	}
	expect_no_comp(t->cq);
}

/* However many completions a poll gives at a time. */
CT_TEST_F(cq_read, a_read_goes_on_while_the_device_has_more)
{
	struct world_opts opts = {.rx_size = 100};
	struct fi_cq_data_entry entries[100];

	CT_ASSERT_TRUE(world_open(t, &opts));
	for (uintptr_t i = 0; i < 100; i++) {
		CT_EXPECT_EQ(recv_number(t->ep, i), 0);
		fake_receive(t->qp, IBV_WC_RECV, 0, NULL);
	}
	CT_EXPECT_EQ(fi_cq_read(t->cq, entries, 100), 100);
	for (uintptr_t i = 0; i < 100; i++)
		CT_EXPECT_EQ(entries[i].op_context, NUMBER(i));
}

CT_TEST_F(cq_read, a_read_past_completions_that_are_not_reported_finds_the_others)
{
	struct world_opts opts = {.rx_size = 101, .cq_flags = FI_SELECTIVE_COMPLETION};
	struct fi_msg msg = {.context = NUMBER(1)};

	CT_ASSERT_TRUE(world_open(t, &opts));
	for (uintptr_t i = 0; i < 100; i++)
		CT_EXPECT_EQ(recv_number(t->ep, i), 0);
	CT_EXPECT_EQ(fi_recvmsg(t->ep, &msg, FI_COMPLETION), 0);
	for (int i = 0; i < 101; i++)
		fake_receive(t->qp, IBV_WC_RECV, 0, NULL);
	expect_comp(t->cq, NUMBER(1), FI_RECV | FI_MSG, 0, 0);
	expect_no_comp(t->cq);
}

CT_TEST_F(cq_read, a_device_that_gives_less_than_asked_for_loses_nothing)
{
	struct fi_cq_data_entry entries[8];
	ssize_t ret, got = 0;

	fake_devices[0].polls_limit = 3;
	CT_ASSERT_TRUE(world_open(t, NULL));
	for (uintptr_t i = 0; i < 8; i++) {
		CT_EXPECT_EQ(recv_number(t->ep, i), 0);
		fake_receive(t->qp, IBV_WC_RECV, 0, NULL);
	}
	while ((ret = fi_cq_read(t->cq, entries, 8)) > 0) {
		for (ssize_t i = 0; i < ret; i++)
			CT_EXPECT_EQ(entries[i].op_context, NUMBER(got++));
	}
	CT_EXPECT_EQ(ret, -FI_EAGAIN);
	CT_EXPECT_EQ(got, 8);
}

CT_TEST_F(cq_read, an_error_stops_reading_until_it_is_taken)
{
	struct fi_cq_err_entry error = {0};
	struct fi_cq_data_entry entries[8];

	CT_ASSERT_TRUE(world_open_connected(t, NULL));
	CT_EXPECT_EQ(fi_cq_readerr(t->cq, &error, 0), -FI_EAGAIN);
	for (uintptr_t i = 0; i < 5; i++)
		CT_EXPECT_EQ(send_number(t->ep, i), 0);
	fake_complete(t->qp, 2);
	fake_send_error(t->qp, IBV_WC_REM_ACCESS_ERR);
	CT_EXPECT_EQ(fi_cq_read(t->cq, entries, 8), 2);
	CT_EXPECT_EQ(entries[0].op_context, NUMBER(0));
	CT_EXPECT_EQ(entries[1].op_context, NUMBER(1));
	CT_EXPECT_EQ(fi_cq_read(t->cq, entries, 8), -FI_EAVAIL);
	CT_EXPECT_EQ(fi_cq_read(t->cq, entries, 8), -FI_EAVAIL);
	error.err_data_size = 77;
	CT_EXPECT_EQ(fi_cq_readerr(t->cq, &error, 0), 1);
	CT_EXPECT_EQ(error.op_context, NUMBER(2));
	CT_EXPECT_EQ(error.flags, FI_SEND | FI_MSG);
	CT_EXPECT_EQ(error.err, FI_EACCES);
	CT_EXPECT_EQ(error.prov_errno, IBV_WC_REM_ACCESS_ERR);
	CT_EXPECT_EQ(error.len, 0);
	CT_EXPECT_EQ(error.olen, 0);
	CT_EXPECT_EQ(error.data, 0);
	CT_EXPECT_EQ(error.err_data_size, 0);
	for (uintptr_t i = 3; i < 5; i++)
		expect_cq_error(t->cq, NUMBER(i), FI_SEND | FI_MSG, FI_ECANCELED);
	expect_no_comp(t->cq);
	CT_EXPECT_EQ(fi_cq_readerr(t->cq, &error, 0), -FI_EAGAIN);
}

CT_TEST_F(cq_read, an_error_has_nothing_of_the_message_before_it)
{
	struct fi_cq_err_entry error = {0};
	struct fi_cq_data_entry entries[8];
	const uint32_t imm = 55;

	CT_ASSERT_TRUE(world_open(t, NULL));
	CT_EXPECT_EQ(recv_number(t->ep, 1), 0);
	CT_EXPECT_EQ(recv_number(t->ep, 2), 0);
	fake_receive(t->qp, IBV_WC_RECV, 100, &imm);
	fake_recv_error(t->qp, IBV_WC_LOC_LEN_ERR);
	CT_EXPECT_EQ(fi_cq_read(t->cq, entries, 8), 1);
	CT_EXPECT_EQ(fi_cq_readerr(t->cq, &error, 0), 1);
	CT_EXPECT_EQ(error.op_context, NUMBER(2));
	CT_EXPECT_EQ(error.len, 0);
	CT_EXPECT_EQ(error.data, 0);
}

CT_TEST_F(cq_read, successes_behind_an_error_come_in_order)
{
	struct fi_cq_err_entry error = {0};
	struct fi_cq_data_entry entries[8];
	struct fid_ep *other;

	CT_ASSERT_TRUE(world_open(t, NULL));
	CT_ASSERT_TRUE(world_add_ep(t, NULL, &other));
	for (uintptr_t i = 0; i < 4; i++)
		CT_EXPECT_EQ(recv_number(t->ep, i), 0);
	for (uintptr_t i = 10; i < 14; i++)
		CT_EXPECT_EQ(recv_number(other, i), 0);
	fake_receive(qp_of(other), IBV_WC_RECV, 1, NULL);
	fake_recv_error(t->qp, IBV_WC_LOC_LEN_ERR);
	fake_receive(qp_of(other), IBV_WC_RECV, 2, NULL);
	fake_receive(qp_of(other), IBV_WC_RECV, 3, NULL);

	CT_EXPECT_EQ(fi_cq_read(t->cq, entries, 8), 1);
	CT_EXPECT_EQ(entries[0].op_context, NUMBER(10));
	expect_cq_error(t->cq, NUMBER(0), FI_RECV | FI_MSG, FI_ETRUNC);
	for (uintptr_t i = 1; i < 4; i++)
		expect_cq_error(t->cq, NUMBER(i), FI_RECV | FI_MSG, FI_ECANCELED);
	CT_EXPECT_EQ(fi_cq_readerr(t->cq, &error, 0), -FI_EAGAIN);
	CT_EXPECT_EQ(fi_cq_read(t->cq, entries, 1), 1);
	CT_EXPECT_EQ(entries[0].op_context, NUMBER(11));
	CT_EXPECT_EQ(fi_cq_read(t->cq, entries, 8), 1);
	CT_EXPECT_EQ(entries[0].op_context, NUMBER(12));
	expect_no_comp(t->cq);
	CT_EXPECT_EQ(fi_close(&other->fid), 0);
}

CT_TEST_F(cq_read, successes_and_an_error_behind_an_error_stop_at_the_second_error)
{
	struct fi_cq_data_entry entries[8];
	struct fid_ep *other;

	CT_ASSERT_TRUE(world_open(t, NULL));
	CT_ASSERT_TRUE(world_add_ep(t, NULL, &other));
	CT_EXPECT_EQ(recv_number(t->ep, 1), 0);
	for (uintptr_t i = 10; i < 13; i++)
		CT_EXPECT_EQ(recv_number(other, i), 0);
	fake_recv_error(t->qp, IBV_WC_LOC_PROT_ERR);
	fake_receive(qp_of(other), IBV_WC_RECV, 0, NULL);
	fake_receive(qp_of(other), IBV_WC_RECV, 0, NULL);
	fake_recv_error(qp_of(other), IBV_WC_LOC_PROT_ERR);
	expect_cq_error(t->cq, NUMBER(1), FI_RECV | FI_MSG, FI_EFAULT);
	CT_EXPECT_EQ(fi_cq_read(t->cq, entries, 8), 2);
	CT_EXPECT_EQ(entries[1].op_context, NUMBER(11));
	expect_cq_error(t->cq, NUMBER(12), FI_RECV | FI_MSG, FI_EFAULT);
	expect_no_comp(t->cq);
	CT_EXPECT_EQ(fi_close(&other->fid), 0);
}

CT_TEST_F(cq_read, a_request_without_completion_that_fails_is_reported)
{
	struct world_opts opts = {.cq_flags = FI_SELECTIVE_COMPLETION, .tx_size = 64};

	CT_ASSERT_TRUE(world_open_connected(t, &opts));
	CT_EXPECT_EQ(send_quietly(t->ep, 1), 0);
	CT_EXPECT_EQ(send_quietly(t->ep, 2), 0);
	CT_EXPECT_EQ(send_quietly(t->ep, 3), 0);
	fake_complete(t->qp, 1);
	fake_send_error(t->qp, IBV_WC_RETRY_EXC_ERR);
	expect_cq_error(t->cq, NUMBER(2), FI_SEND | FI_MSG, FI_ETIMEDOUT);
	expect_cq_error(t->cq, NUMBER(3), FI_SEND | FI_MSG, FI_ECANCELED);
	expect_no_comp(t->cq);
	CT_EXPECT_WARNED("retry");
}

/* Of injects there is nothing to read but the event queue, which not every program does.
 */
CT_TEST_F(cq_read, nothing_is_posted_after_an_error_completion)
{
	static const enum ibv_wc_status causes[] = {IBV_WC_RETRY_EXC_ERR,
						    IBV_WC_WR_FLUSH_ERR};

	for (size_t i = 0; i < CRN_COUNT(causes); i++) {
		CT_NOTE("%s", ibv_wc_status_str(causes[i]));
		world_renew(t);
		CT_ASSERT_TRUE(world_open_connected(t, NULL));
		CT_EXPECT_EQ(fi_inject(t->ep, "x", 1, 0), 0);
		fake_send_error(t->qp, causes[i]);
		expect_no_comp(t->cq);
		CT_EXPECT_EQ(fi_inject(t->ep, "x", 1, 0), -FI_ESHUTDOWN);
		CT_EXPECT_EQ(send_number(t->ep, 1), -FI_ESHUTDOWN);
		CT_EXPECT_EQ(recv_number(t->ep, 2), -FI_ESHUTDOWN);
	}
}

CT_TEST_F(cq_read, a_failed_inject_has_no_completion_and_ends_the_connection)
{
	CT_ASSERT_TRUE(world_open_connected(t, NULL));
	CT_EXPECT_EQ(fi_inject(t->ep, "x", 1, 0), 0);
	CT_EXPECT_EQ(fi_inject(t->ep, "y", 1, 0), 0);
	CT_EXPECT_EQ(send_number(t->ep, 3), 0);
	fake_send_error(t->qp, IBV_WC_REM_OP_ERR);
	expect_cq_error(t->cq, NUMBER(3), FI_SEND | FI_MSG, FI_ECANCELED);
	expect_no_comp(t->cq);
	CT_EXPECT_EQ(fake_count(FAKE_DISCONNECT), 1);
	fake_event(t->id, RDMA_CM_EVENT_DISCONNECTED, 0, NULL, 0);
	expect_event(t->eq, FI_SHUTDOWN, &t->ep->fid, NULL, 0);
}

CT_TEST_F(cq_read, a_flush_is_no_news_for_the_log)
{
	unsigned int lines;

	CT_ASSERT_TRUE(world_open_connected(t, NULL));
	CT_EXPECT_EQ(recv_number(t->ep, 1), 0);
	lines = ct_log_count();
	CT_EXPECT_EQ(fi_shutdown(t->ep, 0), 0);
	expect_cq_error(t->cq, NUMBER(1), FI_RECV | FI_MSG, FI_ECANCELED);
	CT_EXPECT_EQ(ct_log_count(), lines);
}

CT_TEST_F(cq_read, connected_endpoints_have_no_source_address)
{
	fi_addr_t addrs[4] = {5, 5, 5, 5};
	struct fi_cq_data_entry entries[4];

	CT_ASSERT_TRUE(world_open(t, NULL));
	CT_EXPECT_EQ(fi_cq_readfrom(t->cq, entries, 4, addrs), -FI_EAGAIN);
	CT_EXPECT_EQ(addrs[0], 5);
	CT_EXPECT_EQ(recv_number(t->ep, 1), 0);
	CT_EXPECT_EQ(recv_number(t->ep, 2), 0);
	fake_receive(t->qp, IBV_WC_RECV, 0, NULL);
	fake_receive(t->qp, IBV_WC_RECV, 0, NULL);
	CT_EXPECT_EQ(fi_cq_readfrom(t->cq, entries, 4, addrs), 2);
	CT_EXPECT_EQ(addrs[0], FI_ADDR_NOTAVAIL);
	CT_EXPECT_EQ(addrs[1], FI_ADDR_NOTAVAIL);
	CT_EXPECT_EQ(addrs[2], 5);
	CT_EXPECT_EQ(recv_number(t->ep, 3), 0);
	fake_receive(t->qp, IBV_WC_RECV, 0, NULL);
	CT_EXPECT_EQ(fi_cq_readfrom(t->cq, entries, 4, NULL), 1);
}

/* fi_cq(3): err_data_size came with interface 1.5. */
CT_TEST_F(cq_read, an_old_program_has_no_err_data_size)
{
	struct world_opts opts = {.api_version = FI_VERSION(1, 4)};
	struct fi_cq_err_entry error = {.err_data_size = 77};
	struct fi_cq_data_entry entry;

	CT_ASSERT_TRUE(world_open(t, &opts));
	CT_EXPECT_EQ(recv_number(t->ep, 1), 0);
	fake_recv_error(t->qp, IBV_WC_LOC_LEN_ERR);
	CT_EXPECT_EQ(fi_cq_read(t->cq, &entry, 1), -FI_EAVAIL);
	CT_EXPECT_EQ(fi_cq_readerr(t->cq, &error, 0), 1);
	CT_EXPECT_EQ(error.err_data_size, 77);
}

CT_TEST_F(cq_read, a_read_of_no_entries_gives_none)
{
	CT_ASSERT_TRUE(world_open(t, NULL));
	CT_EXPECT_LE(fi_cq_read(t->cq, NULL, 0), 0);
	CT_EXPECT_EQ(recv_number(t->ep, 1), 0);
	fake_receive(t->qp, IBV_WC_RECV, 0, NULL);
	CT_EXPECT_LE(fi_cq_read(t->cq, NULL, 0), 0);
	expect_comp(t->cq, NUMBER(1), FI_RECV | FI_MSG, 0, 0);
}

/* Programs make progress so: what is done frees its entries, though nobody takes it. */
CT_TEST_F(cq_read, a_read_of_no_entries_makes_room_and_says_what_is_there)
{
	struct fi_cq_data_entry entry;

	CT_ASSERT_TRUE(world_open_connected(t, NULL));
	CT_EXPECT_EQ(fi_cq_read(t->cq, NULL, 0), -FI_EAGAIN);
	for (uintptr_t i = 0; i < t->tx_size; i++)
		CT_EXPECT_EQ(send_number(t->ep, i), 0);
	fake_complete_all(t->qp);
	CT_EXPECT_EQ(fi_cq_read(t->cq, NULL, 0), 0);
	CT_EXPECT_EQ(crn_ring_used(&ep_of(t->ep)->qp.sq.ring), 0);
	for (uintptr_t i = 0; i < t->tx_size; i++)
		expect_comp(t->cq, NUMBER(i), FI_SEND | FI_MSG, 0, 0);
	CT_EXPECT_EQ(fi_cq_read(t->cq, NULL, 0), -FI_EAGAIN);
	CT_EXPECT_EQ(recv_number(t->ep, 1), 0);
	fake_recv_error(t->qp, IBV_WC_LOC_LEN_ERR);
	CT_EXPECT_EQ(fi_cq_read(t->cq, NULL, 0), -FI_EAVAIL);
	CT_EXPECT_EQ(fi_cq_read(t->cq, &entry, 1), -FI_EAVAIL);
	expect_cq_error(t->cq, NUMBER(1), FI_RECV | FI_MSG, FI_ETRUNC);
}
