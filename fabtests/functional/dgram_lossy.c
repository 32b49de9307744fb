/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Datagrams on a device that loses some, and has others come twice or late, as
 * simverbs(1) does when it is asked to, and counts them. Of what came, and what the
 * device says has not, nothing is missing; on a device that does not count nothing is
 * lost.
 */
#include "dgram.h"

#define WINDOW (DGRAM_SLOTS / 2) /* all of them may come twice */
#define WINDOWS 20u

/* What the device has done so far. */
struct fates {
	uint64_t lost, twice;
};

static struct fates fates_of(const struct dgram *d)
{
	struct fates f = {0};

	dgram_counter(d->l.info, "ud_lost", &f.lost);
	dgram_counter(d->l.info, "ud_duplicated", &f.twice);
	return f;
}

static size_t len_of(const struct dgram *d, uint64_t number)
{
	return (size_t)(number * 97 % (d->max + 1));
}

/* All that has come so far: whole, and of this window. The next receive to be used is
 * *slot. */
static int take_what_came(struct dgram *d, uint64_t first, unsigned int *slot,
			  unsigned int *came, uint64_t *taken)
{
	struct fi_cq_data_entry e;
	ssize_t n;

	while ((n = fi_cq_read(d->l.rxcq, &e, 1)) == 1) {
		FCT_TRUE(e.op_context == &d->ctx[*slot]);
		FCT_EQ(e.flags, FI_RECV | FI_MSG | FI_REMOTE_CQ_DATA);
		FCT_TRUE(e.data >= first && e.data < first + WINDOW);
		FCT_EQ(e.len, d->prefix + len_of(d, e.data));
		FCT_DATA(dgram_received(d, *slot), len_of(d, e.data), e.data);
		came[e.data - first]++;
		FCT_DO(dgram_post(d, *slot));
		*slot = (*slot + 1) % DGRAM_SLOTS;
		++*taken;
	}
	if (n == -FI_EAVAIL)
		return fct_cq_fail(d->l.rxcq, "a receive");
	FCT_ERR(n, -FI_EAGAIN);
	return 0;
}

static int check_window(struct dgram *d, const unsigned int *came, uint64_t lost,
			uint64_t twice)
{
	unsigned int i, missing = 0, doubled = 0;

	for (i = 0; i < WINDOW; i++) {
		FCT_TRUE(came[i] <= 2);
		missing += !came[i];
		doubled += came[i] == 2;
	}
	FCT_EQ(missing, lost);
	FCT_EQ(doubled, twice);
	return 0;
}

/* Late ones come when the sender has long gone on, so the device's counters say when all
 * have come: each of them before the datagram that it is about. */
static int take_window(struct dgram *d, uint64_t first, unsigned int *slot)
{
	const struct fates before = fates_of(d);
	unsigned int came[WINDOW] = {0};
	struct fates now = before;
	uint64_t taken = 0;
	struct fct_wait w;

	FCT_DO(fct_barrier("window"));
	FCT_DO(fct_barrier("sent"));
	fct_wait_init(&w, "a window's datagrams, or their loss to be counted");
	do {
		FCT_DO(fct_wait_again(&w));
		FCT_DO(take_what_came(d, first, slot, came, &taken));
		now = fates_of(d);
	} while (taken + now.lost - before.lost < WINDOW + now.twice - before.twice);
	return check_window(d, came, now.lost - before.lost, now.twice - before.twice);
}

/* The sender is told of nothing. */
static int give_window(struct dgram *d, uint64_t first)
{
	uint64_t i;

	FCT_DO(fct_barrier("window"));
	for (i = first; i < first + WINDOW; i++) {
		FCT_DO(dgram_send_as(d, FCT_SENDDATA, len_of(d, i), i, i));
	}
	return fct_barrier("sent");
}

FCT_CASE(lossy, "some are lost, come twice or late, and all that comes is whole")
{
	unsigned int i, slot = 0;
	FCT_AUTO(fct_link_end) struct dgram d = {0};

	FCT_DO(dgram_up(&d, FI_MSG, false));
	for (i = 0; i < DGRAM_SLOTS; i++)
		FCT_DO(dgram_post(&d, i));
	for (i = 0; i < WINDOWS; i++)
		FCT_DO(fct_is_client() ? give_window(&d, i * WINDOW)
				       : take_window(&d, i * WINDOW, &slot));
	return fct_cq_quiet(d.l.rxcq, "after all datagrams");
}
