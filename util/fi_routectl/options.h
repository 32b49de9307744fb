/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef RCT_OPTIONS_H
#define RCT_OPTIONS_H

#include "sim.h"

#define RCT_FAILS_MAX 64

enum rct_command { RCT_CHECK, RCT_SIMULATE, RCT_GRAPH };

struct rct_options {
	enum rct_command command;
	const char *const *file;
	int files;
	const char *fail[RCT_FAILS_MAX];
	int fails;
	bool has_policy;
	struct rte_policy policy;
	bool has_from, has_to;
	struct rte_subnet from, to;
	uint32_t alternatives; /* routes that are shown of a pair */
	bool json;
	bool print; /* check: the configurations as they are understood */
	const char *out;
};

/* Ends the process at --help and where the line is wrong. */
void rct_options(int argc, char **argv, struct rct_options *options);

#endif
