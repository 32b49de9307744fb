/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * FI_COMMIT_COMPLETE through ofi_rxm over pverbs: which calls pass the flag on and which
 * drop it without a word. Pinned, because a program that believes the latter loses data,
 * and because another version of ofi_rxm may differ. What tells them apart is memory that
 * is not persistent: pverbs refuses it.
 */
#include <stdlib.h>

#include <rdma/fi_tagged.h>

#include "fct_op.h"

#define LEN 4096u

/* The call forms are those of messages with flags, and this. */
#define TAGGED FCT_FORMS

/* Two endpoints of one process. */
struct bed {
	struct fct_link l;
	struct fct_conn ep[2];
	fi_addr_t to;	    /* the second, of the first */
	struct fct_mem mem; /* first half: from, second: to */
	struct fct_target target;
	struct fct_ctx ctx, recv_ctx;
};

static int open_ep(struct bed *b, struct fct_conn *c, fi_addr_t *addr)
{
	uint8_t name[256];
	size_t len = sizeof(name);

	FCT_DO(fct_ep_new(&b->l, c));
	FCT_CALL(fi_getname(&c->ep->fid, name, &len));
	FCT_EQ(fi_av_insert(b->l.av, name, 1, addr, 0, NULL), 1);
	return 0;
}

/* pverbs;ofi_rxm, or with layers between them, which --lower names. */
static bool is_pverbs_under_rxm(const struct fi_info *info)
{
	const char *prov = info->fabric_attr->prov_name;

	return strstr(prov, "pverbs;ofi_rxm") ||
	       (strstr(prov, ";ofi_rxm") && fct.opts.prov &&
		!strncmp(fct.opts.prov, "pverbs;", strlen("pverbs;")));
}

static int bed_open(struct bed *b)
{
	const struct fct_setup s = {.caps = FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC,
				    .tx_bind = FI_SELECTIVE_COMPLETION,
				    .rx_bind = FI_SELECTIVE_COMPLETION,
				    .cq_size = 64,
				    .format = FI_CQ_FORMAT_TAGGED};
	const struct fi_av_attr av = {.count = 2};
	fi_addr_t own;

	FCT_DO(fct_plain_open(&b->l, &s, NULL, &av));
	if (!is_pverbs_under_rxm(b->l.info))
		return fct_skip("this is about pverbs;ofi_rxm");
	FCT_DO(open_ep(b, &b->ep[0], &own));
	FCT_DO(open_ep(b, &b->ep[1], &b->to));
	FCT_DO(fct_mem_alloc(&b->l, &b->mem, 2 * LEN,
			     FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ |
				     FI_REMOTE_WRITE));
	fct_fill(b->mem.buf, LEN, 1);
	b->target = fct_mem_target(&b->l, &b->mem);
	b->target.addr += LEN;
	return 0;
}

/* Ends of this context, and of any other on the way. */
static int await(struct bed *b, const void *ctx)
{
	struct fi_cq_tagged_entry e = {0};
	struct fi_cq_err_entry err = {0};
	struct fct_wait w;
	ssize_t n;

	fct_wait_init(&w, "a completion");
	do {
		n = fi_cq_read(b->l.txcq, &e, 1);
		if (n == -FI_EAVAIL) {
			fi_cq_readerr(b->l.txcq, &err, 0);
			FCT_FAIL("error %d (%s)", err.err, fi_strerror(err.err));
		}
		if (n == -FI_EAGAIN)
			FCT_DO(fct_wait_again(&w));
	} while (n != 1 || e.op_context != ctx);
	return 0;
}

static ssize_t send_tagged(struct bed *b, uint64_t flags)
{
	const struct iovec iov = {b->mem.buf, 16};
	const struct fi_msg_tagged msg = {
		.msg_iov = &iov,
		.desc = &b->mem.desc,
		.iov_count = 1,
		.addr = b->to,
		.tag = 5,
		.context = &b->ctx,
	};

	return fi_tsendmsg(b->ep[0].ep, &msg, flags);
}

