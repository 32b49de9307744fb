/* SPDX-License-Identifier: BSD-2-Clause */
/* Faults in words, and as rules. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cairn/compat.h>

#include "fault.h"
#include "inside.h"
#include "config/config.h"

_Static_assert(RTE_FAULT_DEVICE > RTE_CONFIG_NAME_MAX, "names of devices");

static const char *const dos[FRT_FAULT_DOS] = {
	[FRT_FAULT_SET] = "set",
	[FRT_FAULT_SHOW] = "show",
	[FRT_FAULT_CLEAR] = "clear",
};

static const char *const acts[RTE_FAULT_ACTS] = {
	[RTE_FAULT_DROP] = "drop",
	[RTE_FAULT_DELAY] = "delay",
	[RTE_FAULT_DUPLICATE] = "duplicate",
	[RTE_FAULT_BLACKHOLE] = "blackhole",
};

static const char *const classes[RTE_FAULT_CLASSES] = {
	[RTE_FAULT_ALL] = "all",       [RTE_FAULT_DATA] = "data",
	[RTE_FAULT_ACKS] = "acks",     [RTE_FAULT_CONTROL] = "control",
	[RTE_FAULT_LINKS] = "links",   [RTE_FAULT_KEEPALIVES] = "keepalives",
	[RTE_FAULT_GRANTS] = "grants",
};

/* By their bits. */
static const char *const ways[] = {
	[RTE_FAULT_IN] = "in",
	[RTE_FAULT_OUT] = "out",
	[RTE_FAULT_IN | RTE_FAULT_OUT] = "both",
};

/* Which of the names a member is; < 0: none of them. */
static int which(const json_t *value, const char *const *names, size_t count)
{
	const char *text = json_string_value(value);
	size_t i;

	for (i = 0; text && i < count; i++)
		if (names[i] && !strcmp(text, names[i]))
			return (int)i;
	return -1;
}

/* --- Members --- */

static const char *take_act(struct frt_fault_request *request, const json_t *value)
{
	const int act = which(value, acts, RTE_FAULT_ACTS);

	request->fault.act = (enum rte_fault_act)act;
	return act < 0 ? "act is none of drop, delay, duplicate, blackhole" : NULL;
}

static const char *take_device(struct frt_fault_request *request, const json_t *value)
{
	const char *name = json_string_value(value);

	if (!name || !*name || strlen(name) >= RTE_FAULT_DEVICE)
		return "device is the name of one";
	strcpy(request->fault.device, name);
	return NULL;
}

/* An id in digits, or an address. */
static const char *take_peer(struct frt_fault_request *request, const json_t *value)
{
	const char *text = json_string_value(value);
	char *end;

	if (text && *text && strspn(text, "0123456789") == strlen(text)) {
		errno = 0;
		request->fault.router = strtoull(text, &end, 10);
		return request->fault.router && !errno
			       ? NULL
			       : "a router's id is a number of 64 bits but 0";
	}
	if (!text ||
	    crn_addr_resolve(text, NULL, AF_UNSPEC, false, true, &request->fault.host))
		return "peer is a router's id or the address of a host, as in \"2\" or "
		       "\"10.0.1.1\"";
	return NULL;
}

static const char *take_way(struct frt_fault_request *request, const json_t *value)
{
	const int way = which(value, ways, CRN_COUNT(ways));

	request->fault.ways = (uint32_t)way;
	return way < 0 ? "way is none of in, out, both" : NULL;
}

static const char *take_class(struct frt_fault_request *request, const json_t *value)
{
	const int class = which(value, classes, RTE_FAULT_CLASSES);

	request->fault.class = (enum rte_fault_class) class;
	return class < 0 ? "class is none of all, data, acks, control, links, "
			   "keepalives, grants"
			 : NULL;
}

static const char *take_chance(struct frt_fault_request *request, const json_t *value)
{
	const double chance = json_number_value(value);

	if (!json_is_number(value) || chance < 0.000001 || chance > 1)
		return "chance is a number from 0.000001 to 1";
	request->fault.chance = (uint32_t)(chance * RTE_FAULT_ALWAYS + 0.5);
	return NULL;
}

static const char *take_seed(struct frt_fault_request *request, const json_t *value)
{
	if (!json_is_integer(value) || json_integer_value(value) < 0)
		return "seed is a number from 0 on";
	request->fault.seed = (uint64_t)json_integer_value(value);
	return NULL;
}

static const char *take_count(struct frt_fault_request *request, const json_t *value)
{
	if (!json_is_integer(value) || json_integer_value(value) < 1)
		return "count is a number of messages from 1 on";
	request->fault.most = (uint64_t)json_integer_value(value);
	return NULL;
}

static const char *take_delay(struct frt_fault_request *request, const json_t *value)
{
	const json_int_t ms = json_integer_value(value);

	if (!json_is_integer(value) || ms < 1 || ms > (json_int_t)RTE_FAULT_DELAY_MAX)
		return "delay is a number of ms from 1 to 60000";
	request->fault.delay = (uint32_t)ms;
	return NULL;
}

