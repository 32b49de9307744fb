/* SPDX-License-Identifier: BSD-2-Clause */
/* Choices made under running programs, and the power failure. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "engine/engine.h"
#include "model.h"
#include "step.h"

/* Of what is possible, this much is looked at. */
#define SVB_LOOK 64u
/* Most choices in a row: the program is to go on. */
#define SVB_TURN 64
/* And most of these before it sleeps: a request may wait for the other side. */
#define SVB_TURNS 1000

/* Bytes of a list of choices that is printed. */
#define SVB_LIST_LINE 100u

/* A process that does not heed the signal is killed after that, ns. One that does may
 * stand still for a while, and has its own exit status all the same. */
#define SVB_POWER_PATIENCE 20000000000ull

/* What this process had run when it made a choice last, ns. */
static uint64_t svb_ran_at_turn;

static void svb_power_gone(int signal)
{
	_exit(SVB_POWER_STATUS);
}

void svb_model_arm(void)
{
	struct sigaction action;

	/* A program that uses the signal itself is killed. */
	if (sigaction(SIGPWR, NULL, &action) || action.sa_handler != SIG_DFL)
		return;
	action = (struct sigaction){.sa_handler = svb_power_gone};
	sigaction(SIGPWR, &action, NULL);
}

/* No signal reaches a process of another PID namespace: its service thread finds that the
 * machine is off, and ends it. */
static void svb_signal_far(uint32_t token)
{
	struct svb_seg *seg = svb_seg_of(svb_token_index(token));

	if (seg)
		svb_engine_wake(seg);
}

/* How many others on the machine live and get signals, after a signal to each. */
static uint32_t svb_signal_users(const struct svb_shared *shared, int signal)
{
	uint32_t i, pid, token, count = 0;

	for (i = 0; i < SVB_MEDIUM_USERS; i++) {
		token = shared->user[i];
		if (!token || token == svb_lock_token || !svb_registry_alive(token))
			continue;
		pid = svb_registry_pid(svb_token_index(token));
		count += pid != 0;
		if (signal && pid)
			kill((pid_t)pid, signal);
		else if (signal)
			svb_signal_far(token);
	}
	return count;
}

static void svb_end_users(const struct svb_shared *shared)
{
	static const struct timespec moment = {.tv_nsec = 1000000};
	uint64_t end = svb_now() + SVB_POWER_PATIENCE;

	svb_signal_users(shared, SIGPWR);
	while (svb_signal_users(shared, svb_now() > end ? SIGKILL : 0))
		nanosleep(&moment, NULL);
}

static bool svb_write_list(const char *name, const char *text)
{
	FILE *file = fopen(name, "we");
	bool written;

	if (!file)
		return false;
	written = fprintf(file, "%s\n", text) > 0;
	return !fclose(file) && written;
}

/* A list too long for a line of a terminal goes to a file beside the persistent one. */
static void svb_tell_list(const struct svb_shared *shared)
{
	char *text = svb_picks_text(&shared->picks), name[sizeof(shared->file) + 16];

	snprintf(name, sizeof(name), "%s.choices", shared->file);
	if (!text)
		fprintf(stderr, "simverbs: too many choices to list them\n");
	else if (strlen(text) <= SVB_LIST_LINE)
		fprintf(stderr, "simverbs: to replay it: --choices %s\n", text);
	else if (svb_write_list(name, text))
		fprintf(stderr, "simverbs: to replay it: --choices @%s\n", name);
	else
		fprintf(stderr, "simverbs: the choices cannot be written to %s: %s\n",
			name, strerror(errno));
	free(text);
}

static void svb_power_fail(struct svb_medium *medium, uint32_t seed)
{
	struct svb_shared *shared = medium->shared;

	svb_machine_sweep(&medium->machine, seed);
	svb_machine_fail(&medium->machine);
	shared->off = 1;
	fprintf(stderr, "simverbs: the power of the machine with %s fails at choice %u\n",
		shared->file, shared->picks.made);
	svb_tell_list(shared);
	svb_end_users(shared);
	if (medium->member) {
		svb_unlock(&shared->lock);
		_exit(SVB_POWER_STATUS);
	}
}

