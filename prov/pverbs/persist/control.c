/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/timerfd.h>
#include <cairn/nosys.h>
#include "control.h"

/* How often a doorbell or a deadline is looked at that nothing else makes anyone look at.
 */
#define PVB_TICK_MS 20
/* The same while a doorbell has to show that is on its way. */
#define PVB_TICK_BELL_MS 1

static int pvb_control_queue(struct pvb_control *control)
{
	struct fi_cq_attr attr = {.wait_obj = FI_WAIT_FD, .size = 1};
	struct pvb_domain *domain = control->domain;
	struct fid_cq *cq;
	int ret;

	ret = pvb_cq_open(&domain->fid, &attr, &cq, NULL);
	if (ret)
		return ret;
	control->cq = crn_container_of(cq, struct pvb_cq, fid);
	/* It is the domain's own, which closes it. */
	atomic_fetch_sub(&domain->refs, 1);
	return 0;
}

int pvb_control_open(struct pvb_domain *domain)
{
	struct pvb_control *control = calloc(1, sizeof(*control));
	int ret;

	if (!control)
		return -FI_ENOMEM;
	control->domain = domain;
	control->stop = -1;
	crn_list_init(&control->lanes);
	crn_list_init(&control->buried);
	crn_list_init(&control->targets);
	ret = -pthread_mutex_init(&control->lock, NULL);
	if (ret)
		goto err_free;
	control->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (control->timer < 0) {
		ret = pvb_errno();
		goto err_lock;
	}
	ret = pvb_control_queue(control);
	if (ret)
		goto err_timer;
	domain->control = control;
	return 0;
err_timer:
	close(control->timer);
err_lock:
	pthread_mutex_destroy(&control->lock);
err_free:
	free(control);
	return ret;
}

void pvb_control_close(struct pvb_control *control)
{
	struct pvb_domain *domain = control->domain;
	struct crn_list *entry;

	pvb_control_thread_stop(control);
	atomic_fetch_add(&domain->refs, 1);
	fi_close(&control->cq->fid.fid);
	while ((entry = crn_list_pop(&control->buried)))
		pvb_lane_free(crn_container_of(entry, struct pvb_lane, entry));
	close(control->timer);
	pthread_mutex_destroy(&control->lock);
	free(control);
	domain->control = NULL;
}

static void pvb_control_timer(const struct pvb_control *control, unsigned int ms)
{
	const struct timespec every = {.tv_nsec = ms * 1000000L};
	const struct itimerspec timer = {.it_interval = every, .it_value = every};

	timerfd_settime(control->timer, 0, &timer, NULL);
}

void pvb_control_tick(struct pvb_control *control)
{
	const unsigned int ms =
		atomic_load(&control->waiting) ? PVB_TICK_BELL_MS : PVB_TICK_MS;
	unsigned int now = atomic_load(&control->ticks);

	/* Left to tick from one operation to the next: a call of the kernel for each
	 * would cost more than they do. */
	while (!now || now > ms) {
		if (!atomic_compare_exchange_weak(&control->ticks, &now, ms))
			continue;
		pvb_control_timer(control, ms);
		return;
	}
}

/* Takes note of a tick before somebody sleeps, and of the last one. */
static void pvb_control_ticked(struct pvb_control *control)
{
	uint64_t times;

	if (read(control->timer, &times, sizeof(times)) != sizeof(times))
		return;
	if (!atomic_load(&control->waiting) && !atomic_load(&control->holding))
		pvb_control_timer(control, 0);
	atomic_store(&control->ticks, 0);
	/* Whoever began to wait in between has found it ticking; and a doorbell that was
	 * waited for may have shown. */
	if (atomic_load(&control->waiting) || atomic_load(&control->holding))
		pvb_control_tick(control);
}

/* The initiator is told, if it sleeps. */
static void pvb_control_wake(struct pvb_lane *lane)
{
	if (!lane->conn) /* closed: pvb_lane_close */
		return;
	crn_wait_signal(&lane->conn->sq.cq->wait);
	pvb_cntr_wake(&lane->conn->sq);
}

static void pvb_control_answer(struct pvb_lane *lane,
			       const struct pvb_wire_message *message)
{
	struct pvb_asks *asks =
		&lane->asks[message->kind == PVB_WIRE_ANSWER ? PVB_ASK_REQUEST
							     : PVB_ASK_ENTRY];
	const uint32_t next =
		atomic_load_explicit(&asks->answered, memory_order_relaxed) + 1;

	if (message->number != next || (int32_t)(atomic_load(&asks->posted) - next) < 0) {
		pvb_lane_lose(lane, "an answer is out of turn");
		return;
	}
	asks->of[next % PVB_LANE_CREDITS].status = message->status;
	atomic_store_explicit(&asks->answered, next, memory_order_release);
	pvb_control_wake(lane);
}

