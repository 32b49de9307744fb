/* SPDX-License-Identifier: BSD-2-Clause */
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cairn/compat.h>

#include "request.h"
#include "wire/wire.h"

static const char *const shows[FRT_SHOWS] = {
	[FRT_TOPOLOGY] = "topology",	   [FRT_ROUTES] = "routes",
	[FRT_CONNECTIONS] = "connections", [FRT_COUNTERS] = "counters",
	[FRT_ADJACENCIES] = "adjacencies", [FRT_BLOCKED] = "blocked",
};

static const char *const commands[FRT_COMMANDS] = {
	[FRT_SHOW] = "show",   [FRT_PROBE] = "probe", [FRT_READY] = "ready",
	[FRT_TOP] = "top",     [FRT_WHY] = "why",     [FRT_DRAIN] = "drain",
	[FRT_FAULT] = "fault",
};

static const char *take_what(struct frt_request *request, const json_t *value)
{
	const char *text = json_string_value(value);
	size_t i;

	for (i = 0; text && i < FRT_SHOWS; i++)
		if (!strcmp(text, shows[i])) {
			request->what = (enum frt_show)i;
			return NULL;
		}
	return "what is none of topology, routes, connections, counters, adjacencies, "
	       "blocked";
}

static const char *take_target(struct frt_request *request, const json_t *value)
{
	static const char wrong[] =
		"target is AS:SUBNET:ADDRESS, as in \"3:2:10.0.2.7\" or "
		"\"3:2:[2001:db8::7]\"";
	const char *text = json_string_value(value), *why;
	char cci[RTE_URI_SIZE];

	if (!text || strlen(text) > RTE_HOST_MAX)
		return wrong;
	/* An address alone has no port: none is meant. */
	snprintf(cci, sizeof(cci), "cci://%s:0", text);
	if (rte_uri_parse(cci, &request->target, &why) || !request->target.routed ||
	    !(request->target.kind & (RTE_HOST_IN | RTE_HOST_IN6)))
		return wrong;
	return NULL;
}

static const char *take_ttl(struct frt_request *request, const json_t *value)
{
	const json_int_t ttl = json_integer_value(value);

	if (!json_is_integer(value) || ttl < 0 || ttl > (json_int_t)RTE_TTL_MAX)
		return "ttl is a number from 0 to 16";
	request->ttl = (uint32_t)ttl;
	return NULL;
}

static const char *take_timeout(struct frt_request *request, const json_t *value)
{
	const json_int_t timeout = json_integer_value(value);

	if (!json_is_integer(value) || timeout < 1 || timeout > FRT_PROBE_MS_MAX)
		return "timeout is a number of ms from 1 to 10000";
	request->timeout = (uint32_t)timeout;
	return NULL;
}

static const char *const actions[FRT_DRAIN_ACTIONS] = {
	[FRT_DRAIN_BEGIN] = "begin",
	[FRT_DRAIN_EXIT] = "exit",
	[FRT_DRAIN_UNDO] = "undo",
	[FRT_DRAIN_STATE] = "look",
};

static const char *take_action(struct frt_request *request, const json_t *value)
{
	const char *text = json_string_value(value);
	size_t i;

	for (i = 0; text && i < FRT_DRAIN_ACTIONS; i++)
		if (!strcmp(text, actions[i])) {
			request->action = (enum frt_drain_action)i;
			return NULL;
		}
	return "action is none of begin, exit, undo, look";
}

static const char *take_deadline(struct frt_request *request, const json_t *value)
{
	const json_int_t deadline = json_integer_value(value);

	if (request->action != FRT_DRAIN_EXIT)
		return "a deadline is for the action exit";
	if (!json_is_integer(value) || deadline < 1 || deadline > FRT_DRAIN_MS_MAX)
		return "deadline is a number of ms from 1 to 86400000";
	request->deadline = (uint32_t)deadline;
	return NULL;
}

_Static_assert(FRT_DRAIN_MS_MAX == 86400000, "the text above");

static const char *take_count(struct frt_request *request, const json_t *value)
{
	const json_int_t count = json_integer_value(value);

	if (!json_is_integer(value) || count < 0 || count > FRT_TOP_COUNT_MAX)
		return "count is a number from 0 to 100";
	request->count = (uint32_t)count;
	return NULL;
}

static bool number_parse(const char **text, uint32_t *number)
{
	unsigned long long value;
	char *end;

	if (**text < '0' || **text > '9')
		return false;
	value = strtoull(*text, &end, 10);
	*text = end;
	*number = (uint32_t)value;
	return value <= UINT32_MAX;
}

/* "3:2"; behind another colon may stand an address. */
static bool subnet_parse(const char *text, bool address, struct rte_subnet *subnet)
{
	return text && number_parse(&text, &subnet->as) && *text++ == ':' &&
	       number_parse(&text, &subnet->subnet) &&
	       (!*text || (address && *text == ':'));
}

static const char *take_to(struct frt_request *request, const json_t *value)
{
	return subnet_parse(json_string_value(value), true, &request->to)
		       ? NULL
		       : "target is AS:SUBNET, or AS:SUBNET:ADDRESS";
}

static const char *take_from(struct frt_request *request, const json_t *value)
{
	request->has_from = true;
	return subnet_parse(json_string_value(value), false, &request->from)
		       ? NULL
		       : "from is AS:SUBNET";
}

_Static_assert(FRT_TOP_COUNT_MAX == 100 && RTE_TTL_MAX == 16 && FRT_PROBE_MS_MAX == 10000,
	       "the texts above");

static const struct {
	const char *name;
	const char *(*take)(struct frt_request *request, const json_t *value);
	enum frt_command command;
	bool needed;
} members[] = {
	{"what", take_what, FRT_SHOW, true},
	{"target", take_target, FRT_PROBE, true},
	{"ttl", take_ttl, FRT_PROBE, false},
	{"timeout", take_timeout, FRT_PROBE, false},
	/* In this order: what is with an action depends on it. */
	{"action", take_action, FRT_DRAIN, true},
	{"deadline", take_deadline, FRT_DRAIN, false},
	{"count", take_count, FRT_TOP, false},
	{"target", take_to, FRT_WHY, true},
	{"from", take_from, FRT_WHY, false},
};

static const char *take_members(struct frt_request *request, const json_t *object)
{
	size_t i, taken = 1;
	const json_t *value;
	const char *why;

	for (i = 0; i < CRN_COUNT(members); i++) {
		if (members[i].command != request->command)
			continue;
		value = json_object_get(object, members[i].name);
		if (!value && !members[i].needed)
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

static const char *take(struct frt_request *request, const json_t *object)
{
	const char *command = json_string_value(json_object_get(object, "command"));
	size_t i = 0;

	if (!command)
		return "the request has no command";
	while (i < FRT_COMMANDS && strcmp(command, commands[i]))
		i++;
	if (i == FRT_COMMANDS)
		return "the command is none of show, probe, ready, top, why, drain, "
		       "fault";
	request->command = (enum frt_command)i;
	if (request->command == FRT_FAULT)
		return frt_fault_parse(&request->fault, object);
	return take_members(request, object);
}

const char *frt_request_parse(struct frt_request *request, const char *text, size_t len)
{
	json_t *object = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
	const char *why;

	*request = (struct frt_request){.ttl = RTE_TTL_MAX,
					.timeout = FRT_PROBE_MS,
					.count = FRT_TOP_COUNT};
	if (!json_is_object(object))
		why = "the request is no JSON object in one line";
	else
		why = take(request, object);
	json_decref(object);
	return why;
}
