/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>
#include <cairn/nosys.h>
#include "cq/cq.h"
#include "persist/persist.h"
#include "wire/wire.h"
#include "control.h"
#include "internal.h"

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

int pvb_control_open(struct pvb_domain *domain, const struct pvb_target *target)
{
	struct pvb_control *control = calloc(1, sizeof(*control));
	int ret;

	if (!control)
		return -FI_ENOMEM;
	control->domain = domain;
	control->target = target;
	control->kick = -1;
	crn_list_init(&control->control_qps);
	crn_list_init(&control->zombies);
	crn_list_init(&control->regions);
	crn_list_init(&control->waits);
	crn_list_init(&control->ready);
	ret = -pthread_mutex_init(&control->lock, NULL);
	if (ret)
		goto err_free;
	ret = -pthread_cond_init(&control->ended, NULL);
	if (ret)
		goto err_mutex;
	ret = pvb_tick_open(control);
	if (ret)
		goto err_ended;
	ret = pvb_control_queue(control);
	if (ret)
		goto err_timer;
	domain->control = control;
	return 0;
err_timer:
	close(control->timer);
err_ended:
	pthread_cond_destroy(&control->ended);
err_mutex:
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
	while ((entry = crn_list_pop(&control->zombies)))
		pvb_control_qp_free(
			crn_container_of(entry, struct pvb_control_qp, entry));
	close(control->timer);
	pthread_cond_destroy(&control->ended);
	pthread_mutex_destroy(&control->lock);
	free(control);
	domain->control = NULL;
}

/* Wakes the initiator if it sleeps. */
static void pvb_control_wake(struct pvb_control_qp *cqp)
{
	if (!cqp->qp) /* closed: pvb_control_qp_close */
		return;
	crn_wait_signal(&cqp->qp->sq.cq->wait);
	pvb_cntr_wake(&cqp->qp->sq);
}

static void pvb_control_answer(struct pvb_control_qp *cqp,
			       const struct pvb_wire_message *message)
{
	struct pvb_control_requests *requests =
		&cqp->requests[message->kind == PVB_WIRE_ANSWER ? PVB_REQUEST_CONTROL
								: PVB_REQUEST_ENTRY];
	const uint32_t next =
		atomic_load_explicit(&requests->answered, memory_order_relaxed) + 1;

	if (message->number != next ||
	    (int32_t)(atomic_load(&requests->posted) - next) < 0) {
		pvb_control_qp_lose(cqp, "an answer is out of turn");
		return;
	}
	requests->of[next % PVB_CONTROL_CREDITS].status = message->status;
	atomic_store_explicit(&requests->answered, next, memory_order_release);
	pvb_control_wake(cqp);
}

static void pvb_control_received(struct pvb_control_recv *recv, uint32_t len)
{
	struct pvb_control_qp *cqp = recv->control_qp;
	struct pvb_wire_message message;
	uint32_t at;

	if (!cqp->qp || atomic_load(&cqp->lost)) /* closed meanwhile */
		return;
	if (!pvb_wire_parse(&message, recv->buf, len)) {
		pvb_control_qp_lose(cqp, "a message cannot be understood");
		return;
	}
	if (!pvb_wire_is_request(&message)) {
		if (message.kind == PVB_WIRE_REPLAY)
			cqp->control->target->replay(cqp, &message);
		else
			pvb_control_answer(cqp, &message);
		if (pvb_control_qp_receive(recv))
			pvb_control_qp_lose(cqp, "a receive cannot be posted");
		return;
	}
	if (cqp->inbox_count == PVB_CONTROL_CREDITS) {
		pvb_control_qp_lose(cqp, "more requests than agreed on");
		return;
	}
	at = (cqp->inbox_head + cqp->inbox_count++) % PVB_CONTROL_CREDITS;
	cqp->inbox[at] = recv;
	cqp->inbox_len[at] = len;
	if (cqp->inbox_state == PVB_INBOX_EMPTY)
		cqp->control->target->request(cqp);
}

