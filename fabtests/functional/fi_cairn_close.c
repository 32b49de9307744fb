/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Objects closed in any order, in any state of a connection. What another one needs is
 * -FI_EBUSY and stays as it is; whoever asks again later gets all closed.
 */
#include <dirent.h>

#include "close_order.h"

static int descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return n;
}

#define ORDERS (CLOSE_ROTATIONS + 180)

static int in_any_order(struct fct *t, int (*bring)(struct scene *s, struct fct *t))
{
	int fds = 0, objects = 0, ret = 0;
	unsigned int nth;
	static bool hooked;
	struct scene s;

	/* Counts objects of the device, where the provider is a library of its own. */
	if (!hooked)
		fct_fault_hook(t->opts.prov);
	hooked = true;
	for (nth = 0; nth < ORDERS; nth++) {
		ret = bring(&s, t);
		if (ret == -FI_ENOSYS || (ret == -FI_ENODATA && !s.here)) {
			ret = fct_skip(t, "not offered: %s", s.doing);
			fct_scene_close(&s);
			goto out;
		}
		if (s.err)
			FCT_FAIL(t, "%s: %s", s.doing, fi_strerror(-s.err));
		FCT_DO(fct_close_in_order(t, &s, nth));
		fi_freeinfo(s.request);
		fi_freeinfo(s.here);
		fi_freeinfo(s.there);
		/* Libraries keep what they opened for the first. */
		if (!nth) {
			fds = descriptors();
			objects = fct_fault_objects();
		}
		FCT_EQ(t, descriptors(), fds);
		FCT_EQ(t, fct_fault_objects(), objects);
	}
	fct_note(t, "%u orders; %d descriptors, %d objects in the end", nth, fds,
		 objects);
out:
	return ret;
}

static int idle(struct fct *t)
{
	return in_any_order(t, fct_scene_idle);
}

static int asking(struct fct *t)
{
	return in_any_order(t, fct_scene_asking);
}

static int asked(struct fct *t)
{
	return in_any_order(t, fct_scene_asked_for);
}

static int accepting(struct fct *t)
{
	return in_any_order(t, fct_scene_accepting);
}

static int connected(struct fct *t)
{
	return in_any_order(t, fct_scene_open);
}

static int used_scene(struct scene *s, struct fct *t)
{
	return fct_scene_open(s, t) ? s->err : fct_scene_transfers(s);
}

static int used(struct fct *t)
{
	return in_any_order(t, used_scene);
}

static int in_flight_scene(struct scene *s, struct fct *t)
{
	return fct_scene_open(s, t) ? s->err : fct_scene_in_flight(s);
}

static int in_flight(struct fct *t)
{
	return in_any_order(t, in_flight_scene);
}

static int shut_scene(struct scene *s, struct fct *t)
{
	if (fct_scene_open(s, t))
		return s->err;
	s->err = fi_shutdown(s->active.ep, 0);
	return s->err;
}

static int shut(struct fct *t)
{
	return in_any_order(t, shut_scene);
}

int main(int argc, char **argv)
{
	static const struct fct_case cases[] = {
		{"idle", "endpoints that were never connected", idle},
		{"asking", "fi_connect was called and nothing more", asking},
		{"asked", "the request is there, nobody has taken it", asked},
		{"accepting", "fi_accept was called and nothing more", accepting},
		{"connected", "a connection that stands", connected},
		{"used", "a connection that was used", used},
		{"in_flight", "sends without a receive, and all else behind them",
		 in_flight},
		{"shut", "fi_shutdown was called and nothing more", shut},
	};
	const struct fct_prog prog = {
		.name = "fi_cairn_close",
		.what = "Objects closed in any order.",
		.cases = cases,
		.n_cases = sizeof(cases) / sizeof(cases[0]),
		.single = true,
		.forks = true, /* fct_fault_hook comes before libfabric's use of the
				* provider
				*/
	};

	return fct_main(argc, argv, &prog);
}
