/* SPDX-License-Identifier: BSD-2-Clause */
/* Connections: opened, closed by whoever likes, and opened again by the client. */
#include <sched.h>
#include <stdlib.h>

#include "stress.h"

/* All of it at least; the rest of the run's deadline bounds what follows. */
#define LANE_MS 20000u

static struct st *of(const struct st_lane *lane)
{
	return lane->hub->s;
}

static void set_deadline(struct st_lane *lane)
{
	lane->deadline_ms = fct_now_ms() + LANE_MS * fct.scale;
}

/* Nothing of it may be under way any more. */
static void start_anew(struct st_lane *lane)
{
	uint32_t i;

	for (i = 0; i < ST_TASKS; i++) {
		lane->exposed->seen[i] = 0;
		lane->task[i].wrote = (struct st_wrote){0};
	}
	for (i = 0; i < ST_KINDS; i++) {
		lane->exposed->word[i] = 0;
		lane->atomics[i] = 0;
	}
	for (i = 0; i < ST_WINDOW; i++)
		lane->messages_seen[i] = lane->fetched[i] = 0;
	lane->outstanding = 0;
	lane->next_message = 0;
	lane->posted = lane->done = lane->received = 0;
	lane->swapped = 0;
	lane->err = 0;
	lane->ending = false;
}

static int bind_all(struct st_lane *lane)
{
	const uint64_t selective = lane->selective ? FI_SELECTIVE_COMPLETION : 0;
	struct st_hub *hub = lane->hub;
	struct fid_ep *ep = lane->ep;
	int ret;

	ret = fi_ep_bind(ep, &hub->l.eq->fid, 0);
	if (!ret && selective) {
		ret = fi_ep_bind(ep, &hub->l.txcq->fid, FI_TRANSMIT | selective);
		if (!ret)
			ret = fi_ep_bind(ep, &hub->l.rxcq->fid, FI_RECV);
	} else if (!ret) {
		ret = fi_ep_bind(ep, &hub->l.txcq->fid, FI_TRANSMIT | FI_RECV);
	}
	if (!ret && hub->srx)
		ret = fi_ep_bind(ep, &hub->srx->fid, 0);
	if (!ret && hub->tx_cntr)
		ret = fi_ep_bind(ep, &hub->tx_cntr->fid, FI_SEND | FI_READ | FI_WRITE);
	if (!ret && hub->rx_cntr)
		ret = fi_ep_bind(ep, &hub->rx_cntr->fid, FI_RECV);
	return ret;
}

/* With use held alone. The info becomes the lane's. */
static int open_ep(struct st_lane *lane, struct fi_info *info, uint32_t epoch)
{
	struct st_hub *hub = lane->hub;
	uint32_t i;
	int ret;

	start_anew(lane);
	lane->epoch = epoch;
	lane->info = info;
	set_deadline(lane);
	/* Calls without flags are durable then. */
	if (info && hub->s->mode.durable && lane->number % 3 == 1)
		info->tx_attr->op_flags |= FI_COMMIT_COMPLETE;
	ret = info ? fi_endpoint(hub->l.domain, info, &lane->ep, lane) : -FI_ENOMEM;
	if (!ret)
		ret = bind_all(lane);
	if (!ret)
		ret = fi_enable(lane->ep);
	for (i = 0; !ret && !hub->srx && i < ST_RECVS; i++)
		ret = fct_st_hub_recv(hub, &lane->recv[i]);
	if (ret)
		return fct_st_fail(hub->s, "lane %u: no endpoint: %s", lane->number,
				   fi_strerror(-ret));
	lane->state = ST_OPENING;
	return 0;
}

