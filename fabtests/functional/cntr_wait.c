/* SPDX-License-Identifier: BSD-2-Clause */
/* Blocking until a counter has a value. */
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

static int sleep_wait(struct cntr_side *s, struct fid_cntr *cntr, uint64_t value)
{
	FCT_CALL(fi_cntr_wait(cntr, value, limit_ms()));
	return 0;
}

static int sleep_fd(struct cntr_side *s, struct fid_cntr *cntr, uint64_t value)
{
	struct fct_wait w;

	fct_wait_init(&w, "a counter by its descriptor");
	while (fi_cntr_read(cntr) < value) {
		FCT_DO(fct_sleep(&s->l, &cntr->fid, 1000));
		FCT_DO(fct_wait_check(&w));
	}
	return 0;
}

static int ping_pong(enum fi_wait_obj wait,
		     int (*await)(struct cntr_side *s, struct fid_cntr *cntr,
				  uint64_t value))
{
	FCT_AUTO(fct_link_end) struct cntr_side s = {0};
	unsigned int i;

	FCT_DO(up(&s, wait));
	FCT_DO(fct_cntr_post_recv(&s, 0));
	FCT_DO(fct_barrier("ready"));
	for (i = 0; i < ROUNDS; i++) {
		if (fct_is_client())
			FCT_DO(fct_cntr_post_send(&s, 1));
		FCT_DO(await(&s, s.rx, i + 1));
		FCT_DO(fct_cntr_post_recv(&s, 0));
		if (fct_is_server())
			FCT_DO(fct_cntr_post_send(&s, 1));
	}
	FCT_DO(await(&s, s.tx, ROUNDS));
	FCT_DO(fct_barrier("done"));
	FCT_EQ(fi_cntr_read(s.tx), ROUNDS);
	FCT_EQ(fi_cntr_read(s.rx), ROUNDS);
	return 0;
}

FCT_CASE_CALL(wait_ping_pong, "both sides sleep in turn",
	      ping_pong(FI_WAIT_UNSPEC, sleep_wait))

FCT_CASE_CALL(wait_fd, "a descriptor to poll", ping_pong(FI_WAIT_FD, sleep_fd))

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
