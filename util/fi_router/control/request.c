/* SPDX-License-Identifier: BSD-2-Clause */
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <cairn/compat.h>

#include "request.h"
#include "wire/wire.h"

static const char *const shows[FRT_SHOWS] = {
	[FRT_TOPOLOGY] = "topology",	   [FRT_ROUTES] = "routes",
	[FRT_CONNECTIONS] = "connections", [FRT_COUNTERS] = "counters",
	[FRT_ADJACENCIES] = "adjacencies",
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
	return "what is none of topology, routes, connections, counters, adjacencies";
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

_Static_assert(RTE_TTL_MAX == 16 && FRT_PROBE_MS_MAX == 10000, "the texts above");

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

	if (!command)
		return "the request has no command";
	if (!strcmp(command, "show"))
		request->command = FRT_SHOW;
	else if (!strcmp(command, "probe"))
		request->command = FRT_PROBE;
	else if (!strcmp(command, "fault"))
		request->command = FRT_FAULT;
	else
		return "the command is none of show, probe, fault";
	if (request->command == FRT_FAULT)
		return frt_fault_parse(&request->fault, object);
	return take_members(request, object);
}

const char *frt_request_parse(struct frt_request *request, const char *text, size_t len)
{
	json_t *object = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
	const char *why;

	*request = (struct frt_request){.ttl = RTE_TTL_MAX, .timeout = FRT_PROBE_MS};
	if (!json_is_object(object))
		why = "the request is no JSON object in one line";
	else
		why = take(request, object);
	json_decref(object);
	return why;
}
