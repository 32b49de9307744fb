/* SPDX-License-Identifier: BSD-2-Clause */
/* Right configurations by chance. */
#ifndef ROUTE_RANDOM_H
#define ROUTE_RANDOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The same for the same seed. Every keyword occurs with values that are not its default.
 */
void random_config(uint64_t seed, char *text, size_t size);

#endif
