/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "live.h"

const char *rct_text(const json_t *object, const char *member)
{
	const char *text = json_string_value(json_object_get(object, member));

	return text ? text : "";
}

static const char *number_text(const json_t *value, char text[32])
{
	if (json_is_string(value))
		snprintf(text, 32, "%.31s", json_string_value(value));
	else
		snprintf(text, 32, "%" PRIu64, (uint64_t)json_integer_value(value));
	return text;
}

const char *rct_number(const json_t *object, const char *member, char text[32])
{
	return number_text(json_object_get(object, member), text);
}

uint64_t rct_count(const json_t *object, const char *member)
{
	return (uint64_t)json_integer_value(json_object_get(object, member));
}

bool rct_true(const json_t *object, const char *member)
{
	return json_is_true(json_object_get(object, member));
}

const char *rct_age(uint64_t ms, char text[32])
{
	const uint64_t tenths = ms / 100, seconds = ms / 1000;

	if (seconds < 60)
		snprintf(text, 32, "%" PRIu64 ".%" PRIu64 " s", seconds, tenths % 10);
	else if (seconds < 3600)
		snprintf(text, 32, "%" PRIu64 " min %" PRIu64 " s", seconds / 60,
			 seconds % 60);
	else
		snprintf(text, 32, "%" PRIu64 " h %" PRIu64 " min", seconds / 3600,
			 seconds / 60 % 60);
	return text;
}

const char *rct_list(const json_t *array, char *text, size_t size)
{
	const json_t *value;
	char number[32];
	size_t i, len = 0;

	snprintf(text, size, "-");
	json_array_foreach(array, i, value)
	{
		len += (size_t)snprintf(text + len, size - len, "%s%s", i ? "," : "",
					json_is_string(value)
						? json_string_value(value)
						: number_text(value, number));
		if (len >= size)
			break;
	}
	return text;
}
