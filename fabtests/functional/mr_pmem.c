/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Persistent memory, which the variable FI_CAIRN_PMEM names: a devdax or a file, of
 * 8 KiB at least.
 */
#include <stdlib.h>

#include "fct_op.h"

#define LEN 8192u

static const struct fct_setup setup = {.caps = FI_MSG | FI_RMA | FI_RMA_PMEM};

/* The client writes there and reads back, as in any other region. */
static int transfer(struct fct_link *l, struct fct_mem *local,
		    const struct fct_target *peer)
{
	struct fct_ctx ctx;
	struct fct_op op;

	FCT_DO(fct_mem_alloc(l, local, LEN, FI_READ | FI_WRITE));
	fct_fill(local->buf, LEN, 6);
	op = (struct fct_op){.form = FCT_WRITE,
			     .buf = local->buf,
			     .len = LEN,
			     .desc = local->desc,
			     .addr = peer->addr,
			     .key = peer->key,
			     .ctx = &ctx};
	FCT_DO(fct_op_do(l->c.ep, l->txcq, &op));
	memset(local->buf, 0, LEN);
	op.form = FCT_READ;
	FCT_DO(fct_op_do(l->c.ep, l->txcq, &op));
	FCT_DATA(local->buf, LEN, 6);
	return 0;
}

FCT_CASE(pmem, "persistent memory (FI_CAIRN_PMEM=FILE) is written and read")
{
	struct fct_target mine = {0}, peer;
	FCT_AUTO(fct_pmem_end) uint8_t *mem = NULL;
	FCT_AUTO(fct_link_end) struct fct_link l = {0};
	FCT_AUTO(fct_fid_end) struct fid_mr *mr = NULL;
	struct fct_mem local;

	FCT_DO(fct_pmem_map(&mem)); /* of a short file only LEN bytes are used */
	FCT_DO(fct_link_up(&l, &setup));
	if (fct_is_server()) {
		FCT_DO(fct_pmem_reg(&l, mem, LEN, FI_REMOTE_READ | FI_REMOTE_WRITE, &mr,
				    &mine));
		FCT_TRUE(mine.key != FI_KEY_NOTAVAIL);
	}
	FCT_DO(fct_exchange("region", &mine, &peer, sizeof(mine)));
	if (fct_is_client())
		FCT_DO(transfer(&l, &local, &peer));
	FCT_DO(fct_barrier("transferred"));
	if (fct_is_server())
		FCT_DATA(mem, LEN, 6);
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
