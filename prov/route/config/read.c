/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * inih splits lines into names and values, and asks for one after another. What it would
 * take in silence is an error here: long lines and names, a section twice, text behind
 * ], continued lines.
 */
#include <ctype.h>
#include <errno.h>
#include <ini.h>
#include <stdlib.h>
#include <string.h>
#include <rdma/fi_errno.h>
#include "read.h"

#define READ_ERROR(reader, hint, ...)                                             \
	rte_error((reader)->errors, (reader)->config->file, (reader)->line, hint, \
		  __VA_ARGS__)

/* One more of 0 at the end of an array of *count. */
static void *array_grow(void **array, uint32_t *count, size_t size)
{
	char *grown = realloc(*array, (*count + 1) * size);

	if (!grown)
		return NULL;
	*array = grown;
	return memset(grown + (*count)++ * size, 0, size);
}

/* --- Keywords --- */

static void wrong_key(struct rte_reader *reader, const char *name)
{
	const char *nearest = rte_nearest_key(reader->section, name);
	char hint[sizeof(reader->errors->error[0].hint)] = "";
	int i;

	for (i = 0; i < RTE_SECTIONS && !nearest; i++)
		if (rte_key_find(&rte_sections[i], name) < rte_sections[i].keys) {
			snprintf(hint, sizeof(hint), "it belongs into %s%s%s",
				 rte_sections[i].name ? "[" : "the section of a device",
				 rte_sections[i].name ? rte_sections[i].name : "",
				 rte_sections[i].name ? "]" : "");
			break;
		}
	if (nearest)
		snprintf(hint, sizeof(hint), "did you mean %s?", nearest);
	READ_ERROR(reader, hint, "unknown keyword \"%.50s\"", name);
}

/* Where the value goes; NULL: nowhere. */
static void *value_at(struct rte_reader *reader, const struct rte_key *key)
{
	const struct rte_list *list = key->list;
	uint32_t *count;
	void *item;

	if (!list)
		return rte_key_at(key, reader->base, 0);
	count = (uint32_t *)((char *)reader->base + list->count);
	if (*count == list->most) {
		READ_ERROR(reader, NULL, "more than %u times %s", list->most, key->name);
		return NULL;
	}
	item = array_grow((void **)((char *)reader->base + key->offset), count,
			  list->item);
	if (!item)
		reader->ret = -FI_ENOMEM;
	return item;
}

static void set_value(struct rte_reader *reader, const struct rte_key *key,
		      const char *value)
{
	char wanted[RTE_WANTED_SIZE];
	void *at = value_at(reader, key);
	int ret;

	if (!at) {
		reader->said->wrong = true;
		return;
	}
	ret = key->type->parse(key, value, at, wanted);
	if (!ret && key->has)
		*(bool *)((char *)reader->base + key->has) = true;
	if (!ret && key->list)
		*(uint32_t *)((char *)at + key->list->line) = reader->line;
	if (!ret)
		return;
	if (key->list)
		--*(uint32_t *)((char *)reader->base + key->list->count);
	reader->said->wrong = true;
	if (ret == -FI_EINVAL)
		READ_ERROR(reader, wanted, "%s cannot be \"%.60s\"", key->name, value);
	else
		reader->ret = ret;
}

/* inih: non-zero is success. */
static int read_value(void *arg, const char *section, const char *name, const char *value)
{
	struct rte_reader *reader = arg;
	uint32_t index;

	if (reader->ret)
		return 1;
	if (reader->outside)
		READ_ERROR(reader, "[routing], [router] or [DEVICE] comes first",
			   "\"%.50s\" outside of a section", name);
	if (!reader->section)
		return 1;
	index = rte_key_find(reader->section, name);
	if (index == reader->section->keys) {
		wrong_key(reader, name);
		reader->said->wrong = true;
	} else if (!*value) {
		READ_ERROR(reader, NULL, "%s has no value", name);
		reader->said->wrong = true;
	} else if (reader->said->key[index] && !reader->section->key[index].repeats) {
		READ_ERROR(reader, NULL, "%s stands there twice, first in line %u", name,
			   reader->said->key[index]);
		reader->said->wrong = true;
	} else {
		reader->said->key[index] = reader->line;
		set_value(reader, &reader->section->key[index], value);
	}
	return 1;
}