static void pvb_control_received(struct pvb_lane_recv *recv, uint32_t len)
{
	struct pvb_lane *lane = recv->lane;
	struct pvb_wire_message message;
	uint32_t at;

	if (!lane->conn) /* closed meanwhile */
		return;
	if (!pvb_wire_parse(&message, recv->buf, len)) {
		pvb_lane_lose(lane, "a message cannot be understood");
		return;
	}
	if (message.kind != PVB_WIRE_REQUEST) {
		if (message.kind == PVB_WIRE_REPLAY)
			pvb_replay_learn(lane, &message);
		else
			pvb_control_answer(lane, &message);
		if (pvb_lane_receive(recv))
			pvb_lane_lose(lane, "a receive cannot be posted");
		return;
	}
	if (lane->inbox_count == PVB_LANE_CREDITS) {
		pvb_lane_lose(lane, "more requests than agreed on");
		return;
	}
	at = (lane->inbox_head + lane->inbox_count++) % PVB_LANE_CREDITS;
	lane->inbox[at] = recv;
	lane->inbox_len[at] = len;
	/* One that waits already is looked at with the others. */
	if (lane->inbox_count == 1 && !pvb_respond(lane)) {
		atomic_fetch_add(&lane->control->waiting, 1);
		pvb_control_tick(lane->control);
	}
}

static void pvb_control_completed(const struct ibv_wc *wc)
{
	struct pvb_lane_recv *recv = NULL;
	struct pvb_lane *lane;

	if (wc->wr_id & 1) {
		lane = (struct pvb_lane *)(uintptr_t)(wc->wr_id & ~1ull);
		atomic_fetch_add(&lane->sent, 1);
	} else {
		recv = (struct pvb_lane_recv *)(uintptr_t)wc->wr_id;
		lane = recv->lane;
		lane->receives--;
	}
	if (wc->status != IBV_WC_SUCCESS) {
		pvb_lane_lose(lane, ibv_wc_status_str(wc->status));
		pvb_control_wake(lane);
	} else if (recv) {
		pvb_control_received(recv, wc->byte_len);
	}
}

/* Takes everything the control queues have. Called with the lock held. */
static bool pvb_control_poll(struct pvb_control *control)
{
	struct ibv_wc wc[PVB_POLL_BATCH];
	bool any = false;
	uint32_t i;
	int n, got;

	for (i = 0; i < control->cq->hw_count; i++) {
		do {
			got = ibv_poll_cq(control->cq->hw[i]->cq, PVB_POLL_BATCH, wc);
			for (n = 0; n < got; n++)
				pvb_control_completed(&wc[n]);
			any |= got > 0;
		} while (got == PVB_POLL_BATCH);
	}
	return any;
}

/* Lanes whose doorbells did not show when they were looked at last. */
static void pvb_control_retry(struct pvb_control *control)
{
	struct crn_list *entry;
	struct pvb_lane *lane;

	if (!atomic_load(&control->waiting))
		return;
	crn_list_for_each (entry, &control->lanes) {
		lane = crn_container_of(entry, struct pvb_lane, entry);
		if (lane->inbox_count && pvb_respond(lane))
			atomic_fetch_sub(&control->waiting, 1);
	}
}

static void pvb_control_work(struct pvb_control *control)
{
	pvb_control_retry(control);
	pvb_control_poll(control);
}

bool pvb_control_progress(struct pvb_control *control)
{
	if (pthread_mutex_trylock(&control->lock))
		return false;
	pvb_control_work(control);
	pthread_mutex_unlock(&control->lock);
	return true;
}

int pvb_control_arm(struct pvb_control *control)
{
	struct ibv_cq *cq;
	void *context;
	uint32_t i;
	int ret = 0;

	pthread_mutex_lock(&control->lock);
	/* Set when there is a device queue more. */
	crn_wait_clear(&control->cq->wait);
	pvb_control_ticked(control);
	while (!ibv_get_cq_event(control->cq->channel, &cq, &context))
		ibv_ack_cq_events(cq, 1);
	for (i = 0; i < control->cq->hw_count && !ret; i++)
		ret = -ibv_req_notify_cq(control->cq->hw[i]->cq, 0);
	/* What came before the arming raises no event. */
	pvb_control_work(control);
	pthread_mutex_unlock(&control->lock);
	return ret;
}

int pvb_control_watch(struct pvb_control *control, struct crn_wait *wait)
{
	int ret;

	/* The queue of the control queue pairs itself is opened before it is known. */
	if (!control)
		return 0;
	ret = crn_wait_add_fd(wait, control->cq->wait.epfd);
	return ret ? ret : crn_wait_add_fd(wait, control->timer);
}

bool pvb_control_drain(struct pvb_lane *lane, uint64_t deadline_ms)
{
	struct pvb_control *control = lane->control;
	bool any, drained = true;

	pthread_mutex_lock(&control->lock);
	atomic_store(&lane->lost, true);
	if (lane->inbox_count)
		atomic_fetch_sub(&control->waiting, 1);
	lane->inbox_count = 0;
	while (lane->receives || lane->sends != atomic_load(&lane->sent)) {
		any = pvb_control_poll(control);
		if (any)
			continue;
		if (crn_now_ms() >= deadline_ms) {
			PVB_WARN(FI_LOG_EP_CTRL,
				 "control queue pair 0x%x does not return what was "
				 "posted\n",
				 lane->qp->qp_num);
			drained = false;
			break;
		}
		sched_yield();
	}
	crn_list_del(&lane->entry);
	lane->conn = NULL;
	pthread_mutex_unlock(&control->lock);
	return drained;
}
