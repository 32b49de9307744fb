/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Persistent memory, which the variable FI_CAIRN_PMEM names: a devdax or a file, of
 * 8 KiB at least.
 */
#include <fcntl.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "mr.h"

#define LEN 8192u
#define MAPPED (2u << 20)

static const struct fct_setup setup = {.caps = FI_MSG | FI_RMA | FI_RMA_PMEM};

static int map_pmem(struct fct *t, const char *path, uint8_t **mem, size_t *len)
{
	struct stat st = {0};
	void *at = MAP_FAILED;
	int fd = open(path, O_RDWR | O_CLOEXEC);

	/* A devdax is mapped in pieces of 2 MiB. */
	if (fd >= 0 && !fstat(fd, &st)) {
		*len = S_ISCHR(st.st_mode) ? MAPPED : LEN;
		at = mmap(NULL, *len, PROT_READ | PROT_WRITE,
			  MAP_SHARED_VALIDATE | MAP_SYNC, fd, 0);
		if (at == MAP_FAILED)
			at = mmap(NULL, *len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	}
	if (fd >= 0)
		close(fd);
	if (at == MAP_FAILED)
		return fct_fail_at(t, __FILE__, __LINE__, "%s cannot be mapped", path);
	*mem = at;
	return 0;
}

/* The client writes there and reads back, as in any other region. */
static int transfer(struct fct_link *l, const struct fct_target *peer)
{
	struct fct *t = l->t;
	struct fi_cq_data_entry e;
	struct fct_mem local;
	struct fct_ctx ctx;
	int ret;

	FCT_DO(fct_mem_alloc(l, &local, LEN, FI_READ | FI_WRITE));
	fct_fill(local.buf, LEN, 6);
	FCT_POST(t, l->txcq,
		 fi_write(l->c.ep, local.buf, LEN, local.desc, 0, peer->addr, peer->key,
			  &ctx));
	FCT_DO(fct_comp(t, l->txcq, &ctx, FI_RMA | FI_WRITE, &e, "the write"));
	memset(local.buf, 0, LEN);
	FCT_POST(t, l->txcq,
		 fi_read(l->c.ep, local.buf, LEN, local.desc, 0, peer->addr, peer->key,
			 &ctx));
	FCT_DO(fct_comp(t, l->txcq, &ctx, FI_RMA | FI_READ, &e, "the read"));
	FCT_DATA(t, local.buf, LEN, 6);
out:
	return ret;
}

int fct_mr_pmem(struct fct *t)
{
	const char *path = getenv("FI_CAIRN_PMEM");
	struct fct_target mine = {0}, peer;
	struct fct_link l = {.t = t};
	struct fid_mr *mr = NULL;
	uint8_t *mem = NULL;
	size_t len = 0;
	int ret;

	if (!path)
		return fct_skip(t, "FI_CAIRN_PMEM names no persistent memory");
	FCT_DO(fct_link_up(&l, t, &setup));
	if (fct_is_server(t)) {
		FCT_DO(map_pmem(t, path, &mem, &len));
		FCT_CALL(t,
			 fi_mr_reg(l.domain, mem, LEN, FI_REMOTE_READ | FI_REMOTE_WRITE,
				   0, t->next_key++, FI_RMA_PMEM, &mr, NULL));
		FCT_TRUE(t, fi_mr_key(mr) != FI_KEY_NOTAVAIL);
		mine.key = fi_mr_key(mr);
		if (l.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR)
			mine.addr = (uintptr_t)mem;
	}
	FCT_DO(fct_exchange(t, "region", &mine, &peer, sizeof(mine)));
	if (fct_is_client(t))
		FCT_DO(transfer(&l, &peer));
	FCT_DO(fct_barrier(t, "transferred"));
	if (fct_is_server(t))
		FCT_DATA(t, mem, LEN, 6);
out:
	if (mr && fi_close(&mr->fid))
		ret = fct_fail_at(t, __FILE__, __LINE__, "fi_close of the region");
	ret = fct_link_down(&l, ret);
	if (mem)
		munmap(mem, len);
	return ret;
}

/* What is not persistent must not be taken for it: refused, or the provider does not
 * look. */
int fct_mr_pmem_volatile(struct fct *t)
{
	struct fid_mr *mr = NULL;
	struct fct_link l;
	uint8_t *buf = calloc(1, LEN);
	int ret;

	FCT_TRUE(t, buf);
	FCT_DO(fct_link_open(&l, t, &setup));
	ret = fi_mr_reg(l.domain, buf, LEN, FI_REMOTE_WRITE, 0, t->next_key++,
			FI_RMA_PMEM, &mr, NULL);
	fct_note(t, "FI_RMA_PMEM of the heap: %s", fi_strerror(-ret));
	if (ret)
		FCT_ERR(t, ret, -FI_EOPNOTSUPP);
	else
		FCT_CALL(t, fi_close(&mr->fid));
	ret = 0;
out:
	ret = fct_link_down(&l, ret);
	free(buf);
	return ret;
}
