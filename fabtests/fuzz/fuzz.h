/* SPDX-License-Identifier: BSD-2-Clause */
/* What a fuzz target shares with fuzz_main.c. */
#ifndef CAIRN_FUZZ_H
#define CAIRN_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* The target: must take any bytes, without crash, hang, leak or a failing FUZZ_CHECK. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A target may say how many mutations "make check" has time for. */
unsigned int fuzz_runs(void) __attribute__((weak));
/* And why it cannot run as things are; NULL: it can. */
const char *fuzz_why_not(void) __attribute__((weak));

/* A rule that holds for every input. */
#define FUZZ_CHECK(rule)                                                           \
	do {                                                                       \
		if (!(rule)) {                                                     \
			fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, \
				#rule);                                            \
			abort();                                                   \
		}                                                                  \
	} while (0)

#endif
