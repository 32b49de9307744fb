/* SPDX-License-Identifier: BSD-2-Clause */
/* What datagrams carry, and where. Both sides do the same in turn or at once. */
#include "dgram.h"

#define FORM_LEN 40 /* what every provider takes in fi_inject */
#define DROPPED (3 * DGRAM_SLOTS)
#define STREAM 2000
#define STREAM_LEN 64

FCT_CASE(forms, "every call form, both ways")
{
	FCT_AUTO(fct_link_end) struct dgram d = {0};
	unsigned int form;
	uint64_t data;

	FCT_DO(dgram_up(&d, FI_MSG, false));
	for (form = FCT_SEND; form < FCT_RECV; form++) {
		data = fct_forms[form].data || form == FCT_SENDMSG ? form + 1 : 0;
		FCT_DO(dgram_post(&d, form));
		FCT_DO(fct_barrier("posted"));
		FCT_DO(dgram_send_as(&d, form, FORM_LEN, form, data));
		FCT_DO(dgram_expect(&d, form, FORM_LEN, form,
				    data ? FI_REMOTE_CQ_DATA : 0, data));
	}
	return 0;
}

FCT_CASE(sizes, "from nothing to the longest")
{
	size_t sizes[] = {0, 1, 63, 64, 65, 511, 512, 513, 0, 0};
	const unsigned int count = sizeof(sizes) / sizeof(sizes[0]);
	FCT_AUTO(fct_link_end) struct dgram d = {0};
	unsigned int i;

	FCT_DO(dgram_up(&d, FI_MSG, false));
	sizes[count - 2] = d.max - 1;
	sizes[count - 1] = d.max;
	for (i = 0; i < count; i++) {
		if (sizes[i] > d.max)
			continue;
		FCT_DO(dgram_post(&d, i));
		FCT_DO(fct_barrier("posted"));
		FCT_DO(dgram_send(&d, sizes[i], i));
		FCT_DO(dgram_expect(&d, i, sizes[i], i, 0, 0));
	}
	return 0;
}

FCT_CASE(source, "FI_SOURCE: fi_cq_readfrom says who sent it")
{
	struct fi_cq_data_entry e;
	struct fct_wait w;
	fi_addr_t from = 77;
	FCT_AUTO(fct_link_end) struct dgram d = {0};
	ssize_t n;

	FCT_DO(dgram_up(&d, FI_MSG | FI_SOURCE, false));
	FCT_DO(dgram_post(&d, 0));
	FCT_DO(fct_barrier("posted"));
	FCT_DO(dgram_send(&d, 9, 1));
	fct_wait_init(&w, "a datagram");
	while ((n = fi_cq_readfrom(d.l.rxcq, &e, 1, &from)) == -FI_EAGAIN)
		FCT_DO(fct_wait_again(&w));
	FCT_EQ(n, 1);
	FCT_EQ(from, d.peer);
	FCT_EQ(e.len, 9 + d.prefix);
	return 0;
}

/* fi_cq(3): "the address [...] may be inserted" and is the peer's then. */
FCT_CASE(unknown, "FI_SOURCE_ERR: an unknown sender's address can be used")
{
	struct fi_cq_err_entry err = {0};
	uint8_t name[DGRAM_NAME_LEN];
	FCT_AUTO(fct_link_end) struct dgram d = {0};

	FCT_DO(dgram_up(&d, FI_MSG | FI_SOURCE | FI_SOURCE_ERR, true));
	FCT_DO(dgram_post(&d, 0));
	FCT_DO(dgram_post(&d, 1));
	FCT_DO(fct_barrier("posted"));
	/* The client knows the server, and the server answers who it does not know. */
	if (fct_is_client()) {
		FCT_EQ(fi_av_insert(d.l.av, d.name, 1, &d.peer, 0, NULL), 1);
		FCT_DO(dgram_send(&d, 9, 1));
		FCT_DO(dgram_expect(&d, 0, 5, 2, 0, 0));
		return 0;
	}
	err.err_data = name;
	err.err_data_size = sizeof(name);
	FCT_DO(fct_comp_err(d.l.rxcq, &err, "a datagram of nobody known"));
	FCT_EQ(err.err, FI_EADDRNOTAVAIL);
	FCT_EQ(err.len, 9 + d.prefix);
	FCT_TRUE(err.op_context == &d.ctx[0]);
	FCT_DATA(dgram_received(&d, 0), 9, 1);
	FCT_EQ(fi_av_insert(d.l.av, err.err_data, 1, &d.peer, 0, NULL), 1);
	return dgram_send(&d, 5, 2);
}

/* What a device counts of them, where it does: those of the other side, at least. */
static int expect_dropped(struct dgram *d, uint64_t before)
{
	uint64_t now = before;

	FCT_WAIT_WHILE(dgram_counter(d->l.info, "ud_no_receive", &now) &&
			       now - before < DROPPED,
		       "dropped datagrams to be counted", 0);
	return 0;
}

/* Nobody has posted a receive: what is sent is dropped, and the sender does not care. */
FCT_CASE(dropped, "without a receive datagrams are lost, and nothing else")
{
	uint64_t before = 0;
	FCT_AUTO(fct_link_end) struct dgram d = {0};
	unsigned int i;

	FCT_DO(dgram_up(&d, FI_MSG, false));
	dgram_counter(d.l.info, "ud_no_receive", &before);
	FCT_DO(fct_barrier("counted"));
	for (i = 0; i < DROPPED; i++)
		FCT_DO(dgram_send(&d, 100, i));
	FCT_DO(fct_barrier("sent in vain"));
	FCT_DO(expect_dropped(&d, before));
	FCT_DO(dgram_post(&d, 0));
	FCT_DO(fct_barrier("posted"));
	FCT_DO(dgram_send(&d, 100, 999));
	return dgram_expect(&d, 0, 100, 999, 0, 0);
}

