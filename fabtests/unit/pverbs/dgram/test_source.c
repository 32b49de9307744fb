/* SPDX-License-Identifier: BSD-2-Clause */
/* FI_SOURCE and FI_SOURCE_ERR: where datagrams came from. */
#include <arpa/inet.h>
#include "world_dgram.h"

static char buffer[256];

/* A GRH from dgram_addr(number): IPv6, or the IPv4 header of RoCE v2. */
static const uint8_t *grh_from(unsigned int number, bool ipv4)
{
	static uint8_t grh[40];

	memset(grh, 0, sizeof(grh));
	if (ipv4) {
		grh[20] = 0x45;
		grh[32] = 10;
		grh[34] = 1;
		grh[35] = (uint8_t)number;
		return grh;
	}
	grh[0] = 0x60;
	grh[18] = grh[19] = 0xff;
	grh[20] = 10;
	grh[22] = 1;
	grh[23] = (uint8_t)number;
	return grh;
}

static void receive_from(struct dgram_world *w, unsigned int number, bool ipv4)
{
	const struct ibv_wc from = {
		.src_qp = 0x500 + number,
		.slid = (uint16_t)(0x100 + number),
		.wc_flags = IBV_WC_GRH,
	};

	fake_receive_datagram(w->qp, 10 + number, &from, grh_from(number, ipv4));
}

static bool open_receiving(struct dgram_world *w, const struct dgram_opts *opts)
{
	int i;

	if (!dgram_open(w, opts))
		return false;
	for (i = 0; i < 8; i++)
		CT_EXPECT_EQ(fi_recv(w->srx ? w->srx : w->ep, buffer, sizeof(buffer),
				     NULL, FI_ADDR_UNSPEC, NUMBER(i)),
			     0);
	return !ct_failed();
}

static void expect_from(struct dgram_world *w, fi_addr_t wanted, size_t len)
{
	struct fi_cq_data_entry entry = {0};
	fi_addr_t from = 77;

	CT_EXPECT_EQ(fi_cq_readfrom(w->cq, &entry, 1, &from), 1);
	CT_EXPECT_EQ(from, wanted);
	CT_EXPECT_EQ(entry.len, len);
	CT_EXPECT_EQ(entry.flags, FI_RECV | FI_MSG);
}

static void start_source(struct dgram_world *w)
{
	const struct dgram_opts opts = {.caps = FI_MSG | FI_SOURCE};

	CT_ASSERT_TRUE(open_receiving(w, &opts));
}

CT_FIXTURE(dgram_source, struct dgram_world, start_source, dgram_close);

CT_TEST_F(dgram_source, it_is_the_fi_addr_of_who_sent_it)
{
	struct dgram_opts opts = {.caps = FI_MSG | FI_SOURCE};
	fi_addr_t second;
	int turn;

	for (turn = 0; turn < 4; turn++) {
		CT_NOTE("turn %d", turn);
		opts.ib = turn & 1;
		opts.shared = turn & 2;
		CT_ASSERT_TRUE(open_receiving(t, &opts));
		second = dgram_insert(t, 2);
		receive_from(t, 2, false);
		receive_from(t, 1, false);
		receive_from(t, 3, false);
		expect_from(t, second, 12);
		expect_from(t, t->peer, 11);
		expect_from(t, FI_ADDR_NOTAVAIL, 13);
	}
}

CT_TEST_F(dgram_source, roce_over_ipv4_has_another_header)
{
	receive_from(t, 1, true);
	expect_from(t, t->peer, 11);
}

/* A device need not write the bytes before the header. */
CT_TEST_F(dgram_source, what_lies_before_an_ipv4_header_means_nothing)
{
	const struct ibv_wc from = {
		.src_qp = 0x501,
		.wc_flags = IBV_WC_GRH,
	};
	uint8_t grh[40] = {
		[0] = 0x6f,		 /* begins as IPv6 does */
		[20] = 0x45,		 /* RFC 791 */
		[29] = 17,		 /* UDP */
		[30] = 0xaf, 0xed,	 /* checksum */
		[32] = 10,   0,	   1, 1, /* source */
	};

	fake_receive_datagram(t->qp, 11, &from, grh);
	expect_from(t, t->peer, 11);
	/* With another checksum it is a part of an IPv6 header. */
	grh[31]++;
	fake_receive_datagram(t->qp, 11, &from, grh);
	expect_from(t, FI_ADDR_NOTAVAIL, 11);
}

