/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keep-alive: a reliable queue pair detects the loss of its peer only by missing
 * acknowledgements, so an idle connection never does. A zero-length write is sent to a
 * peer that was silent for a while; it needs no region and no receive. If it is not
 * acknowledged the connection ends as with any other operation.
 *
 * A timer of the event queue drives it, and whoever reads or waits for that queue. All of
 * it runs with the EQ's cm_lock held.
 */
#include <errno.h>
#include <unistd.h>
#include <sys/timerfd.h>
#include "cq/cq.h"
#include "device/device.h"
#include "xfer/xfer.h"
#include "cm.h"
#include "internal.h"

int pvb_keepalive_open(struct pvb_eq *eq)
{
	int ret;

	crn_list_init(&eq->alive);
	eq->timer = -1;
	if (!pvb_params.keepalive)
		return 0;
	eq->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (eq->timer < 0)
		return pvb_errno();
	ret = crn_wait_add_fd(&eq->eq.wait, eq->timer);
	if (ret)
		pvb_keepalive_close(eq);
	return ret;
}

void pvb_keepalive_close(struct pvb_eq *eq)
{
	if (eq->timer >= 0)
		close(eq->timer);
	eq->timer = -1;
}

/* The timer runs only while there is a connection. */
static void pvb_keepalive_run(struct pvb_eq *eq, bool on)
{
	const int ms = on ? pvb_params.keepalive : 0;
	const struct timespec every = {.tv_sec = ms / 1000,
				       .tv_nsec = ms % 1000 * 1000000L};
	const struct itimerspec timer = {.it_interval = every, .it_value = every};

	timerfd_settime(eq->timer, 0, &timer, NULL);
}

void pvb_keepalive_add(struct pvb_ep *ep)
{
	struct pvb_eq *eq = ep->eq;

	crn_mutex_assert_held(&ep->eq->cm_lock);
	if (eq->timer < 0)
		return;
	if (crn_list_empty(&eq->alive))
		pvb_keepalive_run(eq, true);
	crn_list_add_tail(&eq->alive, &ep->alive);
	ep->listed = true;
}

void pvb_keepalive_del(struct pvb_ep *ep)
{
	if (!ep->listed)
		return;
	crn_mutex_assert_held(&ep->eq->cm_lock);
	crn_list_del(&ep->alive);
	ep->listed = false;
	if (crn_list_empty(&ep->eq->alive))
		pvb_keepalive_run(ep->eq, false);
}

/* Was nothing sent or received since the last check? */
static bool pvb_keepalive_silent(struct pvb_ep *ep)
{
	const uint32_t sent =
		atomic_load_explicit(&ep->qp.sq.ring.tail, memory_order_relaxed);
	const uint32_t received =
		atomic_load_explicit(&ep->qp.rq.ring.tail, memory_order_relaxed);
	const bool silent = ep->seen_sent == sent && ep->seen_received == received;

	ep->seen_sent = sent;
	ep->seen_received = received;
	return silent;
}

static void pvb_keepalive_tick(struct pvb_ep *ep)
{
	/* A program that only waits for events reads no completions. */
	pvb_cq_feed(ep->qp.sq.cq, false);
	if (!pvb_keepalive_silent(ep) || !pvb_tx_keepalive(ep))
		return;
	/*
	 * The keep-alive's own completion must not count as activity at the next check.
	 */
	ep->seen_sent++;
}

void pvb_keepalive_progress(struct pvb_eq *eq)
{
	struct crn_list *entry;
	uint64_t times;

	crn_mutex_assert_held(&eq->cm_lock);
	if (eq->timer < 0 || read(eq->timer, &times, sizeof(times)) != sizeof(times))
		return;
	crn_list_for_each (entry, &eq->alive)
		pvb_keepalive_tick(crn_container_of(entry, struct pvb_ep, alive));
}
