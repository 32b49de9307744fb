/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <rdma/fi_errno.h>
#include <cairn/compat.h>
#include "set.h"

static int number_compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* --- Routers --- */

/* By AS, id, and their order in the list. */
static int router_compare(const void *a, const void *b)
{
	const struct rte_place *x = a, *y = b;
	int order = number_compare(x->config->router.as, y->config->router.as);

	if (!order)
		order = number_compare(x->config->router.id, y->config->router.id);
	return order ? order : number_compare(x->host, y->host);
}

static void check_id(const struct rte_set *set, const struct rte_config *a,
		     const struct rte_config *b)
{
	if (a->router.id == b->router.id)
		rte_error(set->errors, b->file, b->router.line, NULL,
			  "%.60s:%u has router id %" PRIu64 " in AS %" PRIu32 ", too",
			  a->file, a->router.line, b->router.id, b->router.as);
}

/* All have the same route map (section VI), so they choose by the same policy. */
static void check_policy(const struct rte_set *set, const struct rte_config *a,
			 const struct rte_config *b)
{
	const struct rte_policy *p = &a->router.policy, *q = &b->router.policy;

	if (p->metrics != q->metrics || p->doc_scale != q->doc_scale ||
	    memcmp(p->metric, q->metric, p->metrics * sizeof(p->metric[0])))
		rte_error(set->errors, b->file, b->router.line,
			  "routers of an AS choose alike",
			  "metric or metric_scale is not that of %.60s:%u", a->file,
			  a->router.line);
}

static int check_routers(struct rte_set *set)
{
	struct rte_place *router = calloc(set->configs, sizeof(*router));
	uint32_t i, count = 0, first = 0;

	if (!router)
		return -FI_ENOMEM;
	for (i = 0; i < set->configs; i++)
		if (set->config[i]->is_router)
			router[count++] = (struct rte_place){
				.config = set->config[i],
				.host = i,
			};
	qsort(router, count, sizeof(*router), router_compare);
	for (i = 0; i < count; i++) {
		if (router[i].config->router.as != router[first].config->router.as)
			first = i;
		if (i == first)
			continue;
		check_id(set, router[i - 1].config, router[i].config);
		check_policy(set, router[first].config, router[i].config);
	}
	for (i = 0; i < count; i++)
		if (!i || router[i].config->router.as != router[i - 1].config->router.as)
			rte_set_check_as(set, router[i].config->router.as);
	free(router);
	return 0;
}

/* --- Subnets --- */

static int place_compare(const void *a, const void *b)
{
	const struct rte_place *x = a, *y = b;
	int order = number_compare(x->device->at.as, y->device->at.as);

	if (!order)
		order = number_compare(x->device->at.subnet, y->device->at.subnet);
	return order ? order : number_compare(x->host, y->host);
}

uint32_t rte_set_end(const struct rte_set *set, uint32_t i)
{
	const struct rte_subnet at = set->place[i].device->at;

	while (i < set->places && set->place[i].device->at.as == at.as &&
	       set->place[i].device->at.subnet == at.subnet)
		i++;
	return i;
}

uint32_t rte_set_begin(const struct rte_set *set, uint32_t i)
{
	const struct rte_subnet at = set->place[i].device->at;

	while (i && set->place[i - 1].device->at.as == at.as &&
	       set->place[i - 1].device->at.subnet == at.subnet)
		i--;
	return i;
}

static bool listens_at(const struct rte_place *place, const struct rte_config_uri *uri)
{
	return place->device->uri.text && !strcmp(place->device->uri.text, uri->text);
}

const struct rte_place *rte_set_router(const struct rte_set *set, uint32_t i,
				       const struct rte_config_uri *uri)
{
	const uint32_t end = rte_set_end(set, i);

	for (i = rte_set_begin(set, i); i < end; i++)
		if (listens_at(&set->place[i], uri))
			return &set->place[i];
	return NULL;
}

/* A public WAN is of no AS, a private one of two. */
static bool same_wan(const struct rte_place *a, const struct rte_place *b)
{
	const uint32_t as = a->config->router.as, peer = a->device->peer_as;

	if (!peer || !b->device->peer_as)
		return peer == b->device->peer_as;
	return (as == b->config->router.as && peer == b->device->peer_as) ||
	       (as == b->device->peer_as && peer == b->config->router.as);
}

static const char *lower_of(const struct rte_place *place)
{
	return rte_transport_attr(place->device->transport)->lower[0];
}

/* With the first of its subnet. */
static void check_alike(const struct rte_set *set, const struct rte_place *a,
			const struct rte_place *b)
{
	const struct rte_config_device *device = b->device;

	if (device->at.as == RTE_AS_WAN && !same_wan(a, b))
		rte_error(set->errors, b->config->file, device->line,
			  "ids of WANs are the same for all AS",
			  "WAN %" PRIu32 " is another than in %.60s:%u",
			  device->at.subnet, a->config->file, a->device->line);
	/* Section III.B: one transport. Those over the same provider reach each other. */
	if (strcmp(lower_of(a), lower_of(b)))
		rte_warning(set->errors, b->config->file, device->line, NULL,
			    "subnet %" PRIu32 ":%" PRIu32
			    " has transport %s here, %s in %.60s:%u",
			    device->at.as, device->at.subnet,
			    rte_transport_attr(device->transport)->name,
			    rte_transport_attr(a->device->transport)->name,
			    a->config->file, a->device->line);
}

