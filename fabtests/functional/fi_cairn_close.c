/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Objects closed in any order, in any state of a connection. What another one needs is
 * -FI_EBUSY and stays as it is; whoever asks again later gets all closed.
 */

#include "close_order.h"

#define ORDERS (CLOSE_ROTATIONS + 180)

static int in_any_order(int (*bring)(struct scene *s))
{
	int fds = 0, objects = 0, ret = 0;
	unsigned int nth;
	static bool hooked;
	struct scene s;

	/* Counts objects of the device, where the provider is a library of its own. */
	if (!hooked)
		fct_fault_hook(fct.opts.prov);
	hooked = true;
	for (nth = 0; nth < ORDERS; nth++) {
		ret = bring(&s);
		if (ret == -FI_ENOSYS || (ret == -FI_ENODATA && !s.here)) {
			fct_skip("not offered: %s", s.doing);
			fct_scene_close(&s);
			return -1;
		}
		if (s.err)
			FCT_FAIL("%s: %s", s.doing, fi_strerror(-s.err));
		FCT_DO(fct_close_in_order(&s, nth));
		fi_freeinfo(s.request);
		fi_freeinfo(s.here);
		fi_freeinfo(s.there);
		/* Libraries keep what they opened for the first. */
		if (!nth) {
			fds = fct_descriptors();
			objects = fct_fault_objects();
		}
		FCT_EQ(fct_descriptors(), fds);
		FCT_EQ(fct_fault_objects(), objects);
	}
	fct_note("%u orders; %d descriptors, %d objects in the end", nth, fds, objects);
	return 0;
}

FCT_CASE_CALL(idle, "endpoints that were never connected", in_any_order(fct_scene_idle))

FCT_CASE_CALL(asking, "fi_connect was called and nothing more",
	      in_any_order(fct_scene_asking))

FCT_CASE_CALL(asked, "the request is there, nobody has taken it",
	      in_any_order(fct_scene_asked_for))

FCT_CASE_CALL(accepting, "fi_accept was called and nothing more",
	      in_any_order(fct_scene_accepting))

FCT_CASE_CALL(connected, "a connection that stands", in_any_order(fct_scene_open))

static int used_scene(struct scene *s)
{
	return fct_scene_open(s) ? s->err : fct_scene_transfers(s);
}

FCT_CASE_CALL(used, "a connection that was used", in_any_order(used_scene))

static int in_flight_scene(struct scene *s)
{
	return fct_scene_open(s) ? s->err : fct_scene_in_flight(s);
}

FCT_CASE_CALL(in_flight, "sends without a receive, and all else behind them",
	      in_any_order(in_flight_scene))

static int shut_scene(struct scene *s)
{
	if (fct_scene_open(s))
		return s->err;
	s->err = fi_shutdown(s->active.ep, 0);
	return s->err;
}

FCT_CASE_CALL(shut, "fi_shutdown was called and nothing more", in_any_order(shut_scene))

FCT_PROGRAM(.name = "fi_cairn_close", .what = "Objects closed in any order.",
	    .single = true, .forks = true,
	    /* fct_fault_hook comes before libfabric's use of the * provider */)
