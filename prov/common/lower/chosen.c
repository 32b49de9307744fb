/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The one thing that fi_getinfo keeps for fi_fabric. A program chooses the lower provider
 * by the prov_name of its hints; what it opens later has the layer's own name as
 * prov_name, which libfabric put there, and the name of a fabric, which several providers
 * may have (tcp and sockets do). So the choice is kept with that name.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <rdma/fi_errno.h>
#include <cairn/list.h>
#include "internal.h"

struct chosen {
	struct crn_list entry;
	const struct crn_lower_layer *layer;
	char *lower;
	char fabric[];
};

static pthread_mutex_t chosen_lock = PTHREAD_MUTEX_INITIALIZER;
static struct crn_list chosen_list = {&chosen_list, &chosen_list};

static struct chosen *chosen_find(const struct crn_lower_layer *layer, const char *fabric)
{
	struct crn_list *entry;
	struct chosen *chosen;

	crn_list_for_each (entry, &chosen_list) {
		chosen = crn_container_of(entry, struct chosen, entry);
		if (chosen->layer == layer && !strcmp(chosen->fabric, fabric))
			return chosen;
	}
	return NULL;
}

static struct chosen *chosen_add(const struct crn_lower_layer *layer, const char *fabric)
{
	struct chosen *chosen = calloc(1, sizeof(*chosen) + strlen(fabric) + 1);

	if (!chosen)
		return NULL;
	chosen->layer = layer;
	strcpy(chosen->fabric, fabric);
	crn_list_add_tail(&chosen_list, &chosen->entry);
	return chosen;
}

int lower_remember(const struct crn_lower_layer *layer, const char *fabric,
		   const char *lower)
{
	char *copy = strdup(lower);
	struct chosen *chosen;

	if (!copy)
		return -FI_ENOMEM;
	pthread_mutex_lock(&chosen_lock);
	chosen = chosen_find(layer, fabric);
	if (!chosen)
		chosen = chosen_add(layer, fabric);
	if (chosen) {
		free(chosen->lower);
		chosen->lower = copy;
	}
	pthread_mutex_unlock(&chosen_lock);
	if (chosen)
		return 0;
	free(copy);
	return -FI_ENOMEM;
}

int lower_recall(const struct crn_lower_layer *layer, const char *fabric, char **lower)
{
	struct chosen *chosen;

	*lower = NULL;
	pthread_mutex_lock(&chosen_lock);
	chosen = chosen_find(layer, fabric);
	if (chosen)
		*lower = strdup(chosen->lower);
	pthread_mutex_unlock(&chosen_lock);
	return chosen && !*lower ? -FI_ENOMEM : 0;
}

void crn_lower_cleanup(const struct crn_lower_layer *layer)
{
	struct crn_list *entry, *next;
	struct chosen *chosen;

	pthread_mutex_lock(&chosen_lock);
	crn_list_for_each_safe (entry, next, &chosen_list) {
		chosen = crn_container_of(entry, struct chosen, entry);
		if (chosen->layer != layer)
			continue;
		crn_list_del(entry);
		free(chosen->lower);
		free(chosen);
	}
	pthread_mutex_unlock(&chosen_lock);
}
