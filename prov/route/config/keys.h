/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every keyword of a configuration, as a table: reading, writing, defaults and the check
 * of the manual page come from it.
 */
#ifndef RTE_CONFIG_KEYS_H
#define RTE_CONFIG_KEYS_H

#include "config.h"
#include "value.h"

struct rte_key;

/* Text that says what a value has to be. */
#define RTE_WANTED_SIZE 96u

/* What a value is; at is where it is kept. */
struct rte_type {
	/* 0; -FI_EINVAL, and what is wanted; -FI_ENOMEM. Otherwise at has not changed. */
	int (*parse)(const struct rte_key *key, const char *text, void *at,
		     char wanted[RTE_WANTED_SIZE]);
	void (*print)(const struct rte_key *key, const void *at, FILE *out);
	void (*release)(void *at); /* NULL: it owns nothing */
	/* It was said, or has a default; NULL: always. */
	bool (*is_set)(const struct rte_key *key, const void *at);
};

/* Values of a keyword that may be repeated. */
struct rte_list {
	size_t count; /* offset of their number, uint32_t, in the section */
	size_t item;  /* bytes of one */
	size_t line;  /* offset of its line, uint32_t, in the item */
	uint32_t most;
};

struct rte_key {
	const char *name;
	const struct rte_type *type;
	size_t offset; /* in the section; of a list, that of the pointer to its items */
	size_t width;  /* bytes of a number; of both of a range each */
	size_t has;    /* offset of a bool that says that it was said; 0: none */
	const struct rte_list *list;
	const struct rte_unit *units;
	/* Of numbers. One that is 0 and may not be was not said. */
	uint64_t least, most, preset;
	uint64_t preset_last;	  /* of a range */
	const char *const *words; /* up to a NULL; the index of one is its value */
	bool repeats;		  /* as a list does */
	bool of_router;		  /* a device's keyword that a client does not have */
};

enum rte_section_kind {
	RTE_SECTION_ROUTING,
	RTE_SECTION_ROUTER,
	RTE_SECTION_DEVICE,
	RTE_SECTIONS,
};

struct rte_section {
	const char *name; /* NULL: any other */
	const struct rte_key *key;
	uint32_t keys;
};

/* Keywords of a section at most. */
#define RTE_KEYWORDS_MAX 20u

extern const struct rte_section rte_sections[RTE_SECTIONS];

/* Index of a keyword in the section, or the number of its keys. */
uint32_t rte_key_find(const struct rte_section *section, const char *name);
/* The value of the key, or the one of its list with that index. */
void *rte_key_at(const struct rte_key *key, const void *base, uint32_t index);
/* How many values there are. */
uint32_t rte_key_count(const struct rte_key *key, const void *base);

void rte_section_preset(const struct rte_section *section, void *base);
/* Releases what it points to. */
void rte_section_free(const struct rte_section *section, void *base);

/* Types of single values (types.c). */
extern const struct rte_type rte_type_number, rte_type_id, rte_type_range;
extern const struct rte_type rte_type_words, rte_type_caps, rte_type_policy;
extern const struct rte_type rte_type_transport, rte_type_name, rte_type_text;
extern const struct rte_type rte_type_path;
/* listen.c. */
extern const struct rte_type rte_type_listen;
/* Those that are no single number or text (items.c). */
extern const struct rte_type rte_type_prefix, rte_type_static, rte_type_acl;
extern const struct rte_type rte_type_uri, rte_type_key_file, rte_type_key_id;

/* An integer of that many bytes. */
uint64_t rte_number_get(const void *at, size_t width);
void rte_number_set(void *at, size_t width, uint64_t value);
/* The router's own AS in a static route, while a file is read. */
#define RTE_AS_OWN UINT32_MAX

/* A copy, where there is no text yet. -FI_ENOMEM. */
int rte_text_set(char **at, const char *text);
void rte_text_release(void *at);
/* An absolute path. */
bool rte_path_right(const char *path);
/* Of a device or a router. */
bool rte_name_right(const char *name, size_t len);

#endif