/* The code of a call once it is connected. */
static int post(struct bed *b, enum fct_form form, uint64_t flags, ssize_t *code)
{
	const struct fct_op op = {.form = form,
				  .buf = b->mem.buf,
				  .len = form == FCT_ATOMICMSG ? 1 : 16,
				  .desc = b->mem.desc,
				  .to = b->to,
				  .addr = b->target.addr,
				  .key = b->target.key,
				  .flags = flags,
				  .ctx = &b->ctx,
				  .type = FI_UINT64,
				  .op = FI_SUM};
	struct fct_wait w;

	fct_wait_init(&w, "room");
	while ((*code = form == TAGGED ? send_tagged(b, flags)
				       : fct_op_post(b->ep[0].ep, &op)) == -FI_EAGAIN) {
		fi_cq_read(b->l.txcq, NULL, 0);
		FCT_DO(fct_wait_again(&w));
	}
	return 0;
}

/* A call on memory that cannot be durable: the flag is passed on or dropped. */
static int pinned(enum fct_form form, uint64_t flags, bool passed_on)
{
	const bool ends = flags & FI_COMPLETION;
	FCT_AUTO(fct_link_end) struct bed b = {0};
	struct fid_ep *ep;
	ssize_t code;

	FCT_DO(bed_open(&b));
	ep = b.ep[1].ep;
	FCT_CALL(fi_recv(ep, b.mem.buf + LEN, 64, b.mem.desc, FI_ADDR_UNSPEC,
			 &b.recv_ctx));
	FCT_CALL(fi_trecv(ep, b.mem.buf + LEN, 64, b.mem.desc, FI_ADDR_UNSPEC, 5, 0,
			  &b.recv_ctx));
	FCT_DO(post(&b, form, flags, &code));
	FCT_EQ(code, 0);
	if (ends)
		FCT_DO(await(&b, &b.ctx));
	FCT_DO(post(&b, form, flags | FI_COMMIT_COMPLETE, &code));
	FCT_EQ(code, passed_on ? -FI_EOPNOTSUPP : 0);
	if (!passed_on && ends)
		FCT_DO(await(&b, &b.ctx));
	return 0;
}

FCT_CASE_CALL(writemsg, "fi_writemsg passes the flag on: other memory is refused",
	      pinned(FCT_WRITEMSG, FI_COMPLETION, true))

FCT_CASE_CALL(inject, "with FI_INJECT and no FI_COMPLETION the flag is dropped",
	      pinned(FCT_WRITEMSG, FI_INJECT, false))

FCT_CASE_CALL(inject_reported, "with both it is passed on",
	      pinned(FCT_WRITEMSG, FI_INJECT | FI_COMPLETION, true))

FCT_CASE_CALL(message, "fi_sendmsg drops the flag",
	      pinned(FCT_SENDMSG, FI_COMPLETION, false))

FCT_CASE_CALL(tagged, "fi_tsendmsg drops the flag", pinned(TAGGED, FI_COMPLETION, false))

FCT_CASE_CALL(atomic, "fi_atomicmsg drops the flag",
	      pinned(FCT_ATOMICMSG, FI_COMPLETION, false))

/* And where it can be durable, it is. */
FCT_CASE(durable, "fi_writemsg to persistent memory is durable")
{
	const uint64_t flags = FI_COMMIT_COMPLETE | FI_COMPLETION;
	FCT_AUTO(fct_pmem_end) uint8_t *pmem = NULL;
	FCT_AUTO(fct_link_end) struct bed b = {0};
	FCT_AUTO(fct_fid_end) struct fid_mr *mr = NULL;
	ssize_t code;
	int i;

	FCT_DO(fct_pmem_map(&pmem));
	FCT_DO(bed_open(&b));
	FCT_DO(fct_pmem_reg(&b.l, pmem, FCT_PMEM_LEN, FI_REMOTE_READ | FI_REMOTE_WRITE,
			    &mr, &b.target));
	for (i = 0; i < 100; i++) {
		FCT_DO(post(&b, FCT_WRITEMSG, flags | (i % 2 ? FI_FENCE : 0), &code));
		FCT_EQ(code, 0);
		FCT_DO(await(&b, &b.ctx));
	}
	FCT_DATA(pmem, 16, 1);
	return 0;
}

int main(int argc, char **argv)
{
	const struct fct_prog prog = {
		.name = "fi_cairn_rxm",
		.what = "What ofi_rxm makes of FI_COMMIT_COMPLETE, over pverbs.",
		.single = true,
		.ep_type = FI_EP_RDM,
	};

	/* ofi_rxm asks its lower provider for no persistent memory. */
	setenv("FI_PVERBS_DURABLE", "on", 0);
	return fct_main(argc, argv, &prog);
}
