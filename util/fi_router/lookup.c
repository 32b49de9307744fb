/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <rdma/fi_errno.h>
#include <cairn/compat.h>
#include <cairn/thread.h>

#include "lookup.h"

#define LOOKUPS_MOST 16u
/* Addresses of a name that are looked at. */
#define ADDRESSES_MOST 16u

struct frt_lookup {
	struct crn_list entry; /* of node->lookups */
	/* NULL: it was cancelled. */
	void (*done)(void *context, int ret, const union crn_addr *addr);
	void *context;
	/* The thread reads these, and sets the next three. */
	char host[RTE_HOST_MAX + 1], service[8];
	uint32_t turn; /* which of its addresses */
	int family, wake;
	int ret;
	union crn_addr addr;
	atomic_bool over;
};

int frt_lookups_open(struct frt_node *node)
{
	crn_list_init(&node->lookups);
	node->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return node->wake < 0 ? -errno : 0;
}

void frt_lookups_close(struct frt_node *node)
{
	/* A thread that is still at it writes to the descriptor. */
	frt_lookups_run(node);
	if (node->wake >= 0 && crn_list_empty(&node->lookups))
		close(node->wake);
	node->wake = -1;
}

void frt_lookups_run(struct frt_node *node)
{
	struct frt_lookup *lookup;
	struct crn_list *entry, *next;
	uint64_t count;

	if (crn_list_empty(&node->lookups) ||
	    read(node->wake, &count, sizeof(count)) != sizeof(count))
		return;
	/* No more than have been counted: there is one for each that still will be. */
	crn_list_for_each_safe (entry, next, &node->lookups) {
		lookup = crn_container_of(entry, struct frt_lookup, entry);
		if (!count || !atomic_load(&lookup->over))
			continue;
		count--;
		crn_list_del(&lookup->entry);
		node->lookup_count--;
		if (lookup->done)
			lookup->done(lookup->context, lookup->ret, &lookup->addr);
		free(lookup);
	}
}

static void *look_up(void *arg)
{
	const uint64_t one = 1;
	struct frt_lookup *lookup = arg;
	const int wake = lookup->wake;
	union crn_addr addr[ADDRESSES_MOST];
	ssize_t ret;

	lookup->ret = crn_addr_resolve_all(lookup->host, lookup->service, lookup->family,
					   addr, ADDRESSES_MOST);
	if (lookup->ret > 0) {
		lookup->addr = addr[lookup->turn % (uint32_t)lookup->ret];
		lookup->ret = 0;
	}
	atomic_store(&lookup->over, true);
	/* From here on it may be freed. */
	ret = write(wake, &one, sizeof(one));
	(void)ret;
	return NULL;
}

static int family_of(const struct rte_net *net)
{
	switch (net->info->addr_format) {
	case FI_SOCKADDR_IN:
		return AF_INET;
	case FI_SOCKADDR_IN6:
		return AF_INET6;
	default:
		return AF_UNSPEC;
	}
}

int frt_lookup_start(struct frt_node *node, const struct rte_net *net,
		     const struct rte_uri *uri, uint32_t turn,
		     void (*done)(void *context, int ret, const union crn_addr *addr),
		     void *context, struct frt_lookup **out)
{
	struct frt_lookup *lookup;
	pthread_t thread;

	if (node->lookup_count == LOOKUPS_MOST)
		return -FI_EAGAIN;
	lookup = calloc(1, sizeof(*lookup));
	if (!lookup)
		return -FI_ENOMEM;
	lookup->done = done;
	lookup->context = context;
	lookup->turn = turn;
	lookup->family = family_of(net);
	lookup->wake = node->wake;
	snprintf(lookup->host, sizeof(lookup->host), "%s", uri->host);
	snprintf(lookup->service, sizeof(lookup->service), "%u", uri->port);
	if (crn_thread_create(&thread, look_up, lookup)) {
		free(lookup);
		return -FI_EAGAIN;
	}
	pthread_detach(thread);
	crn_list_add_tail(&node->lookups, &lookup->entry);
	node->lookup_count++;
	*out = lookup;
	return 0;
}

void frt_lookup_cancel(struct frt_lookup *lookup)
{
	lookup->done = NULL;
}
