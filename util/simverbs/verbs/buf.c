/* SPDX-License-Identifier: BSD-2-Clause */
/* Buffers that libibverbs allocates (rdma-core 65); here they are ordinary memory. */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include "verbs.h"

/* What is behind struct ibv_buf, of which a program sees the pointer only. */
struct svb_buf {
	struct ibv_pd *pd; /* the only one it may be registered in */
	void *addr;
	size_t size;
};

/* ibv_alloc_buf(3): at least page aligned. */
SVB_API void *ibv_alloc_buf(struct ibv_pd *pd, size_t size, struct ibv_buf **out)
{
	struct svb_buf *buf = malloc(sizeof(*buf));

	if (!buf)
		return NULL;
	buf->pd = pd;
	buf->size = size;
	/* Without bytes: EINVAL, by mmap(2) itself. */
	buf->addr = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);
	if (buf->addr == MAP_FAILED) {
		free(buf);
		return NULL;
	}
	*out = (struct ibv_buf *)buf;
	return buf->addr;
}

SVB_API void ibv_free_buf(struct ibv_buf *ibv)
{
	struct svb_buf *buf = (struct svb_buf *)ibv;

	munmap(buf->addr, buf->size);
	free(buf);
}

/* libibverbs: of a buffer that is no DMA-buf there is none to export. */
SVB_API int ibv_export_buf_dmabuf_fd(struct ibv_buf *buf)
{
	errno = ENODATA;
	return -1;
}

/* ibv_alloc_buf(3): the same domain, and not beyond the buffer. */
static bool svb_buf_has(const struct svb_buf *buf, const struct ibv_pd *pd,
			const void *addr, size_t length)
{
	uintptr_t at = (uintptr_t)addr - (uintptr_t)buf->addr;

	return pd == buf->pd && (uintptr_t)addr >= (uintptr_t)buf->addr &&
	       at <= buf->size && length <= buf->size - at;
}

SVB_API struct ibv_mr *ibv_reg_mr_ex(struct ibv_pd *pd, struct ibv_mr_init_attr *ibv)
{
	const struct svb_mr_init_attr *attr = (const struct svb_mr_init_attr *)ibv;
	const bool buf = attr->comp_mask & SVB_REG_MR_BUF;

	errno = 0;
	if (buf && attr->comp_mask & (SVB_REG_MR_FD | SVB_REG_MR_FD_OFFSET))
		errno = EINVAL;
	else if (attr->comp_mask & ~(SVB_REG_MR_IOVA | SVB_REG_MR_ADDR | SVB_REG_MR_BUF))
		errno = EOPNOTSUPP;
	else if (!(attr->comp_mask & SVB_REG_MR_ADDR))
		errno = EINVAL;
	else if (buf && !svb_buf_has((const struct svb_buf *)attr->buf, pd, attr->addr,
				     attr->length))
		errno = EINVAL;
	if (errno)
		return NULL;
	return ibv_reg_mr_iova2(pd, attr->addr, attr->length,
				attr->comp_mask & SVB_REG_MR_IOVA ? attr->iova
								  : (uintptr_t)attr->addr,
				(unsigned int)attr->access);
}

SVB_API struct ibv_mr *ibv_reg_buf_mr(struct ibv_pd *pd, struct ibv_buf *buf, void *addr,
				      size_t length, int access)
{
	struct svb_mr_init_attr attr = {
		.length = length,
		.access = access,
		.comp_mask = SVB_REG_MR_ADDR | SVB_REG_MR_BUF,
		.addr = addr,
		.buf = buf,
	};

	return ibv_reg_mr_ex(pd, (struct ibv_mr_init_attr *)&attr);
}
