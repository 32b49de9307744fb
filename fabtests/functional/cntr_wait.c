/* SPDX-License-Identifier: BSD-2-Clause */
/* Blocking until a counter has a value. */
#include <poll.h>
#include <pthread.h>

#include "cntr.h"

#define ROUNDS 500u

static int up(struct cntr_side *s, struct fct *t, enum fi_wait_obj wait)
{
	struct fct_setup setup = fct_cntr_setup();

	s->wait = wait;
	return fct_cntr_up(s, t, &setup);
}

static int limit_ms(struct fct *t)
{
	return (int)(20000 * t->scale);
}

int fct_cntr_wait_ping_pong(struct fct *t)
{
	struct cntr_side s = {.l.t = t};
	unsigned int i;
	int ret;

	FCT_DO(up(&s, t, FI_WAIT_UNSPEC));
	FCT_DO(fct_cntr_post_recv(&s, 0));
	FCT_DO(fct_barrier(t, "ready"));
	for (i = 0; i < ROUNDS; i++) {
		if (fct_is_client(t))
			FCT_DO(fct_cntr_post_send(&s, 1));
		FCT_CALL(t, fi_cntr_wait(s.rx, i + 1, limit_ms(t)));
		FCT_DO(fct_cntr_post_recv(&s, 0));
		if (fct_is_server(t))
			FCT_DO(fct_cntr_post_send(&s, 1));
	}
	FCT_CALL(t, fi_cntr_wait(s.tx, ROUNDS, limit_ms(t)));
	FCT_DO(fct_barrier(t, "done"));
	FCT_EQ(t, fi_cntr_read(s.tx), ROUNDS);
	FCT_EQ(t, fi_cntr_read(s.rx), ROUNDS);
out:
	return fct_link_down(&s.l, ret);
}

/* A receive fails when its endpoint is closed; what waits for it must not sleep on. */
int fct_cntr_wait_error(struct fct *t)
{
	struct cntr_side s = {.l.t = t};
	int ret;

	FCT_DO(up(&s, t, FI_WAIT_UNSPEC));
	FCT_DO(fct_cntr_post_recv(&s, 0));
	FCT_DO(fct_barrier(t, "posted"));
	if (fct_is_client(t)) {
		FCT_POST(t, s.l.txcq,
			 fi_write(s.l.c.ep, s.local.buf, CNTR_LEN, s.local.desc, 0,
				  s.peer.addr, s.peer.key + 12345, &s.ctx[1]));
		FCT_ERR(t, fi_cntr_wait(s.tx, 1, limit_ms(t)), -FI_EAVAIL);
		FCT_EQ(t, fi_cntr_readerr(s.tx), 1);
		/* The value is what it was: only a change ends a wait. */
		FCT_ERR(t, fi_cntr_wait(s.tx, 1, 50), -FI_ETIMEDOUT);
	}
	ret = fct_barrier(t, "failed");
out:
	return fct_link_down(&s.l, ret);
}

static void *add_later(void *cntr)
{
	fi_cntr_add(cntr, 100);
	return NULL;
}

static int sleep_fd(struct cntr_side *s, uint64_t value)
{
	struct fid *fid = &s->rx->fid;
	struct pollfd pollfd = {.events = POLLIN};
	struct fct *t = s->l.t;
	struct fct_wait w;
	int ret;

	FCT_CALL(t, fi_control(fid, FI_GETWAIT, &pollfd.fd));
	fct_wait_init(&w, t, "a counter by its descriptor");
	while (fi_cntr_read(s->rx) < value) {
		ret = fi_trywait(s->l.fabric, &fid, 1);
		if (ret == -FI_EAGAIN)
			continue;
		FCT_CALL(t, ret);
		FCT_TRUE(t, poll(&pollfd, 1, 1000) >= 0);
		FCT_DO(fct_wait_check(&w));
	}
	ret = 0;
out:
	return ret;
}

int fct_cntr_wait_fd(struct fct *t)
{
	struct cntr_side s = {.l.t = t};
	unsigned int i;
	int ret;

	FCT_DO(up(&s, t, FI_WAIT_FD));
	FCT_DO(fct_cntr_post_recv(&s, 0));
	FCT_DO(fct_barrier(t, "ready"));
	for (i = 0; i < ROUNDS; i++) {
		if (fct_is_client(t))
			FCT_DO(fct_cntr_post_send(&s, 1));
		FCT_DO(sleep_fd(&s, i + 1));
		FCT_DO(fct_cntr_post_recv(&s, 0));
		if (fct_is_server(t))
			FCT_DO(fct_cntr_post_send(&s, 1));
	}
	ret = fct_barrier(t, "done");
out:
	return fct_link_down(&s.l, ret);
}
