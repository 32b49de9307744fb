/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * FI_COMMIT_COMPLETE through ofi_rxm over pverbs: which calls pass the flag on and which
 * drop it without a word. Pinned, because a program that believes the latter loses data,
 * and because another version of ofi_rxm may differ. What tells them apart is memory that
 * is not persistent: pverbs refuses it.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rdma/fi_atomic.h>
#include <rdma/fi_tagged.h>

#include "fct_fabric.h"

#define LEN 4096u
#define PMEM_LEN (2u << 20)

/* Two endpoints of one process. */
struct bed {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_av *av;
	struct fid_cq *cq;
	struct fid_ep *ep[2];
	fi_addr_t to; /* the second, of the first */
	uint8_t *buf; /* first half: from, second: to */
	struct fid_mr *mr;
	struct fct_ctx ctx, recv_ctx;
};

static int open_ep(struct bed *b, struct fid_ep **ep, fi_addr_t *addr)
{
	uint8_t name[256];
	size_t len = sizeof(name);

	FCT_CALL(fi_endpoint(b->domain, b->info, ep, NULL));
	FCT_CALL(fi_ep_bind(*ep, &b->av->fid, 0));
	FCT_CALL(fi_ep_bind(*ep, &b->cq->fid,
			    FI_TRANSMIT | FI_RECV | FI_SELECTIVE_COMPLETION));
	FCT_CALL(fi_enable(*ep));
	FCT_CALL(fi_getname(&(*ep)->fid, name, &len));
	FCT_EQ(fi_av_insert(b->av, name, 1, addr, 0, NULL), 1);
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
	const struct fct_setup s = {.caps = FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC};
	struct fi_cq_attr cq = {.format = FI_CQ_FORMAT_TAGGED, .size = 64};
	struct fi_av_attr av = {.type = FI_AV_TABLE, .count = 2};
	const uint64_t access =
		FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
	fi_addr_t own;
	int ret;

	*b = (struct bed){0};
	ret = fct_getinfo(&s, NULL, "0", &b->info);
	if (ret)
		return fct_skip("no such endpoint: %s", fi_strerror(-ret));
	if (!is_pverbs_under_rxm(b->info))
		return fct_skip("this is about pverbs;ofi_rxm");
	FCT_CALL(fi_fabric(b->info->fabric_attr, &b->fabric, NULL));
	FCT_CALL(fi_domain(b->fabric, b->info, &b->domain, NULL));
	FCT_CALL(fi_av_open(b->domain, &av, &b->av, NULL));
	FCT_CALL(fi_cq_open(b->domain, &cq, &b->cq, NULL));
	FCT_DO(open_ep(b, &b->ep[0], &own));
	FCT_DO(open_ep(b, &b->ep[1], &b->to));
	b->buf = aligned_alloc(LEN, 2 * LEN);
	FCT_TRUE(b->buf);
	memset(b->buf, 0, 2 * LEN);
	fct_fill(b->buf, LEN, 1);
	FCT_CALL(fi_mr_reg(b->domain, b->buf, 2 * LEN, access, 0, fct.next_key++, 0,
			   &b->mr, NULL));
	return 0;
}

static void bed_end(struct bed *b)
{
	fid_t fids[] = {
		b->ep[0] ? &b->ep[0]->fid : NULL,   b->ep[1] ? &b->ep[1]->fid : NULL,
		b->mr ? &b->mr->fid : NULL,	    b->cq ? &b->cq->fid : NULL,
		b->av ? &b->av->fid : NULL,	    b->domain ? &b->domain->fid : NULL,
		b->fabric ? &b->fabric->fid : NULL,
	};
	size_t i;

	for (i = 0; i < sizeof(fids) / sizeof(fids[0]); i++)
		if (fids[i] && fi_close(fids[i]))
			fct_fail_at(__FILE__, __LINE__, "fi_close %zu", i);
	fi_freeinfo(b->info);
	free(b->buf);
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
		n = fi_cq_read(b->cq, &e, 1);
		if (n == -FI_EAVAIL) {
			fi_cq_readerr(b->cq, &err, 0);
			FCT_FAIL("error %d (%s)", err.err, fi_strerror(err.err));
		}
		if (n == -FI_EAGAIN)
			FCT_DO(fct_wait_again(&w));
	} while (n != 1 || e.op_context != ctx);
	return 0;
}

/* The code of a call once it is connected. */
static int post(struct bed *b, ssize_t (*call)(struct bed *, uint64_t flags),
		uint64_t flags, ssize_t *code)
{
	struct fct_wait w;

	fct_wait_init(&w, "room");
	while ((*code = call(b, flags)) == -FI_EAGAIN) {
		fi_cq_read(b->cq, NULL, 0);
		FCT_DO(fct_wait_again(&w));
	}
	return 0;
}

static ssize_t write_at(struct bed *b, const struct fid_mr *mr, uint8_t *at,
			uint64_t flags)
{
	const struct iovec iov = {b->buf, 16};
	void *desc = fi_mr_desc(b->mr);
	const struct fi_rma_iov range = {(uintptr_t)at, 16,
					 fi_mr_key((struct fid_mr *)(uintptr_t)mr)};
	const struct fi_msg_rma msg = {
		.msg_iov = &iov,
		.desc = &desc,
		.iov_count = 1,
		.addr = b->to,
		.rma_iov = &range,
		.rma_iov_count = 1,
		.context = &b->ctx,
	};

	return fi_writemsg(b->ep[0], &msg, flags);
}

