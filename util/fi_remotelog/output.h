/* SPDX-License-Identifier: BSD-2-Clause */
/* What a run of the client gave: on standard output, as JSON, as a gnuplot script. */
#ifndef RLG_OUTPUT_H
#define RLG_OUTPUT_H

#include "options.h"
#include "stats.h"

struct rlg_result {
	uint64_t *sample; /* ns, of each append after the warm-up */
	uint64_t samples;
	uint64_t begun, ended; /* of them, ns */
	uint64_t message_trip; /* ns, of a message and its answer */
	uint64_t read_trip;    /* ns, of a read of one byte */
	bool shows;	       /* progress, on a terminal */
};

/* acts: what an append was. Sorts the samples. 0, or -1 after saying what failed. */
int rlg_result_write(struct rlg_result *result, const struct rlg_options *options,
		     const uint8_t *acts);

#endif
