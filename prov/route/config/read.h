/* SPDX-License-Identifier: BSD-2-Clause */
/* A file while it is read (read.c), and what is looked at once it was (rules.c). */
#ifndef RTE_CONFIG_READ_H
#define RTE_CONFIG_READ_H

#include "errors.h"
#include "keys.h"

/* What a section has said. */
struct rte_said {
	uint32_t line; /* of the section; 0: there is none */
	uint32_t
		key[RTE_KEYWORDS_MAX]; /* lines, in the order of its table; 0: not said */
	bool wrong;		       /* a keyword of it was */
};

struct rte_reader {
	const char *at, *end;
	uint32_t line;
	int ret; /* -FI_ENOMEM */
	struct rte_config *config;
	struct rte_config_errors *errors;
	/* The section that lines belong to; NULL: one that is wrong, and not looked at.
	 */
	const struct rte_section *section;
	struct rte_said *said;
	void *base;
	bool outside;	   /* no section has begun */
	bool section_lost; /* one was wrong */
	struct rte_said routing, router;
	struct rte_said device[RTE_CONFIG_DEVICES_MAX];
};

/* What depends on several keywords: errors, warnings, and defaults. -FI_ENOMEM. */
int rte_rules(struct rte_reader *reader);

/* A word of the section's keywords, or of section names, that is near; NULL: none. */
const char *rte_nearest_key(const struct rte_section *section, const char *name);
const char *rte_nearest_section(const char *name);

#endif
