/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Persistent memory, which the variable FI_CAIRN_PMEM names: a devdax or a file, of
 * 8 KiB at least.
 */
#include <fcntl.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <stdlib.h>

#include "fct_fabric.h"

#define LEN 8192u
#define MAPPED (2u << 20)

static const struct fct_setup setup = {.caps = FI_MSG | FI_RMA | FI_RMA_PMEM};

struct mapped {
	uint8_t *mem;
	size_t len;
};

static void unmap(struct mapped *m)
{
	if (m->mem)
		munmap(m->mem, m->len);
}

static int map_pmem(const char *path, struct mapped *m)
{
	struct stat st = {0};
	void *at = MAP_FAILED;
	int fd = open(path, O_RDWR | O_CLOEXEC);

	/* A devdax is mapped in pieces of 2 MiB. */
	if (fd >= 0 && !fstat(fd, &st)) {
		m->len = S_ISCHR(st.st_mode) ? MAPPED : LEN;
		at = mmap(NULL, m->len, PROT_READ | PROT_WRITE,
			  MAP_SHARED_VALIDATE | MAP_SYNC, fd, 0);
		if (at == MAP_FAILED)
			at = mmap(NULL, m->len, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
				  0);
	}
	if (fd >= 0)
		close(fd);
	if (at == MAP_FAILED)
		return fct_fail_at(__FILE__, __LINE__, "%s cannot be mapped", path);
	m->mem = at;
	return 0;
}

/* The client writes there and reads back, as in any other region. */
static int transfer(struct fct_link *l, const struct fct_target *peer)
{
	struct fi_cq_data_entry e;
	struct fct_mem local;
	struct fct_ctx ctx;

	FCT_DO(fct_mem_alloc(l, &local, LEN, FI_READ | FI_WRITE));
	fct_fill(local.buf, LEN, 6);
	FCT_POST(l->txcq, fi_write(l->c.ep, local.buf, LEN, local.desc, 0, peer->addr,
				   peer->key, &ctx));
	FCT_DO(fct_comp(l->txcq, &ctx, FI_RMA | FI_WRITE, &e, "the write"));
	memset(local.buf, 0, LEN);
	FCT_POST(l->txcq, fi_read(l->c.ep, local.buf, LEN, local.desc, 0, peer->addr,
				  peer->key, &ctx));
	FCT_DO(fct_comp(l->txcq, &ctx, FI_RMA | FI_READ, &e, "the read"));
	FCT_DATA(local.buf, LEN, 6);
	return 0;
}

FCT_CASE(pmem, "persistent memory (FI_CAIRN_PMEM=FILE) is written and read")
{
	const char *path = getenv("FI_CAIRN_PMEM");
	struct fct_target mine = {0}, peer;
	FCT_AUTO(unmap) struct mapped at = {0};
	FCT_AUTO(fct_link_end) struct fct_link l = {0};
	FCT_AUTO(fct_fid_end) struct fid_mr *mr = NULL;

	if (!path)
		return fct_skip("FI_CAIRN_PMEM names no persistent memory");
	FCT_DO(fct_link_up(&l, &setup));
	if (fct_is_server()) {
		FCT_DO(map_pmem(path, &at));
		FCT_CALL(fi_mr_reg(l.domain, at.mem, LEN,
				   FI_REMOTE_READ | FI_REMOTE_WRITE, 0, fct.next_key++,
				   FI_RMA_PMEM, &mr, NULL));
		FCT_TRUE(fi_mr_key(mr) != FI_KEY_NOTAVAIL);
		mine.key = fi_mr_key(mr);
		if (l.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR)
			mine.addr = (uintptr_t)at.mem;
	}
	FCT_DO(fct_exchange("region", &mine, &peer, sizeof(mine)));
	if (fct_is_client())
		FCT_DO(transfer(&l, &peer));
	FCT_DO(fct_barrier("transferred"));
	if (fct_is_server())
		FCT_DATA(at.mem, LEN, 6);
	return 0;
}

/* What is not persistent must not be taken for it: refused, or the provider does not
 * look. */
FCT_CASE(pmem_volatile, "other memory is refused with FI_RMA_PMEM, if it is looked at")
{
	FCT_AUTO(fct_free_end) uint8_t *buf = calloc(1, LEN);
	FCT_AUTO(fct_link_end) struct fct_link l = {0};
	struct fid_mr *mr = NULL;
	int ret;

	FCT_TRUE(buf);
	FCT_DO(fct_link_open(&l, &setup));
	ret = fi_mr_reg(l.domain, buf, LEN, FI_REMOTE_WRITE, 0, fct.next_key++,
			FI_RMA_PMEM, &mr, NULL);
	fct_note("FI_RMA_PMEM of the heap: %s", fi_strerror(-ret));
	if (ret)
		FCT_ERR(ret, -FI_EOPNOTSUPP);
	else
		FCT_CALL(fi_close(&mr->fid));
	return 0;
}
