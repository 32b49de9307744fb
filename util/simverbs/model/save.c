/* SPDX-License-Identifier: BSD-2-Clause */
/* The state of the device, for an explorer in its process. */
#include <string.h>
#include "engine/engine.h"
#include "model.h"

uint32_t svb_model_enabled(struct svb_choice *choices, uint32_t max)
{
	struct svb_medium *own = svb_medium_own();

	svb_model_only(own, 0);
	svb_machine_scan(&own->machine);
	return svb_machine_enabled(&own->machine, choices, max);
}

bool svb_model_unseen(const struct svb_choice *choice)
{
	struct svb_qp_sh *qp;
	bool told;

	if (choice->kind == SVB_CHOICE_DRAIN || SVB_QP_PROC(choice->qp) != svb_self.index)
		return false;
	qp = svb_seg_qp(svb_self.seg, SVB_QP_SLOT(choice->qp));
	if (qp->sq.ahead != qp->sq.head)
		return false;
	told = qp->sig_all ||
	       svb_sq_at(svb_self.seg, &qp->sq, choice->seq)->flags & IBV_SEND_SIGNALED;
	return svb_machine_unseen(&svb_medium_own()->machine, choice, !told);
}

void svb_model_apply(const struct svb_choice *choice)
{
	struct svb_touched touched = {.count = choice->qp != 0, .qpn = {choice->qp}};
	struct svb_medium *own = svb_medium_own();

	svb_model_only(own, 0);
	svb_machine_apply(&own->machine, choice);
	svb_model_advance(&touched);
}

void svb_model_fail(void)
{
	svb_machine_fail(&svb_medium_own()->machine);
}

bool svb_model_fail_next(void)
{
	return svb_machine_fail_next(&svb_medium_own()->machine);
}

void svb_model_maybes(struct svb_maybes *maybes)
{
	svb_medium_own()->machine.maybes = maybes;
}

void svb_model_tear(bool tear)
{
	svb_medium_own()->machine.config.tear = tear;
}

const uint8_t *svb_model_medium(void)
{
	return svb_medium_own()->machine.medium;
}

/* One way through the state, in both directions. */
struct svb_walk {
	char *at;
	size_t room, size; /* bytes there are; bytes there would be */
	bool restore;
};

static void svb_walk(struct svb_walk *walk, void *part, size_t size)
{
	walk->size += size;
	if (size > walk->room)
		walk->room = 0;
	if (!walk->room)
		return;
	if (walk->restore)
		memcpy(part, walk->at, size);
	else
		memcpy(walk->at, part, size);
	walk->at += size;
	walk->room -= size;
}

/* The entries of a ring that are in use. Its counters are walked before. */
static void svb_walk_ring(struct svb_walk *walk, struct svb_seg *seg, uint64_t ring,
			  uint32_t from, uint32_t to, uint32_t mask, uint32_t stride)
{
	for (; from != to; from++)
		svb_walk(walk, svb_seg_at(seg, ring + (uint64_t)(from & mask) * stride),
			 stride);
}

static void svb_walk_rq(struct svb_walk *walk, struct svb_seg *seg, struct svb_rq *rq)
{
	svb_walk_ring(walk, seg, rq->ring, rq->done, rq->head, rq->mask, rq->stride);
}

static void svb_walk_queues(struct svb_walk *walk, struct svb_seg *seg)
{
	struct svb_srq_sh *srq;
	struct svb_qp_sh *qp;
	struct svb_cq_sh *cq;
	uint32_t i;

	for (i = 0; i < seg->limit[SVB_TAB_QP]; i++) {
		if (!svb_self.qp[i])
			continue;
		qp = svb_seg_qp(seg, i);
		svb_walk(walk, qp, sizeof(*qp));
		svb_walk_ring(walk, seg, qp->sq.ring, qp->sq.done, qp->sq.head,
			      qp->sq.mask, qp->sq.stride);
		if (!qp->srq)
			svb_walk_rq(walk, seg, &qp->rq);
	}
	for (i = 0; i < seg->limit[SVB_TAB_CQ]; i++) {
		if (!svb_self.cq[i])
			continue;
		cq = svb_seg_cq(seg, i);
		svb_walk(walk, cq, sizeof(*cq));
		svb_walk_ring(walk, seg, cq->ring, cq->head, cq->tail, cq->mask,
			      sizeof(struct svb_cqe));
	}
	for (i = 0; i < seg->limit[SVB_TAB_SRQ]; i++) {
		if (!svb_self.srq[i])
			continue;
		srq = svb_seg_srq(seg, i);
		svb_walk(walk, srq, sizeof(*srq));
		svb_walk_rq(walk, seg, &srq->rq);
	}
}

/* Registered memory that is not persistent: the machine does not keep it. */
static void svb_walk_memory(struct svb_walk *walk, struct svb_seg *seg)
{
	struct svb_mr_sh *mr;
	uint32_t i;

	for (i = 0; i < seg->limit[SVB_TAB_MR]; i++) {
		mr = svb_seg_mr(seg, i);
		if (mr->key && mr->flags == SVB_MR_USED)
			svb_walk(walk, (void *)(uintptr_t)mr->addr, mr->length);
	}
}

static bool svb_leave_memory;

void svb_model_leave_memory(bool leave)
{
	svb_leave_memory = leave;
}

static void svb_walk_all(struct svb_walk *walk)
{
	svb_walk_queues(walk, svb_self.seg);
	if (!svb_leave_memory)
		svb_walk_memory(walk, svb_self.seg);
}

size_t svb_model_save(void *to, size_t size)
{
	struct svb_machine *m = &svb_medium_own()->machine;
	struct svb_walk walk = {.at = to, .room = size};
	size_t machine = svb_machine_save(m, NULL, 0);

	svb_walk_all(&walk);
	if (walk.size + machine <= size)
		svb_machine_save(m, walk.at, machine);
	return walk.size + machine;
}

void svb_model_restore(const void *from)
{
	struct svb_walk walk = {.at = (char *)(uintptr_t)from,
				.room = SIZE_MAX,
				.restore = true};

	svb_walk_all(&walk);
	svb_machine_restore(&svb_medium_own()->machine, walk.at);
}
