/* SPDX-License-Identifier: BSD-2-Clause */
/* What the test holds back, and lets go in an order of its own. */
#include <stdlib.h>
#include <string.h>
#include "world.h"

static struct crn_list held_items = {&held_items, &held_items};
static unsigned int holding;

static struct scr_work *work_of(struct scr_held *held)
{
	return crn_container_of(held, struct scr_work, held);
}

static struct scr_event *event_of(struct scr_held *held)
{
	return crn_container_of(held, struct scr_event, held);
}

bool scr_held_take(struct scr_held *held, enum scr_what what)
{
	if (!(holding & what))
		return false;
	held->what = what;
	crn_list_add_tail(&held_items, &held->entry);
	return true;
}

void scr_held_forget(struct scr_held *held)
{
	crn_list_del(&held->entry);
}

void scr_held_drop_events(const struct fid *about)
{
	struct crn_list *pos, *next;
	struct scr_held *held;

	crn_list_for_each_safe (pos, next, &held_items) {
		held = crn_container_of(pos, struct scr_held, entry);
		if (held->what == SCR_EVENTS && event_of(held)->about == about)
			scr_event_free(event_of(held));
	}
}

static struct scr_held *held_at(unsigned int i)
{
	struct crn_list *pos;

	crn_list_for_each (pos, &held_items)
		if (!i--)
			return crn_container_of(pos, struct scr_held, entry);
	return NULL;
}

/* It goes on. */
static void let_go(struct scr_held *held)
{
	scr_held_forget(held);
	switch (held->what) {
	case SCR_ARRIVALS:
		scr_work_arrive(work_of(held));
		break;
	case SCR_COMPLETIONS:
		scr_work_report(work_of(held));
		break;
	case SCR_EVENTS:
		scr_event_write(event_of(held));
		break;
	}
}

void scr_hold(unsigned int what)
{
	scr_lock();
	holding = what;
	scr_unlock();
}

unsigned int scr_held(void)
{
	struct crn_list *pos;
	unsigned int count = 0;

	scr_lock();
	crn_list_for_each (pos, &held_items)
		count++;
	scr_unlock();
	return count;
}

bool scr_held_at(unsigned int i, struct scr_held_item *item)
{
	struct scr_held *held;

	memset(item, 0, sizeof(*item));
	scr_lock();
	held = held_at(i);
	if (held && held->what == SCR_EVENTS) {
		item->fid = event_of(held)->about;
		item->event = event_of(held)->event;
		item->len = event_of(held)->len;
	} else if (held) {
		item->fid = &work_of(held)->ep->fid.fid;
		item->op = work_of(held)->op;
		item->context = work_of(held)->context;
		item->len = held->what == SCR_ARRIVALS ? work_of(held)->len
						       : work_of(held)->done_len;
	}
	if (held)
		item->what = held->what;
	scr_unlock();
	return held;
}

bool scr_let_go(unsigned int i)
{
	struct scr_held *held;

	scr_lock();
	held = held_at(i);
	if (held)
		let_go(held);
	scr_unlock();
	return held;
}

void scr_let_all_go(void)
{
	struct scr_held *held;

	scr_lock();
	holding = 0;
	while ((held = held_at(0)))
		let_go(held);
	scr_unlock();
}

static bool fail(struct scr_work *work, int err, int prov_errno, const void *err_data,
		 size_t err_data_size)
{
	void *copy = NULL;

	if (err_data_size) {
		copy = malloc(err_data_size);
		if (!copy)
			return false;
		memcpy(copy, err_data, err_data_size);
	}
	free(work->err_data);
	work->err_data = copy;
	work->err_data_size = err_data_size;
	work->err = err;
	work->prov_errno = prov_errno;
	scr_held_forget(&work->held);
	scr_work_report(work);
	return true;
}

bool scr_fail_held(unsigned int i, int err, int prov_errno, const void *err_data,
		   size_t err_data_size)
{
	struct scr_held *held;
	bool done = false;

	scr_lock();
	held = held_at(i);
	if (held && held->what != SCR_EVENTS)
		done = fail(work_of(held), err, prov_errno, err_data, err_data_size);
	scr_unlock();
	return done;
}

/* Works belong to endpoints, which are flushed when they are closed. */
void scr_hold_reset(void)
{
	scr_let_all_go();
}

struct saved {
	struct crn_list objects, held_items;
	unsigned int holding;
};

size_t scr_save(void *to, size_t size)
{
	struct saved saved;

	if (size < sizeof(saved))
		return sizeof(saved);
	memset(&saved, 0, sizeof(saved));
	saved.objects = scr_objects;
	saved.held_items = held_items;
	saved.holding = holding;
	memcpy(to, &saved, sizeof(saved));
	return sizeof(saved);
}

void scr_restore(const void *from)
{
	struct saved saved;

	memcpy(&saved, from, sizeof(saved));
	scr_objects = saved.objects;
	held_items = saved.held_items;
	holding = saved.holding;
}

static uintptr_t about(struct scr_held *held)
{
	if (held->what == SCR_EVENTS)
		return (uintptr_t)event_of(held)->about;
	return (uintptr_t)work_of(held)->ep;
}

static bool goes_before(struct scr_held *a, struct scr_held *b)
{
	if (about(a) != about(b))
		return about(a) < about(b);
	if (a->what != b->what)
		return a->what < b->what;
	return a->what == SCR_COMPLETIONS && work_of(a)->op < work_of(b)->op;
}

void scr_held_sort(void)
{
	struct crn_list sorted, *entry, *pos;
	struct scr_held *held;

	crn_list_init(&sorted);
	while ((entry = crn_list_pop(&held_items))) {
		held = crn_container_of(entry, struct scr_held, entry);
		pos = sorted.prev;
		while (pos != &sorted &&
		       goes_before(held, crn_container_of(pos, struct scr_held, entry)))
			pos = pos->prev;
		crn_list_add_tail(pos->next, entry);
	}
	while ((entry = crn_list_pop(&sorted)))
		crn_list_add_tail(&held_items, entry);
}
