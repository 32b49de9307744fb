/* SPDX-License-Identifier: BSD-2-Clause */
/* Replies to the server's Calls that find no room, over an endpoint that is none. */
#include "cairn_test.h"
#include "conn.h"

static int full; /* so often there is no room */
static size_t sent;

static ssize_t inject(struct fid_ep *ep, const void *buf, size_t len, fi_addr_t dest)
{
	if (full) {
		full--;
		return -FI_EAGAIN;
	}
	sent++;
	return 0;
}

static ssize_t sread(struct fid_cq *cq, void *buf, size_t count, const void *cond,
		     int timeout)
{
	return -FI_EAGAIN;
}

CT_TEST(nfs_turn, a_reply_that_finds_no_room_is_sent_later)
{
	static struct nfc_conn conn;
	struct fi_ops_msg msg = {.size = sizeof(msg), .inject = inject};
	struct fi_ops_cq ops = {.size = sizeof(ops), .sread = sread};
	struct fid_ep ep = {.msg = &msg};
	struct fid_cq cq = {.ops = &ops};

	conn.link.ep = &ep;
	conn.link.cq = &cq;
	conn.pending_len = 24;
	full = 2;
	CT_EXPECT_EQ(nfc_conn_turn(&conn, 0), 0);
	CT_EXPECT_EQ(nfc_conn_turn(&conn, 0), 0);
	CT_EXPECT_EQ(sent, 0);
	CT_EXPECT_EQ(conn.pending_len, 24);
	CT_EXPECT_EQ(nfc_conn_turn(&conn, 0), 0);
	CT_EXPECT_EQ(nfc_conn_turn(&conn, 0), 0);
	CT_EXPECT_EQ(sent, 1);
	CT_EXPECT_EQ(conn.pending_len, 0);
}
