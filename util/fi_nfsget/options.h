/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef NFG_OPTIONS_H
#define NFG_OPTIONS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct nfg_options {
	const char *provider;
	char host[256], port[8];
	char path[PATH_MAX]; /* on the server */
	char file[PATH_MAX]; /* here */
	uint32_t block;	     /* bytes of a READ */
	unsigned int reads;  /* outstanding */
	int timeout;	     /* s */
	bool goes_on;	     /* what an earlier run left */
	bool quiet, progress;
};

/* nfs://HOST[:PORT]/PATH, with %XX. False: it is not. */
bool nfg_url(const char *url, struct nfg_options *options);
/* Ends the program where the line is wrong, or asks for help. */
void nfg_options(int argc, char **argv, struct nfg_options *options);

#endif
