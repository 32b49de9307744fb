/* SPDX-License-Identifier: BSD-2-Clause */
/* Blocking until a counter has a value. */
#include <poll.h>
#include <pthread.h>

#include "cntr.h"

#define ROUNDS 500u

static int up(struct cntr_side *s, enum fi_wait_obj wait)
{
	struct fct_setup setup = fct_cntr_setup();

	s->wait = wait;
	return fct_cntr_up(s, &setup);
}

static int limit_ms(void)
{
	return (int)(20000 * fct.scale);
}

FCT_CASE(wait_ping_pong, "both sides sleep in turn")
{
	FCT_AUTO(fct_link_end) struct cntr_side s = {0};
	unsigned int i;

	FCT_DO(up(&s, FI_WAIT_UNSPEC));
	FCT_DO(fct_cntr_post_recv(&s, 0));
	FCT_DO(fct_barrier("ready"));
	for (i = 0; i < ROUNDS; i++) {
		if (fct_is_client())
			FCT_DO(fct_cntr_post_send(&s, 1));
		FCT_CALL(fi_cntr_wait(s.rx, i + 1, limit_ms()));
		FCT_DO(fct_cntr_post_recv(&s, 0));
		if (fct_is_server())
			FCT_DO(fct_cntr_post_send(&s, 1));
	}
	FCT_CALL(fi_cntr_wait(s.tx, ROUNDS, limit_ms()));
	FCT_DO(fct_barrier("done"));
	FCT_EQ(fi_cntr_read(s.tx), ROUNDS);
	FCT_EQ(fi_cntr_read(s.rx), ROUNDS);
	return 0;
}

/* A receive fails when its endpoint is closed; what waits for it must not sleep on. */
FCT_CASE(wait_error, "a failure ends the wait")
{
	FCT_AUTO(fct_link_end) struct cntr_side s = {0};

	FCT_DO(up(&s, FI_WAIT_UNSPEC));
	FCT_DO(fct_cntr_post_recv(&s, 0));
	FCT_DO(fct_barrier("posted"));
	if (fct_is_client()) {
		FCT_POST(s.l.txcq,
			 fi_write(s.l.c.ep, s.local.buf, CNTR_LEN, s.local.desc, 0,
				  s.peer.addr, s.peer.key + 12345, &s.ctx[1]));
		FCT_ERR(fi_cntr_wait(s.tx, 1, limit_ms()), -FI_EAVAIL);
		FCT_EQ(fi_cntr_readerr(s.tx), 1);
		/* The value is what it was: only a change ends a wait. */
		FCT_ERR(fi_cntr_wait(s.tx, 1, 50), -FI_ETIMEDOUT);
	}
	return fct_barrier("failed");
}

static int sleep_fd(struct cntr_side *s, uint64_t value)
{
	struct fid *fid = &s->rx->fid;
	struct pollfd pollfd = {.events = POLLIN};
	struct fct_wait w;
	int ret;

	FCT_CALL(fi_control(fid, FI_GETWAIT, &pollfd.fd));
	fct_wait_init(&w, "a counter by its descriptor");
	while (fi_cntr_read(s->rx) < value) {
		ret = fi_trywait(s->l.fabric, &fid, 1);
		if (ret == -FI_EAGAIN)
			continue;
		FCT_CALL(ret);
		FCT_TRUE(poll(&pollfd, 1, 1000) >= 0);
		FCT_DO(fct_wait_check(&w));
	}
	return 0;
}

FCT_CASE(wait_fd, "a descriptor to poll")
{
	FCT_AUTO(fct_link_end) struct cntr_side s = {0};
	unsigned int i;

	FCT_DO(up(&s, FI_WAIT_FD));
	FCT_DO(fct_cntr_post_recv(&s, 0));
	FCT_DO(fct_barrier("ready"));
	for (i = 0; i < ROUNDS; i++) {
		if (fct_is_client())
			FCT_DO(fct_cntr_post_send(&s, 1));
		FCT_DO(sleep_fd(&s, i + 1));
		FCT_DO(fct_cntr_post_recv(&s, 0));
		if (fct_is_server())
			FCT_DO(fct_cntr_post_send(&s, 1));
	}
	return fct_barrier("done");
}
