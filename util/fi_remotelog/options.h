/* SPDX-License-Identifier: BSD-2-Clause */
/* What the user asked for. */
#ifndef RLG_OPTIONS_H
#define RLG_OPTIONS_H

#include "method.h"

enum rlg_mode { RLG_CLIENT, RLG_SERVER, RLG_RECOVER, RLG_REPORT };

#define RLG_LABELS 8
#define RLG_DEPTH_MAX 128u

struct rlg_options {
	enum rlg_mode mode;
	const char *provider;
	const char *address; /* NULL: any (server) */
	unsigned int port;   /* 0: one that is free (server) */
	char port_text[8];
	int timeout; /* s, without any completion */

	/* server */
	const char *log;
	uint64_t size;	      /* of a file that is not there yet */
	unsigned int clients; /* then it ends */

	/* client */
	enum rlg_kind kind;
	enum rlg_op op;
	enum rlg_method method;
	uint64_t appends, warmup;
	uint32_t payload;
	uint32_t depth;
	bool anew;
	bool tell; /* what is acknowledged, at once */
	const char *json;
	const char *plot;
	const char *label[RLG_LABELS]; /* NAME=VALUE, for the JSON output */
	int labels;

	/* recover */
	bool list;
	uint64_t acknowledged;

	/* report */
	char **files;
	int file_count;
};

/* 0; 1: done, such as --help; 2: said on stderr what is wrong. */
int rlg_options_parse(struct rlg_options *options, int argc, char **argv);

#endif