/* --- Sections --- */

static void begin_section(struct rte_reader *reader, enum rte_section_kind kind,
			  struct rte_said *said, void *base)
{
	reader->section = &rte_sections[kind];
	reader->said = said;
	reader->base = base;
	said->line = reader->line;
	rte_section_preset(reader->section, base);
}

static void section_twice(struct rte_reader *reader, const char *name, uint32_t line)
{
	READ_ERROR(reader, NULL, "[%s] stands there twice, first in line %u", name, line);
}

static void device_section(struct rte_reader *reader, const char *name)
{
	struct rte_config *config = reader->config;
	struct rte_config_device *device;
	uint32_t i;

	for (i = 0; i < config->devices; i++)
		if (!strcmp(config->device[i].name, name)) {
			section_twice(reader, name, config->device[i].line);
			return;
		}
	if (i == RTE_CONFIG_DEVICES_MAX) {
		READ_ERROR(reader, NULL, "more than %u devices", RTE_CONFIG_DEVICES_MAX);
		return;
	}
	device = array_grow((void **)&config->device, &config->devices, sizeof(*device));
	if (!device || rte_text_set(&device->name, name)) {
		reader->ret = -FI_ENOMEM;
		return;
	}
	device->line = reader->line;
	begin_section(reader, RTE_SECTION_DEVICE, &reader->device[i], device);
}

static void named_section(struct rte_reader *reader, const char *name)
{
	struct rte_config *config = reader->config;

	if (!strcmp(name, rte_sections[RTE_SECTION_ROUTING].name)) {
		if (reader->routing.line)
			section_twice(reader, name, reader->routing.line);
		else
			begin_section(reader, RTE_SECTION_ROUTING, &reader->routing,
				      &config->routing);
	} else if (!strcmp(name, rte_sections[RTE_SECTION_ROUTER].name)) {
		if (reader->router.line)
			section_twice(reader, name, reader->router.line);
		else
			begin_section(reader, RTE_SECTION_ROUTER, &reader->router,
				      &config->router);
		config->is_router = true;
	} else {
		device_section(reader, name);
	}
}

/* "[NAME]", and a comment behind it. */
static void read_section(struct rte_reader *reader, const char *line, size_t len)
{
	const char *close = memchr(line, ']', len), *rest;
	char name[RTE_CONFIG_NAME_MAX + 1] = "";

	reader->outside = false;
	reader->section = NULL;
	if (!close) {
		READ_ERROR(reader, NULL, "there is no ] behind the section's name");
		return;
	}
	for (rest = close + 1; rest < line + len && isspace((unsigned char)*rest); rest++)
		;
	if (rest < line + len && (*rest != ';' || rest == close + 1)) {
		READ_ERROR(reader, NULL, "text behind the section's name");
		return;
	}
	if (!rte_name_right(line + 1, (size_t)(close - line - 1))) {
		READ_ERROR(reader, NULL,
			   "a section's name has at most %u letters, digits and "
			   "_ - . : @ /",
			   RTE_CONFIG_NAME_MAX);
		return;
	}
	memcpy(name, line + 1, (size_t)(close - line - 1));
	named_section(reader, name);
}

/* --- Lines --- */

static bool is_text(const char *line, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (iscntrl((unsigned char)line[i]) && line[i] != '\t')
			return false;
	return true;
}

/* What it may have said is not missing in its section. */
static bool wrong_line(struct rte_reader *reader)
{
	if (reader->section)
		reader->said->wrong = true;
	return false;
}

/* Is it one for inih? Sections are told from here, too, before inih sees them. */
static bool check_line(struct rte_reader *reader, const char *line, size_t len)
{
	const char *equals = memchr(line, '=', len), *c;

	if (!len || *line == ';' || *line == '#')
		return true;
	if (!is_text(line, len)) {
		READ_ERROR(reader, NULL, "that is no text");
		return wrong_line(reader);
	}
	if (*line == '[') {
		read_section(reader, line, len);
		reader->section_lost |= !reader->section;
		return reader->section;
	}
	/* To inih : is as good as =, and white space before ; begins a comment. */
	for (c = line; equals && c < equals && *c != ':' && *c != ';'; c++)
		;
	if (!equals || equals == line || c < equals) {
		READ_ERROR(reader, NULL, "neither [SECTION] nor KEYWORD = VALUE");
		return wrong_line(reader);
	}
	return true;
}