_Static_assert(RTE_FAULT_DELAY_MAX == 60000, "the text above");

static const char *take_id(struct frt_fault_request *request, const json_t *value)
{
	const json_int_t id = json_integer_value(value);

	if (!json_is_integer(value) || id < 1 || id > UINT32_MAX)
		return "id is that of a fault";
	request->id = (uint32_t)id;
	return NULL;
}

static const struct {
	const char *name;
	const char *(*take)(struct frt_fault_request *request, const json_t *value);
	enum frt_fault_do what;
} members[] = {
	{"act", take_act, FRT_FAULT_SET},     {"device", take_device, FRT_FAULT_SET},
	{"peer", take_peer, FRT_FAULT_SET},   {"way", take_way, FRT_FAULT_SET},
	{"class", take_class, FRT_FAULT_SET}, {"chance", take_chance, FRT_FAULT_SET},
	{"seed", take_seed, FRT_FAULT_SET},   {"count", take_count, FRT_FAULT_SET},
	{"delay", take_delay, FRT_FAULT_SET}, {"id", take_id, FRT_FAULT_CLEAR},
};

static const char *take_members(struct frt_fault_request *request, const json_t *object)
{
	size_t i, taken = 2; /* "command" and "do" */
	const json_t *value;
	const char *why;

	for (i = 0; i < CRN_COUNT(members); i++) {
		value = json_object_get(object, members[i].name);
		if (!value || members[i].what != request->what)
			continue;
		why = members[i].take(request, value);
		if (why)
			return why;
		taken++;
	}
	return taken == json_object_size(object)
		       ? NULL
		       : "the request has a member that its command does not";
}

/* What makes no sense is refused, and not done halfway. */
static const char *agrees(const struct rte_fault *fault)
{
	if ((fault->act == RTE_FAULT_DELAY) != (fault->delay != 0))
		return "a delay has ms, and nothing else has";
	/* Lower providers lose no data, so that nobody looks for what is missing. */
	if (fault->act == RTE_FAULT_DROP &&
	    (fault->class == RTE_FAULT_ALL || fault->class == RTE_FAULT_DATA))
		return "only acks, control, links, keepalives and grants can be dropped";
	if (fault->act == RTE_FAULT_DUPLICATE &&
	    (fault->ways != RTE_FAULT_OUT ||
	     (fault->class != RTE_FAULT_ACKS && fault->class != RTE_FAULT_LINKS &&
	      fault->class != RTE_FAULT_KEEPALIVES)))
		return "only acks, links and keepalives that go out can be duplicated";
	if (fault->act == RTE_FAULT_BLACKHOLE &&
	    (fault->class != RTE_FAULT_ALL || fault->chance != RTE_FAULT_ALWAYS ||
	     fault->most))
		return "a blackhole takes all messages, until it is cleared";
	return NULL;
}

const char *frt_fault_parse(struct frt_fault_request *request, const json_t *object)
{
	const int what = which(json_object_get(object, "do"), dos, FRT_FAULT_DOS);
	const char *why;

	*request = (struct frt_fault_request){
		.what = (enum frt_fault_do)what,
		.fault = {.act = RTE_FAULT_ACTS,
			  .ways = RTE_FAULT_IN | RTE_FAULT_OUT,
			  .chance = RTE_FAULT_ALWAYS},
	};
	if (what < 0)
		return "do is none of set, show, clear";
	why = take_members(request, object);
	if (why || what != FRT_FAULT_SET)
		return why;
	return request->fault.act == RTE_FAULT_ACTS ? take_act(request, NULL)
						    : agrees(&request->fault);
}

/* --- The other way round --- */

static json_t *peer_json(const struct rte_fault *fault)
{
	char text[CRN_ADDR_STRLEN], *port;

	if (fault->router)
		return json_sprintf("%" PRIu64, fault->router);
	crn_addr_str(&fault->host.sa, text);
	port = strrchr(text, ':');
	if (port)
		*port = '\0';
	return json_string(text);
}

json_t *frt_fault_json(const struct rte_fault *fault)
{
	json_t *object = json_pack("{s:I, s:s, s:s, s:s, s:f, s:o, s:o}", "id",
				   (json_int_t)fault->id, "act", acts[fault->act], "way",
				   ways[fault->ways], "class", classes[fault->class],
				   "chance", (double)fault->chance / RTE_FAULT_ALWAYS,
				   "seed", frt_json_count(fault->seed), "hits",
				   frt_json_count(fault->hits));

	if (fault->device[0])
		json_object_set_new(object, "device", json_string(fault->device));
	if (fault->router || fault->host.sa.sa_family != AF_UNSPEC)
		json_object_set_new(object, "peer", peer_json(fault));
	if (fault->most)
		json_object_set_new(object, "count", frt_json_count(fault->most));
	if (fault->delay)
		json_object_set_new(object, "delay", json_integer(fault->delay));
	return object;
}
