/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls beyond the limits of fi_info: refused, or done right, but never harmful. */
#include "msg.h"

#define ROOM 65536u

struct side {
	struct fct_link l;
	struct fct_mem m;
	struct fct_ctx ctx;
};

static int up(struct side *s)
{
	if (fct_link_up(&s->l, NULL))
		return -1;
	return fct_mem_alloc(&s->l, &s->m, ROOM, FI_SEND | FI_RECV);
}

/* What the client's call came to; a message that was taken must arrive whole. */
static int outcome(struct side *s, int taken, size_t len, uint64_t seed)
{
	struct told {
		int64_t taken;
		uint64_t len;
	} told = {taken, len};
	struct fi_cq_data_entry e;

	if (fct_is_client())
		return fct_tell("outcome", &told, sizeof(told));
	FCT_DO(fct_hear("outcome", &told, sizeof(told)));
	if (told.taken) {
		FCT_DO(fct_comp(s->l.rxcq, &s->ctx, FI_RECV | FI_MSG, &e,
				"the message beyond the limit"));
		FCT_EQ(e.len, told.len);
		FCT_DATA(s->m.buf, told.len, seed);
	}
	return 0;
}

/* Layers may ask for more than inject_size (ofi_rxm does where FI_MR_LOCAL is set). */
FCT_CASE(inject_excess, "fi_inject beyond inject_size is refused or delivered whole")
{
	FCT_AUTO(fct_link_end) struct side s = {0};
	size_t len;
	int ret = 0;

	FCT_DO(up(&s));
	len = s.l.c.info->tx_attr->inject_size + 1;
	if (fct_is_client() && len > ROOM)
		return fct_skip("inject_size is %zu", len - 1);
	if (fct_is_server())
		FCT_POST(s.l.rxcq, fi_recv(s.l.c.ep, s.m.buf, ROOM, s.m.desc, 0, &s.ctx));
	FCT_DO(fct_barrier("receive posted"));
	if (fct_is_client()) {
		fct_fill(s.m.buf, len, 1);
		ret = (int)fi_inject(s.l.c.ep, s.m.buf, len, 0);
		memset(s.m.buf, 0xEE, len);
		fct_note("fi_inject of %zu bytes returned %d", len, ret);
		FCT_TRUE(ret <= 0 && ret != -FI_EAGAIN);
	}
	FCT_DO(outcome(&s, !ret, len, 1));
	return fct_barrier("checked");
}

FCT_CASE(iov_excess, "more pieces than iov_limit are refused")
{
	struct iovec iov[MSG_MAX_IOV + 1];
	void *desc[MSG_MAX_IOV + 1];
	FCT_AUTO(fct_link_end) struct side s = {0};
	size_t n, i;

	FCT_DO(up(&s));
	n = s.l.c.info->tx_attr->iov_limit + 1;
	if (fct_is_client() && n > MSG_MAX_IOV + 1)
		return fct_skip("iov_limit is %zu", n - 1);
	if (fct_is_client()) {
		for (i = 0; i < n; i++) {
			iov[i] = (struct iovec){.iov_base = s.m.buf + 64 * i,
						.iov_len = 32};
			desc[i] = s.m.desc;
		}
		FCT_REFUSED(fi_sendv(s.l.c.ep, iov, desc, n, 0, &s.ctx));
		FCT_REFUSED(fi_recvv(s.l.c.ep, iov, desc, n, 0, &s.ctx));
		FCT_DO(fct_cq_quiet(s.l.txcq, "after calls with too many pieces"));
	}
	return fct_barrier("checked");
}
