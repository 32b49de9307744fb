/* SPDX-License-Identifier: BSD-2-Clause */
/* Which Calls are inline, and which are Long Calls of a copy: to the byte. */
#include "call/call.h"
#include "ends.h"

#define COPY 4096u

static void start(struct ends *e)
{
	ends_begin();
	CT_ASSERT_EQ(ends_up(e, RPR_MODE_RPC), 0);
}

CT_FIXTURE(rpcrdma_threshold, struct ends, start, ends_close);

static ssize_t call(struct ends *e, size_t len)
{
	ends_rpc(&e->client, 7, false);
	return fi_send(e->client.ep, e->client.sent, len, NULL, 0, NULL);
}

/* The server gets the Call, by so many RDMA Reads. */
static void expect_call(struct ends *e, size_t len, unsigned int reads)
{
	struct fi_cq_data_entry entry = {.len = 0};

	ends_recv(&e->server, 0);
	for (int turns = 0; turns < 20 && fi_cq_read(e->server.cq, &entry, 1) != 1;
	     turns++)
		;
	CT_EXPECT_EQ(entry.len, len);
	CT_EXPECT_EQ(scr_count(SCR_READ), reads);
}

CT_TEST_F(rpcrdma_threshold, a_call_that_fills_the_inline_size_has_no_chunk)
{
	const size_t most = rpr_ep_of(t->client.ep)->send_inline - RPR_HEADER_MIN;

	CT_EXPECT_EQ(call(t, most), 0);
	expect_call(t, most, 0);
	start(t);
	CT_EXPECT_EQ(call(t, most + 4), 0);
	expect_call(t, most + 4, 1);
}

/* FI_OPT_CAIRN_RPC_COPY: a Call of as many bytes is copied, and a longer one needs
 * FI_DELIVERY_COMPLETE. */
CT_TEST_F(rpcrdma_threshold, a_call_of_the_size_of_copies_is_copied)
{
	rpr_ep_of(t->client.ep)->copy = COPY;
	CT_EXPECT_EQ(call(t, COPY + 4), -FI_EMSGSIZE);
	CT_EXPECT_EQ(call(t, COPY), 0);
	/* The program's buffer is its own again when the Call is sent. */
	pair_done(t->client.cq, NULL, FI_SEND | FI_MSG);
	expect_call(t, COPY, 1);
}
