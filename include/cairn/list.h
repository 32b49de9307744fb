/* SPDX-License-Identifier: BSD-2-Clause */
/* Intrusive circular doubly linked list. An entry that is in no list points to itself. */
#ifndef CRN_LIST_H
#define CRN_LIST_H

#include <stdbool.h>
#include <cairn/compat.h>

struct crn_list {
	struct crn_list *next;
	struct crn_list *prev;
};

static inline void crn_list_init(struct crn_list *list)
{
	list->next = list;
	list->prev = list;
}

static inline bool crn_list_empty(const struct crn_list *list)
{
	return list->next == list;
}

static inline void crn_list_add_tail(struct crn_list *list, struct crn_list *entry)
{
	entry->prev = list->prev;
	entry->next = list;
	list->prev->next = entry;
	list->prev = entry;
}

/* Takes the entry out of whichever list it is in; harmless when it is in none. */
static inline void crn_list_del(struct crn_list *entry)
{
	entry->prev->next = entry->next;
	entry->next->prev = entry->prev;
	crn_list_init(entry);
}

/* The first entry taken out, or NULL when the list is empty. */
static inline struct crn_list *crn_list_pop(struct crn_list *list)
{
	struct crn_list *entry = list->next;

	if (entry == list)
		return NULL;
	crn_list_del(entry);
	return entry;
}

#define crn_list_for_each(pos, list) \
	for ((pos) = (list)->next; (pos) != (list); (pos) = (pos)->next)

/* The body may remove pos. */
#define crn_list_for_each_safe(pos, tmp, list)                           \
	for ((pos) = (list)->next, (tmp) = (pos)->next; (pos) != (list); \
	     (pos) = (tmp), (tmp) = (pos)->next)

#endif