/* fi_cq(3): FI_ETRUNC. The receives behind it are as good as before. */
FCT_CASE(too_long, "one that is longer than its receive ends that alone")
{
	const size_t room = 100;
	struct fi_cq_err_entry err = {0};
	FCT_AUTO(fct_link_end) struct dgram d = {0};

	FCT_DO(dgram_up(&d, FI_MSG, false));
	FCT_CALL(fi_recv(d.c.ep, d.rx.buf, d.prefix + room, d.rx.desc, FI_ADDR_UNSPEC,
			 &d.ctx[0]));
	FCT_DO(dgram_post(&d, 1));
	FCT_DO(fct_barrier("posted"));
	FCT_DO(dgram_send(&d, room + 1, 5));
	FCT_DO(fct_comp_err(d.l.rxcq, &err, "a datagram that is too long"));
	FCT_EQ(err.err, FI_ETRUNC);
	FCT_EQ(err.olen, 1);
	FCT_TRUE(err.op_context == &d.ctx[0]);
	FCT_TRUE(fct_all(d.rx.buf + d.prefix + room, d.max - room, 0));
	FCT_DO(dgram_send(&d, room + 1, 6));
	return dgram_expect(&d, 1, room + 1, 6, 0, 0);
}

/* fi_getinfo(3): FI_MSG_PREFIX. A provider may do without where it is not asked for it.
 */
FCT_CASE(prefix, "FI_MSG_PREFIX: who asks for it has room before what it receives")
{
	const struct dgram_how how = {.s.caps = FI_MSG, .s.prefix = 8};
	FCT_AUTO(fct_link_end) struct dgram d = {0};
	unsigned int i;

	FCT_DO(dgram_up_as(&d, &how));
	FCT_TRUE(d.prefix >= how.s.prefix);
	for (i = 0; i < 4; i++)
		FCT_DO(dgram_post(&d, i));
	FCT_DO(fct_barrier("posted"));
	for (i = 0; i < 4; i++)
		FCT_DO(dgram_send(&d, i * d.max / 3, i));
	for (i = 0; i < 4; i++)
		FCT_DO(dgram_expect(&d, i, i * d.max / 3, i, 0, 0));
	return 0;
}

/* The server takes what comes; an answer to each window keeps anything from being lost.
 */
static int take_stream(struct dgram *d)
{
	unsigned int i, slot;

	for (i = 0; i < STREAM; i++) {
		slot = i % DGRAM_SLOTS;
		FCT_DO(dgram_expect(d, slot, STREAM_LEN, i, 0, 0));
		FCT_DO(dgram_post(d, slot));
		if (slot == DGRAM_SLOTS - 1)
			FCT_DO(dgram_send(d, 1, 0));
	}
	return 0;
}

static int give_stream(struct dgram *d)
{
	unsigned int i;

	for (i = 0; i < STREAM; i++) {
		FCT_DO(dgram_send(d, STREAM_LEN, i));
		if (i % DGRAM_SLOTS != DGRAM_SLOTS - 1)
			continue;
		FCT_DO(dgram_expect(d, i / DGRAM_SLOTS % DGRAM_SLOTS, 1, 0, 0, 0));
		FCT_DO(dgram_post(d, i / DGRAM_SLOTS % DGRAM_SLOTS));
	}
	return 0;
}

FCT_CASE(stream, "thousands of datagrams in windows")
{
	FCT_AUTO(fct_link_end) struct dgram d = {0};
	unsigned int i;

	FCT_DO(dgram_up(&d, FI_MSG, false));
	for (i = 0; i < DGRAM_SLOTS; i++)
		FCT_DO(dgram_post(&d, i));
	FCT_DO(fct_barrier("posted"));
	return fct_is_client() ? give_stream(&d) : take_stream(&d);
}

/* An address may be removed behind the last send to it, and inserted again. */
FCT_CASE(remove, "an address is removed while a send to it is outstanding")
{
	struct fi_cq_data_entry e;
	FCT_AUTO(fct_link_end) struct dgram d = {0};
	unsigned int i;

	FCT_DO(dgram_up(&d, FI_MSG, false));
	for (i = 0; i < DGRAM_SLOTS; i++)
		FCT_DO(dgram_post(&d, i));
	FCT_DO(fct_barrier("posted"));
	for (i = 0; i < DGRAM_SLOTS; i++) {
		fct_fill(d.tx.buf, 700, i);
		FCT_POST(d.l.txcq,
			 fi_send(d.c.ep, d.tx.buf, 700, d.tx.desc, d.peer, &d.tx_ctx));
		FCT_CALL(fi_av_remove(d.l.av, &d.peer, 1, 0));
		FCT_DO(fct_comp(d.l.txcq, &d.tx_ctx, FI_SEND | FI_MSG, &e, "a send"));
		FCT_EQ(fi_av_insert(d.l.av, d.name, 1, &d.peer, 0, NULL), 1);
	}
	for (i = 0; i < DGRAM_SLOTS; i++)
		FCT_DO(dgram_expect(&d, i, 700, i, 0, 0));
	return 0;
}
