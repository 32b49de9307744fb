/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * RDMA of this end takes the region that the program passed, where one for messages does
 * for that as well: over RoCE and InfiniBand. Elsewhere it registers one of its own.
 */
#include <string.h>
#include "ends.h"

#define XID 0x700
#define ITEM 64u /* bytes of a result */

static struct ends e;

static const struct {
	uint32_t protocol;
	bool passed;	   /* fi_mr_desc of the program's region */
	unsigned int made; /* regions of the layer's for it */
} rows[] = {
	{FI_PROTO_RDMA_CM_IB_RC, true, 0},
	{FI_PROTO_RDMA_CM_IB_RC, false, 1},
	{FI_PROTO_IWARP, true, 1},
	{FI_PROTO_IWARP, false, 1},
};

static void start(enum rpr_mode mode, uint32_t protocol)
{
	ends_begin();
	scr_offer()->ep_attr->protocol = protocol;
	CT_EXPECT_EQ(ends_up(&e, mode), 0);
}

static struct fid_mr *region(struct end *end, void *buf, size_t len, uint64_t access)
{
	struct fid_mr *mr = NULL;

	CT_EXPECT_EQ(fi_mr_reg(end->domain, buf, len, access, 0, 0, 0, &mr, NULL), 0);
	return mr;
}

/* Regions of that memory that were made since: of the server, whose it is. */
static unsigned int made(const void *buf, unsigned int before)
{
	unsigned int i, count = 0;
	struct scr_record record;

	for (i = before; i < scr_count(SCR_MR_REG); i++)
		if (scr_look(SCR_MR_REG, i, &record) && record.addr == (uintptr_t)buf)
			count++;
	return count;
}

/* A long message of wrap mode, which is read into the program's receive. */
CT_TEST(rpcrdma_desc, a_long_message_is_read_into_the_programs_region)
{
	unsigned int before;
	struct fid_mr *mr;

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CT_NOTE("row %u", i);
		start(RPR_MODE_WRAP, rows[i].protocol);
		ends_message(&e.client, &e.server);
		mr = region(&e.server, e.server.got[0], ENDS_LONG, FI_RECV | FI_READ);
		before = scr_count(SCR_MR_REG);
		memset(e.client.sent, 0x5a, ENDS_LONG);
		CT_EXPECT_EQ(fi_recv(e.server.ep, e.server.got[0], ENDS_LONG,
				     rows[i].passed ? fi_mr_desc(mr) : NULL, 0, NULL),
			     0);
		CT_EXPECT_EQ(fi_send(e.client.ep, e.client.sent, ENDS_LONG, NULL, 0,
				     NULL),
			     0);
		/* The Call, and what it makes the server read. */
		pair_nothing(e.server.cq);
		pair_done(e.server.cq, NULL, FI_RECV | FI_MSG);
		CT_EXPECT_MEMEQ(e.server.got[0], e.client.sent, ENDS_LONG);
		CT_EXPECT_EQ(made(e.server.got[0], before), rows[i].made);
		CT_EXPECT_EQ(fi_close(&mr->fid), 0);
		ends_close(&e);
	}
}

/* The client's Call, which offers a Write chunk for its result, is the server's. */
static void call_offers(char *result)
{
	const struct iovec iov = {result, ITEM};
	const struct fi_msg msg = {.msg_iov = &iov, .iov_count = 1, .data = XID};

	CT_EXPECT_EQ(fi_recvmsg(e.client.ep, &msg, FI_CAIRN_RPC_RESULT | FI_COMPLETION),
		     0);
	ends_rpc(&e.client, XID, false);
	ends_recv(&e.server, 0);
	CT_EXPECT_EQ(fi_send(e.client.ep, e.client.sent, 40, NULL, 0, NULL), 0);
	pair_done(e.server.cq, e.server.got[0], FI_RECV | FI_MSG);
}

/* A Reply of rpc mode, whose item is written into the Write chunk. */
CT_TEST(rpcrdma_desc, a_result_is_written_from_the_programs_region)
{
	static char result[ITEM], item[ITEM];
	unsigned int before;
	struct fid_mr *mr;

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct iovec iov[2] = {{e.server.sent, 24}, {item, ITEM}};
		void *desc[2] = {NULL, NULL};
		const struct fi_msg msg = {
			.msg_iov = iov, .desc = desc, .iov_count = 2, .data = 1 << 1};

		CT_NOTE("row %u", i);
		start(RPR_MODE_RPC, rows[i].protocol);
		memset(item, 0x40 + (int)i, ITEM);
		call_offers(result);
		ends_rpc(&e.server, XID, true);
		mr = region(&e.server, item, ITEM, FI_SEND | FI_WRITE);
		desc[1] = rows[i].passed ? fi_mr_desc(mr) : NULL;
		before = scr_count(SCR_MR_REG);
		CT_EXPECT_EQ(fi_sendmsg(e.server.ep, &msg,
					FI_CAIRN_RPC_DDP | FI_COMPLETION),
			     0);
		CT_EXPECT_EQ(made(item, before), rows[i].made);
		pair_done(e.server.cq, NULL, FI_SEND | FI_MSG);
		CT_EXPECT_MEMEQ(result, item, ITEM);
		CT_EXPECT_EQ(fi_close(&mr->fid), 0);
		ends_close(&e);
	}
}
