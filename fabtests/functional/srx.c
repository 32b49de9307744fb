/* SPDX-License-Identifier: BSD-2-Clause */
/* What the cases share: connections of a shared receive context. */
#include "srx.h"

struct fct_setup fct_srx_setup(void)
{
	return (struct fct_setup){.caps = FI_MSG,
				  .shared_rx = true,
				  .rx_size = SRX_SLOTS,
				  .cq_size = 4 * SRX_SLOTS};
}

static int open_shared(struct fct_link *l)
{
	struct srx_side *s = (struct srx_side *)l;
	int ret;

	ret = fi_srx_context(l->domain, l->info->rx_attr, &s->srx, s);
	if (ret == -FI_ENOSYS || ret == -FI_EOPNOTSUPP)
		return fct_skip("fi_srx_context: %s", fi_strerror(-ret));
	FCT_CALL(ret);
	FCT_DO(fct_keep(l, &s->srx->fid));
	FCT_TRUE(s->srx->fid.context == s);
	return 0;
}

static int bind_shared(struct fct_link *l, struct fct_conn *c)
{
	struct srx_side *s = (struct srx_side *)l;

	FCT_CALL(fi_ep_bind(c->ep, &s->srx->fid, 0));
	return 0;
}

int fct_srx_up(struct srx_side *s, const struct fct_setup *setup)
{
	struct fct_setup with = *setup;

	with.open = open_shared;
	with.bind = bind_shared;
	FCT_DO(fct_link_up(&s->l, &with));
	return fct_mem_alloc(&s->l, &s->m, (SRX_SLOTS + 1) * SRX_LEN, FI_SEND | FI_RECV);
}

uint8_t *fct_srx_part(struct srx_side *s, unsigned int slot)
{
	return s->m.buf + (size_t)slot * SRX_LEN;
}

int fct_srx_post(struct srx_side *s, unsigned int slot)
{
	memset(fct_srx_part(s, slot), 0, SRX_LEN);
	FCT_CALL(fi_recv(s->srx, fct_srx_part(s, slot), SRX_LEN, s->m.desc, 0,
			 &s->ctx[slot]));
	return 0;
}

int fct_srx_send(struct srx_side *s, struct fct_conn *c, size_t len, uint64_t seed)
{
	struct fid_cq *cq = c->txcq ? c->txcq : s->l.txcq;
	struct fi_cq_data_entry e;

	fct_fill(fct_srx_part(s, SRX_SLOTS), len, seed);
	FCT_POST(cq,
		 fi_send(c->ep, fct_srx_part(s, SRX_SLOTS), len, s->m.desc, 0, &s->sent));
	return fct_comp(cq, &s->sent, FI_SEND | FI_MSG, &e, "a message");
}

int fct_srx_take(struct srx_side *s, struct fid_cq *cq, unsigned int slot, size_t len,
		 uint64_t seed)
{
	struct fi_cq_data_entry e;

	FCT_DO(fct_comp(cq, &s->ctx[slot], FI_RECV | FI_MSG, &e, "a shared receive"));
	FCT_EQ(e.len, len);
	FCT_DATA(fct_srx_part(s, slot), len, seed);
	return 0;
}

FCT_PROGRAM(.name = "fi_cairn_srx", .what = "Shared receive contexts.")
