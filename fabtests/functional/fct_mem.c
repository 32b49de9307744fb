/* SPDX-License-Identifier: BSD-2-Clause */
/* Buffers: registration as the provider's mr_mode wants it, and checked contents. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fct_fabric.h"

#define FCT_REMOTE (FI_REMOTE_READ | FI_REMOTE_WRITE)

int fct_mem_reg(struct fct_link *l, struct fct_mem *m, void *buf, size_t len,
		uint64_t access)
{
	memset(m, 0, sizeof(*m));
	m->buf = buf;
	m->len = len;
	m->next = l->mems;
	l->mems = m;
	if (!(l->info->domain_attr->mr_mode & FI_MR_LOCAL) && !(access & FCT_REMOTE))
		return 0;
	FCT_CALL(fi_mr_reg(l->domain, buf, len, access, 0, fct.next_key++, 0, &m->mr,
			   NULL));
	m->desc = fi_mr_desc(m->mr);
	return 0;
}

int fct_mem_alloc(struct fct_link *l, struct fct_mem *m, size_t len, uint64_t access)
{
	void *buf;
	int ret;

	if (posix_memalign(&buf, 4096, len ? len : 1))
		return fct_fail("out of memory");
	memset(buf, 0, len ? len : 1);
	ret = fct_mem_reg(l, m, buf, len ? len : 1, access);
	m->allocated = true;
	return ret;
}

int fct_mem_unreg(struct fct_link *l, struct fct_mem *m)
{
	struct fct_mem **p;
	int ret;

	for (p = &l->mems; *p && *p != m; p = &(*p)->next)
		;
	if (*p)
		*p = m->next;
	fct_doing("fi_close of a region");
	ret = m->mr ? fi_close(&m->mr->fid) : 0;
	if (m->allocated)
		free(m->buf);
	m->allocated = false;
	m->mr = NULL;
	m->desc = NULL;
	return ret ? fct_fail("fi_close of a region returned %d (%s)", ret,
			      fi_strerror(-ret))
		   : 0;
}

static struct fct_target target_of(const struct fct_link *l, const void *buf, size_t len,
				   struct fid_mr *mr)
{
	struct fct_target target = {.len = len, .key = fi_mr_key(mr)};

	if (l->info->domain_attr->mr_mode & FI_MR_VIRT_ADDR)
		target.addr = (uintptr_t)buf;
	return target;
}

struct fct_target fct_mem_target(const struct fct_link *l, const struct fct_mem *m)
{
	return target_of(l, m->buf, m->len, m->mr);
}

int fct_mem_expose(struct fct_link *l, struct fct_mem *m, size_t len, uint64_t access,
		   struct fct_target *peer)
{
	struct fct_target mine;

	FCT_DO(fct_mem_alloc(l, m, len, access));
	mine = fct_mem_target(l, m);
	return fct_exchange("region", &mine, peer, sizeof(mine));
}

int fct_pmem_map(uint8_t **mem)
{
	const char *path = getenv("FI_CAIRN_PMEM");
	void *at = MAP_FAILED;
	int fd;

	if (!path)
		return fct_skip("FI_CAIRN_PMEM names no persistent memory");
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd >= 0) {
		at = mmap(NULL, FCT_PMEM_LEN, PROT_READ | PROT_WRITE,
			  MAP_SHARED_VALIDATE | MAP_SYNC, fd, 0);
		if (at == MAP_FAILED)
			at = mmap(NULL, FCT_PMEM_LEN, PROT_READ | PROT_WRITE, MAP_SHARED,
				  fd, 0);
		close(fd);
	}
	if (at == MAP_FAILED)
		return fct_fail_at(__FILE__, __LINE__, "%s cannot be mapped", path);
	*mem = at;
	return 0;
}

int fct_pmem_reg(struct fct_link *l, void *mem, size_t len, uint64_t access,
		 struct fid_mr **mr, struct fct_target *target)
{
	FCT_CALL(fi_mr_reg(l->domain, mem, len, access, 0, fct.next_key++, FI_RMA_PMEM,
			   mr, NULL));
	*target = target_of(l, mem, len, *mr);
	return 0;
}

void fct_pmem_end(uint8_t **mem)
{
	if (*mem)
		munmap(*mem, FCT_PMEM_LEN);
}

/* No two positions within 64 KiB and no two seeds look alike, so misplaced data shows. */
static uint8_t pattern(uint64_t seed, size_t i)
{
	return (uint8_t)(seed * 37 + i * 7 + (i >> 8) * 13 + (i >> 16) * 101 + 1);
}

void fct_fill(void *buf, size_t len, uint64_t seed)
{
	uint8_t *p = buf;
	size_t i;

	for (i = 0; i < len; i++)
		p[i] = pattern(seed, i);
}

int fct_compare(const void *buf, size_t len, uint64_t seed, size_t position,
		const char *what)
{
	const uint8_t *p = buf;
	size_t i;

	for (i = 0; i < len; i++)
		if (p[i] != pattern(seed, position + i))
			return fct_fail_at(
				NULL, 0, "%s: byte %zu of %zu is 0x%02x, expected 0x%02x",
				what, i, len, p[i], pattern(seed, position + i));
	return 0;
}

int fct_compare_at(const char *file, int line, const void *buf, size_t len, uint64_t seed)
{
	const uint8_t *p = buf;
	size_t i;

	for (i = 0; i < len; i++)
		if (p[i] != pattern(seed, i))
			return fct_fail_at(
				file, line,
				"data: byte %zu of %zu is 0x%02x, expected 0x%02x", i,
				len, p[i], pattern(seed, i));
	return 0;
}

bool fct_all(const void *buf, size_t len, uint8_t value)
{
	const uint8_t *p = buf;
	size_t i;

	for (i = 0; i < len; i++)
		if (p[i] != value)
			return false;
	return true;
}
