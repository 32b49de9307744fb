/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include <cairn/compat.h>

#include "log.h"
#include "node.h"

/* Loads up to this are told as they are; of others three bits are. */
#define LOAD_EXACT 8u

static uint32_t load_round(uint32_t connections)
{
	uint32_t unit = 1;

	while (connections / unit >= LOAD_EXACT)
		unit *= 2;
	return connections / unit * unit;
}

uint64_t frt_time_of_day(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The main thread sleeps while a worker works. */
static void nudge(struct frt_node *node)
{
	const uint64_t one = 1;

	if (node->workers > 1 && write(node->nudge, &one, sizeof(one)) < 0)
		return; /* It has been nudged often enough. */
}

static void load(struct frt_node *node, uint32_t connections)
{
	const bool told = load_round(connections) != load_round(node->load);

	node->load = connections;
	if (!told)
		return;
	node->changed = true;
	nudge(node);
}

bool frt_node_load_add(struct frt_node *node, uint32_t most)
{
	bool fits;

	crn_lock(&node->shared);
	fits = node->load < most;
	if (fits)
		load(node, node->load + 1);
	crn_unlock(&node->shared);
	return fits;
}

void frt_node_load_sub(struct frt_node *node)
{
	crn_lock(&node->shared);
	load(node, node->load - 1);
	crn_unlock(&node->shared);
}

void frt_node_count(struct frt_node *node, uint64_t *counter)
{
	crn_lock(&node->shared);
	++*counter;
	crn_unlock(&node->shared);
}

void frt_node_guests(struct frt_node *node, int more)
{
	crn_lock(&node->shared);
	node->guests += (uint32_t)more;
	crn_unlock(&node->shared);
}

void frt_node_failed(struct frt_node *node)
{
	crn_lock(&node->shared);
	node->failed = true;
	nudge(node);
	crn_unlock(&node->shared);
}

/* Below so many connections memory stays. */
#define TRIM_LOAD 64u

void frt_node_trim(struct frt_node *node)
{
	uint32_t load;

	crn_lock(&node->shared);
	load = node->load;
	crn_unlock(&node->shared);
	node->load_most = CRN_MAX(node->load_most, load);
	if (node->load_most < TRIM_LOAD || load > node->load_most / 2)
		return;
	node->load_most = load < TRIM_LOAD / 2 ? 0 : load;
	malloc_trim(0);
}

uint32_t frt_node_load_told(const struct frt_node *node)
{
	return load_round(node->load);
}

void frt_node_drain(struct frt_node *node, bool drain)
{
	node->changed |= drain != node->drain;
	node->drain = drain;
}

/* --- Descriptors --- */

/* So many are kept, of those that there may be. */
#define KEPT_LEAST 8u
#define KEPT_MOST 64u
#define KEPT_PART 16u

/* The kernel gives the lowest that is free: below it are none. False: there is none. */
static bool lowest_free(rlim_t *lowest)
{
	int fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);

	if (fd < 0 && errno == EBADF)
		fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	*lowest = (rlim_t)fd;
	close(fd);
	return true;
}

static void say_scarce(struct frt_node *node, bool scarce, rlim_t limit)
{
	bool changed;

	crn_lock(&node->shared);
	changed = node->scarce != scarce;
	node->scarce = scarce;
	crn_unlock(&node->shared);
	if (changed && scarce)
		frt_log(FRT_ERROR,
			"descriptors run out: of %llu all but the last are in use; new "
			"connections are refused until some end (raise its limit of "
			"open files)",
			(unsigned long long)limit);
	else if (changed)
		frt_log(FRT_INFO, "there are descriptors again");
}

bool frt_node_descriptors(struct frt_node *node, bool neighbour)
{
	struct rlimit limit;
	rlim_t kept, lowest;
	bool left;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return true;
	kept = CRN_MAX(CRN_MIN(limit.rlim_cur / KEPT_PART, (rlim_t)KEPT_MOST),
		       (rlim_t)KEPT_LEAST);
	left = lowest_free(&lowest);
	if (!neighbour)
		say_scarce(node, !left || lowest + kept >= limit.rlim_cur,
			   limit.rlim_cur);
	else
		kept /= 2;
	return left && lowest + kept < limit.rlim_cur;
}

