/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory of a raw peer, and of the one it is connected to. */
#include <stdlib.h>
#include <string.h>
#include "lower.h"
#include "pump.h"
#include "raw_buffers.h"

#define ACCESS (FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE)
/* Far from what a layer that counts from 1 chooses on its side. */
#define FIRST_KEY 0x52410000U

struct raw_region {
	struct raw_region *next;
	struct fid_mr *mr;
	uint32_t handle;
};

static void number(struct raw_op *ops, unsigned int count, enum raw_kind kind,
		   unsigned int era)
{
	for (unsigned int i = 0; i < count; i++) {
		ops[i].kind = kind;
		ops[i].slot = i;
		ops[i].era = era;
		ops[i].busy = false;
	}
}

void raw_buffers_reset(struct raw *raw)
{
	struct raw_buffers *b = raw->buffers;

	b->era++;
	number(b->recv_op, RAW_RECVS, RAW_RECV, b->era);
	number(b->send_op, RAW_SENDS, RAW_SEND, b->era);
	number(&b->rma_op, 1, RAW_RMA, b->era);
}

void raw_buffers_open(struct raw *raw)
{
	const size_t most = raw->side.info->rx_attr->size;

	raw->buffers = calloc(1, sizeof(*raw->buffers));
	raw->buffers->recvs = most < RAW_RECVS ? (unsigned int)most : RAW_RECVS;
	raw_buffers_reset(raw);
	CT_EXPECT_EQ(fi_mr_reg(raw->side.domain, raw->buffers, sizeof(*raw->buffers),
			       ACCESS, 0, FIRST_KEY, 0, &raw->mr, NULL),
		     0);
	raw->keys = 1;
}

static void close_region(struct raw_region *region)
{
	CT_EXPECT_EQ(fi_close(&region->mr->fid), 0);
	free(region);
}

void raw_buffers_close(struct raw *raw)
{
	struct raw_region *next;

	for (; raw->regions; raw->regions = next) {
		next = raw->regions->next;
		close_region(raw->regions);
	}
	if (raw->mr)
		CT_EXPECT_EQ(fi_close(&raw->mr->fid), 0);
	free(raw->buffers);
	raw->buffers = NULL;
}

struct rpr_seg raw_expose(struct raw *raw, void *buf, size_t len)
{
	struct raw_region *region = calloc(1, sizeof(*region));
	struct rpr_seg seg = {0};

	CT_EXPECT_EQ(fi_mr_reg(raw->side.domain, buf, len, ACCESS, 0,
			       FIRST_KEY + raw->keys++, 0, &region->mr, NULL),
		     0);
	if (!region->mr) {
		free(region);
		return seg;
	}
	region->next = raw->regions;
	raw->regions = region;
	/* The wire has 32 bits; pverbs' rkey is the lower half of its key. */
	region->handle = seg.handle = (uint32_t)fi_mr_key(region->mr);
	seg.length = (uint32_t)len;
	if (raw->side.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR)
		seg.offset = (uintptr_t)buf;
	return seg;
}

void raw_hide(struct raw *raw, const struct rpr_seg *seg)
{
	struct raw_region **at, *region;

	for (at = &raw->regions; (region = *at); at = &region->next) {
		if (region->handle != seg->handle)
			continue;
		*at = region->next;
		close_region(region);
		return;
	}
	CT_EXPECT_NE(region, NULL);
}

/* A connection that is dead refuses as well. */
static int finish(struct raw *raw, ssize_t ret)
{
	if (ret)
		return (int)-ret;
	EXPECT_SOON(raw->rma_done);
	return raw->rma_done ? raw->rma_err : FI_ETIMEDOUT;
}

int raw_read(struct raw *raw, const struct rpr_seg *seg, void *buf)
{
	struct raw_buffers *b = raw->buffers;
	int ret;

	CT_EXPECT_LE(seg->length, RAW_SCRATCH);
	if (seg->length > RAW_SCRATCH)
		return FI_EINVAL;
	raw->rma_done = false;
	ret = finish(raw,
		     fi_read(raw->side.ep, b->scratch, seg->length, fi_mr_desc(raw->mr),
			     0, seg->offset, seg->handle, &b->rma_op));
	if (!ret)
		memcpy(buf, b->scratch, seg->length);
	return ret;
}

/* tcp completes a Write when it has left, unless it is told to wait for the target. */
static uint64_t acknowledged(void)
{
	return FI_COMPLETION | (strcmp(lower_name(), "tcp") ? 0 : FI_DELIVERY_COMPLETE);
}

int raw_write(struct raw *raw, const struct rpr_seg *seg, const void *buf)
{
	struct raw_buffers *b = raw->buffers;
	const struct iovec iov = {.iov_base = b->scratch, .iov_len = seg->length};
	const struct fi_rma_iov target = {.addr = seg->offset,
					  .len = seg->length,
					  .key = seg->handle};
	void *desc = fi_mr_desc(raw->mr);
	const struct fi_msg_rma msg = {.msg_iov = &iov,
				       .desc = &desc,
				       .iov_count = 1,
				       .rma_iov = &target,
				       .rma_iov_count = 1,
				       .context = &b->rma_op};

	CT_EXPECT_LE(seg->length, RAW_SCRATCH);
	if (seg->length > RAW_SCRATCH)
		return FI_EINVAL;
	memcpy(b->scratch, buf, seg->length);
	raw->rma_done = false;
	return finish(raw, fi_writemsg(raw->side.ep, &msg, acknowledged()));
}