int fct_st_lane_connect(struct st_lane *lane)
{
	struct st_hello hello = {.lane = lane->number,
				 .epoch = lane->epoch + 1,
				 .last = lane->last};
	struct st_hub *hub = lane->hub;
	int ret;

	hub->managing = "who uses a closed connection";
	pthread_rwlock_wrlock(&lane->use);
	hub->managing = "the making of a connection";
	ret = open_ep(lane, fi_dupinfo(hub->l.info), hello.epoch);
	if (!ret) {
		ret = fi_connect(lane->ep, hub->l.info->dest_addr, &hello, sizeof(hello));
		if (ret)
			ret = fct_st_fail(hub->s, "lane %u: fi_connect: %s", lane->number,
					  fi_strerror(-ret));
	}
	pthread_rwlock_unlock(&lane->use);
	hub->managing = NULL;
	return ret;
}

static bool all_over(const struct st_lane *lane)
{
	uint32_t i;

	for (i = 0; i < ST_RECVS; i++)
		if (lane->recv[i].state != ST_IDLE)
			return false;
	return !lane->outstanding;
}

/* Nobody else reads the queue now: what fi_close reported is all there will be. */
static int drain(struct st_lane *lane)
{
	struct st_hub *hub = lane->hub;
	int ret;

	hub->managing = "who reads the queue while a connection is closed";
	pthread_rwlock_wrlock(&hub->reading);
	hub->managing = "the completions of a closed connection";
	set_deadline(lane);
	while (!(ret = fct_st_comp_all(hub)) && !all_over(lane) &&
	       fct_now_ms() < lane->deadline_ms)
		sched_yield();
	if (!ret && !all_over(lane))
		ret = fct_st_fail(hub->s,
				  "lane %u: %u operations, or receives, did not complete "
				  "when their endpoint was closed",
				  lane->number, lane->outstanding);
	pthread_rwlock_unlock(&hub->reading);
	return ret;
}

int fct_st_lane_close(struct st_lane *lane)
{
	uint32_t i;
	int ret;

	lane->ending = true;
	lane->hub->managing = "who uses a connection to be closed";
	pthread_rwlock_wrlock(&lane->use);
	lane->hub->managing = "fi_close of a connection";
	ret = fi_close(&lane->ep->fid);
	if (ret)
		ret = fct_st_fail(of(lane), "lane %u: fi_close: %s", lane->number,
				  fi_strerror(-ret));
	lane->ep = NULL;
	lane->state = ST_DOWN;
	fi_freeinfo(lane->info);
	lane->info = NULL;
	if (!ret)
		ret = drain(lane);
	for (i = 0; i < ST_TASKS; i++)
		fct_st_task_forget(&lane->task[i]);
	lane->last = (struct st_count){lane->posted, lane->done, lane->received};
	pthread_rwlock_unlock(&lane->use);
	lane->hub->managing = NULL;
	return ret;
}

/* The other threads go on while the connection ends under them. */
static int close_somehow(struct st_lane *lane, struct st_rng *rng)
{
	atomic_fetch_add(&of(lane)->reopened, 1);
	if (st_below(rng, 2)) {
		lane->ending = st_below(rng, 2);
		fi_shutdown(lane->ep, 0);
	}
	return fct_st_lane_close(lane);
}

static struct st_lane *find(struct st_hub *hub, fid_t fid)
{
	uint32_t i;

	for (i = 0; i < hub->lanes; i++)
		if (hub->lane[i]->ep && &hub->lane[i]->ep->fid == fid)
			return hub->lane[i];
	return NULL;
}

/*
 * What was acknowledged was received, and nothing that was not posted. Only an RDMA
 * device's acknowledgement says so: over TCP an operation is done when it has left.
 */
static int compare(struct st_lane *lane, const struct st_count *theirs)
{
	const bool acked = strstr(lane->hub->l.info->fabric_attr->prov_name, "verbs");
	const struct st_count *mine = &lane->last;

	if (theirs->received <= mine->posted && mine->received <= theirs->posted &&
	    (!acked ||
	     (mine->done <= theirs->received && theirs->done <= mine->received)))
		return 0;
	return fct_st_fail(
		of(lane),
		"lane %u: %u messages posted, %u acknowledged, %u received there; "
		"there %u, %u, %u received here",
		lane->number, mine->posted, mine->done, theirs->received, theirs->posted,
		theirs->done, mine->received);
}

