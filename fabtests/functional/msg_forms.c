/* SPDX-License-Identifier: BSD-2-Clause */
/* One message at a time, in every form and size, in both directions. */
#include "msg.h"

#define MAX_LEN ((1u << 20) + 3)
#define GUARD 64
#define GUARD_BYTE 0xA5

struct xfer {
	struct fct_link *l;
	struct fct_mem *m;
	size_t len;
	uint64_t data;
	struct fct_ctx *ctx;
};

struct form {
	ssize_t (*post)(const struct xfer *x);
	bool inject; /* the buffer is free once posted; len is limited to inject_size */
	bool silent; /* success makes no completion */
	bool data;   /* carries x->data */
};

size_t fct_msg_pieces(struct iovec *iov, size_t limit, void *buf, size_t len)
{
	size_t n, piece, at = 0;

	if (limit > MSG_MAX_IOV)
		limit = MSG_MAX_IOV;
	for (n = 0; n + 1 < limit && at + n + 1 < len; n++) {
		piece = n % 2 ? (len - at) / 2 : n + 1;
		iov[n].iov_base = (uint8_t *)buf + at;
		iov[n].iov_len = piece;
		at += piece;
	}
	iov[n].iov_base = (uint8_t *)buf + at;
	iov[n].iov_len = len - at;
	return n + 1;
}

static ssize_t post_msg(const struct xfer *x, uint64_t flags, bool recv)
{
	struct iovec iov[MSG_MAX_IOV];
	void *desc[MSG_MAX_IOV];
	struct fi_msg msg = {
		.msg_iov = iov, .desc = desc, .context = x->ctx, .data = x->data};
	struct fid_ep *ep = x->l->c.ep;
	size_t i;

	msg.iov_count = fct_msg_pieces(iov,
				       recv ? x->l->c.info->rx_attr->iov_limit
					    : x->l->c.info->tx_attr->iov_limit,
				       x->m->buf, x->len);
	for (i = 0; i < msg.iov_count; i++)
		desc[i] = x->m->desc;
	return recv ? fi_recvmsg(ep, &msg, flags) : fi_sendmsg(ep, &msg, flags);
}

static ssize_t post_send(const struct xfer *x)
{
	return fi_send(x->l->c.ep, x->m->buf, x->len, x->m->desc, 0, x->ctx);
}

static ssize_t post_sendv(const struct xfer *x)
{
	struct iovec iov[MSG_MAX_IOV];
	void *desc[MSG_MAX_IOV];
	size_t i, n = fct_msg_pieces(iov, x->l->c.info->tx_attr->iov_limit, x->m->buf,
				     x->len);

	for (i = 0; i < n; i++)
		desc[i] = x->m->desc;
	return fi_sendv(x->l->c.ep, iov, desc, n, 0, x->ctx);
}

static ssize_t post_sendmsg(const struct xfer *x)
{
	return post_msg(x, 0, false);
}

static ssize_t post_sendmsg_data(const struct xfer *x)
{
	return post_msg(x, FI_REMOTE_CQ_DATA, false);
}

static ssize_t post_sendmsg_inject(const struct xfer *x)
{
	return post_msg(x, FI_INJECT, false);
}

static ssize_t post_inject(const struct xfer *x)
{
	return fi_inject(x->l->c.ep, x->m->buf, x->len, 0);
}

static ssize_t post_senddata(const struct xfer *x)
{
	return fi_senddata(x->l->c.ep, x->m->buf, x->len, x->m->desc, x->data, 0, x->ctx);
}

static ssize_t post_injectdata(const struct xfer *x)
{
	return fi_injectdata(x->l->c.ep, x->m->buf, x->len, x->data, 0);
}

static ssize_t post_recv(const struct xfer *x)
{
	return fi_recv(x->l->c.ep, x->m->buf, x->len, x->m->desc, 0, x->ctx);
}

static ssize_t post_recvv(const struct xfer *x)
{
	struct iovec iov[MSG_MAX_IOV];
	void *desc[MSG_MAX_IOV];
	size_t i, n = fct_msg_pieces(iov, x->l->c.info->rx_attr->iov_limit, x->m->buf,
				     x->len);

	for (i = 0; i < n; i++)
		desc[i] = x->m->desc;
	return fi_recvv(x->l->c.ep, iov, desc, n, 0, x->ctx);
}

static ssize_t post_recvmsg(const struct xfer *x)
{
	return post_msg(x, 0, true);
}

static int send_one(const struct xfer *x, const struct form *f, uint64_t seed)
{
	struct fct_link *l = x->l;
	struct fi_cq_data_entry e;

	fct_fill(x->m->buf, x->len, seed);
	FCT_DO(fct_barrier("receive posted"));
	FCT_POST(l->txcq, f->post(x));
	if (f->inject)
		memset(x->m->buf, 0xEE, x->len);
	if (!f->silent)
		FCT_DO(fct_comp(l->txcq, x->ctx, FI_SEND | FI_MSG, &e,
				"the send's completion"));
	FCT_DO(fct_barrier("received"));
	return fct_cq_quiet(l->txcq, "after the message arrived");
}