CT_TEST_F(dgram_source, several_are_read_at_once_in_order_with_what_was_sent)
{
	struct fi_cq_data_entry entries[4];
	fi_addr_t from[4] = {7, 7, 7, 7};

	CT_EXPECT_EQ(fi_cq_readfrom(t->cq, entries, 4, from), -FI_EAGAIN);
	CT_EXPECT_EQ(fi_send(t->ep, buffer, 9, NULL, t->peer, NUMBER(9)), 0);
	receive_from(t, 1, false);
	fake_complete_all(t->qp);
	receive_from(t, 3, false);
	CT_EXPECT_EQ(fi_cq_readfrom(t->cq, entries, 4, from), 3);
	CT_EXPECT_EQ(from[0], t->peer);
	CT_EXPECT_EQ(from[1], FI_ADDR_NOTAVAIL);
	CT_EXPECT_EQ(entries[1].op_context, NUMBER(9));
	CT_EXPECT_EQ(from[2], FI_ADDR_NOTAVAIL);
	CT_EXPECT_EQ(from[3], 7);
	receive_from(t, 1, false);
	expect_comp(t->cq, NUMBER(2), FI_RECV | FI_MSG, 11, 0);
}

CT_TEST_F(dgram_source, an_address_that_was_removed_is_nobodys)
{
	CT_EXPECT_EQ(fi_av_remove(t->av, &t->peer, 1, 0), 0);
	receive_from(t, 1, false);
	expect_from(t, FI_ADDR_NOTAVAIL, 11);
}

/* fi_cq(3): the address in err_data can be inserted. */
static void expect_unknown(struct dgram_world *w, unsigned int number, size_t room)
{
	const struct pvb_ud_addr wanted = dgram_addr(w, number);
	struct pvb_ud_addr copy = {0};
	struct fi_cq_err_entry err = {.err_data = room ? &copy : NULL,
				      .err_data_size = room};
	struct fi_cq_data_entry entry;
	fi_addr_t from;

	CT_EXPECT_EQ(fi_cq_readfrom(w->cq, &entry, 1, &from), -FI_EAVAIL);
	CT_EXPECT_EQ(fi_cq_readerr(w->cq, &err, 0), 1);
	CT_EXPECT_EQ(err.err, FI_EADDRNOTAVAIL);
	CT_EXPECT_EQ(err.len, 10 + number);
	CT_EXPECT_EQ(err.flags, FI_RECV | FI_MSG);
	CT_EXPECT_EQ(err.err_data_size, room ? room : sizeof(wanted));
	CT_EXPECT_EQ(memcmp(err.err_data, &wanted, err.err_data_size), 0);
	if (!room)
		CT_EXPECT_EQ(fi_av_insert(w->av, err.err_data, 1, &from, 0, NULL), 1);
}

CT_TEST_F(dgram_source, an_unknown_sender_is_an_error_with_its_address)
{
	struct dgram_opts opts = {.caps = FI_MSG | FI_SOURCE | FI_SOURCE_ERR};
	int turn;

	for (turn = 0; turn < 4; turn++) {
		CT_NOTE("turn %d", turn);
		opts.ib = turn & 1;
		opts.shared = turn & 2;
		CT_ASSERT_TRUE(open_receiving(t, &opts));
		receive_from(t, 2, false);
		receive_from(t, 1, false);
		receive_from(t, 3, false);
		receive_from(t, 2, false);
		expect_unknown(t, 2, 0);
		expect_from(t, t->peer, 11);
		expect_unknown(t, 3, 20);
		receive_from(t, 2, false);
		/* It was inserted meanwhile: the one before was received earlier. */
		expect_unknown(t, 2, 32);
		expect_from(t, 1, 12);
	}
}

static void arrange_qkey(void)
{
	pvb_params.qkey = 0x1234;
}

/* On InfiniBand: with its service level and, which a datagram does not tell, our own
 * Q_Key; with a GID only if there is a GRH. */
