/* SPDX-License-Identifier: BSD-2-Clause */
#include <ctype.h>
#include <ini.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <rdma/fi_errno.h>
#include <rdma/providers/fi_log.h>
#include <cairn/compat.h>
#include <cairn/pmem.h>

/* What a key may say: its words, and where they are noted. */
struct declare_key {
	const char *name;
	const char *words[4]; /* the index of one is its value */
	bool path_only;
	void (*set)(struct crn_pmem_declared *said, unsigned int value);
};

static void set_domain(struct crn_pmem_declared *said, unsigned int value)
{
	said->has_domain = true;
	said->domain = (enum crn_persistence)value;
}

static void set_ddio(struct crn_pmem_declared *said, unsigned int value)
{
	said->has_ddio = true;
	said->ddio = value;
}

static void set_persistent(struct crn_pmem_declared *said, unsigned int value)
{
	said->has_persistent = true;
	said->persistent = value;
}

static void set_replay(struct crn_pmem_declared *said, unsigned int value)
{
	said->has_replay = true;
	said->replay = value;
}

static const struct declare_key declare_keys[] = {
	{"persistence", {"dmp", "mhp", "wsp"}, false, set_domain},
	{"ddio", {"off", "on"}, false, set_ddio},
	{"receive", {"copy", "replay"}, false, set_replay},
	{"persistent", {"no", "yes"}, true, set_persistent},
};

/* The file while it is read: inih asks for line after line. */
struct declare_state {
	const char *at, *end;
	unsigned int line;
	struct crn_pmem_declarations *out;
	struct crn_pmem_declared *section; /* NULL: none yet */
	bool is_path;
	char *error; /* of the first line that is wrong; "" */
	size_t size;
};

static void __attribute__((format(printf, 2, 3)))
declare_wrong(struct declare_state *state, const char *format, ...)
{
	va_list args;
	int used;

	if (*state->error)
		return;
	used = snprintf(state->error, state->size, "line %u: ", state->line);
	if (used < 0 || (size_t)used >= state->size)
		return;
	va_start(args, format);
	vsnprintf(state->error + used, state->size - (size_t)used, format, args);
	va_end(args);
}

static const struct declare_key *declare_find(const char *name)
{
	size_t i;

	for (i = 0; i < CRN_COUNT(declare_keys); i++) {
		if (!strcmp(declare_keys[i].name, name))
			return &declare_keys[i];
	}
	return NULL;
}

static bool declare_set(const struct declare_key *key, const char *word,
			struct crn_pmem_declared *said)
{
	unsigned int i;

	for (i = 0; i < CRN_COUNT(key->words) && key->words[i]; i++) {
		if (!strcasecmp(key->words[i], word)) {
			key->set(said, i);
			return true;
		}
	}
	return false;
}

static int declare_value(void *user, const char *section, const char *name,
			 const char *value)
{
	struct declare_state *state = user;
	const struct declare_key *key = declare_find(name);

	if (!key)
		declare_wrong(state, "unknown key \"%.50s\"", name);
	else if (!state->section)
		declare_wrong(state, "%s outside of [host] and [path NAME]", name);
	else if (key->path_only && !state->is_path)
		declare_wrong(state, "%s is said of a path, not of the host", name);
	else if (!declare_set(key, value, state->section))
		declare_wrong(state, "%s cannot be \"%.50s\"", name, value);
	return !*state->error;
}

static struct crn_pmem_declared *declare_path(struct crn_pmem_declarations *out,
					      const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < out->count; i++) {
		if (!strncmp(out->path[i].name, name, len) && !out->path[i].name[len])
			return &out->path[i].said;
	}
	if (i == CRN_PMEM_DECLARE_PATHS)
		return NULL;
	memcpy(out->path[i].name, name, len);
	out->path[i].name[len] = '\0';
	out->count++;
	return &out->path[i].said;
}

/* inih would cut the name of a section after 50 bytes, so it is read here. */
static void declare_section(struct declare_state *state, const char *name, size_t len)
{
	static const char path[] = "path ";
	const size_t skip = sizeof(path) - 1;

	state->is_path = len > skip && !strncmp(name, path, skip);
	if (len == 4 && !strncmp(name, "host", 4)) {
		state->section = &state->out->host;
		return;
	}
	if (!state->is_path) {
		declare_wrong(state, "unknown section: [host] or [path NAME] wanted");
		return;
	}
	for (name += skip, len -= skip; len && isspace((unsigned char)*name); len--)
		name++;
	while (len > 1 && (name[len - 1] == '/' || isspace((unsigned char)name[len - 1])))
		len--;
	if (!len || *name != '/') {
		declare_wrong(state, "a path begins with /");
		return;
	}
	state->section = declare_path(state->out, name, len);
	if (!state->section)
		declare_wrong(state, "more than %u paths", CRN_PMEM_DECLARE_PATHS);
}