static int requested(struct st_hub *hub, const struct fct_event *e)
{
	struct st_hello hello;
	struct st_lane *lane;
	int ret = 0;

	if (e->len < sizeof(hello))
		return fct_st_fail(hub->s, "a request has %zu bytes", e->len);
	memcpy(&hello, e->cm.data, sizeof(hello));
	if (hello.lane >= hub->lanes)
		return fct_st_fail(hub->s, "a request for lane %u", hello.lane);
	lane = hub->lane[hello.lane];
	if (lane->ep)
		ret = fct_st_lane_close(lane);
	if (!ret && lane->epoch && hello.epoch == lane->epoch + 1)
		ret = compare(lane, &hello.last);
	hub->managing = "the making of a connection";
	pthread_rwlock_wrlock(&lane->use);
	if (!ret)
		ret = open_ep(lane, e->cm.info, hello.epoch);
	/* The client may have gone away; then it comes again. */
	if (!ret && fi_accept(lane->ep, NULL, 0) && !hub->s->mode.reopen)
		ret = fct_st_fail(hub->s, "lane %u: fi_accept failed", lane->number);
	pthread_rwlock_unlock(&lane->use);
	hub->managing = NULL;
	return ret;
}

static int connected(struct st_lane *lane)
{
	if (lane->state == ST_OPENING)
		lane->state = ST_UP;
	return 0;
}

/* The connection is over, or never was. */
static int ended(struct st_lane *lane, const char *how)
{
	struct st_hub *hub = lane->hub;

	if (!hub->s->mode.reopen)
		return hub->s->phase == ST_END
			       ? 0
			       : fct_st_fail(hub->s, "lane %u: %s", lane->number, how);
	if (fct_st_lane_close(lane))
		return -1;
	return fct_is_client() ? fct_st_lane_connect(lane) : 0;
}

static int one_event(struct st_hub *hub)
{
	struct fct_event e;
	struct st_lane *lane;
	int ret = fct_eq_look(hub->l.eq, &e);

	if (ret < 0)
		return fct_st_fail(hub->s, "%s", fct.why);
	if (!ret)
		return 0;
	if (ret == 2) {
		lane = find(hub, e.err.fid);
		return lane && ended(lane, fi_strerror(e.err.err)) ? -1 : 1;
	}
	if (e.event == FI_CONNREQ)
		return requested(hub, &e) ? -1 : 1;
	lane = find(hub, e.cm.fid);
	if (lane && e.event == FI_CONNECTED)
		return connected(lane) ? -1 : 1;
	/* Some providers leave a closed endpoint's events in the queue, and its address
	 * to the next one. */
	if (lane && e.event == FI_SHUTDOWN && lane->state == ST_UP)
		return ended(lane, "FI_SHUTDOWN") ? -1 : 1;
	return 1;
}

/* The client has to connect what is down; nobody may wait for ever. */
static int look_after(struct st_lane *lane)
{
	if (lane->state == ST_OPENING && fct_now_ms() > lane->deadline_ms)
		return fct_st_fail(of(lane), "lane %u: no connection within %u s",
				   lane->number, LANE_MS / 1000 * fct.scale);
	if (lane->state == ST_DOWN && fct_is_client())
		return fct_st_lane_connect(lane);
	return 0;
}

int fct_st_cm_step(struct st_hub *hub, struct st_rng *rng, bool may_close)
{
	struct st_lane *lane = hub->lane[st_below(rng, hub->lanes)];
	int ret = one_event(hub);

	if (ret < 0)
		return ret;
	if (may_close && lane->state == ST_UP && !st_below(rng, 16) &&
	    close_somehow(lane, rng))
		return -1;
	return look_after(lane) ? -1 : ret;
}