static void pvb_control_completed(const struct ibv_wc *wc)
{
	struct pvb_control_recv *recv = NULL;
	struct pvb_control_qp *cqp;

	if (wc->wr_id & 1) {
		cqp = (struct pvb_control_qp *)(uintptr_t)(wc->wr_id & ~1ull);
		atomic_fetch_add(&cqp->sent, 1);
		pvb_control_qp_answer_owed(cqp);
	} else {
		recv = (struct pvb_control_recv *)(uintptr_t)wc->wr_id;
		cqp = recv->control_qp;
		cqp->receives--;
	}
	if (wc->status != IBV_WC_SUCCESS) {
		pvb_control_qp_lose(cqp, ibv_wc_status_str(wc->status));
		pvb_control_wake(cqp);
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

	crn_mutex_assert_held(&control->lock);
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

/* Called with the lock held. */
static void pvb_control_look(struct pvb_control *control)
{
	crn_mutex_assert_held(&control->lock);
	control->target->retry(control);
	pvb_control_poll(control);
}

void pvb_turn_begin(struct pvb_control *control, struct pvb_turn *turn)
{
	crn_mutex_assert_held(&control->lock);
	crn_list_add_tail(&control->ready, &turn->entry);
	atomic_fetch_add(&control->runnable, 1);
}

void pvb_turn_end(struct pvb_control *control, struct pvb_turn *turn)
{
	crn_mutex_assert_held(&control->lock);
	crn_list_del(&turn->entry);
	atomic_fetch_sub(&control->runnable, 1);
}

void pvb_control_pass(struct pvb_control *control)
{
	crn_mutex_assert_held(&control->lock);
	if (crn_list_empty(&control->ready))
		return;
	if (control->threaded)
		pvb_control_thread_pass(control);
	else
		crn_wait_signal(&control->cq->wait);
}

/* A piece, or several small ones. Called with the lock held, which it gives up meanwhile.
 */
static void pvb_control_work(struct pvb_control *control)
{
	struct pvb_turn *turn;
	uint64_t done = 0;

	crn_mutex_assert_held(&control->lock);
	/* A small request is not split only because others were executed before it. */
	while (done < PVB_PIECE / 2 && !crn_list_empty(&control->ready)) {
		turn = crn_container_of(control->ready.next, struct pvb_turn, entry);
		done += turn->run(turn, PVB_PIECE);
	}
	pvb_control_pass(control);
}

bool pvb_control_take(struct pvb_control *control)
{
	if (pthread_mutex_trylock(&control->lock))
		return false;
	pvb_control_look(control);
	pvb_control_pass(control);
	pthread_mutex_unlock(&control->lock);
	return true;
}

bool pvb_control_progress(struct pvb_control *control)
{
	if (pthread_mutex_trylock(&control->lock))
		return false;
	pvb_control_look(control);
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
	/* Signaled when a device queue was added. */
	crn_wait_clear(&control->cq->wait);
	pvb_tick_seen(control);
	while (!ibv_get_cq_event(control->cq->channel, &cq, &context))
		ibv_ack_cq_events(cq, 1);
	for (i = 0; i < control->cq->hw_count && !ret; i++)
		ret = -ibv_req_notify_cq(control->cq->hw[i]->cq, 0);
	/* What came before the arming raises no event. */
	pvb_control_look(control);
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

bool pvb_control_drain(struct pvb_control_qp *cqp, uint64_t deadline_ms)
{
	struct pvb_control *control = cqp->control;
	bool any, drained = true;

	pthread_mutex_lock(&control->lock);
	atomic_store(&cqp->lost, true);
	control->target->end(cqp);
	while (cqp->receives || cqp->sends != atomic_load(&cqp->sent)) {
		any = pvb_control_poll(control);
		if (any)
			continue;
		if (crn_now_ms() >= deadline_ms) {
			PVB_WARN(FI_LOG_EP_CTRL,
				 "control queue pair 0x%x does not return what was "
				 "posted\n",
				 cqp->ibv->qp_num);
			drained = false;
			break;
		}
		sched_yield();
	}
	crn_list_del(&cqp->entry);
	cqp->qp = NULL;
	pthread_mutex_unlock(&control->lock);
	return drained;
}