/* As fgets, but that indented lines lose what inih would take for a continuation. */
static char *declare_line(char *line, int size, void *stream)
{
	struct declare_state *state = stream;
	const char *at = state->at, *end, *close;
	size_t len;

	if (at == state->end || *state->error)
		return NULL;
	state->line++;
	end = memchr(at, '\n', (size_t)(state->end - at));
	state->at = end ? end + 1 : state->end;
	end = end ? end : state->end;
	while (at < end && isspace((unsigned char)*at))
		at++;
	len = (size_t)(end - at);
	if (len >= (size_t)size || len >= CRN_PMEM_DECLARE_PATH) {
		declare_wrong(state, "longer than %d bytes", CRN_PMEM_DECLARE_PATH - 1);
		return NULL;
	}
	if (memchr(at, '\0', len)) {
		declare_wrong(state, "not a text");
		return NULL;
	}
	close = len && *at == '[' ? memchr(at, ']', len) : NULL;
	if (close)
		declare_section(state, at + 1, (size_t)(close - at - 1));
	memcpy(line, at, len);
	line[len] = '\0';
	return line;
}

int crn_pmem_declare_parse(const char *text, size_t len,
			   struct crn_pmem_declarations *out, char *error, size_t size)
{
	struct declare_state state = {
		.at = text,
		.end = text + len,
		.out = out,
		.error = error,
		.size = size,
	};
	int ret;

	*error = '\0';
	ret = ini_parse_stream(declare_line, &state, declare_value, &state);
	if (ret > 0 && !*error) {
		state.line = (unsigned int)ret;
		declare_wrong(&state, "neither [SECTION] nor KEY = VALUE");
	}
	return ret || *error ? -FI_EINVAL : 0;
}

static int declare_load(const struct crn_pmem_params *params,
			struct crn_pmem_declarations *out)
{
	FILE *file = fopen(params->config, "re");
	char *text = malloc(CRN_PMEM_DECLARE_FILE + 1);
	char error[160] = "cannot be read";
	int ret = text ? -FI_EINVAL : -FI_ENOMEM;
	size_t len;

	if (file && text) {
		len = fread(text, 1, CRN_PMEM_DECLARE_FILE + 1, file);
		if (len > CRN_PMEM_DECLARE_FILE)
			snprintf(error, sizeof(error), "larger than %d bytes",
				 CRN_PMEM_DECLARE_FILE);
		else if (!ferror(file))
			ret = crn_pmem_declare_parse(text, len, out, error,
						     sizeof(error));
	}
	if (ret == -FI_EINVAL)
		FI_WARN(params->prov, FI_LOG_MR, "%s_PMEM_CONFIG=%s: %s\n",
			params->prefix, params->config, error);
	if (file)
		fclose(file);
	free(text);
	return ret;
}

static void declare_env(const struct crn_pmem_params *params,
			struct crn_pmem_declarations *out, const char *variable,
			const char *name, const char *word)
{
	if (word && !declare_set(declare_find(name), word, &out->env))
		FI_WARN(params->prov, FI_LOG_MR, "%s_%s cannot be \"%s\": ignored\n",
			params->prefix, variable, word);
}

int crn_pmem_declare(const struct crn_pmem_params *params,
		     struct crn_pmem_declarations **out)
{
	int ret = 0;

	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -FI_ENOMEM;
	declare_env(params, *out, "PERSISTENCE", "persistence", params->persistence);
	declare_env(params, *out, "DDIO", "ddio", params->ddio);
	if (params->config && *params->config)
		ret = declare_load(params, *out);
	if (ret) {
		free(*out);
		*out = NULL;
	}
	return ret;
}

/* Values of over replace those that are there. */
static void declared_over(struct crn_pmem_declared *said,
			  const struct crn_pmem_declared *over)
{
	if (over->has_domain)
		set_domain(said, over->domain);
	if (over->has_ddio)
		set_ddio(said, over->ddio);
	if (over->has_persistent)
		set_persistent(said, over->persistent);
	if (over->has_replay)
		set_replay(said, over->replay);
}

/* The file itself, or something in the folder of that name. */
static bool declared_covers(const char *path, const char *name)
{
	const size_t len = strlen(path);

	return !strncmp(path, name, len) &&
	       (!name[len] || name[len] == '/' || path[len - 1] == '/');
}

struct crn_pmem_declared crn_pmem_declared_of(const struct crn_pmem_declarations *all,
					      const char *name)
{
	struct crn_pmem_declared said = all->host;
	size_t i, len, longest = 0;

	declared_over(&said, &all->env);
	/* Shortest path first, so that the longest matching path wins. */
	for (;;) {
		const struct crn_pmem_declared *next = NULL;
		size_t next_len = SIZE_MAX;

		for (i = 0; i < all->count; i++) {
			len = strlen(all->path[i].name);
			if (len > longest && len < next_len &&
			    declared_covers(all->path[i].name, name)) {
				next = &all->path[i].said;
				next_len = len;
			}
		}
		if (!next)
			return said;
		declared_over(&said, next);
		longest = next_len;
	}
}
