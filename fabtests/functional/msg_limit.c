/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls beyond the limits of fi_info: refused, or done right, but never harmful. */
#include "msg.h"

#define ROOM 65536u

struct side {
	struct fct_link l;
	struct fct_mem m;
	struct fct_ctx ctx;
};

static int up(struct side *s, struct fct *t)
{
	struct fct_setup setup = {.caps = FI_MSG};

	if (fct_link_up(&s->l, t, &setup))
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
	struct fct *t = s->l.t;
	struct fi_cq_data_entry e;
	int ret;

	if (fct_is_client(t))
		return fct_tell(t, "outcome", &told, sizeof(told));
	FCT_DO(fct_hear(t, "outcome", &told, sizeof(told)));
	if (told.taken) {
		FCT_DO(fct_comp(t, s->l.rxcq, &s->ctx, FI_RECV | FI_MSG, &e,
				"the message beyond the limit"));
		FCT_EQ(t, e.len, told.len);
		FCT_DATA(t, s->m.buf, told.len, seed);
	}
out:
	return ret;
}

/* Layers may ask for more than inject_size (ofi_rxm does where FI_MR_LOCAL is set). */
int fct_msg_inject_excess(struct fct *t)
{
	struct side s = {.l.t = t};
	size_t len;
	int ret;

	FCT_DO(up(&s, t));
	len = s.l.c.info->tx_attr->inject_size + 1;
	if (fct_is_client(t) && len > ROOM) {
		ret = fct_skip(t, "inject_size is %zu", len - 1);
		goto out;
	}
	if (fct_is_server(t))
		FCT_POST(t, s.l.rxcq,
			 fi_recv(s.l.c.ep, s.m.buf, ROOM, s.m.desc, 0, &s.ctx));
	FCT_DO(fct_barrier(t, "receive posted"));
	if (fct_is_client(t)) {
		fct_fill(s.m.buf, len, 1);
		ret = (int)fi_inject(s.l.c.ep, s.m.buf, len, 0);
		memset(s.m.buf, 0xEE, len);
		fct_note(t, "fi_inject of %zu bytes returned %d", len, ret);
		FCT_TRUE(t, ret <= 0 && ret != -FI_EAGAIN);
	}
	FCT_DO(outcome(&s, !ret, len, 1));
	ret = fct_barrier(t, "checked");
out:
	return fct_link_down(&s.l, ret);
}

int fct_msg_iov_excess(struct fct *t)
{
	struct iovec iov[MSG_MAX_IOV + 1];
	void *desc[MSG_MAX_IOV + 1];
	struct side s = {.l.t = t};
	size_t n, i;
	int ret;

	FCT_DO(up(&s, t));
	n = s.l.c.info->tx_attr->iov_limit + 1;
	if (fct_is_client(t) && n > MSG_MAX_IOV + 1) {
		ret = fct_skip(t, "iov_limit is %zu", n - 1);
		goto out;
	}
	if (fct_is_client(t)) {
		for (i = 0; i < n; i++) {
			iov[i] = (struct iovec){.iov_base = s.m.buf + 64 * i,
						.iov_len = 32};
			desc[i] = s.m.desc;
		}
		FCT_REFUSED(t, fi_sendv(s.l.c.ep, iov, desc, n, 0, &s.ctx));
		FCT_REFUSED(t, fi_recvv(s.l.c.ep, iov, desc, n, 0, &s.ctx));
		FCT_DO(fct_cq_quiet(t, s.l.txcq, "after calls with too many pieces"));
	}
	ret = fct_barrier(t, "checked");
out:
	return fct_link_down(&s.l, ret);
}