static void svb_touch(struct svb_touched *touched, uint32_t qpn)
{
	uint32_t i;

	for (i = 0; i < touched->count; i++)
		if (touched->qpn[i] == qpn)
			return;
	if (qpn && touched->count < SVB_TOUCHED)
		touched->qpn[touched->count++] = qpn;
}

static void svb_tick(struct svb_medium *medium, struct svb_touched *touched)
{
	const struct svb_machine_state *state = &medium->shared->state;
	uint32_t i;

	for (i = 0; i < state->requests; i++)
		svb_touch(touched, state->request[i].qp);
	svb_picks_note(&medium->shared->picks, SVB_PICK(SVB_PICK_TICK, 0));
	svb_machine_settle(&medium->machine, 0);
}

/* A list that does not fit what the programs do is of another run. */
static bool svb_pick_fits(struct svb_medium *medium, uint32_t pick, uint32_t possible)
{
	if (SVB_PICK_KIND(pick) <= SVB_PICK_FAIL &&
	    (SVB_PICK_KIND(pick) != SVB_PICK_ONE || SVB_PICK_NUMBER(pick) <= possible))
		return true;
	fprintf(stderr,
		"simverbs: choice %u of the list is not possible: not the same run\n",
		medium->shared->picks.made + 1);
	medium->shared->picks.listed = medium->shared->picks.made;
	return false;
}