void frt_node_reserve_drop(struct frt_node *node)
{
	while (node->reserved)
		close(node->reserve[--node->reserved]);
}

static uint32_t reserve_wanted(rlim_t limit)
{
	return (uint32_t)CRN_MIN(limit / KEPT_PART, (rlim_t)FRT_RESERVE);
}

void frt_node_reserve(struct frt_node *node)
{
	struct rlimit limit;
	uint32_t wanted;
	int fd;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	if (node->reserve_limit != limit.rlim_cur)
		frt_node_reserve_drop(node);
	node->reserve_limit = limit.rlim_cur;
	wanted = reserve_wanted(limit.rlim_cur);
	while (node->reserved < wanted) {
		fd = fcntl(node->nudge, F_DUPFD_CLOEXEC, (int)(limit.rlim_cur - wanted));
		if (fd < 0)
			return;
		node->reserve[node->reserved++] = fd;
	}
}

bool frt_node_reserve_use(struct frt_node *node)
{
	if (!node->reserved)
		return false;
	close(node->reserve[--node->reserved]);
	return true;
}

struct frt_device *frt_node_device(const struct frt_node *node, uint32_t scope_as,
				   uint32_t subnet)
{
	uint32_t i;

	for (i = 0; i < node->devices; i++)
		if (node->device[i]->id.scope_as == scope_as &&
		    node->device[i]->id.subnet == subnet)
			return node->device[i];
	return NULL;
}

struct rte_net_id frt_net_id(const struct rte_config_device *device)
{
	struct rte_net_id id = {.scope_as = device->at.as, .subnet = device->at.subnet};

	if (id.scope_as == RTE_AS_WAN && device->peer_as)
		id.scope_as = device->peer_as;
	return id;
}

/* --- Clients --- */

static struct frt_client *client_get(struct frt_node *node,
				     const struct frt_device *device,
				     const union crn_addr *address)
{
	struct frt_client *client;
	struct crn_list *entry;

	crn_list_for_each (entry, &node->clients) {
		client = crn_container_of(entry, struct frt_client, entry);
		if (client->device == device &&
		    crn_addr_same_host(&client->address.sa, &address->sa)) {
			client->peers++;
			return client;
		}
	}
	client = calloc(1, sizeof(*client));
	if (!client)
		return NULL;
	client->device = device;
	client->address = *address;
	client->peers = 1;
	crn_list_add_tail(&node->clients, &client->entry);
	return client;
}

/* As the file says now. */
static void client_quotas(const struct frt_node *node, struct frt_client *client)
{
	const struct rte_config_router *router = &frt_config(node)->router;

	atomic_store(&client->slots.limit, router->slots);
	atomic_store(&client->resolves.limit, router->resolves);
}

struct frt_client *frt_client_get(struct frt_node *node, const struct frt_device *device,
				  const union crn_addr *address)
{
	struct frt_client *client;

	crn_lock(&node->shared);
	client = client_get(node, device, address);
	if (client)
		client_quotas(node, client);
	crn_unlock(&node->shared);
	return client;
}

static void client_count(const struct frt_client *client, struct frt_counters *counters)
{
	counters->quota_slots += atomic_load(&client->slots.reached);
	counters->quota_resolves += atomic_load(&client->resolves.reached);
}

void frt_clients_count(const struct frt_node *node, struct frt_counters *counters)
{
	const struct crn_list *entry;

	crn_list_for_each (entry, &node->clients)
		client_count(crn_container_of(entry, struct frt_client, entry), counters);
}

void frt_client_put(struct frt_node *node, struct frt_client *client)
{
	bool last;

	if (!client)
		return;
	crn_lock(&node->shared);
	last = !--client->peers;
	if (last) {
		crn_list_del(&client->entry);
		client_count(client, &node->counters);
	}
	crn_unlock(&node->shared);
	if (last)
		free(client);
}

/* --- Files --- */

struct frt_file *frt_file_new(struct rte_config *config)
{
	struct frt_file *file = calloc(1, sizeof(*file));

	if (file) {
		file->config = config;
		file->users = 1;
	}
	return file;
}

struct frt_file *frt_file_use(struct frt_file *file)
{
	file->users++;
	return file;
}

void frt_file_put(struct frt_file *file)
{
	if (!file || --file->users)
		return;
	rte_config_free(file->config);
	free(file);
}