/* The next line without its end and the white space around it. */
static const char *take_line(struct rte_reader *reader, size_t *len)
{
	const char *at = reader->at, *end;

	end = memchr(at, '\n', (size_t)(reader->end - at));
	reader->at = end ? end + 1 : reader->end;
	end = end ? end : reader->end;
	while (at < end && isspace((unsigned char)*at))
		at++;
	while (end > at && isspace((unsigned char)end[-1]))
		end--;
	*len = (size_t)(end - at);
	reader->line++;
	return at;
}

/* As fgets(3). What is wrong is an empty line to inih. */
static char *read_line(char *line, int size, void *arg)
{
	struct rte_reader *reader = arg;
	const char *at;
	size_t len;

	if (reader->at == reader->end || reader->ret)
		return NULL;
	at = take_line(reader, &len);
	if (len > RTE_CONFIG_LINE_MAX || len + 2 > (size_t)size) {
		READ_ERROR(reader, NULL, "longer than %u bytes", RTE_CONFIG_LINE_MAX);
		wrong_line(reader);
		len = 0;
	} else if (!check_line(reader, at, len)) {
		len = 0;
	}
	memcpy(line, at, len);
	line[len] = '\0';
	return line;
}

/* --- The whole --- */

static int read_text(struct rte_reader *reader)
{
	static const char bom[] = "\xef\xbb\xbf";
	const uint32_t before = reader->errors->errors;
	const size_t len = (size_t)(reader->end - reader->at);
	int ret;

	if (len > RTE_CONFIG_FILE_MAX) {
		READ_ERROR(reader, NULL, "larger than %u bytes", RTE_CONFIG_FILE_MAX);
		return -FI_EINVAL;
	}
	if (len >= sizeof(bom) - 1 && !memcmp(reader->at, bom, sizeof(bom) - 1))
		reader->at += sizeof(bom) - 1;
	rte_section_preset(&rte_sections[RTE_SECTION_ROUTING], &reader->config->routing);
	ret = ini_parse_stream(read_line, reader, read_value, reader);
	if (!ret && !reader->ret)
		reader->ret = rte_rules(reader);
	if (ret < 0 || reader->ret)
		return -FI_ENOMEM;
	if (ret && reader->errors->errors == before) {
		reader->line = (uint32_t)ret;
		READ_ERROR(reader, NULL, "inih does not take that");
	}
	return reader->errors->errors > before ? -FI_EINVAL : 0;
}

int rte_config_parse(const char *text, size_t len, const char *name,
		     struct rte_config **config, struct rte_config_errors *errors)
{
	struct rte_reader reader = {
		.at = text,
		.end = text + len,
		.errors = errors,
		.outside = true,
		.config = calloc(1, sizeof(**config)),
	};
	int ret = -FI_ENOMEM;

	*config = NULL;
	if (!reader.config)
		return -FI_ENOMEM;
	if (!rte_text_set(&reader.config->file, name))
		ret = read_text(&reader);
	if (ret)
		rte_config_free(reader.config);
	else
		*config = reader.config;
	return ret;
}

static int file_wrong(const char *path, struct rte_config_errors *errors)
{
	rte_error(errors, path, 0, NULL, "cannot be read: %s", strerror(errno));
	return -FI_EINVAL;
}

int rte_config_read(const char *path, struct rte_config **config,
		    struct rte_config_errors *errors)
{
	FILE *file = fopen(path, "re");
	char *text;
	size_t len;
	int ret;

	*config = NULL;
	if (!file)
		return file_wrong(path, errors);
	text = malloc(RTE_CONFIG_FILE_MAX + 1);
	len = text ? fread(text, 1, RTE_CONFIG_FILE_MAX + 1, file) : 0;
	if (!text)
		ret = -FI_ENOMEM;
	else if (ferror(file))
		ret = file_wrong(path, errors);
	else
		ret = rte_config_parse(text, len, path, config, errors);
	free(text);
	fclose(file);
	return ret;
}