CT_TEST_F(dgram_source, an_unknown_senders_address_has_all_that_is_known)
{
	const struct dgram_opts opts = {.ib = true,
					.caps = FI_MSG | FI_SOURCE | FI_SOURCE_ERR,
					.arrange = arrange_qkey};
	struct ibv_wc from = {.src_qp = 0x507, .slid = 0x107, .sl = 3};
	struct pvb_ud_addr wanted;
	int turn;

	CT_ASSERT_TRUE(open_receiving(t, &opts));
	for (turn = 0; turn < 2; turn++) {
		struct fi_cq_err_entry err = {0};
		struct fi_cq_data_entry entry;

		CT_NOTE("turn %d", turn);
		wanted = dgram_addr(t, 7);
		wanted.sl = 3;
		wanted.qkey = 0x1234;
		if (!turn)
			memset(wanted.gid, 0, sizeof(wanted.gid));
		from.wc_flags = turn ? IBV_WC_GRH : 0;
		fake_receive_datagram(t->qp, 5, &from, grh_from(7, false));
		CT_EXPECT_EQ(fi_cq_read(t->cq, &entry, 1), -FI_EAVAIL);
		CT_EXPECT_EQ(fi_cq_readerr(t->cq, &err, 0), 1);
		CT_ASSERT_EQ(err.err_data_size, sizeof(wanted));
		CT_EXPECT_EQ(memcmp(err.err_data, &wanted, sizeof(wanted)), 0);
	}
}

/* It is a success whose source is not known: only who asked for it is told. */
CT_TEST_F(dgram_source, selective_completion_reports_unknown_senders_of_what_asks_for_it)
{
	const struct iovec iov = {buffer, 9};
	const struct fi_msg msg = {.msg_iov = &iov, .iov_count = 1, .context = NUMBER(2)};
	const struct ibv_wc from = {.src_qp = 0x509};

	CT_ASSERT_TRUE(dgram_open(
		t, &(struct dgram_opts){.caps = FI_MSG | FI_SOURCE | FI_SOURCE_ERR,
					.cq_flags = FI_SELECTIVE_COMPLETION}));
	CT_EXPECT_EQ(fi_recv(t->ep, buffer, 9, NULL, FI_ADDR_UNSPEC, NUMBER(1)), 0);
	CT_EXPECT_EQ(fi_recvmsg(t->ep, &msg, FI_COMPLETION), 0);
	CT_EXPECT_EQ(fi_recv(t->ep, buffer, 9, NULL, FI_ADDR_UNSPEC, NUMBER(3)), 0);
	fake_receive_datagram(t->qp, 5, &from, NULL);
	fake_receive_datagram(t->qp, 5, &from, NULL);
	fake_receive_datagram(t->qp, 10, &from, NULL);
	expect_cq_error(t->cq, NUMBER(2), FI_RECV | FI_MSG, FI_EADDRNOTAVAIL);
	expect_cq_error(t->cq, NUMBER(3), FI_RECV | FI_MSG, FI_ETRUNC);
	expect_no_comp(t->cq);
}

CT_TEST_F(dgram_source, any_number_of_unknown_senders_may_wait)
{
	struct dgram_opts opts = {.caps = FI_MSG | FI_SOURCE | FI_SOURCE_ERR};
	struct fi_cq_data_entry entries[8];
	struct fi_cq_err_entry err = {0};
	unsigned int i;

	CT_ASSERT_TRUE(open_receiving(t, &opts));
	for (i = 10; i < 18; i++)
		receive_from(t, i, false);
	/* Also by a plain read, which puts what is good into the buffer. */
	CT_EXPECT_EQ(fi_cq_read(t->cq, entries, 8), -FI_EAVAIL);
	for (i = 10; i < 18; i++) {
		CT_EXPECT_EQ(fi_cq_readerr(t->cq, &err, 0), 1);
		CT_EXPECT_EQ(((struct pvb_ud_addr *)err.err_data)->qpn, 0x500 + i);
		err = (struct fi_cq_err_entry){0};
	}
	CT_EXPECT_EQ(fi_cq_read(t->cq, entries, 8), -FI_EAGAIN);
	CT_EXPECT_EQ(cq_of(t->cq)->unknown.count, 0);
}