static void check_uri(const struct rte_set *set, uint32_t i)
{
	const struct rte_place *place = &set->place[i], *other;

	if (!place->device->uri.text)
		return;
	other = rte_set_router(set, i, &place->device->uri);
	if (other < place)
		rte_error(set->errors, place->config->file, place->device->uri.line, NULL,
			  "%.60s is the uri in %.60s:%u, too", place->device->uri.text,
			  other->config->file, other->device->uri.line);
}

static void check_named(const struct rte_set *set, uint32_t i,
			const struct rte_config_uri *uri)
{
	const struct rte_place *place = &set->place[i];
	char hint[96] = "";
	uint32_t k;

	if (rte_set_router(set, i, uri))
		return;
	for (k = 0; k < set->places && !*hint; k++)
		if (listens_at(&set->place[k], uri))
			snprintf(hint, sizeof(hint), "it is on %" PRIu32 ":%" PRIu32,
				 set->place[k].device->at.as,
				 set->place[k].device->at.subnet);
	rte_warning(set->errors, place->config->file, uri->line, hint,
		    "no router of these listens at %.60s on %" PRIu32 ":%" PRIu32,
		    uri->text, place->device->at.as, place->device->at.subnet);
}

static bool has_key(const struct rte_config_device *device, uint32_t id)
{
	uint32_t i;

	for (i = 0; i < device->keys; i++)
		if (device->key[i].id == id)
			return true;
	return false;
}

/* Who connects proves itself by its first key, and who accepts by the same. */
static void check_key_ids(const struct rte_set *set, const struct rte_place *place,
			  const struct rte_place *router)
{
	const struct rte_config_device *a = place->device, *b = router->device;

	if (a->auth != RTE_AUTH_REQUIRED && b->auth != RTE_AUTH_REQUIRED)
		return;
	if (!a->keys || !b->keys)
		rte_warning(set->errors, place->config->file, a->line,
			    "key_file and key_id",
			    "device %.40s has %s, %.60s:%u %s: one requires it", a->name,
			    a->keys ? "a key" : "no key", router->config->file, b->line,
			    b->keys ? "has one" : "has none");
	else if (!has_key(b, a->key[0].id))
		rte_warning(set->errors, place->config->file, a->key[0].line, NULL,
			    "key_id %" PRIu32 " is none of %.60s:%u, which this device "
			    "connects to",
			    a->key[0].id, router->config->file, b->line);
}

static void check_router(const struct rte_set *set, uint32_t i,
			 const struct rte_config_uri *uri)
{
	const struct rte_place *router = rte_set_router(set, i, uri);

	check_named(set, i, uri);
	if (router)
		check_key_ids(set, &set->place[i], router);
}

static void check_places(struct rte_set *set)
{
	uint32_t i, k, first = 0;

	for (i = 0; i < set->places; i++) {
		if (i == rte_set_end(set, first))
			first = i;
		check_alike(set, &set->place[first], &set->place[i]);
		check_uri(set, i);
		for (k = 0; k < set->place[i].device->routers; k++)
			check_router(set, i, &set->place[i].device->router[k]);
	}
}

/* --- The whole --- */

static int find_places(struct rte_set *set)
{
	const struct rte_config *config;
	uint32_t i, k, room = 0;

	for (i = 0; i < set->configs; i++)
		room += set->config[i]->devices;
	set->place = calloc(CRN_MAX(room, 1u), sizeof(*set->place));
	set->parent = calloc(CRN_MAX(set->configs, 1u), sizeof(*set->parent));
	if (!set->place || !set->parent)
		return -FI_ENOMEM;
	for (i = 0; i < set->configs; i++) {
		config = set->config[i];
		for (k = 0; k < config->devices; k++)
			if (config->device[k].routable)
				set->place[set->places++] = (struct rte_place){
					.config = config,
					.device = &config->device[k],
					.host = i,
				};
	}
	qsort(set->place, set->places, sizeof(*set->place), place_compare);
	return 0;
}

int rte_config_check_set(struct rte_config *const *configs, uint32_t count,
			 struct rte_config_errors *errors)
{
	struct rte_set set = {.config = configs, .configs = count, .errors = errors};
	const uint32_t before = errors->errors;
	int ret = find_places(&set);

	if (!ret && count) {
		check_places(&set);
		ret = check_routers(&set);
	}
	free(set.place);
	free(set.parent);
	if (ret)
		return ret;
	return errors->errors > before ? -FI_EINVAL : 0;
}
