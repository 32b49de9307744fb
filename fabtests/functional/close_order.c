/* SPDX-License-Identifier: BSD-2-Clause */
#include "close_order.h"

enum { EP, PASSIVE, SRX, PEP, MR, CNTR, CQ, DOMAIN, EQ, FABRIC, THINGS };
_Static_assert(THINGS == CLOSE_THINGS, "what a scene has");

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
	thing[SRX] = s->srx ? &s->srx->fid : NULL;
	thing[PEP] = &s->pep->fid;
	thing[MR] = &s->mr->fid;
	thing[CNTR] = &s->cntr->fid;
	thing[CQ] = &s->cq->fid;
	thing[DOMAIN] = &s->domain->fid;
	thing[EQ] = &s->eq->fid;
	thing[FABRIC] = &s->fabric->fid;
}

static unsigned int users_of(const struct scene *s, unsigned int thing)
{
	return thing == CQ && s->srx_silent ? users[CQ] & ~(1u << SRX) : users[thing];
}

static int close_all(const struct scene *s, fid_t thing[THINGS],
		     const unsigned int order[THINGS])
{
	unsigned int i, open = 0, rounds = 0;
	int ret = 0;

	for (i = 0; i < THINGS; i++)
		open |= thing[i] ? 1u << i : 0;
	while (open) {
		for (i = 0; i < THINGS; i++) {
			const unsigned int x = order[i];
			const int want = users_of(s, x) & open ? -FI_EBUSY : 0;

			if (!(open & 1u << x))
				continue;
			ret = fi_close(thing[x]);
			if (ret != want)
				FCT_FAIL("fi_close of %s returned %d (%s), expected %d",
					 names[x], ret, fi_strerror(-ret), want);
			if (!ret)
				open &= ~(1u << x);
		}
		FCT_TRUE(++rounds <= THINGS);
	}
	return 0;
}

static uint32_t random_below(uint64_t *state, uint32_t bound)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*state >> 33) % bound;
}

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

int fct_close_in_order(struct scene *s, unsigned int nth)
{
	unsigned int order[THINGS];
	fid_t thing[THINGS];

	things_of(s, thing);
	make_order(nth, order);
	return close_all(s, thing, order);
}
