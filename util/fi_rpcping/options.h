/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PNG_OPTIONS_H
#define PNG_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#define PNG_MOST_CALLS 1024u
#define PNG_MOST_SIZE (1u << 20)
#define PNG_MEMORY (256u << 20) /* bytes that a client may ask a server for */

struct png_options {
	const char *host; /* NULL: this is the server */
	const char *bind; /* NULL: any address */
	char provider[128];
	const char *port;
	uint32_t size, reply_size; /* bytes of data */
	unsigned int depth;	   /* Calls outstanding */
	unsigned int credits;	   /* for the peer; 0: the default */
	uint64_t count;		   /* Calls; UINT64_MAX: as many as time allows */
	double seconds;
	int timeout; /* s, of each wait */
	bool both, events, json, one;
	bool foreign; /* the NULL procedure of program */
	uint32_t program, version;
};

/* Ends the program where the line is wrong, or asks for help. */
void png_options(int argc, char **argv, struct png_options *options);

#endif