static ssize_t write_volatile(struct bed *b, uint64_t flags)
{
	return write_at(b, b->mr, b->buf + LEN, flags | FI_COMPLETION);
}

static ssize_t write_inject(struct bed *b, uint64_t flags)
{
	return write_at(b, b->mr, b->buf + LEN, flags | FI_INJECT);
}

static ssize_t write_inject_reported(struct bed *b, uint64_t flags)
{
	return write_at(b, b->mr, b->buf + LEN, flags | FI_INJECT | FI_COMPLETION);
}

static ssize_t send_msg(struct bed *b, uint64_t flags)
{
	const struct iovec iov = {b->buf, 16};
	void *desc = fi_mr_desc(b->mr);
	const struct fi_msg msg = {
		.msg_iov = &iov,
		.desc = &desc,
		.iov_count = 1,
		.addr = b->to,
		.context = &b->ctx,
	};

	return fi_sendmsg(b->ep[0], &msg, flags | FI_COMPLETION);
}

static ssize_t send_tagged(struct bed *b, uint64_t flags)
{
	const struct iovec iov = {b->buf, 16};
	void *desc = fi_mr_desc(b->mr);
	const struct fi_msg_tagged msg = {
		.msg_iov = &iov,
		.desc = &desc,
		.iov_count = 1,
		.addr = b->to,
		.tag = 5,
		.context = &b->ctx,
	};

	return fi_tsendmsg(b->ep[0], &msg, flags | FI_COMPLETION);
}

static ssize_t add(struct bed *b, uint64_t flags)
{
	const struct fi_ioc ioc = {b->buf, 1};
	void *desc = fi_mr_desc(b->mr);
	const struct fi_rma_ioc range = {(uintptr_t)b->buf + LEN, 1, fi_mr_key(b->mr)};
	const struct fi_msg_atomic msg = {
		.msg_iov = &ioc,
		.desc = &desc,
		.iov_count = 1,
		.addr = b->to,
		.rma_iov = &range,
		.rma_iov_count = 1,
		.datatype = FI_UINT64,
		.op = FI_SUM,
		.context = &b->ctx,
	};

	return fi_atomicmsg(b->ep[0], &msg, flags | FI_COMPLETION);
}

/* A call on memory that cannot be durable: the flag is passed on or dropped. */
static int pinned(ssize_t (*call)(struct bed *, uint64_t), bool passed_on)
{
	FCT_AUTO(bed_end) struct bed b = {0};
	ssize_t code;

	FCT_DO(bed_open(&b));
	FCT_CALL(fi_recv(b.ep[1], b.buf + LEN, 64, fi_mr_desc(b.mr), FI_ADDR_UNSPEC,
			 &b.recv_ctx));
	FCT_CALL(fi_trecv(b.ep[1], b.buf + LEN, 64, fi_mr_desc(b.mr), FI_ADDR_UNSPEC, 5,
			  0, &b.recv_ctx));
	FCT_DO(post(&b, call, 0, &code));
	FCT_EQ(code, 0);
	if (call != write_inject)
		FCT_DO(await(&b, &b.ctx));
	FCT_DO(post(&b, call, FI_COMMIT_COMPLETE, &code));
	FCT_EQ(code, passed_on ? -FI_EOPNOTSUPP : 0);
	if (!passed_on && call != write_inject)
		FCT_DO(await(&b, &b.ctx));
	return 0;
}

FCT_CASE_CALL(writemsg, "fi_writemsg passes the flag on: other memory is refused",
	      pinned(write_volatile, true))

FCT_CASE_CALL(inject, "with FI_INJECT and no FI_COMPLETION the flag is dropped",
	      pinned(write_inject, false))

FCT_CASE_CALL(inject_reported, "with both it is passed on",
	      pinned(write_inject_reported, true))

FCT_CASE_CALL(message, "fi_sendmsg drops the flag", pinned(send_msg, false))

FCT_CASE_CALL(tagged, "fi_tsendmsg drops the flag", pinned(send_tagged, false))

FCT_CASE_CALL(atomic, "fi_atomicmsg drops the flag", pinned(add, false))

static struct fid_mr *pmem_mr;
static uint8_t *pmem;

static ssize_t write_pmem(struct bed *b, uint64_t flags)
{
	return write_at(b, pmem_mr, pmem, flags | FI_COMPLETION);
}

/* And where it can be durable, it is. */
FCT_CASE(durable, "fi_writemsg to persistent memory is durable")
{
	const char *path = getenv("FI_CAIRN_PMEM");
	FCT_AUTO(bed_end) struct bed b = {0};
	FCT_AUTO(fct_fid_end) struct fid_mr *mr = NULL;
	ssize_t code;
	int i, fd;

	if (!path)
		return fct_skip("FI_CAIRN_PMEM names no persistent memory");
	fd = open(path, O_RDWR | O_CLOEXEC);
	pmem = mmap(NULL, PMEM_LEN, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	FCT_TRUE(pmem != MAP_FAILED);
	FCT_DO(bed_open(&b));
	FCT_CALL(fi_mr_reg(b.domain, pmem, PMEM_LEN, FI_REMOTE_READ | FI_REMOTE_WRITE, 0,
			   fct.next_key++, FI_RMA_PMEM, &mr, NULL));
	pmem_mr = mr;
	for (i = 0; i < 100; i++) {
		FCT_DO(post(&b, write_pmem, FI_COMMIT_COMPLETE | (i % 2 ? FI_FENCE : 0),
			    &code));
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