/* room is what the receive offers: the message may be shorter. */
static int recv_one(const struct xfer *x, const struct form *f, const struct form *sender,
		    size_t room, uint64_t seed)
{
	uint64_t flags = FI_RECV | FI_MSG | (sender->data ? FI_REMOTE_CQ_DATA : 0);
	struct xfer posted = *x;
	struct fct_link *l = x->l;
	struct fi_cq_data_entry e;

	memset(x->m->buf, GUARD_BYTE, room + GUARD);
	posted.len = room;
	FCT_POST(l->rxcq, f->post(&posted));
	FCT_DO(fct_barrier("receive posted"));
	FCT_DO(fct_comp(l->rxcq, x->ctx, flags, &e, "the receive's completion"));
	FCT_EQ(e.len, x->len);
	if (sender->data)
		FCT_EQ(e.data, x->data);
	FCT_DATA(x->m->buf, x->len, seed);
	FCT_TRUE(fct_all(x->m->buf + x->len, room + GUARD - x->len, GUARD_BYTE));
	return fct_barrier("received");
}

static uint64_t data_mask(const struct fct_link *l)
{
	size_t mine = l->info->domain_attr->cq_data_size, size = mine;

	if (l->peer.cq_data_size < size)
		size = l->peer.cq_data_size;
	return size >= 8 ? UINT64_MAX : (1ull << (8 * size)) - 1;
}

/*
 * Sizes both sides agree on, although inject_size may differ: the larger is one more
 * interesting size.
 */
static int agree_sizes(struct fct_link *l, const struct form *send, size_t *sizes,
		       int *count)
{
	const size_t fixed[] = {0, 1, 7, 64, 4095, 4096, 4097, 65536, MAX_LEN};
	struct limits {
		uint64_t inject, msg;
	} mine = {l->c.info->tx_attr->inject_size, l->c.info->ep_attr->max_msg_size},
	  theirs;
	uint64_t inject, max;
	size_t i;

	*count = 0;
	FCT_DO(fct_exchange("limits", &mine, &theirs, sizeof(mine)));
	inject = mine.inject < theirs.inject ? mine.inject : theirs.inject;
	max = mine.msg < theirs.msg ? mine.msg : theirs.msg;
	if (max > MAX_LEN)
		max = MAX_LEN;
	if (send->inject && max > inject)
		max = inject;
	for (i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
		if (fixed[i] <= max)
			sizes[(*count)++] = fixed[i];
	for (i = 0; i < 3; i++)
		if (inject && inject - 1 + i <= max)
			sizes[(*count)++] = inject - 1 + i;
	return 0;
}

static int run_form(const struct form *send, const struct form *recv)
{
	struct fct_setup s = {.caps = FI_MSG, .cq_data_size = send->data ? 4 : 0};
	struct fct_mem m;
	struct fct_ctx ctx[2];
	struct xfer x = {.m = &m};
	FCT_AUTO(fct_link_end) struct fct_link l = {0};
	uint64_t seed = 1;
	size_t sizes[16];
	int i, n, dir;

	FCT_DO(fct_link_up(&l, &s));
	x.l = &l;
	if (send->data && !data_mask(&l))
		return fct_skip("cq_data_size is 0");
	FCT_DO(agree_sizes(&l, send, sizes, &n));
	FCT_DO(fct_mem_alloc(&l, &m, MAX_LEN + 4096 + GUARD, FI_SEND | FI_RECV));
	for (i = 0; i < n; i++) {
		for (dir = 0; dir < 2; dir++, seed++) {
			x.len = sizes[i];
			x.data = (0x8877665544332211u + seed) & data_mask(&l);
			x.ctx = &ctx[seed % 2];
			fct_note("%zu bytes %s", x.len,
				 dir ? "to the client" : "to the server");
			if ((dir == 0) == fct_is_client())
				FCT_DO(send_one(&x, send, seed));
			else
				FCT_DO(recv_one(&x, recv, send, x.len + (dir ? 4096 : 0),
						seed));
		}
	}
	return 0;
}

static const struct form recv_plain = {.post = post_recv};

FCT_CASE_CALL(send, "fi_send, all sizes, both directions",
	      run_form(&(struct form){.post = post_send}, &recv_plain))

FCT_CASE_CALL(sendv, "fi_sendv from up to iov_limit pieces",
	      run_form(&(struct form){.post = post_sendv}, &recv_plain))

FCT_CASE_CALL(sendmsg, "fi_sendmsg",
	      run_form(&(struct form){.post = post_sendmsg}, &recv_plain))

FCT_CASE_CALL(
	inject, "fi_inject: no completion, buffer free at once",
	run_form(&(struct form){.post = post_inject, .inject = true, .silent = true},
		 &recv_plain))

FCT_CASE_CALL(senddata, "fi_senddata carries remote CQ data",
	      run_form(&(struct form){.post = post_senddata, .data = true}, &recv_plain))

FCT_CASE_CALL(injectdata, "fi_injectdata",
	      run_form(&(struct form){.post = post_injectdata,
				      .inject = true,
				      .silent = true,
				      .data = true},
		       &recv_plain))

FCT_CASE_CALL(sendmsg_data, "fi_sendmsg with FI_REMOTE_CQ_DATA",
	      run_form(&(struct form){.post = post_sendmsg_data, .data = true},
		       &recv_plain))

FCT_CASE_CALL(sendmsg_inject,
	      "fi_sendmsg with FI_INJECT: completion, buffer free at once",
	      run_form(&(struct form){.post = post_sendmsg_inject, .inject = true},
		       &recv_plain))

FCT_CASE_CALL(recvv, "fi_recvv into up to iov_limit pieces",
	      run_form(&(struct form){.post = post_send},
		       &(struct form){.post = post_recvv}))

FCT_CASE_CALL(recvmsg, "fi_recvmsg",
	      run_form(&(struct form){.post = post_sendv},
		       &(struct form){.post = post_recvmsg}))

FCT_PROGRAM(.name = "fi_cairn_msg", .what = "Messages on connected endpoints (FI_MSG).")
