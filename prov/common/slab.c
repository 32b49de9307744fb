/* SPDX-License-Identifier: BSD-2-Clause */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include <rdma/fi_errno.h>
#include <rdma/providers/fi_log.h>
#include <cairn/compat.h>
#include <cairn/slab.h>

/* A cache line: two buffers share none. */
#define SLAB_ALIGNMENT 64

struct crn_slab_chunk {
	struct crn_slab_chunk *next;
	void *memory;
	struct fid_mr *mr; /* NULL: not registered */
	struct crn_buf bufs[];
};

static size_t round_up(size_t value, size_t unit)
{
	return (value + unit - 1) / unit * unit;
}

/* Sizes whose sums and products fit, with room for rounding up. */
static bool slab_attr_valid(const struct crn_slab_attr *attr)
{
	size_t bytes;

	return attr->size && attr->chunk && attr->limit &&
	       !__builtin_mul_overflow(attr->chunk,
				       attr->size + SLAB_ALIGNMENT +
					       sizeof(struct crn_buf),
				       &bytes) &&
	       attr->size < SIZE_MAX / 2 && bytes < SIZE_MAX / 2;
}

int crn_slab_init(struct crn_slab *slab, const struct fi_provider *prov,
		  const struct crn_slab_attr *attr, size_t count,
		  int (*reg)(void *arg, const void *addr, size_t len, struct fid_mr **mr),
		  void *arg)
{
	size_t i;

	if (!count || count > CRN_SLAB_CLASSES)
		return -FI_EINVAL;
	*slab = (struct crn_slab){.prov = prov, .count = count, .reg = reg, .arg = arg};
	for (i = 0; i < count; i++) {
		if (!slab_attr_valid(&attr[i]) || (i && attr[i].size <= attr[i - 1].size))
			return -FI_EINVAL;
		slab->classes[i].attr = attr[i];
	}
	return 0;
}

/* Closes what it registered: 0, or the code of the registration, which stays. */
static int slab_chunk_free(struct crn_slab_chunk *chunk)
{
	int ret = chunk->mr ? fi_close(&chunk->mr->fid) : 0;

	if (ret)
		return ret;
	free(chunk->memory);
	free(chunk);
	return 0;
}

int crn_slab_fini(struct crn_slab *slab)
{
	struct crn_slab_chunk *chunk;
	struct crn_slab_class *row;
	int ret = 0;

	for (row = slab->classes; row < slab->classes + slab->count; row++) {
		if (!row->taken)
			continue;
		FI_WARN(slab->prov, FI_LOG_MR,
			"%zu buffers of %zu bytes are still in use: not freed\n",
			row->taken, row->attr.size);
		ret = -FI_EBUSY;
	}
	while (!ret && (chunk = slab->chunks)) {
		slab->chunks = chunk->next;
		ret = slab_chunk_free(chunk);
		if (!ret)
			continue;
		slab->chunks = chunk;
		FI_WARN(slab->prov, FI_LOG_MR,
			"buffers that are registered are not freed: %s\n",
			fi_strerror(-ret));
	}
	return ret;
}

/* Whole pages, so that nothing else is on a page that is registered. */
static int slab_chunk_alloc(struct crn_slab *slab, size_t count, size_t stride,
			    struct crn_slab_chunk **out)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const size_t len = round_up(count * stride, page);
	struct crn_slab_chunk *chunk;
	int ret = -FI_ENOMEM;

	chunk = calloc(1, sizeof(*chunk) + count * sizeof(chunk->bufs[0]));
	if (!chunk)
		return ret;
	chunk->memory = aligned_alloc(page, len);
	if (!chunk->memory)
		goto err_chunk;
	ret = slab->reg ? slab->reg(slab->arg, chunk->memory, len, &chunk->mr) : 0;
	if (ret)
		goto err_memory;
	*out = chunk;
	return 0;
err_memory:
	free(chunk->memory);
err_chunk:
	free(chunk);
	return ret;
}

/* A chunk more of the class, which has no free buffer. */
static int slab_grow(struct crn_slab *slab, struct crn_slab_class *row)
{
	const size_t stride = round_up(row->attr.size, SLAB_ALIGNMENT);
	const size_t count = CRN_MIN(row->attr.chunk, row->attr.limit - row->total);
	struct crn_slab_chunk *chunk;
	struct crn_buf *buf;
	size_t i;
	int ret;

	if (!count)
		return -FI_EAGAIN;
	ret = slab_chunk_alloc(slab, count, stride, &chunk);
	if (ret)
		return ret;
	chunk->next = slab->chunks;
	slab->chunks = chunk;
	row->total += count;
	for (i = count; i--;) {
		buf = &chunk->bufs[i];
		buf->data = (char *)chunk->memory + i * stride;
		buf->size = row->attr.size;
		buf->mr = chunk->mr;
		buf->desc = chunk->mr ? fi_mr_desc(chunk->mr) : NULL;
		buf->home = row;
		buf->next = row->free;
		row->free = buf;
	}
	return 0;
}

int crn_slab_get(struct crn_slab *slab, size_t size, struct crn_buf **out)
{
	struct crn_slab_class *row = slab->classes;
	struct crn_buf *buf;
	int ret;

	while (row < slab->classes + slab->count && row->attr.size < size)
		row++;
	if (row == slab->classes + slab->count)
		return -FI_EMSGSIZE;
	if (crn_unlikely(!row->free)) {
		ret = slab_grow(slab, row);
		if (ret)
			return ret;
	}
	buf = row->free;
	row->free = buf->next;
	row->taken++;
	buf->taken = true;
	*out = buf;
	return 0;
}

void crn_slab_put(struct crn_buf *buf)
{
	assert(buf->taken);
	buf->taken = false;
	buf->next = buf->home->free;
	buf->home->free = buf;
	buf->home->taken--;
}