/* What this process has run, ns. */
static uint64_t svb_ran(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void svb_model_turn(struct svb_medium *medium, uint32_t qpn, struct svb_touched *touched)
{
	struct svb_shared *shared = medium->shared;
	struct svb_choice choices[SVB_LOOK];
	uint32_t possible, moves, pick;
	int i;

	shared->moved = svb_now();
	svb_ran_at_turn = svb_ran();
	for (i = 0; i < SVB_TURN; i++) {
		while (svb_picks_tick(&shared->picks)) {
			svb_model_only(medium, 0);
			svb_tick(medium, touched);
			svb_model_only(medium, qpn);
		}
		possible = svb_machine_enabled(&medium->machine, choices, SVB_LOOK);
		for (moves = 0; moves < possible; moves++)
			if (choices[moves].kind == SVB_CHOICE_DRAIN)
				break;
		pick = medium->chooser.pick(medium->chooser.ctx, moves, possible - moves);
		if (!svb_pick_fits(medium, pick, possible))
			pick = SVB_PICK(SVB_PICK_NONE, 0);
		svb_picks_note(&shared->picks, pick);
		switch (SVB_PICK_KIND(pick)) {
		case SVB_PICK_ONE:
			svb_touch(touched, choices[SVB_PICK_NUMBER(pick) - 1].qp);
			svb_machine_apply(&medium->machine,
					  &choices[SVB_PICK_NUMBER(pick) - 1]);
			break;
		case SVB_PICK_SWEEP:
			svb_machine_sweep(&medium->machine, SVB_PICK_NUMBER(pick));
			break;
		case SVB_PICK_FAIL:
			svb_power_fail(medium, SVB_PICK_NUMBER(pick));
			return;
		default:
			return;
		}
	}
}

void svb_model_advance(const struct svb_touched *touched)
{
	struct svb_qp_sh *qp;
	struct svb_seg *seg;
	uint32_t i;

	svb_engine_flush_marked();
	for (i = 0; i < touched->count; i++) {
		seg = svb_seg_of(SVB_QP_PROC(touched->qpn[i]));
		qp = seg ? svb_seg_qp_try(seg, SVB_QP_SLOT(touched->qpn[i])) : NULL;
		if (qp && svb_get(qp->qpn) == touched->qpn[i])
			svb_engine_run(seg, qp);
	}
}

/* Is something of this process under way? Of others that concerns it? */
static bool svb_under_way(const struct svb_machine_state *state, bool others)
{
	uint32_t i;

	for (i = 0; i < state->requests; i++)
		if (SVB_QP_PROC(state->request[i].qp) == svb_self.index ||
		    (others && svb_model_reaches(&state->request[i])))
			return true;
	return false;
}

/* Has nothing happened for too long? A list says itself when, as long as it lasts. */
static bool svb_may_tick(const struct svb_shared *shared)
{
	uint64_t quiet = svb_now() - shared->moved;

	if (!svb_under_way(&shared->state, true) || quiet < SVB_MODEL_PATIENCE ||
	    shared->picks.made < shared->picks.listed)
		return false;
	return quiet > SVB_MODEL_PATIENCE_ASLEEP ||
	       svb_ran() - svb_ran_at_turn > SVB_MODEL_PATIENCE_RUN;
}

static void svb_model_look(struct svb_medium *medium, bool poll)
{
	struct svb_shared *shared = medium->shared;
	struct svb_touched touched = {0};

	svb_lock(&shared->lock);
	if (shared->off && medium->member)
		_exit(SVB_POWER_STATUS);
	svb_model_only(medium, 0);
	if (!shared->off && !shared->explore) {
		if (svb_may_tick(shared))
			svb_tick(medium, &touched);
		else if (poll && svb_under_way(&shared->state, false))
			svb_model_turn(medium, 0, &touched);
	}
	svb_unlock(&shared->lock);
	svb_model_advance(&touched);
}

/* Queues of this process that the machine let go on, whoever made the choice. */
static void svb_model_catch_up(void)
{
	struct svb_qp_sh *qp;
	uint32_t i;

	for (i = 0; i < svb_self.seg->limit[SVB_TAB_QP]; i++) {
		if (!svb_self.qp[i])
			continue;
		qp = svb_seg_qp(svb_self.seg, i);
		if (qp->sq.next != qp->sq.head && !svb_get(qp->sq.wait))
			svb_engine_run(svb_self.seg, qp);
	}
}

void svb_model_poll(void)
{
	struct svb_medium *medium;
	int i;

	for (i = 0; (medium = svb_medium_at(i)); i++)
		svb_model_look(medium, true);
	svb_model_catch_up();
}

void svb_model_rest(void)
{
	struct svb_medium *medium;
	int i, turns;

	for (i = 0; (medium = svb_medium_at(i)); i++)
		for (turns = 0; turns < SVB_TURNS && !medium->shared->explore &&
				svb_under_way(&medium->shared->state, false);
		     turns++)
			svb_model_look(medium, true);
	svb_model_catch_up();
}

void svb_model_tick(void)
{
	struct svb_medium *medium;
	int i;

	for (i = 0; (medium = svb_medium_at(i)); i++) {
		svb_model_look(medium, false);
		if (svb_under_way(&medium->shared->state, true) &&
		    !medium->shared->explore)
			svb_engine_deadline(svb_self.seg, svb_now() + SVB_MODEL_PATIENCE);
	}
}

void svb_model_settle(uint32_t qpn)
{
	struct svb_medium *medium;
	int i;

	for (i = 0; (medium = svb_medium_at(i)); i++) {
		svb_lock(&medium->shared->lock);
		svb_model_only(medium, 0);
		if (!medium->shared->off)
			svb_machine_settle(&medium->machine, qpn);
		svb_unlock(&medium->shared->lock);
	}
	svb_engine_flush_marked();
}

void svb_model_stop(struct svb_medium *medium)
{
	/* Whoever they belong to. */
	medium->machine.ctx = NULL;
	svb_machine_settle(&medium->machine, 0);
	svb_machine_drain(&medium->machine);
}
