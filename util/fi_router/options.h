/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef FRT_OPTIONS_H
#define FRT_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

struct frt_options {
	const char *config; /* path */
	bool check;
	unsigned int verbose;
	uint32_t busy; /* us of looking for work before the loop sleeps */
};

/* Ends the program where they are wrong, and after -h and -V. */
void frt_options(int argc, char **argv, struct frt_options *options);

#endif
