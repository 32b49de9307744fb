/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Objects closed in any order, in any state of a connection. What another one needs is
 * -FI_EBUSY and stays as it is; whoever asks again later gets all closed.
 */
#include <dirent.h>

#include "fault.h"

enum { EP, PASSIVE, SRX, PEP, MR, CNTR, CQ, DOMAIN, EQ, FABRIC, THINGS };

/* What must be closed before: fi_endpoint(3), fi_cq(3), fi_eq(3), fi_domain(3). */
static const unsigned int users[THINGS] = {
	[SRX] = 1u << EP | 1u << PASSIVE,
	[CNTR] = 1u << EP | 1u << PASSIVE,
	[CQ] = 1u << EP | 1u << PASSIVE | 1u << SRX,
	[DOMAIN] =
		1u << EP | 1u << PASSIVE | 1u << SRX | 1u << MR | 1u << CNTR | 1u << CQ,
	[EQ] = 1u << EP | 1u << PASSIVE | 1u << PEP,
	[FABRIC] = 1u << DOMAIN | 1u << EQ | 1u << PEP,
};

static const char *const names[THINGS] = {"the endpoint",
					  "the accepting endpoint",
					  "the shared context",
					  "the listener",
					  "the region",
					  "the counter",
					  "the CQ",
					  "the domain",
					  "the EQ",
					  "the fabric"};

static void things_of(struct scene *s, fid_t thing[THINGS])
{
	thing[EP] = s->active.ep ? &s->active.ep->fid : NULL;
	thing[PASSIVE] = s->passive.ep ? &s->passive.ep->fid : NULL;
	thing[SRX] = &s->srx->fid;
	thing[PEP] = &s->pep->fid;
	thing[MR] = &s->mr->fid;
	thing[CNTR] = &s->cntr->fid;
	thing[CQ] = &s->cq->fid;
	thing[DOMAIN] = &s->domain->fid;
	thing[EQ] = &s->eq->fid;
	thing[FABRIC] = &s->fabric->fid;
}

/* Asks for each in that order, and again, until all are closed. */
static int close_in_order(struct fct *t, fid_t thing[THINGS],
			  const unsigned int order[THINGS])
{
	unsigned int i, open = 0, rounds = 0;
	int ret = 0;

	for (i = 0; i < THINGS; i++)
		open |= thing[i] ? 1u << i : 0;
	while (open) {
		for (i = 0; i < THINGS; i++) {
			const unsigned int x = order[i];
			const int want = users[x] & open ? -FI_EBUSY : 0;

			if (!(open & 1u << x))
				continue;
			ret = fi_close(thing[x]);
			if (ret != want)
				FCT_FAIL(t,
					 "fi_close of %s returned %d (%s), expected %d",
					 names[x], ret, fi_strerror(-ret), want);
			if (!ret)
				open &= ~(1u << x);
		}
		FCT_TRUE(t, ++rounds <= THINGS);
	}
	ret = 0;
out:
	return ret;
}

static uint32_t random_below(uint64_t *state, uint32_t bound)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*state >> 33) % bound;
}

/* The first orders are rotations, forward and backward; then chance has it. */
static void make_order(unsigned int nth, unsigned int order[THINGS])
{
	uint64_t state = nth;
	unsigned int i, j, x;

	for (i = 0; i < THINGS; i++)
		order[i] = nth % 2 ? THINGS - 1 - (i + nth / 2) % THINGS
				   : (i + nth / 2) % THINGS;
	for (i = THINGS - 1; nth >= 2 * THINGS && i > 0; i--) {
		j = random_below(&state, i + 1);
		x = order[i];
		order[i] = order[j];
		order[j] = x;
	}
}

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

#define ORDERS (2 * THINGS + 180)

static int in_any_order(struct fct *t, int (*bring)(struct scene *s, struct fct *t))
{
	int fds = 0, objects = 0, ret = 0;
	unsigned int nth, order[THINGS];
	fid_t thing[THINGS];
	static bool hooked;
	struct scene s;

	/* Counts objects of the device, where the provider is a library of its own. */
	if (!hooked)
		fault_hook(t->opts.prov);
	hooked = true;
	for (nth = 0; nth < ORDERS; nth++) {
		ret = bring(&s, t);
		if (ret == -FI_ENOSYS || (ret == -FI_ENODATA && !s.here)) {
			ret = fct_skip(t, "not offered: %s", s.doing);
			scene_close(&s);
			goto out;
		}
		if (s.err)
			FCT_FAIL(t, "%s: %s", s.doing, fi_strerror(-s.err));
		things_of(&s, thing);
		make_order(nth, order);
		FCT_DO(close_in_order(t, thing, order));
		fi_freeinfo(s.request);
		fi_freeinfo(s.here);
		fi_freeinfo(s.there);
		/* Libraries keep what they opened for the first. */
		if (!nth) {
			fds = descriptors();
			objects = fault_objects();
		}
		FCT_EQ(t, descriptors(), fds);
		FCT_EQ(t, fault_objects(), objects);
	}
	fct_note(t, "%u orders; %d descriptors, %d objects in the end", nth, fds,
		 objects);
out:
	return ret;
}

static int idle(struct fct *t)
{
	return in_any_order(t, scene_idle);
}

static int asking(struct fct *t)
{
	return in_any_order(t, scene_asking);
}

static int asked(struct fct *t)
{
	return in_any_order(t, scene_asked_for);
}

static int accepting(struct fct *t)
{
	return in_any_order(t, scene_accepting);
}

static int connected(struct fct *t)
{
	return in_any_order(t, scene_open);
}

static int used_scene(struct scene *s, struct fct *t)
{
	return scene_open(s, t) ? s->err : scene_transfers(s);
}

static int used(struct fct *t)
{
	return in_any_order(t, used_scene);
}

static int in_flight_scene(struct scene *s, struct fct *t)
{
	return scene_open(s, t) ? s->err : scene_in_flight(s);
}

static int in_flight(struct fct *t)
{
	return in_any_order(t, in_flight_scene);
}

static int shut_scene(struct scene *s, struct fct *t)
{
	if (scene_open(s, t))
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
		.forks = true, /* fault_hook comes before libfabric's use of the provider
				*/
	};

	return fct_main(argc, argv, &prog);
}
